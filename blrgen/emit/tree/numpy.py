"""Array statements → a file for NumPy alone."""

from __future__ import annotations

from blrgen.emit.printers import ArrayPrinter
from blrgen.emit.support import support_of
from blrgen.emit.text import call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.printer import Lines, Places
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
    arguments = [f"{x}: Array" for x in f.arrays] + [f"{x}: int" for x in f.wholes]
    arguments += [f"{x}: Any" for x in f.reals]
    lines = call(f"def {f.name}(", arguments, ") -> Any:").split("\n")
    lines += [f'    """{f.summary}"""', *Lines(Arrays()).body(f.once, 4)]
    if is_typed(f):
        kind = f" = {f.reals_of}.dtype.type" if f.reals_of else ": Any = np.float64"
        lines.append(f"    real{kind}")
    write = Lines(Arrays())
    return "\n".join([*lines, *write.body(f.body, 4), *write.returned(f.returns, 4)])


def is_typed(f: t.Function) -> bool:
    """Whether it makes numbers or arrays of the arrays' type."""
    for s in t.statements(f.body):
        if isinstance(s, t.Make) and s.kind == "real" and s.fill is None:
            return True
        if any(isinstance(x, t.Real) or x == t.name("real")
               for e in t.expressions(s) for x in n.walk(e)):  # fmt: skip
            return True
    return False


class Arrays(Places, ArrayPrinter):
    """Expressions on whole arrays."""

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        if node.name.startswith("_"):
            return self.call(node.name, *map(self, node.args))
        return super().print_Call(node)

    def print_Apply(self, node: t.Apply) -> tuple[str, int]:
        words = [f'"{x}"' for x in node.words]
        options = [f"{k}={v}" for k, v in node.options]
        args = [*words, *map(self, node.args), *options]
        if not node.function and len(args) == 1:
            return f"({args[0]},)", ATOM
        return self.call(node.function, *args)

    def print_Spread(self, node: t.Spread) -> tuple[str, int]:
        index = ", ".join(":" if x else "None" for x in node.axes)
        return f"{self.at(node.arg, ATOM)}[{index}]", ATOM

    def print_Turned(self, node: t.Turned) -> tuple[str, int]:
        if node.axes == (1, 0):
            return f"{self.at(node.arg, ATOM)}.T", ATOM
        return self.call("np.transpose", self(node.arg), str(node.axes))

    def print_Part(self, node: t.Part) -> tuple[str, int]:
        return f"{self.at(node.arg, ATOM)}[{', '.join(map(self, node.index))}]", ATOM

    def print_Rest(self, node: t.Rest) -> tuple[str, int]:
        return "...", ATOM

    def print_Added(self, node: t.Added) -> tuple[str, int]:
        return "None", ATOM
