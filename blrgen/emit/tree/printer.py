"""The tree → Python: what all targets write alike."""

from __future__ import annotations

from blrgen.emit.printers import _NUMPY, PythonPrinter
from blrgen.emit.text import WIDTH, call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.fitting import assigned
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.inspect import ATOM, PRODUCT, SUM

PARTS = (t.Sum, t.Difference, t.Times, t.Quotient, t.Entry, t.Shape, t.Length, n.Call)
KINDS = {"real": "real", "truth": "np.bool_", "whole": "np.int64"}


class Places(PythonPrinter):
    """Whole numbers and entries of arrays."""

    def print_Const(self, node: n.Const) -> tuple[str, int]:
        """A whole number beyond machine integers is written as a float."""
        if abs(node.value) > 2**53:
            return repr(float(node.value)), ATOM
        return super().print_Const(node)

    def print_Whole(self, node: t.Whole) -> tuple[str, int]:
        return str(node.value), ATOM

    def print_Span(self, node: t.Span) -> tuple[str, int]:
        start = "" if node.start is None or node.start == t.Whole(0) else self(node.start)
        stop = "" if node.stop is None else self(node.stop)
        space = " " if isinstance(node.start, PARTS) or isinstance(node.stop, PARTS) else ""
        return f"{start}{start and space}:{stop and space}{stop}", 0

    def print_Entry(self, node: t.Entry) -> tuple[str, int]:
        return f"{node.array}[{', '.join(map(self, node.index)) or '()'}]", ATOM

    def print_Shape(self, node: t.Shape) -> tuple[str, int]:
        return f"{node.array}.shape[{node.axis}]", ATOM

    def print_Length(self, node: t.Length) -> tuple[str, int]:
        return f"{node.array}.size", ATOM

    def print_Least(self, node: t.Least) -> tuple[str, int]:
        return self.call("min", *map(self, node.args))

    def print_Greatest(self, node: t.Greatest) -> tuple[str, int]:
        return self.call("max", *map(self, node.args))

    def print_Integer(self, node: t.Integer) -> tuple[str, int]:
        return self.call("np.int64", self(node.arg))

    def print_Real(self, node: t.Real) -> tuple[str, int]:
        return self.call("real", self(node.arg))

    def print_Sum(self, node: t.Sum) -> tuple[str, int]:
        if isinstance(node.right, t.Whole) and node.right.value < 0:
            return f"{self.at(node.left, SUM)} - {-node.right.value}", SUM
        return f"{self.at(node.left, SUM)} + {self.at(node.right, SUM)}", SUM

    def print_Difference(self, node: t.Difference) -> tuple[str, int]:
        return f"{self.at(node.left, SUM)} - {self.at(node.right, PRODUCT)}", SUM

    def print_Times(self, node: t.Times) -> tuple[str, int]:
        return f"{self.at(node.left, PRODUCT)} * {self.at(node.right, PRODUCT)}", PRODUCT

    def print_Quotient(self, node: t.Quotient) -> tuple[str, int]:
        return f"{self.at(node.left, PRODUCT)} // {self.at(node.right, ATOM)}", PRODUCT


class Expressions(Places):
    """Expressions over names and entries."""

    functions = _NUMPY

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        """Functions that the file holds begin with an underscore already."""
        if node.name.startswith("_"):
            return self.call(node.name, *map(self, node.args))
        if node.name in ("max", "min"):  # keeps its first argument where nothing is larger
            first, *rest = sorted(node.args, key=lambda x: isinstance(x, n.Const))
            return self.call(node.name, self(first), *map(self, rest))
        return super().print_Call(node)

    def choice(self, node: n.Select) -> tuple[str, int]:
        yes, condition, no = self.at(node.yes, 1), self.at(node.condition, 0), self.at(node.no, 1)
        return f"{yes} if {condition} else {no}", 0


class Lines:
    """Statements as lines."""

    def __init__(self, expressions: PythonPrinter) -> None:
        self.expr = expressions

    def body(self, body: tuple[t.Statement, ...], indent: int) -> list[str]:
        return [line for s in body for line in self.statement(s, indent)]

    def statement(self, s: t.Statement, indent: int) -> list[str]:
        method = getattr(self, f"line_{type(s).__name__}", None)
        if method is None:
            raise InternalError(f"{type(self).__name__} cannot print {type(s).__name__}")
        found: list[str] = method(s, indent)
        return found

    def line_Assign(self, s: t.Assign, indent: int) -> list[str]:
        return assigned(self.expr(s.target), self.expr(s.value), indent).split("\n")

    def line_Increase(self, s: t.Increase, indent: int) -> list[str]:
        return assigned(self.expr(s.target), self.expr(s.value), indent, "+=").split("\n")

    def returned(self, values: tuple[n.Node, ...], indent: int) -> list[str]:
        """`return` with all values, if there are any."""
        margin = " " * indent
        words = [self.expr(x) for x in values]
        line = f"{margin}return {', '.join(words)}"
        if len(line) > WIDTH:
            return [f"{margin}return (", *(f"{margin}    {x}," for x in words), f"{margin})"]
        return [line] if values else []

    def line_Make(self, s: t.Make, indent: int) -> list[str]:
        shape = ", ".join(map(self.expr, s.shape)) + ("," if len(s.shape) == 1 else "")
        made = f"np.empty(({shape}), {KINDS[s.kind]})"
        if s.fill is not None:
            made = f"np.full(({shape}), {self.expr(s.fill)})"
        return [f"{' ' * indent}{s.name} = {made}"]

    def line_View(self, s: t.View, indent: int) -> list[str]:
        return [f"{' ' * indent}{s.name} = {self.expr(s.part)}"]

    def line_For(self, s: t.For, indent: int) -> list[str]:
        over = f"{'prange' if s.side else 'range'}({self.ends(s)})"
        return [f"{' ' * indent}for {s.letter} in {over}:", *self.body(s.body, indent + 4)]

    def ends(self, s: t.For) -> str:
        start, stop = self.expr(s.start), self.expr(s.stop)
        if s.down:
            last = self.expr(t.plus(s.stop, t.Whole(-1)))
            return f"{last}, {self.expr(t.plus(s.start, t.Whole(-1)))}, -1"
        step = "" if s.step is None else f", {self.expr(s.step)}"
        return f"{start}, {stop}{step}" if step or s.start != t.Whole(0) else stop

    def line_If(self, s: t.If, indent: int) -> list[str]:
        margin = " " * indent
        lines = [f"{margin}if {self.expr(s.condition)}:", *self.body(s.body, indent + 4)]
        if s.other:
            lines += [f"{margin}else:", *self.body(s.other, indent + 4)]
        return lines

    def line_Break(self, s: t.Break, indent: int) -> list[str]:
        return [" " * indent + "break"]

    def line_Invoke(self, s: t.Invoke, indent: int) -> list[str]:
        return call(f"{' ' * indent}{s.function}(", map(self.expr, s.args)).split("\n")
