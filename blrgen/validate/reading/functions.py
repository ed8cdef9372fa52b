"""Functions of every element: NumPy's, and those of `math` on numbers only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from blrgen.validate.reading.arithmetic import (
    apply,
    binary,
    check_kinds,
    number_op,
)
from blrgen.validate.reading.comparisons import compare
from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.storing import write
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import Array, Cond, Index, Num, Size, Whole
from blrgen.validate.reading.whole import fits

Build = Callable[..., Node]


def _n(mc: Machine, x: Fraction | int) -> Node:
    return mc.graph.number(x)


def _op(mc: Machine, op: str, *args: Node) -> Node:
    """An operation on entries, truth values as numbers."""
    nodes = [mc.as_number(a) for a in args]
    if op in ("add", "sub", "mul", "div", "pow"):
        return number_op(mc, op, *nodes)
    if op == "neg":
        return mc.graph.negative(nodes[0])
    return mc.graph.make(op, nodes)


def _logarithm(mc: Machine, x: Node, base: int) -> Node:
    return _op(mc, "div", _op(mc, "log", x), _op(mc, "log", _n(mc, base)))


# name → (words, what it is at an element); an operation's own condition is in `definedness`
UNARY: dict[str, tuple[str, Build]] = {
    "negative": ("−x", lambda mc, x: _op(mc, "neg", x)),
    "positive": ("x", lambda mc, x: mc.as_number(x)),
    "reciprocal": ("1/x", lambda mc, x: _op(mc, "div", _n(mc, 1), x)),
    "square": ("x²", lambda mc, x: _op(mc, "mul", x, x)),
    "sqrt": ("√x", lambda mc, x: _op(mc, "sqrt", x)),
    "cbrt": ("the cube root of x, with the sign of x", lambda mc, x: _op(mc, "cbrt", x)),
    "exp": ("eˣ", lambda mc, x: _op(mc, "exp", x)),
    "exp2": ("2ˣ", lambda mc, x: _op(mc, "pow", _n(mc, 2), x)),
    "log": ("log x", lambda mc, x: _op(mc, "log", x)),
    "log2": ("log x / log 2", lambda mc, x: _logarithm(mc, x, 2)),
    "log10": ("log x / log 10", lambda mc, x: _logarithm(mc, x, 10)),
    "log1p": ("log(1 + x)", lambda mc, x: _op(mc, "log", _op(mc, "add", _n(mc, 1), x))),
    "expm1": ("eˣ − 1", lambda mc, x: _op(mc, "sub", _op(mc, "exp", x), _n(mc, 1))),
    "abs": ("|x|", lambda mc, x: _op(mc, "abs", x)),
    "absolute": ("|x|", lambda mc, x: _op(mc, "abs", x)),
    "fabs": ("|x|", lambda mc, x: _op(mc, "abs", x)),
    "sign": ("−1, 0 or 1", lambda mc, x: _op(mc, "sign", x)),
    "tanh": ("tanh x", lambda mc, x: _op(mc, "tanh", x)),
    "sinh": ("sinh x", lambda mc, x: _op(mc, "sinh", x)),
    "cosh": ("cosh x", lambda mc, x: _op(mc, "cosh", x)),
    "arctanh": ("artanh x", lambda mc, x: _op(mc, "atanh", x)),
    "sin": ("sin x", lambda mc, x: _op(mc, "sin", x)),
    "cos": ("cos x", lambda mc, x: _op(mc, "cos", x)),
}  # fmt: skip


def _logaddexp(mc: Machine, x: Node, y: Node) -> Node:
    return _op(mc, "log", _op(mc, "add", _op(mc, "exp", x), _op(mc, "exp", y)))


def _hypot(mc: Machine, x: Node, y: Node) -> Node:
    return _op(mc, "sqrt", _op(mc, "add", _op(mc, "mul", x, x), _op(mc, "mul", y, y)))


def _heaviside(mc: Machine, x: Node, y: Node) -> Node:
    g = mc.graph
    above = g.compare("lt", _n(mc, 0), mc.as_number(x))
    at = g.compare("eq", mc.as_number(x), _n(mc, 0))
    return g.case(above, _n(mc, 1), g.case(at, mc.as_number(y), _n(mc, 0)))


BINARY: dict[str, tuple[str, Build]] = {
    "maximum": ("the larger of x and y", lambda mc, x, y: _op(mc, "max", x, y)),
    "minimum": ("the smaller of x and y", lambda mc, x, y: _op(mc, "min", x, y)),
    "fmax": ("the larger of x and y", lambda mc, x, y: _op(mc, "max", x, y)),
    "fmin": ("the smaller of x and y", lambda mc, x, y: _op(mc, "min", x, y)),
    "hypot": ("√(x² + y²)", _hypot),
    "logaddexp": ("log(eˣ + eʸ)", _logaddexp),
    "heaviside": ("0, y or 1 for x below, at or above 0", _heaviside),
}
OPERATORS = {
    "add": ("add", "x + y"), "subtract": ("sub", "x − y"), "multiply": ("mul", "x y"),
    "divide": ("div", "x / y"), "true_divide": ("div", "x / y"), "power": ("pow", "xʸ"),
    "float_power": ("pow", "xʸ"),
}  # fmt: skip
COMPARISONS = {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
               "equal": "eq", "not_equal": "ne"}  # fmt: skip


def stored(mc: Machine, x: Any, out: Any) -> Any:
    """A result, or the array `out` that it is written to."""
    if out is None:
        return x
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if isinstance(out, Num | Whole):
        raise mc.raises("out= that is a number")
    if not isinstance(out, Array):
        raise mc.refuse("out= that is no array")
    if isinstance(x, Array) and x.data.shape != out.data.shape:
        raise mc.raises("shapes that do not fit")
    write(mc, out, out.data, x)
    return out


def entrywise(mc: Machine, build: Build, *values: Any, kind: str = "f", whole: bool = False) -> Any:
    """A function at every element; of whole numbers a number, or a whole one if it is `whole`."""
    for v in values:
        if isinstance(v, Size | Index):
            raise mc.sizes("a length as a number")
        if not isinstance(v, Num | Whole | Array | Cond):
            raise mc.refuse(f"a function of {mc.called(v)}")
    made = apply(mc, lambda *n: build(mc, *n), *values, kind=kind, whole=whole)
    if not isinstance(made, Num):
        return made
    if made.integral:
        fits(mc, *values, made)
    return replace(made, numpy=True)


def _register_unary(name: str, words: str, build: Build) -> None:
    @meaning(f"numpy.{name}", text=words, example=f"np.{name}(x)")
    def f(mc: Machine, x: Any, out: Any = None) -> Any:
        if isinstance(x, Cond) or (isinstance(x, Array) and x.kind == "b"):
            raise mc.refuse("arithmetic with truth values")
        if name == "reciprocal" and (mc.integral(x) or (isinstance(x, Array) and x.kind == "i")):
            raise mc.refuse("np.reciprocal of whole numbers")
        return stored(mc, entrywise(mc, build, x, whole=name in WHOLE), out)


WHOLE = ("negative", "positive", "square", "abs", "absolute", "sign")  # of whole numbers they stay


def _register_binary(name: str, words: str, build: Build) -> None:
    @meaning(f"numpy.{name}", text=words, example=f"np.{name}(x, y)")
    def f(mc: Machine, x1: Any, x2: Any, out: Any = None) -> Any:
        check_kinds(mc, "div", x1, x2)
        whole = name in ("maximum", "minimum", "fmax", "fmin")
        return stored(mc, entrywise(mc, build, x1, x2, whole=whole), out)


def _register_operator(name: str, op: str, words: str) -> None:
    @meaning(f"numpy.{name}", text=words, example=f"np.{name}(x, y)")
    def f(mc: Machine, x1: Any, x2: Any, out: Any = None) -> Any:
        check_kinds(mc, op, x1, x2)
        whole = name not in ("divide", "true_divide", "float_power")
        made = entrywise(mc, lambda mc, x, y: _op(mc, op, x, y), x1, x2, whole=whole)
        return stored(mc, made, out)


def _register_comparison(name: str, op: str) -> None:
    @meaning(f"numpy.{name}", text="a comparison, element by element", example=f"np.{name}(x, y)")
    def f(mc: Machine, x1: Any, x2: Any) -> Any:
        return compare(mc, op, x1, x2)


def logical(mc: Machine, op: str, *values: Any) -> Any:
    """and, or, not, element by element."""
    for v in values:
        if not (isinstance(v, Cond) or (isinstance(v, Array) and v.kind == "b")):
            raise mc.refuse("a logical function of what is no truth value")
    g = mc.graph
    known: dict[str, Build] = {"and": g.both, "or": g.either, "not": g.negated}
    build = known[op]
    return apply(mc, build, *values, kind="b")


for _name, (_words, _build) in UNARY.items():
    _register_unary(_name, _words, _build)
for _name, (_words, _build) in BINARY.items():
    _register_binary(_name, _words, _build)
for _name, (_sign, _words) in OPERATORS.items():
    _register_operator(_name, _sign, _words)
for _name, _sign in COMPARISONS.items():
    _register_comparison(_name, _sign)


def _register_logical(name: str, op: str) -> None:
    @meaning(f"numpy.{name}", text="of truth values", example=f"np.{name}(x > 0, y > 0)")
    def f(mc: Machine, x1: Any, x2: Any) -> Any:
        return logical(mc, op, x1, x2)


_register_logical("logical_and", "and")
_register_logical("logical_or", "or")


@meaning("numpy.logical_not", text="of truth values", example="np.logical_not(x > 0)")
def _not(mc: Machine, x: Any) -> Any:
    return logical(mc, "not", x)


@meaning("numpy.where", text="x where the condition holds, else y", example="np.where(x > 0, x, y)")
def _where(mc: Machine, condition: Any, x: Any, y: Any, /) -> Any:
    if not (
        isinstance(condition, Cond) or (isinstance(condition, Array) and condition.kind == "b")
    ):
        raise mc.refuse("np.where on what is no truth value")
    g = mc.graph
    check_kinds(mc, "add", x, y)
    return apply(mc, lambda c, a, b: g.case(c, mc.as_number(a), mc.as_number(b)), condition, x, y)


@meaning(
    "numpy.clip",
    "array.clip",
    text="min(max(x, low), high)",
    example=("np.clip(x, 0.2, 0.5)", "x.clip(0.2, 0.5)"),
)
def _clip(mc: Machine, a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    for v in (a, a_min, a_max):
        if v is not None:
            check_kinds(mc, "div", v, v)
    if a_min is None and a_max is None:
        raise mc.refuse("np.clip without ends")
    low = a if a_min is None else entrywise(mc, BINARY["maximum"][1], a, a_min, whole=True)
    both = low if a_max is None else entrywise(mc, BINARY["minimum"][1], low, a_max, whole=True)
    return stored(mc, both, out)


def _register_finite(name: str, known: bool) -> None:
    text = "of an argument as it came in, which is a finite number"
    examples = (f"x if np.all(np.{name}(x)) else y", f"x if math.{name}(rho) else y")

    @meaning(f"numpy.{name}", f"math.{name}", text=text, example=examples)
    def f(mc: Machine, x: Any) -> Any:
        def one(n: Node) -> Node:
            if n.op not in ("symbol", "number"):
                raise mc.refuse(f"{name} of what is computed")
            return mc.graph.truth(known)

        return apply(mc, one, x, kind="b")


for _name, _known in (("isfinite", True), ("isnan", False), ("isinf", False)):
    _register_finite(_name, _known)

# math: numbers only ---------------------------------------------------------------------------
MATH = ("sqrt", "exp", "log2", "log10", "log1p", "expm1", "fabs", "tanh", "sinh", "cosh",
        "sin", "cos", "cbrt")  # fmt: skip


def single(mc: Machine, x: Any) -> Node:
    """A number, not an array, for functions of `math`."""
    if isinstance(x, Array):
        if x.rank:
            mc.ambiguous = True
            raise mc.raises("a function of math on an array")
        return mc.as_number(x.data.reshape(-1)[0])
    if isinstance(x, Cond):
        raise mc.refuse("arithmetic with truth values")
    return mc.node(x)


def _raising(mc: Machine, n: Node, *values: Any) -> Num:
    """Functions of `math` raise where they are not defined, used or not."""
    mc.effects.append(n)
    return Num(n, mc.counted(*values))


def _register_math(name: str, build: Build, words: str) -> None:
    @meaning(f"math.{name}", text=words + ", of a number", example=f"math.{name}(rho)")
    def f(mc: Machine, x: Any, /) -> Any:
        return _raising(mc, build(mc, single(mc, x)), x)


for _name in MATH:
    _register_math(_name, UNARY[_name][1], UNARY[_name][0])
_register_math("atanh", UNARY["arctanh"][1], "artanh x")


@meaning("math.log", text="log x, or to a base", example="math.log(rho, 2)")
def _math_log(mc: Machine, x: Any, base: Any = None, /) -> Any:
    out = _op(mc, "log", single(mc, x))
    if base is not None:
        out = _op(mc, "div", out, _op(mc, "log", single(mc, base)))
    return _raising(mc, out, x)


@meaning("math.pow", text="xʸ, of numbers", example="math.pow(rho, 2)")
def _math_pow(mc: Machine, x: Any, y: Any, /) -> Any:
    return _raising(mc, _op(mc, "pow", single(mc, x), single(mc, y)), x, y)


@meaning("math.hypot", text="√(x² + y²), of numbers", example="math.hypot(rho, rho)")
def _math_hypot(mc: Machine, x: Any, y: Any, /) -> Any:
    return _raising(mc, _hypot(mc, single(mc, x), single(mc, y)), x, y)


# operator -------------------------------------------------------------------------------------
def _register_python_operator(name: str, op: str) -> None:
    @meaning(f"operator.{name}", text="the operator", example=f"operator.{name}(x, y)")
    def f(mc: Machine, a: Any, b: Any, /) -> Any:
        return binary(mc, op, a, b)


for _name, _sign in (
    ("add", "add"),
    ("sub", "sub"),
    ("mul", "mul"),
    ("truediv", "div"),
    ("pow", "pow"),
):
    _register_python_operator(_name, _sign)


@meaning("operator.neg", text="the operator", example="operator.neg(x)")
def _neg(mc: Machine, a: Any, /) -> Any:
    from blrgen.validate.reading.arithmetic import negate

    return negate(mc, a)
