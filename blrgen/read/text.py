"""The text of an expression before it is parsed: tokens, limits, and errors with a caret.

Nothing reaches Python's own parser that is not made of numbers, ASCII names,
+ - * / **, brackets and commas, in bounded length and nesting.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from dataclasses import dataclass

from blrgen.errors import UserError
from blrgen.limits import EXPRESSION_BRACKETS as MAX_BRACKETS
from blrgen.limits import EXPRESSION_CHARACTERS as MAX_LENGTH
from blrgen.limits import NAME_CHARACTERS as MAX_NAME
from blrgen.limits import NUMBER_DIGITS as MAX_DIGITS
from blrgen.limits import NUMBER_EXPONENT as MAX_EXPONENT

WINDOW = 72  # characters of a long text that an error shows

_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operator>\*\*|[-+*/(),])"
    r"|(?P<space>[ \t]+)"
)

# spelled out for the eye; what is not listed here is refused all the same
_REASONS = {
    ".": ("a dot", "attributes are not part of an expression", ""),
    "'": ("a quote", "strings are not part of an expression", ""),
    '"': ("a quote", "strings are not part of an expression", ""),
    "[": ("a square bracket", "lists and subscripts are not part of an expression", ""),
    "]": ("a square bracket", "lists and subscripts are not part of an expression", ""),
    "{": ("a brace", "sets are not part of an expression", ""),
    "}": ("a brace", "sets are not part of an expression", ""),
    ":": ("a colon", "lambdas, slices and := are not part of an expression", ""),
    ";": ("a semicolon", "an expression is one formula, not statements", ""),
    "=": ("an equals sign", "an expression has no assignments, keywords or comparisons", ""),
    "<": ("a comparison", "an expression has no comparisons", ""),
    ">": ("a comparison", "an expression has no comparisons", ""),
    "!": ("an exclamation mark", "factorials are calls", "write factorial(n)"),
    "^": ("a caret", "powers are written with two stars", "write **"),
    "@": ("an at sign", "products of matrices are written with a star", "write *"),
    "−": ("a minus sign of typography", "operators are ASCII", "write -"),
    "·": ("a product dot", "operators are ASCII", "write *"),
    "×": ("a product cross", "operators are ASCII", "write *"),
    "∞": ("an infinity sign", "infinity is written with two letters", "write oo"),
    "√": ("a root sign", "functions are called by name", "write sqrt(…)"),
    "³": ("a superscript", "powers are written with two stars", "write **3"),
    "⋅": ("a product dot", "operators are ASCII", "write *"),
    "²": ("a superscript", "powers are written with two stars", "write **2"),
    "λ": ("a Greek letter", "names are ASCII", "write lam"),
}


@dataclass(frozen=True)
class Token:
    """A piece of the text: "number", "name" or "operator", and where it starts."""

    kind: str
    text: str
    start: int


def printable(text: str) -> str:
    """The text on one line: every character that does not print as itself becomes '?'."""
    return "".join(c if c.isprintable() else "?" for c in text)


def pointed(text: str, column: int) -> str:
    """The text (or the part around the column) with a caret under the column."""
    shown = printable(text)
    start = max(0, min(column - WINDOW // 2, len(shown) - WINDOW))
    part = shown[start : start + WINDOW]
    left = "…" if start else ""
    right = "…" if start + WINDOW < len(shown) else ""
    gap = " " * (column - start + len(left))
    return f"    {left}{part}{right}\n    {gap}^"


def mistake(
    what: str, text: str, column: int, *, where: str = "", why: str = "", how: str = ""
) -> UserError:
    """A `UserError` that points at a column of the text."""
    place = f"{where}, column {column + 1}" if where else f"column {column + 1}"
    return UserError(what, where=f"{place}\n{pointed(text, column)}", why=why, how=how)


def scan(text: str, *, where: str = "") -> list[Token]:
    """The tokens of a text, or a `UserError`: the first of the two walls."""
    if not isinstance(text, str):
        raise UserError("an expression must be text", where=where, why=f"got {text!r:.40}")
    if len(text) > MAX_LENGTH:
        raise UserError(
            f"the expression has {len(text)} characters, more than {MAX_LENGTH}", where=where,
            how="name its parts, or split it",
        )  # fmt: skip
    if not text.strip(" \t"):
        raise UserError("the expression is empty", where=where)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _refused(text, at, where)
        kind = match.lastgroup or ""
        token = Token(kind, match.group(), at)
        if kind != "space":
            _check(token, tokens, text, where)
            tokens.append(token)
        at = match.end()
    _check_nesting(tokens, text, where)
    return tokens


def _refused(text: str, at: int, where: str) -> UserError:
    """Why a character is not part of the language."""
    c = text[at]
    if c in _REASONS:
        name, why, how = _REASONS[c]
        return mistake(f"{name} cannot stand here", text, at, where=where, why=why, how=how)
    if not c.isprintable():
        return mistake(
            f"a control character (U+{ord(c):04X}) cannot stand here", text, at, where=where,
            why="an expression is one printable line",
        )  # fmt: skip
    name = unicodedata.name(c, "")
    if name.startswith("GREEK SMALL LETTER ") and len(name.split()) == 4:
        word = name.split()[-1].lower()
        how = f"write {'lam' if word == 'lamda' else word}"
        return mistake(
            "a Greek letter cannot stand here", text, at, where=where, why="names are ASCII",
            how=how,
        )  # fmt: skip
    what = f"the character {c!r} cannot stand here"
    why = "an expression is made of numbers, names, + - * / **, brackets and commas"
    if not c.isascii():
        what += f" (U+{ord(c):04X})"
        why = "names and operators are ASCII: look-alikes would be other names"
    return mistake(what, text, at, where=where, why=why)


def _check(token: Token, before: list[Token], text: str, where: str) -> None:
    """Limits on one token, and numbers and names that run into each other."""
    at = token.start
    if before:
        last = before[-1]
        adjacent = last.start + len(last.text) == at
        if last.kind == "number" and token.kind in ("name", "number") and adjacent:
            raise mistake(
                f"{last.text!r} runs into {token.text!r}", text, at, where=where,
                why="numbers are decimal and products are written out",
                how=f"write {last.text}*{token.text}" if token.kind == "name" else "",
            )  # fmt: skip
    if token.kind == "number":
        _check_number(token, text, where)
    if token.kind == "name":
        if len(token.text) > MAX_NAME:
            raise mistake(f"a name has more than {MAX_NAME} characters", text, at, where=where)
        if keyword.iskeyword(token.text):
            raise mistake(
                f"{token.text!r} is a word of Python, not a name", text, at, where=where,
                why="names end up in emitted code",
                how="write lam" if token.text == "lambda" else "choose another name",
            )  # fmt: skip
        if "__" in token.text or token.text.startswith("_"):
            raise mistake(
                f"the name {token.text!r} cannot be used", text, at, where=where,
                why="names start with a letter and have no double underscore",
            )  # fmt: skip


def _check_number(token: Token, text: str, where: str) -> None:
    mantissa, _, exponent = token.text.lower().partition("e")
    if mantissa.isdigit() and mantissa.startswith("0") and mantissa.strip("0"):
        raise mistake(
            f"the number {token.text} has leading zeros", text, token.start, where=where,
            how=f"write {token.text.lstrip('0')}",
        )  # fmt: skip
    if len(mantissa) > MAX_DIGITS or (exponent and len(exponent) > 6):
        raise mistake(
            "the number is too long", text, token.start, where=where,
            why=f"at most {MAX_DIGITS} digits and an exponent up to {MAX_EXPONENT}",
        )  # fmt: skip
    if exponent and abs(int(exponent)) > MAX_EXPONENT:
        raise mistake(
            f"the exponent of {token.text} is out of range", text, token.start, where=where,
            why=f"exponents go from -{MAX_EXPONENT} to {MAX_EXPONENT}",
        )  # fmt: skip


def _check_nesting(tokens: list[Token], text: str, where: str) -> None:
    """Brackets match and are not too deep, signs and powers do not pile up."""
    open_at: list[int] = []
    signs = powers = 0
    for token in tokens:
        if token.text == "(":
            open_at.append(token.start)
        elif token.text == ")":
            if not open_at:
                what = "a bracket closes that was never opened"
                raise mistake(what, text, token.start, where=where)
            open_at.pop()
        signs = signs + 1 if token.text in "+-" else 0
        powers = powers + 1 if token.text == "**" else (0 if token.text in "+-*/," else powers)
        if len(open_at) > MAX_BRACKETS or signs > 8 or powers > MAX_BRACKETS:
            raise mistake(
                "the expression is nested too deeply", text, token.start, where=where,
                why=f"at most {MAX_BRACKETS} nested brackets or powers, and 8 signs in a row",
            )  # fmt: skip
    if open_at:
        raise mistake("a bracket is never closed", text, open_at[-1], where=where)
