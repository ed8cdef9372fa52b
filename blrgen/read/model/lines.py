"""The text of a model → its statements: one a line, going on inside open brackets.

Comments become blanks, so that every character keeps its line and column.  A bracket that
is never closed ends where the next line begins as a statement does: one mistake there does
not swallow the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from blrgen.limits import MODEL_CHARACTERS as MAX_CHARACTERS
from blrgen.limits import MODEL_STATEMENTS as MAX_STATEMENTS
from blrgen.limits import STATEMENT_BRACKETS as MAX_DEPTH
from blrgen.limits import STATEMENT_CHARACTERS as MAX_LENGTH
from blrgen.limits import STATEMENT_POWERS as MAX_POWERS
from blrgen.read.model.mistakes import Mistakes
from blrgen.read.model.values import Place

# no bracket ever holds one of these: the line begins a statement, whatever is open before it
_STARTS = re.compile(r"\s*(?:(?:plate|const|param|family)\s+[^\W\d]|[^#~=]*~)")


@dataclass(frozen=True)
class Line:
    """A statement's text, with its line breaks, and the line on which it begins."""

    text: str
    first: int


def statements(text: str, mistakes: Mistakes) -> list[Line]:
    """The statements in order; what is too long, binary or nested too deeply is noted."""
    if len(text) > MAX_CHARACTERS:
        mistakes.note(
            "syntax", Place(1, 1), f"the text is too long: {len(text)} characters",
            why=f"a model has at most {MAX_CHARACTERS}",
            instead="give data in a file of their own, and sizes as plates",
        )  # fmt: skip
        return []
    found: list[Line] = []
    kept: list[str] = []
    first = depth = 0
    for number, physical in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if (bad := _unprintable(physical)) >= 0:
            mistakes.note(
                "syntax", Place(number, bad + 1),
                f"this is no text: character U+{ord(physical[bad]):04X}",
                instead="a model is plain text in UTF-8",
            )  # fmt: skip
            return found
        line = physical.split("#", 1)[0] if '"' not in physical else _without_comment(physical)
        if kept and depth > 0 and _STARTS.match(line) and line.strip():
            found.append(Line("\n".join(kept), first))
            kept, depth = [], 0
        if not line.strip() and not kept:
            continue
        first = first if kept else number
        kept.append(line)
        depth += sum(line.count(c) for c in "([{") - sum(line.count(c) for c in ")]}")
        if depth <= 0:
            found.append(Line("\n".join(kept), first))
            kept, depth = [], 0
    if kept:
        found.append(Line("\n".join(kept), first))
    return _bounded(found, mistakes)


def _without_comment(line: str) -> str:
    """The line up to a # that stands outside of quotes."""
    quoted = False
    for i, c in enumerate(line):
        quoted ^= c == '"'
        if c == "#" and not quoted:
            return line[:i]
    return line


def _unprintable(line: str) -> int:
    """The position of the first control character, -1 where there is none."""
    if line.isprintable():
        return -1
    return next((i for i, c in enumerate(line) if not c.isprintable() and c not in "\t\f\xa0\ufeff"
                 and not c.isspace()), -1)  # fmt: skip


def _bounded(found: list[Line], mistakes: Mistakes) -> list[Line]:
    """The statements that can be parsed in bounded time."""
    if len(found) > MAX_STATEMENTS:
        mistakes.note(
            "syntax", Place(found[MAX_STATEMENTS].first, 1),
            f"too many statements: {len(found)}", why=f"a model has at most {MAX_STATEMENTS}",
            instead="write elements that are alike as one statement over a plate",
        )  # fmt: skip
        found = found[:MAX_STATEMENTS]
    kept = []
    for line in found:
        if len(line.text) > MAX_LENGTH:
            mistakes.note(
                "syntax", Place(line.first, 1),
                f"the statement is too long: {len(line.text)} characters",
                why=f"at most {MAX_LENGTH}", instead="split it into deterministic nodes: a = …",
            )  # fmt: skip
        elif line.text.count("**") > MAX_POWERS:
            mistakes.note(
                "syntax", Place(line.first, 1), f"too many powers: {line.text.count('**')}",
                why=f"at most {MAX_POWERS} in a statement", instead="name a part of it: a = …",
            )  # fmt: skip
        elif (place := _too_deep(line)) is not None:
            mistakes.note(
                "syntax", place, "brackets are nested too deeply",
                why=f"at most {MAX_DEPTH} inside each other",
                instead="name a part of it: a = …",
            )  # fmt: skip
        else:
            kept.append(line)
    return kept


def _too_deep(line: Line) -> Place | None:
    """Where the nesting (brackets, runs of signs and powers) passes its bound."""
    depth = run = 0
    number, column = line.first, 0
    for c in line.text:
        column += 1
        if c == "\n":
            number, column = number + 1, 0
        depth += (c in "([{") - (c in ")]}")
        run = run + 1 if c in "-+*" else run if c.isspace() else 0
        if depth > MAX_DEPTH or run > MAX_DEPTH:
            return Place(number, column)
    return None
