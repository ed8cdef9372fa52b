"""The functions an expression may call: how many arguments, of which rank, and what they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Expr = Any
Build = Callable[..., Expr]


@dataclass(frozen=True)
class Function:
    """A callable name: the rank each argument must have and the rank of the result."""

    name: str
    arguments: tuple[str, ...]  # "scalar" | "vector" | "matrix" | "any"
    result: str  # "scalar" | "matrix" | "flipped" (vector ↔ row)
    build: Build
    integer_like: bool = False  # computes with numbers at once: they must be small
    optional: int = 0  # how many of the last arguments may be left out


def _of(name: str) -> Build:
    def build(*args: Expr) -> Expr:
        import sympy as sp

        return getattr(sp, name)(*args)

    return build


def _exp(x: Expr) -> Expr:
    import sympy as sp

    # exp(log(4) - 2*log(2)) leaves an unevaluated exp(0) behind
    return sp.exp(x).xreplace({sp.exp(0, evaluate=False): sp.S.One})


def _log1p(x: Expr) -> Expr:
    import sympy as sp

    return sp.log(1 + x)


def _expm1(x: Expr) -> Expr:
    return _exp(x) - 1


def _digamma(x: Expr) -> Expr:
    import sympy as sp

    return sp.polygamma(0, x)


def _dot(a: Expr, b: Expr) -> Expr:
    from blrgen.algebra.ranks import T, trace

    if (a * b).is_commutative:
        return _sum(a * b)
    return trace(T(a) * b)


def _sum(x: Expr) -> Expr:
    from blrgen.algebra.components import size_of, total

    return total(x, size_of(x))


def _prod(x: Expr) -> Expr:
    import sympy as sp

    powers = [f.as_base_exp() for f in sp.Mul.make_args(x)]
    return sp.exp(_sum(sp.Add(*[k * sp.log(b) for b, k in powers])))


def _head(x: Expr) -> Expr:
    from blrgen.algebra.components import head

    return head(x)


def _last(x: Expr) -> Expr:
    from blrgen.algebra.components import last

    return last(x)


def _outer(a: Expr, b: Expr) -> Expr:
    from blrgen.algebra.ranks import T

    return a * T(b)


def _transpose(x: Expr) -> Expr:
    from blrgen.algebra.ranks import T

    return T(x)


def _inv(x: Expr) -> Expr:
    return x**-1


def _trace(x: Expr) -> Expr:
    from blrgen.algebra.ranks import trace

    return trace(x)


def _logdet(x: Expr) -> Expr:
    from blrgen.algebra.ranks import logdet

    return logdet(x)


def _multigamma(name: str) -> Build:
    def build(*args: Expr) -> Expr:
        from blrgen.algebra import multigamma

        return getattr(multigamma, name)(*args)

    return build


_ONE = ("scalar",)
_TWO = ("scalar", "scalar")

FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in (
        Function("exp", _ONE, "scalar", _exp),
        Function("log", _ONE, "scalar", _of("log")),
        Function("log1p", _ONE, "scalar", _log1p),
        Function("expm1", _ONE, "scalar", _expm1),
        Function("sqrt", _ONE, "scalar", _of("sqrt")),
        Function("abs", _ONE, "scalar", _of("Abs")),
        Function("sign", _ONE, "scalar", _of("sign")),
        Function("max", _TWO, "scalar", _of("Max")),
        Function("min", _TWO, "scalar", _of("Min")),
        Function("sin", _ONE, "scalar", _of("sin")),
        Function("cos", _ONE, "scalar", _of("cos")),
        Function("tanh", _ONE, "scalar", _of("tanh")),
        Function("sinh", _ONE, "scalar", _of("sinh")),
        Function("cosh", _ONE, "scalar", _of("cosh")),
        Function("gamma", _ONE, "scalar", _of("gamma"), integer_like=True),
        Function("loggamma", _ONE, "scalar", _of("loggamma"), integer_like=True),
        Function("digamma", _ONE, "scalar", _digamma, integer_like=True),
        Function("polygamma", _TWO, "scalar", _of("polygamma"), integer_like=True),
        Function("beta", _TWO, "scalar", _of("beta"), integer_like=True),
        Function("factorial", _ONE, "scalar", _of("factorial"), integer_like=True),
        Function("binomial", _TWO, "scalar", _of("binomial"), integer_like=True),
        Function("erf", _ONE, "scalar", _of("erf")),
        Function("besseli", _TWO, "scalar", _of("besseli"), integer_like=True),
        Function("besselk", _TWO, "scalar", _of("besselk"), integer_like=True),
        Function("zeta", _TWO, "scalar", _of("zeta"), integer_like=True, optional=1),
        Function("multigammaln", _TWO, "scalar", _multigamma("multigammaln"), integer_like=True),
        Function(
            "multipolygamma", ("scalar", "scalar", "scalar"), "scalar",
            _multigamma("multipolygamma"), integer_like=True,
        ),
        Function("dot", ("vector", "vector"), "scalar", _dot),
        Function("sum", ("vector",), "scalar", _sum),
        Function("prod", ("vector",), "scalar", _prod),
        Function("head", ("vector",), "vector", _head),
        Function("last", ("vector",), "scalar", _last),
        Function("outer", ("vector", "vector"), "matrix", _outer),
        Function("transpose", ("any",), "flipped", _transpose),
        Function("inv", ("matrix",), "matrix", _inv),
        Function("trace", ("matrix",), "scalar", _trace),
        Function("logdet", ("matrix",), "scalar", _logdet),
    )
}  # fmt: skip

SQUARE = ("inv", "trace", "logdet")  # of matrices with as many rows as columns
MATRIX_FUNCTIONS = frozenset({"dot", "outer", "transpose", "inv", "trace", "logdet"})
COMPONENT_FUNCTIONS = frozenset({"sum", "prod", "head", "last"})

# how SymPy and the algebra print these, so that what is printed can be read back
PRINTED = {"Abs": "abs", "Max": "max", "Min": "min", "T": "transpose", "total": "sum"}

CONSTANTS = ("pi",)


def function(name: str) -> Function | None:
    """The function of that name, also under the name it is printed with."""
    return FUNCTIONS.get(PRINTED.get(name, name))
