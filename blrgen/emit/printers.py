"""Nodes as Python expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from blrgen.emit.special import helper
from blrgen.emit.uses import use, written
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as axes
from blrgen.program.inspect import ATOM, POWER, PRODUCT, SIGN, Printer
from blrgen.program.naming import is_correction

LOOPED = "binomial_mean_"  # functions of numbers, whose loops differ from element to element
_OWN = ("expectation_", "quantile_", LOOPED)  # functions made for one file
NUMPY = {
    "sqrt": "np.sqrt", "exp": "np.exp", "log": "np.log", "log1p": "np.log1p",
    "expm1": "np.expm1", "sin": "np.sin", "cos": "np.cos", "tanh": "np.tanh",
    "sinh": "np.sinh", "cosh": "np.cosh", "atanh": "np.arctanh", "abs": "np.abs",
    "sign": "np.sign", "floor": "np.floor", "max": "np.maximum", "min": "np.minimum",
    "isfinite": "np.isfinite",
}  # fmt: skip
_MATH = {
    "sqrt": "math.sqrt", "exp": "math.exp", "log": "math.log", "log1p": "math.log1p",
    "expm1": "math.expm1", "sin": "math.sin", "cos": "math.cos", "tanh": "math.tanh",
    "sinh": "math.sinh", "cosh": "math.cosh", "atanh": "math.atanh", "abs": "abs",
    "floor": "math.floor", "max": "max", "min": "min", "isfinite": "math.isfinite",
}  # fmt: skip


def literal(value: Fraction) -> tuple[str, int]:
    """A number as Python text: an integer, a decimal that means exactly it, or a quotient."""
    level = SIGN if value < 0 else ATOM
    if value.denominator == 1:
        return str(value.numerator), level
    decimal = repr(float(value)).replace("e-0", "e-")
    if Fraction(decimal) == value:
        return decimal, level
    return f"{value.numerator} / {value.denominator}", PRODUCT


class PythonPrinter(Printer):
    """What all Python targets share; `names` says how a symbol is written."""

    functions: Mapping[str, str] = {}

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.names = names or {}

    def print_Const(self, node: n.Const) -> tuple[str, int]:
        return literal(node.value)

    def print_Pow(self, node: n.Pow) -> tuple[str, int]:
        return self._power(self.at(node.base, ATOM), str(node.exponent))

    def _power(self, base: str, exponent: str) -> tuple[str, int]:
        """Close together when both are names or numbers, as formatters want it."""
        simple = all(re.fullmatch(r"[\w.]+", x) for x in (base, exponent))
        return f"{base}**{exponent}" if simple else f"{base} ** {exponent}", POWER

    def print_Named(self, node: n.Named) -> tuple[str, int]:
        return f"{use('math')}.{node.name}", ATOM

    def print_Ref(self, node: n.Ref) -> tuple[str, int]:
        return written(self.names.get(node.name, node.name)), ATOM

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        if node.name == "all":
            return self.every(node.args)
        if node.name == "pow":
            return self._power(self.at(node.args[0], ATOM), self.at(node.args[1], POWER))
        if node.name not in self.functions:
            return self._special(node)
        name, args = self.functions[node.name], [self(a) for a in node.args]
        use(name.partition(".")[0])
        result = args[-1]
        for a in reversed(args[:-1]):
            result = f"{name}({a}, {result})"
        return (result if len(args) > 1 else f"{name}({result})"), ATOM

    def is_plain(self, node: n.Call) -> bool:
        """Whether a call is written as its name with its arguments behind it."""
        return False

    def every(self, tests: tuple[n.Node, ...]) -> tuple[str, int]:
        """Whether all of several conditions hold."""
        return " and ".join(map(self, tests)), 0

    def print_Select(self, node: n.Select) -> tuple[str, int]:
        if node.same:
            return self.call(use("_either"), self(node.condition), self(node.yes), self(node.no))
        return self.choice(node)

    def choice(self, node: n.Select) -> tuple[str, int]:
        """One of two values."""
        yes, condition, no = self.at(node.yes, 1), self.at(node.condition, 0), self.at(node.no, 1)
        return f"{yes} if {condition} else {no}", 0

    def _special(self, node: n.Call) -> tuple[str, int]:
        """A function that the file holds itself."""
        if helper(f"_{node.name}") is None and not node.name.startswith(_OWN):
            raise InternalError(f"{type(self).__name__} does not know {node.name}")
        return f"{use(f'_{node.name}')}({', '.join(self.number(a) for a in node.args)})", ATOM

    def number(self, node: n.Node) -> str:
        """An argument of a function that the file holds itself."""
        return self(node)


class ScalarPrinter(PythonPrinter):
    """Python floats and `math`: the scalar section."""

    functions = _MATH

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        if node.name == "sign":
            return f"{use('math')}.copysign(1, {self(node.args[0])})", ATOM
        return super().print_Call(node)

    def print_Sub(self, node: n.Sub) -> tuple[str, int]:
        """1 − βᵗ loses its digits where β is close to 1, unless it is computed as a whole."""
        if not is_correction(node) or node.right.children[1] != n.Ref("t"):
            return super().print_Sub(node)
        base, power = (self(a) for a in node.right.children)
        return f"{use('_one_minus_power')}({base}, {power})", ATOM

    def number(self, node: n.Node) -> str:
        return f"{use('np')}.float64({self(node)})"


class ArrayPrinter(PythonPrinter):
    """NumPy arrays."""

    functions: Mapping[str, str] = NUMPY

    def _special(self, node: n.Call) -> tuple[str, int]:
        if not node.name.startswith(LOOPED):
            return super()._special(node)
        return self.call(use("_over"), use(f"_{node.name}"), *map(self.number, node.args))

    def applied(self, name: str) -> tuple[str, list[str]]:
        """What applies a function of the file to arrays, and its first arguments."""
        return use(f"_{name}"), []

    def every(self, tests: tuple[n.Node, ...]) -> tuple[str, int]:
        return " & ".join(self.at(x, ATOM) for x in tests), 0

    def choice(self, node: n.Select) -> tuple[str, int]:
        return self.call(f"{use('np')}.where", self(node.condition), self(node.yes), self(node.no))

    def print_Red(self, node: axes.Red) -> tuple[str, int]:
        if node.op == "sum":
            return self.call(f"{use('np')}.sum", self(node.arg))
        whole = f"{use('np')}.logaddexp.reduce({self(node.arg)})"
        if node.more is None:
            return whole, ATOM
        return self.call(f"{use('np')}.logaddexp", whole, self(node.more))

    def print_Extent(self, node: axes.Extent) -> tuple[str, int]:
        return self.call(f"{node.axis}.dtype.type", f"{node.axis}.size")
