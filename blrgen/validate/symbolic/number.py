"""Numbers that are expressions, and conditions that refuse to steer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from blrgen.decide.budget import Budget, TooLarge
from blrgen.decide.field import Mod
from blrgen.decide.fractions import Unsupported

Expr = Any


class CannotRun(Exception):
    """The function cannot be run on symbols: why, and on which line."""

    def __init__(self, reason: str, line: int = 0) -> None:
        self.reason, self.line = reason, line
        super().__init__(f"line {line}: {reason}" if line else reason)


class FloatType:
    """The dtype arrays of expressions say they have: equal to every floating one."""

    name, kind, itemsize, char, str = "float64", "f", 8, "d", "<f8"
    type: Any = staticmethod(lambda x=0: x)  # the running source's float64, set by `modules`

    def __eq__(self, o: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 8


FLOAT = FloatType()


class Context:
    """What the running function may assume, and what was decided for it."""

    def __init__(self, domains: Mapping[Expr, str]) -> None:
        self.domains = domains
        self.decided: list[str] = []
        self.factors: dict[Expr, Expr] = {}  # Cholesky factor → its matrix


_CONTEXT: ContextVar[Context] = ContextVar("context")


def context() -> Context:
    """The context of the run that is going on."""
    return _CONTEXT.get()


@contextlib.contextmanager
def running(domains: Mapping[Expr, str]) -> Iterator[Context]:
    """A context for the duration of one run."""
    token = _CONTEXT.set(Context(domains))
    try:
        yield _CONTEXT.get()
    finally:
        _CONTEXT.reset(token)


class Size(int):
    """An unknown size: usable as a shape, an expression in arithmetic."""

    e: Expr


def exact(x: Any) -> Any:
    """A Python number as an exact one; anything else unchanged."""
    if isinstance(x, bool | Sym | np.ndarray):
        return x
    if isinstance(x, Size):
        return Sym(x.e)
    if isinstance(x, int | np.integer):
        return Sym(sp.Integer(int(x)))
    if isinstance(x, float | np.floating):
        return Sym(rational(float(x)))
    return x


def rational(x: float) -> Expr:
    """The rational number a float literal was written as (0.1 is 1/10)."""
    if x != x:
        raise CannotRun("a NaN")
    if x in (float("inf"), float("-inf")):
        return sp.oo if x > 0 else -sp.oo
    return sp.Rational(repr(x))


def expr_of(x: Any) -> Expr:
    """The SymPy expression of a number."""
    if isinstance(x, Sym):
        return x.e
    if isinstance(x, Truth):
        return sp.Piecewise((1, x.c), (0, True))
    if isinstance(x, np.ndarray) and x.size == 1:
        return expr_of(x.reshape(-1)[0])
    if isinstance(x, bool | np.bool_):
        return sp.Integer(int(x))
    if isinstance(x, Size):
        return x.e
    if isinstance(x, int | np.integer):
        return sp.Integer(int(x))
    if isinstance(x, float | np.floating):
        return rational(float(x))
    if isinstance(x, Fraction):
        return sp.Rational(x.numerator, x.denominator)
    if isinstance(x, sp.Basic):
        return x
    raise CannotRun(f"a {type(x).__name__} where a number is expected")


NUMBERS = (int, float, Fraction, np.integer, np.floating, np.bool_)


class Sym:
    """One number, as an expression in symbols."""

    __slots__ = ("e",)
    __array_priority__ = -1.0

    def __init__(self, e: Expr) -> None:
        self.e = e

    def _with(self, other: Any, f: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, Sym):
            return Sym(f(self.e, other.e))
        if isinstance(other, Mod):
            return f(self._mod(), other)
        if isinstance(other, (*NUMBERS, Truth)):
            return Sym(f(self.e, expr_of(other)))
        return NotImplemented

    def _mod(self) -> Mod:
        if not self.e.is_Rational:
            raise CannotRun("a symbol among numbers modulo a prime")
        return Mod.lift(Fraction(int(self.e.p), int(self.e.q)))

    def __add__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: a + b)

    def __radd__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: b + a)

    def __sub__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: a - b)

    def __rsub__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: b - a)

    def __mul__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: a * b)

    def __rmul__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: b * a)

    def __truediv__(self, o: Any) -> Any:
        return self._with(o, divide)

    def __rtruediv__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: divide(b, a))

    def __pow__(self, o: Any) -> Any:
        if isinstance(o, Mod):
            raise CannotRun("an exponent modulo a prime")
        return self._with(o, power)

    def __rpow__(self, o: Any) -> Any:
        if isinstance(o, Mod):
            return Sym(self.e)._mod_power(o)
        return self._with(o, lambda a, b: power(b, a))

    def _mod_power(self, base: Mod) -> Any:
        if not self.e.is_Integer:
            root = getattr(base, "root", None)  # of a number that was made as a square
            if root is None or not (2 * self.e).is_Integer:
                raise CannotRun("a root among numbers modulo a prime")
            return root ** int(2 * self.e)
        return base ** int(self.e)

    def __neg__(self) -> Sym:
        return Sym(-self.e)

    def __pos__(self) -> Sym:
        return self

    def __abs__(self) -> Sym:
        return Sym(sp.Abs(self.e))

    def _compare(self, o: Any, relation: Any) -> Any:
        if isinstance(o, np.ndarray):
            return NotImplemented
        if not isinstance(o, Sym) and not isinstance(o, NUMBERS):
            return NotImplemented
        return Truth(relation(self.e, expr_of(o)))

    def __lt__(self, o: Any) -> Any:
        return self._compare(o, sp.Lt)

    def __le__(self, o: Any) -> Any:
        return self._compare(o, sp.Le)

    def __gt__(self, o: Any) -> Any:
        return self._compare(o, sp.Gt)

    def __ge__(self, o: Any) -> Any:
        return self._compare(o, sp.Ge)

    def __eq__(self, o: Any) -> Any:
        return self._compare(o, sp.Eq)

    def __ne__(self, o: Any) -> Any:
        return self._compare(o, sp.Ne)

    def __hash__(self) -> int:
        return hash(self.e)

    def __bool__(self) -> bool:
        return bool(Truth(sp.Ne(self.e, 0)))

    def __index__(self) -> int:
        if self.e.is_Integer:
            return int(self.e)
        raise CannotRun(f"{self.e} used as a whole number")

    def __repr__(self) -> str:
        return str(self.e)

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return str(self.e)

    def conjugate(self) -> Sym:
        return self

    # what arrays of one element and NumPy scalars have
    ndim, shape, size = 0, (), 1

    @property
    def T(self) -> Sym:
        return self

    @property
    def real(self) -> Sym:
        return self

    @property
    def dtype(self) -> Any:
        return FLOAT

    def item(self) -> Sym:
        return self

    def copy(self) -> Sym:
        return self

    def astype(self, *_: Any, **__: Any) -> Sym:
        return self


def divide(a: Any, b: Any) -> Any:
    """a/b, refused when b is zero."""
    if isinstance(b, sp.Basic) and b.is_zero:
        raise CannotRun("a division by zero")
    return a / b


def power(a: Expr, b: Expr) -> Expr:
    """a^b, refused when b is a huge number."""
    if b.is_Integer and abs(int(b)) > 10_000:
        raise CannotRun(f"the power {b}")
    return a**b


class Truth:
    """A condition.  As a bool it answers only when the domains decide it."""

    __slots__ = ("c",)

    def __init__(self, c: Any) -> None:
        self.c = c

    def __bool__(self) -> bool:
        known = decide(self.c)
        if known is None:
            raise CannotRun(
                f"the condition {self.c} depends on the data and steers what is executed"
            )
        if self.c not in (sp.true, sp.false):
            context().decided.append(f"{self.c} taken as {known} inside the domains")
        return known

    def _with(self, o: Any, f: Any) -> Any:
        if isinstance(o, Truth):
            return Truth(f(self.c, o.c))
        if isinstance(o, bool | np.bool_):
            return Truth(f(self.c, sp.true if o else sp.false))
        return NotImplemented

    def __and__(self, o: Any) -> Any:
        return self._with(o, sp.And)

    __rand__ = __and__

    def __or__(self, o: Any) -> Any:
        return self._with(o, sp.Or)

    __ror__ = __or__

    def __invert__(self) -> Truth:
        return Truth(sp.Not(self.c))

    def logical_not(self) -> Truth:
        return Truth(sp.Not(self.c))

    def __repr__(self) -> str:
        return str(self.c)

    # a truth value in arithmetic is 0 or 1
    def __mul__(self, o: Any) -> Any:
        return o * Sym(expr_of(self))

    __rmul__ = __mul__

    def __add__(self, o: Any) -> Any:
        return o + Sym(expr_of(self))

    __radd__ = __add__

    def __sub__(self, o: Any) -> Any:
        return Sym(expr_of(self)) - o

    def __rsub__(self, o: Any) -> Any:
        return o - Sym(expr_of(self))


def decide(c: Any) -> bool | None:
    """Whether a condition holds everywhere inside the domains, nowhere, or neither (None)."""
    from blrgen.decide.rational import Normaliser

    if c in (sp.true, sp.false):
        return bool(c)
    if isinstance(c, sp.Not):
        inner = decide(c.args[0])
        return None if inner is None else not inner
    if isinstance(c, sp.And | sp.Or):
        parts = [decide(a) for a in c.args]
        short = isinstance(c, sp.Or)
        if short in parts:
            return short
        return None if None in parts else not short
    if not c.is_Relational:
        return None
    if sp.oo in c.args or -sp.oo in c.args:
        finite = next((a for a in c.args if a not in (sp.oo, -sp.oo)), sp.oo)
        high = c.func(*[sp.Integer(0) if a == finite else a for a in c.args])
        return bool(high) if high in (sp.true, sp.false) else None
    try:
        reader = Normaliser(context().domains, 60, Budget(1e7))
        difference = reader.convert(c.args[0] - c.args[1])
        weak, strict = reader.sign_of(difference), reader.sign_of(difference, strict=True)
    except (TooLarge, Unsupported, IndexError):
        return None
    sure, never = {
        ">": (strict > 0, weak < 0), "<": (strict < 0, weak > 0),
        ">=": (weak > 0, strict < 0), "<=": (weak < 0, strict > 0),
        "!=": (strict != 0, False), "==": (False, strict != 0),
    }[c.rel_op]  # fmt: skip
    return True if sure else False if never else None
