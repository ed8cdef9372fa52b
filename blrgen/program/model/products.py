"""Terms of the index algebra as products: factors with powers, numbers in front."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blrgen.algebra.indexed import Term
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


@dataclass(frozen=True)
class Product:
    """A term, the letters that it is summed over, and what is 0 outside of their ranges."""

    term: Term
    over: list[str]
    masks: list[n.Node]


@dataclass(frozen=True)
class Factor:
    """An expression to a power; `known` before anything is fitted."""

    node: n.Node
    power: Fraction
    known: bool = False

    @property
    def letters(self) -> tuple[str, ...]:
        return a.free(self.node)


def product(factors: list[Factor]) -> n.Node:
    """The product, those with negative powers below."""
    above = [power(f.node, f.power) for f in factors if f.power > 0]
    below = [power(f.node, -f.power) for f in factors if f.power < 0]
    return n.div(n.mul(*above) if above else n.ONE, n.mul(*below) if below else n.ONE)


def power(x: n.Node, p: Fraction) -> n.Node:
    """x^p for a positive p."""
    whole, rest = divmod(p, 1)
    found: list[n.Node] = [x] if whole == 1 else [n.Pow(x, int(whole))] if whole else []
    if rest == Fraction(1, 2):
        found.append(n.sqrt(x))
    elif rest:
        found.append(n.Call("pow", (x, n.Const(rest))))
    return n.mul(*found)


def times(c: Fraction, x: n.Node) -> n.Node:
    """A number in front of an expression."""
    if c < 0:
        return n.neg(times(-c, x))
    return x if c == 1 else n.mul(n.Const(c), x)
