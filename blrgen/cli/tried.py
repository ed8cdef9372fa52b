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
    owners = [f"blrgen {c}" for c in _commands_with(guess.word)]
    if owners:
        mistake.how = f"{guess.word} is an option of {', '.join(owners)}"
    elif why.startswith("unexpected argument"):
        mistake.how = f"blrgen {argv[0]} --help lists the options"
    elif why:
        mistake.how = f"{nearest!r} is known, and refused here: {why}"
    mistake.args = (mistake.render(),)
    return mistake


def _commands_with(flag: str) -> list[str]:
    """The commands that have an option."""
    from blrgen.cli.main import COMMANDS
    from blrgen.cli.parser import Parser

    found = []
    for name in COMMANDS if flag.startswith("--") else ():
        command = import_module(f"blrgen.cli.{name.replace('-', '_')}")
        parser = Parser(f"blrgen {name}", command.__doc__)
        command.configure(parser)
        found += [name] if flag in parser._option_string_actions else []
    return found


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
