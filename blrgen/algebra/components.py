"""Vectors by their components: commuting symbols, and sums over the components.

A vector of symbolic size is written by its k-th component: exp(eta) stands for the
vector (exp η_k)_k.  `total(f, size)` is the number Σ_k f_k.  A function that is symmetric
in its components is then an ordinary expression, and its derivatives are

    ∂f/∂η_j = Σ_t (∂f/∂t) ∂t/∂η_j          over the totals t in f,
    ∂v_k/∂η_j = δ_kj a_k + Σ_t u_k w_j      for a vector v: diagonal plus rank one terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.partial import partial
from blrgen.algebra.width import WIDE, width
from blrgen.errors import InternalError

Expr = Any


class Component(sp.Symbol):  # type: ignore[misc]
    """x_k, for every k up to a symbolic size; a real commuting symbol."""

    __slots__ = ("size",)
    size: Expr

    def __new__(cls, name: str, size: Expr, **assumptions: bool) -> Component:
        assumptions.setdefault("real", True)
        cls._sanitize(assumptions, cls)
        made: Component = sp.Symbol.__xnew__(cls, name, **assumptions)
        made.size = sp.sympify(size)
        return made

    @property
    def shape(self) -> tuple[Expr, Expr]:
        """That of a column."""
        return (self.size, sp.S.One)

    def __getnewargs_ex__(self) -> Any:
        return (self.name, self.size), self._assumptions_orig

    def _hashable_content(self) -> Any:
        return (*super()._hashable_content(), self.size)


class Head(Component):
    """The components of a vector but the last."""

    __slots__ = ()


class Last(sp.Symbol):  # type: ignore[misc]
    """The last component of a vector: a number of its own beside `Head`."""

    __slots__ = ()

    def _hashable_content(self) -> Any:
        return ("last", *super()._hashable_content())

    def _sympystr(self, printer: Any) -> str:
        return f"last({self.name})"


class total(sp.Function):  # type: ignore[misc]
    """Σ_k f_k over k = 1 … size: linear, and factors that do not depend on k come out."""

    nargs = 2

    @classmethod
    def eval(cls, f: Expr, size: Expr) -> Expr:
        f = sp.expand(f) if width(f) <= WIDE else f
        if not varies(f):
            return f * size
        terms = sp.Add.make_args(f)
        if len(terms) > 1:
            return sp.Add(*[cls(a, size) for a in terms])
        outer, inner = _apart(f)
        if outer != 1:
            return outer * cls(inner, size)
        return None

    def fdiff(self, argindex: int = 1) -> Expr:
        raise InternalError(f"{self} has no partial derivative: see blrgen.algebra.components")

    def derivative(self, x: Expr, once: Any) -> Expr:
        """By a number x, term by term; by a component see `slope`."""
        if isinstance(x, Component):
            return self.fdiff()
        return total(once(self.args[0], x), self.args[1])

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_positive(self) -> bool | None:
        return True if self.args[0].is_positive else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0].is_nonnegative else None

    def _eval_is_negative(self) -> bool | None:
        return True if self.args[0].is_negative else None

    def _sympystr(self, printer: Any) -> str:
        return f"total({printer._print(self.args[0])})"


def put(f: Expr, mapping: Mapping[Expr, Expr]) -> Expr:
    """Symbols replaced all at once.

    SymPy does so by way of dummies, which vary over nothing: Σ_k x_k² would become d·dummy².
    """
    both = [sp.sympify(e) for pair in mapping.items() for e in pair]
    if any(e.atoms(Component) for e in both):
        return f.xreplace(dict(mapping))
    return f.subs(mapping, simultaneous=True)


def varies(f: Expr) -> bool:
    """Whether f depends on the component: a component symbol stands outside of totals."""
    if isinstance(f, Component):
        return True
    return not isinstance(f, total) and any(varies(a) for a in f.args)


def size_of(f: Expr) -> Expr | None:
    """The size of the vector f; None for a number."""
    if isinstance(f, Component):
        return f.size
    if isinstance(f, total):
        return None
    sizes = [s for s in (size_of(a) for a in f.args) if s is not None]
    if any(s != sizes[0] for s in sizes):
        raise InternalError(f"{f} mixes vectors of sizes {', '.join(map(str, sizes))}")
    return sizes[0] if sizes else None


def head(f: Expr) -> Expr:
    """The vector f without its last component."""
    shorter = {
        x: Head(x.name, x.size - 1, **{k: v for k, v in x._assumptions_orig.items() if v})
        for x in f.atoms(Component)
    }
    return f.xreplace(shorter)


def last(f: Expr) -> Expr:
    """The last component of the vector f; sums in it stay the numbers they are."""
    if isinstance(f, Component):
        return Last(f.name, **{k: v for k, v in f._assumptions_orig.items() if v})
    if isinstance(f, total) or not f.args:
        return f
    return f.func(*map(last, f.args))


def has_components(f: Expr) -> bool:
    """Whether f belongs to this ring and not to plain scalars."""
    return bool(f.has(total) or f.atoms(Component))


def _apart(term: Expr) -> tuple[Expr, Expr]:
    """A product as (factors that do not vary, factors that do)."""
    outer: list[Expr] = []
    inner: list[Expr] = []
    for a in sp.Mul.make_args(term):
        (inner if varies(a) else outer).append(a)
    return sp.Mul(*outer), sp.Mul(*inner)


def outer_totals(f: Expr) -> list[Expr]:
    """The totals of f that do not stand inside another one, in a fixed order."""
    found: dict[Expr, None] = {}

    def walk(x: Expr) -> None:
        if isinstance(x, total):
            found[x] = None
        else:
            for a in x.args:
                walk(a)

    walk(f)
    return sorted(found, key=sp.default_sort_key)


def _opened(f: Expr, x: Expr) -> tuple[Expr, dict[Expr, Expr]]:
    """f with a letter for each outer total that depends on x, and what the letters stand for."""
    letters = {t: sp.Dummy("t", real=True) for t in outer_totals(f) if t.has(x)}
    return f.xreplace(letters), {v: k for k, v in letters.items()}


@dataclass(frozen=True)
class Block:
    """The derivative of v by x: diag(diagonal) + Σ u wᵀ.

    For a number x the derivative is `diagonal` alone, as a column; for a number v it is
    a row: `diagonal` is ∇_x v.
    """

    diagonal: Expr
    outer: tuple[tuple[Expr, Expr], ...] = ()


def block(v: Expr, x: Expr) -> Block:
    """∂v/∂x for a vector or number v and a parameter x of either kind."""
    if not isinstance(x, Component):
        return Block(partial(v, x))
    if not varies(v):
        return Block(slope(v, x))
    inside, meaning = _opened(v, x)
    pairs = [(partial(inside, t).xreplace(meaning), slope(meaning[t], x)) for t in meaning]
    return Block(partial(inside, x).xreplace(meaning), tuple(pairs))


def slope(f: Expr, x: Expr) -> Expr:
    """∇_x f of a number f: its k-th component."""
    if not isinstance(x, Component):
        return partial(f, x)
    if isinstance(f, total):
        body, size = f.args
        inside, meaning = _opened(body, x)
        near = partial(inside, x).xreplace(meaning)
        far = [
            total(partial(inside, t).xreplace(meaning), size) * slope(meaning[t], x)
            for t in meaning
        ]
        return sp.Add(near, *far)
    inside, meaning = _opened(f, x)
    if inside.has(x):
        raise InternalError(f"{f} is a vector: its derivative is a block")
    return sp.Add(*[partial(inside, t).xreplace(meaning) * slope(meaning[t], x) for t in meaning])


def move(f: Expr, x: Expr, direction: Expr) -> Expr:
    """D f[direction] when only x moves: a vector for a vector f, a number for a number."""
    if not isinstance(x, Component):
        return partial(f, x) * direction
    if not varies(f):
        return total(slope(f, x) * direction, x.size)
    b = block(f, x)
    return b.diagonal * direction + sp.Add(*[u * total(w * direction, x.size) for u, w in b.outer])
