"""Sums over the same places whose terms have factors in common are one.

    Σ_n x[n,i] x[n,j] σ[n] − Σ_n x[n,i] x[n,j] σ[n]²   →   Σ_n x[n,i] x[n,j] σ[n] (1 − σ[n])

What differs is added before it is multiplied, so that rows are gone through once, and 1 − σ can
be written without loss.
"""

from __future__ import annotations

from collections import Counter

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.contracted import factors_of, terms_of


def one_sum(e: n.Node) -> n.Node:
    """The expression with such sums as one, where the first of them stood."""
    terms = terms_of(e)
    groups: dict[tuple[str, ...], list[int]] = {}
    for k, t in enumerate(terms):
        found = _parts(t)
        if found is not None:
            groups.setdefault(found[0], []).append(k)
    gone: set[int] = set()
    for letters, places in groups.items():
        common = _common([_counted(terms[k]) for k in places])
        if len(places) < 2 or not any({*letters} & set(a.free(f)) for f in common):
            continue
        rest = n.add(*(_rest(terms[k], common) for k in places))
        whole = n.mul(*(_powers(common)), rest)
        terms[places[0]] = a.Red("sum", letters, whole)
        gone |= {*places[1:]}
    return n.add(*(t for k, t in enumerate(terms) if k not in gone)) if gone else e


def _parts(t: n.Node) -> tuple[tuple[str, ...], n.Node, bool] | None:
    """The letters of a term that is a sum, what it sums, and whether it is taken off."""
    red = t.arg if isinstance(t, n.Neg) else t
    if not isinstance(red, a.Red) or red.op != "sum":
        return None
    return red.letters, red.arg, red is not t


def _counted(t: n.Node) -> Counter[n.Node]:
    """The factors of what is summed, with their whole powers."""
    found = _parts(t)
    assert found is not None
    out: Counter[n.Node] = Counter()
    for f in factors_of(found[1]):
        if isinstance(f, n.Pow) and f.exponent > 1:
            out[f.base] += f.exponent
        else:
            out[f] += 1
    return out


def _common(found: list[Counter[n.Node]]) -> Counter[n.Node]:
    out = found[0]
    for other in found[1:]:
        out = out & other
    return out


def _powers(counted: Counter[n.Node]) -> list[n.Node]:
    return [f if k == 1 else n.Pow(f, k) for f, k in counted.items()]


def _rest(t: n.Node, common: Counter[n.Node]) -> n.Node:
    """What is left of a term without the common factors, with its sign."""
    found = _parts(t)
    assert found is not None
    rest = n.mul(*_powers(_counted(t) - common))
    return n.neg(rest) if found[2] else rest
