"""What "did you mean" proposes is tried in the place of the word, before it is printed.

A command that derives is carried out as far as its derivation, any other as far as its options
are read.  What gets no further than another word that is not known either stands: that is the
next thing to be told.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Sequence
from importlib import import_module

from blrgen.errors import Guess, UserError

DERIVE = ("derive", "generate", "identify")


def with_tried_words(mistake: UserError, argv: Sequence[str]) -> UserError:
    """The mistake with those of the proposed words that work here."""
    guess = mistake.how
    if not isinstance(guess, Guess) or not argv:
        return mistake
    ways = {c: put(argv, guess.word, c) for c in guess.close}
    if any(way is None for way in ways.values()):
        return mistake  # the word is not of the command line: it stands in a file
    found = {c: refused(way, guess.word) for c, way in ways.items() if way is not None}
    nearest, why = next(iter(found.items()))
    mistake.how = Guess.of(guess.word, [c for c, why in found.items() if not why])
    if why:
        mistake.how = f"{nearest!r} is known, and refused here: {why}"
    mistake.args = (mistake.render(),)
    return mistake


def put(argv: Sequence[str], word: str, other: str) -> list[str] | None:
    """The command line with one word for another, wherever it stands as a whole word."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    made = [pattern.sub(lambda _: other, a) for a in argv]
    return None if made == list(argv) else made


def refused(argv: Sequence[str], word: str) -> str:
    """Why a command line cannot be read, or derived where it derives; "" where it can."""
    from blrgen.cli.main import COMMANDS
    from blrgen.cli.parser import HelpShown, Parser

    name, *rest = argv
    if name not in COMMANDS:
        return "" if name.startswith("-") else f"there is no command {name!r}"
    command = import_module(f"blrgen.cli.{name.replace('-', '_')}")
    parser = Parser(f"blrgen {name}", command.__doc__)
    command.configure(parser)
    silence = io.StringIO()
    try:
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            options = parser.read(rest)
            if name in DERIVE and not options.what.endswith(".model"):
                from blrgen.cli.what import derived

                derived(options)
    except HelpShown:
        return ""
    except UserError as other:
        further = isinstance(other.how, Guess) and other.how.word != word
        return "" if further else other.what
    return ""
