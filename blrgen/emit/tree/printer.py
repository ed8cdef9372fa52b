"""The tree → Python: what all targets write alike."""

from __future__ import annotations

import re

from blrgen.emit.printers import NUMPY, PythonPrinter, literal
from blrgen.emit.text import WIDTH, call, filled
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.breaks import assigned
from blrgen.emit.uses import use
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.inspect import ATOM, PRODUCT, SIGN, SUM

KINDS = {"word": "np.uint32", "real": "real", "truth": "np.bool_", "whole": "np.int64"}


class Places(PythonPrinter):
    """Whole numbers and entries of arrays."""

    def print_Const(self, node: n.Const) -> tuple[str, int]:
        """A whole number beyond machine integers is written as a float."""
        if abs(node.value) > 2**53:
            return repr(float(node.value)), ATOM
        return super().print_Const(node)

    def print_Whole(self, node: t.Whole) -> tuple[str, int]:
        return str(node.value), ATOM

    def print_Float(self, node: t.Float) -> tuple[str, int]:
        text, level = literal(node.value)
        return (f"{text}.0" if node.value.denominator == 1 else text), level

    def print_Span(self, node: t.Span) -> tuple[str, int]:
        start = "" if node.start is None or node.start == t.Whole(0) else self(node.start)
        stop = "" if node.stop is None else self(node.stop)
        simple = all(re.fullmatch(r"\w*", x) for x in (start, stop))
        return (f"{start}:{stop}" if simple else f"{start} : {stop}".strip()), 0

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

    def print_RoundedUp(self, node: t.RoundedUp) -> tuple[str, int]:
        return f"-(-{self.at(node.left, ATOM)} // {self.at(node.right, ATOM)})", SIGN

    def print_Remainder(self, node: t.Remainder) -> tuple[str, int]:
        return f"{self.at(node.left, PRODUCT)} % {self.at(node.right, ATOM)}", PRODUCT

    def print_Part(self, node: t.Part) -> tuple[str, int]:
        return f"{self.at(node.arg, ATOM)}[{', '.join(map(self, node.index))}]", ATOM

    def print_Retyped(self, node: t.Retyped) -> tuple[str, int]:
        return f"{self.at(node.arg, ATOM)}.view({node.like}.dtype)", ATOM

    def print_Outside(self, node: t.Outside) -> tuple[str, int]:
        return f"not 0 < {self(node.arg)} < np.inf", 0

    def print_Quoted(self, node: t.Quoted) -> tuple[str, int]:
        return f'"{node.words}"', ATOM

    def print_Product(self, node: t.Product) -> tuple[str, int]:
        return f"{self.at(node.left, PRODUCT)} @ {self.at(node.right, SIGN)}", PRODUCT

    def print_Several(self, node: t.Several) -> tuple[str, int]:
        return ", ".join(map(self, node.args)), 0

    def print_Apply(self, node: t.Apply) -> tuple[str, int]:
        args = [*map(self, node.args), *(f"{k}={v}" for k, v in node.options)]
        if not node.function and len(args) == 1:
            return f"({args[0]},)", ATOM
        name = use(node.function) if node.function.startswith("_") else node.function
        return self.call(name, *args)

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

    functions = NUMPY

    def is_plain(self, node: n.Call) -> bool:
        return node.name.startswith("_") or node.name in ("max", "min")

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        """Functions that the file holds begin with an underscore already."""
        if node.name.startswith("_"):
            return self.call(use(node.name), *map(self, node.args))
        if node.name in ("maximum", "minimum"):
            return self.nested(f"np.{node.name}", node.args)
        if node.name in ("max", "min"):  # keeps its first argument where nothing is larger
            first, *rest = sorted(node.args, key=lambda x: isinstance(x, n.Const))
            return self.call(node.name, self(first), *map(self, rest))
        return super().print_Call(node)

    def nested(self, function: str, args: tuple[n.Node, ...]) -> tuple[str, int]:
        """A function of two, of several."""
        first, *rest = args
        return self.call(
            function,
            self(first),
            self.nested(function, tuple(rest))[0] if len(rest) > 1 else self(rest[0]),
        )


def arguments(f: t.Function, number: str = "float") -> list[str]:
    """Its arguments by kind; several numbers of one type are one argument."""
    numbers = [f"numbers: {use('Numbers')}"] if f.numbers else []
    if f.handed:
        return [*(f"{x}: int" for x in f.wholes), *numbers, "*arrays: Array"]
    return [
        *(f"{x}: Array" for x in f.arrays),
        *(f"{x}: int" for x in f.wholes),
        *(f"{x}: tuple[int, ...]" for x in f.lengths),
        *(f"{x}: {number}" for x in f.reals),
        *numbers,
    ]


def unpacked(f: t.Function) -> list[str]:
    """The lines that give what comes in one argument its names, as many in each as fit."""
    names, given = (f.arrays, "arrays") if f.handed else (f.numbers, "numbers")
    groups: list[list[str]] = [[]]
    for name in names:
        if len(f"    {', '.join([*groups[-1], name])} = {given}[99:99]") > WIDTH:
            groups.append([])
        groups[-1].append(name)
    rows, first = [], 0
    for group in groups if names else ():
        last = first + len(group)
        low, high = str(first or ""), str(last) if last < len(names) else ""
        part = f"[{low}:{high}]" if len(groups) > 1 else ""
        whole = ", ".join(group) if len(group) > 1 else f"({group[0]},)"
        rows.append(f"    {whole} = {given}{part}")
        first = last
    return rows


def is_typed(f: t.Function) -> bool:
    """Whether it makes arrays or numbers of the arrays' type."""
    for s in t.statements(f.body):
        if isinstance(s, t.Make) and s.fill is None:
            if s.kind == "real":
                return True
            continue
        if any(
            isinstance(x, t.Real) or x == t.name("real") or _is_real(x)
            for e in t.expressions(s)
            for x in n.walk(e)
        ):
            return True
    return False


def _is_real(e: n.Node) -> bool:
    """Whether it is made with numbers of the arrays' type."""
    return isinstance(e, t.Apply) and ("dtype", "real") in e.options


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
        target, value = self.expr(s.target), self.expr(s.value)
        if isinstance(s.value, n.Call) and self.expr.is_plain(s.value):
            prefix = f"{' ' * indent}{target} = {s.value.name}("
            return call(prefix, map(self.expr, s.value.args)).split("\n")
        if isinstance(s.target, t.Several) and isinstance(s.value, t.Apply):
            return self.several(s.target, s.value, indent)
        return assigned(target, value, indent).split("\n")

    def several(self, target: t.Several, value: t.Apply, indent: int) -> list[str]:
        """What one call returns under several names, in brackets where they are many."""
        names = [*map(self.expr, target.args)]
        plain = f"{' ' * indent}{', '.join(names)} = {value.function}("
        if len(plain) > WIDTH:
            plain = f"{call(f'{chr(32) * indent}(', names)} = {value.function}("
        *head, last = plain.split("\n")
        return [*head, *call(last, map(self.expr, value.args)).split("\n")]

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
        shape = ", ".join(map(self.expr, s.shape))
        shape = shape if len(s.shape) == 1 else f"({shape})"
        made = f"np.empty({shape}, {KINDS[s.kind]})"
        if s.fill is not None:
            made = f"np.full({shape}, {self.expr(s.fill)})"
        return [f"{' ' * indent}{s.name} = {made}"]

    def line_View(self, s: t.View, indent: int) -> list[str]:
        return [f"{' ' * indent}{s.name} = {self.expr(s.part)}"]

    def line_For(self, s: t.For, indent: int) -> list[str]:
        over = f"{use('prange') if s.side else 'range'}({self.ends(s)})"
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

    def line_Return(self, s: t.Return, indent: int) -> list[str]:
        return [f"{' ' * indent}return {self.expr(s.value)}"]

    def line_Break(self, s: t.Break, indent: int) -> list[str]:
        return [" " * indent + "break"]

    def line_Invoke(self, s: t.Invoke, indent: int) -> list[str]:
        if s.support:
            use(s.function)
        margin, words = " " * indent, [self.argument(x, indent + 4) for x in s.args]
        lines = call(f"{margin}{s.function}(", words).split("\n")
        if len(lines) < 6 or any("\n" in x for x in words):
            return lines
        inside = filled((f"{x}," for x in words), indent + 4)
        return [f"{margin}{s.function}(", *inside, f"{margin})  # fmt: skip"]

    def argument(self, e: n.Node, indent: int) -> str:
        """One argument; several in brackets on lines of their own where they are many."""
        text = self.expr(e)
        if not isinstance(e, t.Apply) or e.function or len(text) + indent < WIDTH:
            return text
        return call(f"{' ' * indent}(", map(self.expr, e.args), "),").strip()[:-1]
