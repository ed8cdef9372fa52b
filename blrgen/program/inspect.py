"""Nodes as text, with the usual precedence and no more brackets than needed."""

from __future__ import annotations

from blrgen.errors import InternalError
from blrgen.program import nodes as n

SUM, PRODUCT, SIGN, POWER, ATOM = 1, 2, 3, 4, 5


class Printer:
    """Nodes → text; a target overrides what it writes differently."""

    times = "*"

    def __call__(self, node: n.Node) -> str:
        return self.at(node, 0)

    def at(self, node: n.Node, level: int) -> str:
        """The text, in brackets if it binds more loosely than `level`."""
        method = getattr(self, f"print_{type(node).__name__}", None)
        if method is None:
            raise InternalError(f"{type(self).__name__} cannot print {type(node).__name__}")
        text, own = method(node)
        return f"({text})" if own < level else text

    def call(self, name: str, *args: str) -> tuple[str, int]:
        return f"{name}({', '.join(args)})", ATOM

    def print_Const(self, node: n.Const) -> tuple[str, int]:
        value = node.value
        if value < 0:
            return str(value), SIGN if value.denominator == 1 else PRODUCT
        return str(value), ATOM if value.denominator == 1 else PRODUCT

    def print_Named(self, node: n.Named) -> tuple[str, int]:
        return node.name, ATOM

    def print_Ref(self, node: n.Ref) -> tuple[str, int]:
        return node.name, ATOM

    def print_Add(self, node: n.Add) -> tuple[str, int]:
        first, *rest = node.args
        parts = [self.at(first, SUM)]
        for a in rest:
            if isinstance(a, n.Neg):  # a + (−b) is a − b
                parts.append(f" - {self.at(a.arg, PRODUCT)}")
            else:
                parts.append(f" + {self.at(a, SUM)}")
        return "".join(parts), SUM

    def print_Sub(self, node: n.Sub) -> tuple[str, int]:
        return f"{self.at(node.left, SUM)} - {self.at(node.right, PRODUCT)}", SUM

    def print_Mul(self, node: n.Mul) -> tuple[str, int]:
        first, *rest = node.args
        parts = [self.at(first, PRODUCT)] + [self.at(a, SIGN) for a in rest]
        return f" {self.times} ".join(parts), PRODUCT

    def print_Div(self, node: n.Div) -> tuple[str, int]:
        return f"{self.at(node.top, PRODUCT)} / {self.at(node.bottom, SIGN)}", PRODUCT

    def print_Neg(self, node: n.Neg) -> tuple[str, int]:
        return f"-{self.at(node.arg, SIGN)}", SIGN

    def print_Pow(self, node: n.Pow) -> tuple[str, int]:
        return f"{self.at(node.base, ATOM)}**{node.exponent}", POWER

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        if node.name == "pow":
            return f"{self.at(node.args[0], ATOM)}**{self.at(node.args[1], POWER)}", POWER
        return self.call(node.name, *map(self, node.args))

    def print_Compare(self, node: n.Compare) -> tuple[str, int]:
        return f"{self.at(node.left, SUM)} {node.operator} {self.at(node.right, SUM)}", 0

    def print_Select(self, node: n.Select) -> tuple[str, int]:
        return self.call("select", self(node.condition), self(node.yes), self(node.no))


def text(node: n.Node) -> str:
    """An expression in plain ASCII."""
    return Printer()(node)
