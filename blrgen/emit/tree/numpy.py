"""Array statements → a file for NumPy alone."""

from __future__ import annotations

from blrgen.emit.printers import LOOPED, ArrayPrinter
from blrgen.emit.special.helper import QUIET
from blrgen.emit.support import support_of
from blrgen.emit.text import call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.printer import Lines, Places, arguments, is_typed, unpacked
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.inspect import ATOM

CONSTANTS = "Array: TypeAlias = NDArray[Any]"
IMPORTS = ("Any", "NDArray", "TypeAlias", "math", "np")


def text(f: t.Function) -> str:
    """A file that stands alone."""
    found = support_of("numpy", t.support((f,)))
    head = f"from __future__ import annotations\n\n{found.imports(IMPORTS)}\n\n{CONSTANTS}"
    parts = [head, *found.made, *found.texts, function(f)]
    return "\n\n\n".join(p.strip("\n") for p in parts) + "\n"


def function(f: t.Function) -> str:
    """The function."""
    lines = [QUIET] if f.quiet else []
    number = "Any" if f.gives == "Any" else "float"  # functions of arrays take numbers too
    lines += call(f"def {f.name}(", arguments(f, number), f") -> {f.result}:").split("\n")
    lines += [f'    """{f.summary}"""', *Lines(Arrays()).body(f.once, 4), *unpacked(f)]
    if is_typed(f):
        kind = f" = {f.reals_of}.dtype.type" if f.reals_of else ": Any = np.float64"
        lines.append(f"    real{kind}")
    write = Lines(Arrays())
    return "\n".join([*lines, *write.body(f.body, 4), *write.returned(f.returns, 4)])


class Arrays(Places, ArrayPrinter):
    """Expressions on whole arrays."""

    def is_plain(self, node: n.Call) -> bool:
        return node.name.startswith("_") and not node.name.startswith(f"_{LOOPED}")

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        if node.name.startswith(f"_{LOOPED}"):
            return self.call(use("_over"), use(node.name), *map(self, node.args))
        if node.name.startswith("_"):
            return self.call(use(node.name), *map(self, node.args))
        return super().print_Call(node)

    def print_Spread(self, node: t.Spread) -> tuple[str, int]:
        index = ", ".join(":" if x else "None" for x in node.axes)
        return f"{self.at(node.arg, ATOM)}[{index}]", ATOM

    def print_Turned(self, node: t.Turned) -> tuple[str, int]:
        if node.axes == (1, 0):
            return f"{self.at(node.arg, ATOM)}.T", ATOM
        return self.call("np.transpose", self(node.arg), str(node.axes))

    def print_Rest(self, node: t.Rest) -> tuple[str, int]:
        return "...", ATOM

    def print_Added(self, node: t.Added) -> tuple[str, int]:
        return "None", ATOM
