"""What a parser did not expect, said as a colleague would: what stands there, what may."""

from __future__ import annotations

from typing import Any

from blrgen.read.model.elsewhere import DOMAINS
from blrgen.read.model.lines import Line
from blrgen.read.model.mistakes import Mistakes
from blrgen.read.model.values import Place

_WORDS = {
    "NAME": "a name", "NUMBER": "a number", "DIST": "a family with its arguments",
    "FAMILYNAME": "a name", "STRING": "a path in double quotes", "FUNC": "", "OO": "",
    "CHOOSE": "", "PLATE": "", "CONST": "", "PARAM": "", "FAMILY": "", "LPAR": "'('",
    "RPAR": "')'", "LSQB": "'['", "RSQB": "']'", "PLUS": "", "MINUS": "", "STAR": "", "SLASH": "",
    "POW": "", "COLON": "':'", "TILDE": "'~'", "__ANON_0": "'~'", "EQUAL": "'='", "COMMA": "','",
    "IN": "'in'", "TIMES": "'times'", "OBSERVED": "'observed'", "OR": "'or'",
    "MISSING": "'missing'", "REALS": "a domain such as R, (0, oo), R^p, simplex(K), SPD(d)",
    "SIMPLEX": "", "SPD": "", "LABELS": "", "INTEGERS": "", "LBRACE": "", "RBRACE": "'}'",
    "GE": "'>='", "DOTS": "'..'", "CIRCUMFLEX": "'^'", "$END": "the end of the line",
}  # fmt: skip

_HINTS = {
    "^": "a power is written with **: x**2",
    "∼": "write ~, the tilde of the keyboard",
    "×": "write *", "·": "write *", "÷": "write /", "−": "write -", "–": "write -",
    "²": "write **2", ";": "one statement a line", "<": "a domain says where a value lives",
    "|": "write the parents as arguments: x ~ gaussian(mu, 1)", "'": 'paths stand in "…"',
    "’": "a transpose is transpose(A)", "@": "the product of matrices is *",
    "%": "comments begin with #", "!": "", "\\": "write the letter itself, or its name",
}  # fmt: skip


def explain(error: Any, line: Line, mistakes: Mistakes) -> None:
    """Note the mistake of one statement that cannot be parsed."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    expected: set[str] = set()
    if isinstance(error, UnexpectedToken):
        found, expected = str(error.token), set(error.accepts or error.expected)
        ended = error.token.type == "$END"
    else:
        assert isinstance(error, UnexpectedCharacters)
        found, expected, ended = error.char, set(error.allowed or ()), False
    place, left = _place(error, line, ended)
    rest = line.text.split("\n")[place.line - line.first][place.column - 1 :]
    word = found if ended or isinstance(error, UnexpectedToken) else _word(rest)
    text = "the statement ends too early" if ended else f"{word[:40]!r} cannot stand here"
    mistakes.note(
        "syntax", place, text, why=_unclosed(line) if ended else "",
        instead=_instead(word, expected, rest, left), node="",
    )  # fmt: skip


def _place(error: Any, line: Line, ended: bool) -> tuple[Place, str]:
    """Where, and the text of the statement up to there; an end is behind the last character."""
    rows = line.text.split("\n")
    if ended:
        last = max(i for i, row in enumerate(rows) if row.strip())
        return Place(line.first + last, len(rows[last].rstrip()) + 1), line.text
    left = "\n".join([*rows[: error.line - 1], rows[error.line - 1][: error.column - 1]])
    return Place(line.first + error.line - 1, error.column), left


def _word(rest: str) -> str:
    """The name or the character that stands at the start of a text."""
    n = 0
    while n < len(rest) and (rest[n].isalnum() or rest[n] == "_"):
        n += 1
    return rest[: n or 1]


def _unclosed(line: Line) -> str:
    open_ones = sum(line.text.count(c) for c in "([{") - sum(line.text.count(c) for c in ")]}")
    return "a bracket is not closed" if open_ones > 0 else ""


def _elsewhere(word: str, left: str) -> str:
    """What other languages write at such a place."""
    before = left.split()
    if not before:
        return ""
    if before[0] == "plate" and word in (":", "(", "..") and "in" in before:
        return "write the size alone: plate n in N"
    if before[0] in ("for", "repeat") and len(before) == 1:
        return "write plate n in N, and the letter behind each name: x[n] ~ …"
    if before[0] in ("data", "observe", "observed", "obs") and len(before) == 1:
        return "write observed behind the statement: x[n] ~ gaussian(0, 1) observed"
    if before[0] in ("const", "param") and before[-1] == "in":
        return f"write {DOMAINS[word.lower()]}" if word.lower() in DOMAINS else ""
    if before[0] in ("const", "param") and before[-1] == "R" and word == "+":
        return "write (0, oo)"
    if word == ":" and left.rstrip()[-1:].isalnum():
        return "write [:] for all elements, or one index"
    return ""


def _instead(word: str, expected: set[str], rest: str, left: str) -> str:
    """The nearest right text, from the character or from what the grammar expects."""
    if rest.startswith(("==", "<-", "=~")) or (word == "=" and left.rstrip().endswith("=")):
        return "write = for a deterministic link, ~ for a distribution"
    if (told := _elsewhere(word, left)) or word in _HINTS:
        return told or _HINTS[word]
    if word == "[" and ("NUMBER" in expected or "FUNC" in expected):
        return "a vector of numbers is data: const p in R^K, or in simplex(K)"
    if left.rstrip().endswith("~"):
        return "behind ~ stands a family with its arguments in brackets: gaussian(0, 1)"
    if not left.strip():
        return "a statement begins with plate, const, param, family or a name"
    words = sorted({_WORDS.get(t, t) for t in expected} - {""})
    if "a name" in words and ("NUMBER" in expected or "FUNC" in expected):
        words = [w for w in words if w not in ("a name", "a number")] + ["an expression"]
    return "here may stand " + ", ".join(words) if words else ""
