"""Expressions with indices as one line of plain text: sum(n, z[n,k]*x[n]**2)/2.

Bound letters get the names that a model gives to their axes (n for N), with a number where
that one is taken; axes without a letter have i, j, l, m.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from blrgen.algebra.indexed.functions import PI
from blrgen.algebra.indexed.moving import move_index, moved
from blrgen.algebra.indexed.values import COLUMN, ROW, Atom, Expression, Index, Range, Term

_SPARE = "ijlmrsuv"
Names = dict[str, str]  # bound names → what is written


Places = tuple[Index, ...]


@dataclass(frozen=True)
class Mean:
    """What an expectation is of: its places, T, and the labels that it is given."""

    places: Places
    value: Expression
    given: tuple[tuple[str, Places], ...] = ()  # name of the label, its places and its value


Named = Mapping[str, Mean]  # symbol → what it is of


class _Letters(dict[str, str]):
    """The names of axes' letters, and what expectations are of."""

    statistics: Named


def written(
    e: Expression, letters: Mapping[str, str] | None = None, statistics: Named | None = None
) -> str:
    """The expression as text; `letters` are the names of axes' letters.

    An expectation is written E[T] with its places inside, where `statistics` has its T.
    """
    known = _Letters(letters or {})
    known.statistics = statistics or {}
    taken = {i.name: i.name for i in e.letters}
    return _sum(e, known, taken)


def _sum(e: Expression, letters: Mapping[str, str], names: Names) -> str:
    if not e.terms:
        return "0"
    found = ""
    for term, c in in_order(e):
        text = _term(term, abs(c), letters, names)
        sign = "-" if c < 0 else "+"
        found += f" {sign} {text}" if found else f"{'-' if c < 0 else ''}{text}"
    return found


def in_order(e: Expression) -> list[tuple[Term, Fraction]]:
    """Positive terms first, else in their own order."""
    return sorted(e.terms, key=lambda pair: pair[1] < 0)


def _term(term: Term, c: Fraction, letters: Mapping[str, str], names: Names) -> str:
    names = dict(names)
    for r in term.bound:
        names[r.name] = fresh_letter(r, letters, names)
    above = [_factor(a, p, letters, names) for a, p in term.factors if p > 0]
    below = [_factor(a, -p, letters, names) for a, p in term.factors if p < 0]
    if c.numerator != 1 or not above:
        above.insert(0, str(c.numerator))
    if c.denominator != 1:
        below.insert(0, str(c.denominator))
    text = "*".join(above)
    if below:
        text += f"/{below[0]}" if len(below) == 1 else f"/({'*'.join(below)})"
    if not term.bound:
        return text
    return f"sum({', '.join(_run(r, names) for r in term.bound)}, {text})"


def _run(r: Range, names: Names) -> str:
    """n, or where it is cut: 2 <= t, t <= T - 1."""
    name = names[r.name]
    low = f"{r.low + 1} <= {name}" if r.low else name
    return f"{low} <= {r.axis} - {r.high}" if r.high else low


def fresh_letter(r: Range, letters: Mapping[str, str], names: Names) -> str:
    """The name of a bound letter: that of its axis, with a number where it is taken."""
    own = letters.get(r.axis)
    used = set(names.values())
    candidates = [own] if own else [x for x in _SPARE if x not in letters.values()]
    for name in [*candidates, *(f"{candidates[0]}{k}" for k in range(2, 100))]:
        if name not in used:
            return name
    raise AssertionError("more letters than a person would read")


def _factor(a: Atom, p: Fraction, letters: Mapping[str, str], names: Names) -> str:
    text = _atom(a, letters, names)
    if a.kind == "sum" or (a.kind == "size" and text != a.name):
        text = f"({text})"
    if p == Fraction(1, 2):
        return f"sqrt({text.removeprefix('(').removesuffix(')') if a.kind == 'sum' else text})"
    if p == 1:
        return text
    return f"{text}**{p}" if p.denominator == 1 else f"{text}**({p})"


def _atom(a: Atom, letters: Mapping[str, str], names: Names) -> str:
    places = ",".join(_place(i, names) for i in a.indices)
    match a.kind:
        case "symbol":
            name = "pi" if a.name == PI.name else a.name
            if isinstance(letters, _Letters) and name in letters.statistics:
                return _mean(letters.statistics[name], a, letters, names)
            return f"{name}[{places}]" if places else name
        case "size":
            return a.name
        case "delta":
            return f"[{_place(a.indices[0], names)} = {_place(a.indices[1], names)}]"
        case "guard":
            return _gate(a, names)
        case "sum":
            return _sum(a.arguments[0], letters, names)
        case "matrix":
            inner = _sum(a.arguments[0], letters, names | {ROW: "", COLUMN: ""})
            inner = inner.replace("[,]", "").replace(",,]", "]")
            return f"{a.name}({inner})" + (f"[{places}]" if places else "")
    return f"{a.name}({', '.join(_sum(e, letters, names) for e in a.arguments)})"


def _mean(mean: Mean, a: Atom, letters: Mapping[str, str], names: Names) -> str:
    """E[T], or E[T | z[n] = k], at the places of its symbol."""
    moves = dict(zip(mean.places, a.indices, strict=True))
    text = _sum(moved(mean.value, moves), letters, names)
    labels = []
    for name, places in mean.given:
        *front, last = [_place(move_index(i, moves), names) for i in places]
        labels.append(f"{name}[{','.join(front)}] = {last}" if front else f"{name} = {last}")
    return f"E[{text} | {', '.join(labels)}]" if labels else f"E[{text}]"


def _gate(a: Atom, names: Names) -> str:
    low, high = a.cut
    i = _place(a.indices[0], names)
    left = f"{low} < " if low else ""
    return f"[{left}{i}{f' <= {a.indices[0].axis} - {high}' if high else ''}]"


def _place(i: Index, names: Names) -> str:
    """An index as it is written: k, 1, t-1."""
    if i.literal:
        return i.text
    name = names.get(i.name, i.name)
    return f"{name}{i.shift:+d}" if i.shift else name
