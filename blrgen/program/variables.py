"""The quantities of a rule as typed variables, with first values and the ends of their domains."""

from __future__ import annotations

import keyword
import re
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import axes_of
from blrgen.core import Quantity, Rank, Rule
from blrgen.errors import InternalError, UserError
from blrgen.program import nodes as n
from blrgen.program.lowering import Lowering
from blrgen.program.program import Variable
from blrgen.program.sizes import size_variables, sizes_of
from blrgen.program.types import EACH, ENTRIES, SCALAR, Type

Expr = Any
# rank of a quantity → its axes, where its symbol says nothing else, and its structure
AXES: dict[Rank, tuple[tuple[str, ...], str]] = {
    "scalar": ((), "dense"), "elementwise": ((EACH,), "dense"), "vector": (("d",), "dense"),
    "symmetric": (("d", "d"), "sym"), "matrix": (("d", "d"), "dense"),
}  # fmt: skip


def variables_of(rule: Rule) -> tuple[Variable, ...]:
    """Quantities as variables; a rule of scalars only acts on every element of an array."""
    states = rule.of("state")
    if not states:
        raise InternalError("a rule without a state updates nothing")
    spread = all(q.rank == "scalar" for q in states)
    _no_vectors_beside(rule, spread)
    rows = any(q.rank == "matrix" and q.kind == "data" for q in rule.quantities)
    sizes = {s: SCALAR for s in sizes_of(rule)}
    known = {p.name: _type(p, spread, rows) for p in rule.of("hyper", "state")}
    lowering = Lowering(sizes | known)
    found = [_variable(q, _type(q, spread, rows), rule, lowering) for q in rule.quantities]
    found += size_variables(rule, found)
    if "t" not in rule:
        found.append(Variable("t", "counter", SCALAR, "counts steps from 1"))
    return tuple(found)


def _variable(q: Quantity, kind: Type, rule: Rule, lowering: Lowering) -> Variable:
    """One quantity with its first value; a multiple of I is said by the number alone."""
    checked_name(q.name)
    init = None if q.init is None else lowering.lower(q.init, where=f"initial {q.name}")
    default = None if q.default is None else lowering.lower(q.default, where=q.name)
    held = q.kind == "hyper" and kind == ENTRIES  # a vector of known constants
    return Variable(
        q.name,
        "state" if held else q.kind,
        kind,
        q.meaning,
        init,
        None if held else default,
        q.domain,
        q.distribution,
        *_ends(q, rule, lowering),
    )


def _no_vectors_beside(rule: Rule, spread: bool) -> None:
    """A rule that keeps numbers only acts on arrays of them, and has no place for a vector."""
    kept = {q.name for q in rule.of("state")}
    vectors = [q.name for q in rule.quantities if is_each(q) and q.name not in kept]
    if spread and vectors:
        raise UserError(
            f"the rule keeps numbers only and reads the vector {vectors[0]}: it is not emitted",
            why="an emitted class that keeps numbers updates arrays of them, element by element",
            how="`blrgen derive` has the rule, also as JSON that SymPy reads",
        )


def _ends(
    q: Quantity, rule: Rule, lowering: Lowering
) -> tuple[n.Node | None, n.Node | None, n.Node | None]:
    """The ends of an interval, in constants and other states, and what must be definite."""
    if q.kind not in ("state", "hyper") or not q.domain:
        return None, None, None
    from blrgen.read.domain import read_domain

    names = {p.name: p.symbol for p in rule.of("state", "hyper") if p.name != q.name}
    names |= {s: sp.Symbol(s, integer=True, positive=True) for s in sizes_of(rule)}
    where = f"the domain of {q.name}"
    try:
        domain = read_domain(q.domain, names)
    except UserError:  # ends in what the rule does not keep
        return None, None, None
    if domain.kind in ("spd", "-spd"):
        apart = q.symbol if domain.lower is None else q.symbol - domain.lower
        gap = lowering.lower(apart if domain.kind == "spd" else -apart, where=where)
        if lowering.inner:
            raise UserError(f"no target can tell whether {apart} is definite", where=where)
        return None, None, gap
    number = q.kind == "hyper" and not is_each(q)
    if domain.kind != "interval" or (number and not _made_of_names(q.domain)):
        return None, None, None
    lower, upper = (
        None if sp.sympify(b).is_infinite else lowering.lower(b, where=where)
        for b in (domain.lower, domain.upper)
    )
    return lower, upper, None


def _made_of_names(domain: str) -> bool:
    """Whether an interval has ends that are no numbers."""
    return bool(set(re.findall(r"[A-Za-z]\w*", domain)) - {"oo", "pi"})


def _type(q: Quantity, spread: bool, rows: bool) -> Type:
    """Its axes, by the names of their sizes, and its structure.

    A rule of numbers acts on each entry of arrays; vectors among data have the data's rows.
    """
    arrays = ("state", "input", "draw", "intermediate")
    axes, structure = AXES[q.rank]
    if spread and q.kind in arrays and not axes:
        return ENTRIES
    if q.kind == "data":
        return Type(("n", *axes[1:]) if rows and axes[:1] == ("d",) else axes, structure)
    own = () if axes == (EACH,) else axes_of(q.symbol)
    return Type(own or axes, structure)


def is_each(q: Quantity) -> bool:
    """Whether it is an array of entries."""
    return AXES[q.rank][0] == (EACH,)


def checked_name(name: str) -> None:
    """Names end up in emitted code: plain ASCII identifiers only."""
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
        raise UserError(
            f"{name!r} cannot be a name in a program",
            why="it is not a plain Python identifier",
            how="use ASCII letters, digits and underscores, and no Python keyword",
        )
