"""Where parameters and random variables live: text → `Domain` and `Support`.

* interval: (0, oo), [0, 1), (-oo, -eta1), and Cartesian powers (-oo, 0)^d
* whole numbers, for known constants: integers >= 1
* vector: R^d, R^(K-1)
* matrix: R^(n,p)
* simplex: K numbers from 0 with sum 1, for a working parameter: its ends belong to it
* spd, -spd: SPD, -SPD, SPD(p), symmetric positive (negative) definite, and either of them
  moved by a matrix: -SPD + outer(a, a)/(4*b)
* a support may also be integers >= 0, integers 0..n, {0, ..., n}, {-1, 1}, {-1, 1}^d
* or of vectors under one condition: simplex (positive components with sum 1), sphere
  (length 1), {e_1, ..., e_K} or one-hot (a single 1), counts summing to n; their sizes are
  K (the sphere's d) or said: sphere in R^3
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from blrgen.core import Domain, Support
from blrgen.errors import UserError
from blrgen.limits import EXPRESSION_CHARACTERS as MAX_LENGTH
from blrgen.read.expression import parse, parse_ranked
from blrgen.read.text import printable

Expr = Any

_SIZE = r"[A-Za-z][A-Za-z0-9]{0,9}(?:[+-][0-9]{1,3})?|[1-9][0-9]{0,3}"
_VECTOR = re.compile(rf"R\^(?:({_SIZE})|\(({_SIZE})\))")
_MATRIX = re.compile(rf"R\^\(({_SIZE}),({_SIZE})\)")
_POWER = re.compile(rf"(.*[\]\)}}])\^(?:({_SIZE})|\(({_SIZE})\))")

_SPD = re.compile(rf"(?P<sign>-?)SPD(?:\((?P<size>{_SIZE})\))?")

_SIMPLEX = re.compile(rf"simplex(?:\((?P<size>{_SIZE})\))?")

_DOMAINS = (
    'an interval such as "(0, oo)" or "[0, 1)", its power "(0, oo)^d", "R^d", "R^(K-1)", '
    '"R^(n,p)", "SPD", "SPD(p)", "-SPD" or "integers >= 1"'
)
_SUPPORTS = (
    'an interval such as "(0, oo)", "integers >= 0", "integers 0..n", "{-1, 1}", "simplex", '
    '"{e_1, ..., e_K}", "counts summing to n", "sphere", "R^d", "R^(n,p)" or "SPD"'
)


def read_domain(
    text: str, names: Mapping[str, Expr], *, where: str = "", bare: str = "d"
) -> Domain:
    """The domain of a parameter; bounds are expressions in `names`, SPD alone is SPD(bare)."""
    plain = _plain(text, where)
    if match := _MATRIX.fullmatch(plain):
        return Domain("matrix", size=(match[1], match[2]), text=text.strip())
    if match := _VECTOR.fullmatch(plain):
        return Domain("vector", size=(match[1] or match[2],), text=text.strip())
    if match := _SIMPLEX.fullmatch(plain):
        return Domain("simplex", size=(match["size"] or "K",), text=text.strip())
    if match := _SPD.match(plain):
        return _definite(match, text.strip(), names, where, bare)
    if plain.startswith("integers"):
        s = _integers(text.strip(), names, where)
        return Domain("interval", s.lower, s.upper, (), s.text, s.lower_open, s.upper_open, True)
    body, size = _power(text.strip())
    if _brackets(body):
        lower, upper, lower_open, upper_open = _interval(body, names, where)
        return Domain("interval", lower, upper, size, text.strip(), lower_open, upper_open)
    raise UserError(f"not a domain: {_short(text)}", where=where, how=f"a domain is {_DOMAINS}")


def _definite(
    match: re.Match[str], text: str, names: Mapping[str, Expr], where: str, bare: str
) -> Domain:
    """SPD(n), -SPD(n), or one of them moved: -SPD + outer(a, a)/(4*b)."""
    kind, size = f"{match['sign']}spd", (match["size"] or bare,) * 2
    rest = text[text.index("SPD") + 3 :].strip()
    rest = rest[rest.index(")") + 1 :].strip() if match["size"] else rest
    if not rest:
        return Domain(kind, size=size, text=text)
    if rest[0] not in "+-":
        raise UserError(f"not a domain: {_short(text)}", where=where, how=f"a domain is {_DOMAINS}")
    shift = parse_ranked(rest, names, where=where, elementwise=False)
    if shift.rank != "matrix":
        raise UserError(f"SPD is moved by a {shift.rank}: {_short(text)}", where=where)
    return Domain(kind, lower=shift.expr, size=size, text=text)


def read_support(text: str, names: Mapping[str, Expr] | None = None, *, where: str = "") -> Support:
    """The support of a random variable; bounds are expressions in `names` (fixed constants)."""
    import sympy as sp

    names = names or {}
    plain = _plain(text, where)
    stripped = text.strip()
    if match := _MATRIX.fullmatch(plain):
        return Support("matrix", size=(match[1], match[2]), text=stripped)
    if match := _VECTOR.fullmatch(plain):
        across = (match[1] or match[2],)
        return Support("vector", lower=-sp.oo, upper=sp.oo, size=across, text=stripped)
    if (match := _SPD.fullmatch(plain)) and not match["sign"]:
        return Support("spd", size=(match["size"] or "d",) * 2, text=stripped)
    if (joint := _joint(stripped, names, where)) is not None:
        return joint
    if plain.startswith("integers"):
        return _integers(stripped, names, where)
    if _LISTED.fullmatch(stripped) and not _UNITS.fullmatch(plain):
        return _integers(stripped, names, where)
    body, size = _power(stripped)
    if body.startswith("{") and re.search(r"\.\.\.|…", body):
        raise UserError(
            f"not a support: {_short(text)}", where=where,
            why="whole numbers have no power: several counts are several variables"
            if size and _LISTED.fullmatch(body)
            else "a list with dots ends with its last point",
            how='write "integers >= 0", "integers 0..n" or "{0, ..., n}"',
        )  # fmt: skip
    if body.startswith("{") and body.endswith("}"):
        return Support("finite", _points(body, names, where), size=size, text=stripped)
    if _brackets(body):
        lower, upper, lower_open, upper_open = _interval(body, names, where)
        return Support("interval", (), lower, upper, size, stripped, lower_open, upper_open)
    raise _no_support(text, where)


def _no_support(text: str, where: str) -> UserError:
    """Every form there is; one that the text is close to comes first."""
    from difflib import get_close_matches

    known = {"integers": "integers >= 0", "integers >= 0": "integers >= 0", "simplex": "simplex",
             "sphere": "sphere", "one-hot": "one-hot", "counts summing to n": "counts summing to n",
             "real": "(-oo, oo)", "reals": "(-oo, oo)", "positive": "(0, oo)", "naturals":
             "integers >= 0", "unit interval": "(0, 1)"}  # fmt: skip
    near = get_close_matches(text.strip().lower(), known, n=1)
    meant = f'did you mean "{known[near[0]]}"? ' if near else ""
    what = f"not a support: {_short(text)}"
    return UserError(what, where=where, how=f"{meant}a support is {_SUPPORTS}")


_JOINT = re.compile(
    rf"(?P<kind>simplex|sphere|one-hot|countssummingto(?P<sum>.+?))(?:inR\^(?P<size>{_SIZE}))?"
)
_UNITS = re.compile(rf"\{{e_1,(?:\.\.\.|…),e_(?P<size>{_SIZE})\}}")
JOINT = re.compile(f"{_JOINT.pattern}|{_UNITS.pattern.replace('size', 'last')}")


def _joint(text: str, names: Mapping[str, Expr], where: str) -> Support | None:
    """A vector whose components are bound together, or None for any other text."""
    import sympy as sp

    plain = "".join(text.split())
    if units := _UNITS.fullmatch(plain):
        return Support("one-hot", (), sp.S.Zero, sp.S.One, (units["size"],), text, False, False)
    match = _JOINT.fullmatch(plain)
    if match is None:
        return None
    kind = "counts" if match["sum"] else match["kind"]
    size = (match["size"] or ("d" if kind == "sphere" else "K"),)
    if kind == "sphere":
        return Support(kind, (), sp.S.NegativeOne, sp.S.One, size, text, False, False)
    if kind == "counts":
        most = parse(match["sum"], names, where=where)
        if most.is_number and not (most.is_Integer and most.is_positive):
            raise UserError(
                f"the counts sum to no whole number: {_short(text)}", where=where,
                how='write "counts summing to n" with n in [fixed], or a number',
            )  # fmt: skip
        return Support(kind, (), sp.S.Zero, most, size, text, False, False)
    return Support(kind, (), sp.S.Zero, sp.S.One, size, text, kind == "simplex", kind == "simplex")


def size_symbol(text: str) -> Expr:
    """A size such as d, K-1 or 3 as a whole number."""
    import sympy as sp

    name, sign, change = re.fullmatch(r"([A-Za-z]\w*|\d+)(?:([+-])(\d+))?", text).groups()  # type: ignore[union-attr]
    base = sp.Integer(name) if name.isdigit() else sp.Symbol(name, integer=True, positive=True)
    return base + (int(f"{sign}{change}") if change else 0)


def _plain(text: str, where: str) -> str:
    """The text without blanks; refused when it is no text, or too long."""
    if not isinstance(text, str):
        raise UserError("a domain must be text", where=where, why=f"got {text!r:.40}")
    if len(text) > MAX_LENGTH:
        raise UserError("the domain is too long", where=where)
    return "".join(text.split())


def _short(text: str) -> str:
    return repr(printable(text[:60]))


def _power(text: str) -> tuple[str, tuple[str, ...]]:
    """(-oo, 0)^d → "(-oo, 0)" and ("d",)."""
    head, hat, tail = text.rpartition("^")
    match = _POWER.fullmatch(head.rstrip() + hat + "".join(tail.split())) if hat else None
    return (match[1], (match[2] or match[3],)) if match else (text, ())


def _brackets(text: str) -> bool:
    return len(text) > 2 and text[0] in "([" and text[-1] in ")]"


def _parts(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _interval(text: str, names: Mapping[str, Expr], where: str) -> tuple[Expr, Expr, bool, bool]:
    parts = _parts(text[1:-1])
    if len(parts) != 2:
        raise UserError(
            f"an interval has two ends: {_short(text)}", where=where, how='write "(0, oo)"'
        )
    lower, upper = (_bound(p, names, where) for p in parts)
    lower_open, upper_open = text[0] == "(", text[-1] == ")"
    if (lower.is_infinite and not lower_open) or (upper.is_infinite and not upper_open):
        raise UserError(
            f"an infinite end is open: {_short(text)}", where=where, how="write ( or ) there"
        )
    if not (upper - lower).free_symbols and (upper - lower).is_extended_positive is not True:
        raise UserError(
            f"the interval is empty: {_short(text)}", where=where,
            why=f"its lower end {lower} is not below its upper end {upper}",
        )  # fmt: skip
    return lower, upper, lower_open, upper_open


def _bound(text: str, names: Mapping[str, Expr], where: str) -> Expr:
    import sympy as sp

    plain = "".join(text.split())
    if plain in ("oo", "+oo", "-oo"):
        return -sp.oo if plain[0] == "-" else sp.oo
    return parse(text, names, where=where)


def _points(text: str, names: Mapping[str, Expr], where: str) -> tuple[Expr, ...]:
    points = tuple(parse(p, names, where=where) for p in _parts(text[1:-1]))
    if len(set(points)) != len(points):
        raise UserError(f"a point is listed twice: {_short(text)}", where=where)
    if len(points) < 2:
        raise UserError(
            f"a support needs two points or more: {_short(text)}", where=where,
            why="a variable with one value is a constant",
        )  # fmt: skip
    if not all(p.is_number for p in points):
        raise UserError(f"the points are not numbers: {_short(text)}", where=where)
    return points


_FROM = re.compile(r"integers\s*(?:>=\s*(.+))?")
_BETWEEN = re.compile(r"integers\s*(?:from\s+)?(\S.*?)\s*(?:\.\.|…|\bto\b)\s*(\S.*)")
_LISTED = re.compile(r"\{([^{}]*?),\s*(?:\.\.\.|…)\s*,([^{},]*)\}")


def _integers(text: str, names: Mapping[str, Expr], where: str) -> Support:
    """integers >= a, integers a..b, {a, ..., b}, {a, a + 1, ..., b}."""
    import sympy as sp

    lower, upper = -sp.oo, sp.oo
    if match := _FROM.fullmatch(text):
        lower = _whole(match[1], names, where) if match[1] else -sp.oo
    elif match := _BETWEEN.fullmatch(text) or _LISTED.fullmatch(text):
        first, *more = (_whole(p, names, where) for p in _parts(match[1]))
        if any(p != first + i for i, p in enumerate(more, 1)):
            raise UserError(f"not consecutive: {_short(text)}", where=where)
        lower, upper = first, _whole(match[2], names, where)
    else:
        how = 'write "integers >= 0" or "integers 0..n"'
        raise UserError(f"not a support: {_short(text)}", where=where, how=how)
    if (upper - lower).is_extended_positive is False:
        raise UserError(f"the last integer is not above the first: {_short(text)}", where=where)
    return Support(
        "integers", (), lower, upper, (), text, lower.is_infinite is True, upper.is_infinite is True
    )


def _whole(text: str, names: Mapping[str, Expr], where: str) -> Expr:
    end = parse(text, names, where=where)
    if end.is_integer is False or (end.is_number and not end.is_Integer):
        raise UserError(f"an end of the integers is not whole: {_short(text)}", where=where)
    return end
