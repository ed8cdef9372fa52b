"""Programs as text, and text as programs: one notation for both.

    r[n,k] = exp(lp[n,k] - lse[n])            an equation
    C[i,j]: sym = sum(n, x[n,i] * x[n,j])     with what is known of its last two axes
    for t in T:                               a recurrence over the letter t
        a[t] = first(b[t]), c * a[t-1]        its value at the first index; init(e): before it
        until(small[t])                       it ends after the index where this is true

Beside letters an index is a number, `t-1`, `last(t)`, or an entry of labels, `mu[z[n],i]`.
`sum`, `max`, `lse`, `sumlog` whose first argument is a letter, or several in brackets, are
reductions (`max` of numbers is the larger); `[i == j]` is 1 where both are the same; `size(N)`
counts places.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.inspect import ATOM, Printer

_ARITHMETIC: dict[type[ast.operator], Any] = {
    ast.Add: n.add,
    ast.Mult: n.mul,
    ast.Sub: n.Sub,
    ast.Div: n.div,
}
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


class AxesPrinter(Printer):
    """Expressions with indices in plain ASCII."""

    def print_Ref(self, node: a.Ref) -> tuple[str, int]:
        index = f"[{','.join(map(self, node.index))}]" if node.index else ""
        return node.name + index, ATOM

    def print_Ix(self, node: a.Ix) -> tuple[str, int]:
        return node.letter, ATOM

    def print_Num(self, node: a.Num) -> tuple[str, int]:
        return str(node.value), ATOM

    def print_Lag(self, node: a.Lag) -> tuple[str, int]:
        return f"{node.letter}{node.by:+d}", ATOM

    def print_Last(self, node: a.Last) -> tuple[str, int]:
        return f"last({node.letter})", ATOM

    def print_At(self, node: a.At) -> tuple[str, int]:
        return self(node.ref), ATOM

    def print_Extent(self, node: a.Extent) -> tuple[str, int]:
        return f"size({node.axis})", ATOM

    def print_Is(self, node: a.Is) -> tuple[str, int]:
        return f"[{self(node.left)} == {self(node.right)}]", ATOM

    def print_Red(self, node: a.Red) -> tuple[str, int]:
        over = ",".join(node.letters)
        over = f"({over})" if len(node.letters) > 1 else over
        return self.call(node.op, over, *map(self, node.children))

    def print_Lin(self, node: a.Lin) -> tuple[str, int]:
        return self.call(node.op, *map(self, node.args))

    def print_Draw(self, node: a.Draw) -> tuple[str, int]:
        return self.call("draw", node.law, self(node.key), *map(self, node.index))


def text(node: n.Node) -> str:
    """An expression."""
    return AxesPrinter()(node)


def shown(s: a.Statement, indent: str = "") -> str:
    """A statement, with the body of a recurrence below it."""
    if isinstance(s, a.Seq):
        lines = [f"{indent}for {s.letter}:", *(shown(x, indent + "    ") for x in s.body)]
        ends = (text(a.Ref(x.name, x.target)) for x in a.lets(s.body) if x.name == s.stop)
        lines += [f"{indent}    until({x})" for x in ends]
        return "\n".join(lines)
    left = text(a.Ref(s.name, s.target)) + (f": {s.structure}" if s.structure != "dense" else "")
    parts = [f"first({text(s.first)})"] if s.first is not None else []
    parts += [f"init({text(s.init)})"] if s.init is not None else []
    return f"{indent}{left} = {', '.join([*parts, text(s.expr)])}"


def listing(program: a.Program) -> str:
    """A whole program."""
    lines = [f"letter {x.name}: {_axis(x)}" for x in program.letters]
    lines += [f"given {_quantity(q)}" for q in program.given]
    lines += [shown(s) for s in program.body]
    lines += [f"out {x}" for x in program.outs]
    lines += [f"write {x} = {y}" for x, y in program.writes]
    return "\n".join(lines) + "\n"


def _axis(x: a.Letter) -> str:
    under = f" under {x.under} by {x.pointers}" if x.under else ""
    return f"{x.size}{under}{' down' if x.down else ''}"


def _quantity(q: a.Quantity) -> str:
    sizes = f"[{','.join(map(str, q.sizes))}]" if q.sizes else ""
    extra = [] if q.structure == "dense" else [q.structure]
    extra += [f"in {q.labels}"] if q.labels != "" else []
    return " ".join([q.name + sizes, *extra, *(["key"] if q.key else [])])


def program(
    letters: str,
    given: str,
    body: str,
    outs: str = "",
    writes: str = "",
) -> a.Program:
    """A program from its text.

    `letters` like "n:N, i,j:d, t:T down, w:W under doc by ptr", `given` like "x[N,d], S[d,d]
    spd, z[N] in K, key key", `outs` names, `writes` like "m = m_next".
    """
    over = tuple(x for part in _parts(letters) for x in _letters(part))
    read = _Reader(x.name for x in over)
    return a.Program(
        over,
        tuple(_given(part) for part in _parts(given)),
        read.body(ast.parse(re.sub(r"(?m)^(\s*for \w+):", r"\1 in _:", _dedented(body))).body),
        tuple(x.strip() for x in _parts(outs)),
        tuple((x.strip(), y.strip()) for x, y in (p.split("=") for p in _parts(writes))),
    )


def expression(source: str, letters: str = "") -> n.Node:
    """An expression from its text; `letters` are those over which it has reductions."""
    return _Reader(letters).expr(ast.parse(source.strip(), mode="eval").body)


def _dedented(body: str) -> str:
    import textwrap

    return textwrap.dedent(body.strip("\n"))


def _parts(source: str) -> list[str]:
    """What stands between commas outside of brackets; `i,j:d` stays whole."""
    found = re.split(r",(?![^\[]*\])", source)
    out: list[str] = []
    waiting = ""
    for part in (p.strip() for p in found if p.strip()):
        if re.fullmatch(r"\w+", part) and ":" in source:
            waiting += part + ","
        else:
            out.append(waiting + part)
            waiting = ""
    return out


def _letters(part: str) -> list[a.Letter]:
    match = re.fullmatch(r"([\w,]+)\s*:\s*(\w+)(?: under (\w+) by (\w+))?( down)?", part)
    if match is None:
        raise InternalError(f"not letters: {part!r}")
    names, size, under, pointers, down = match.groups()
    made = (_size(size), under or "", pointers or "", bool(down))
    return [a.Letter(x, *made) for x in names.split(",")]


def _size(word: str) -> a.Size:
    return int(word) if word.isdigit() else word


def _given(part: str) -> a.Quantity:
    match = re.fullmatch(r"(\w+)(?:\[([^\]]*)\])?((?: \w+)*)", part)
    if match is None:
        raise InternalError(f"not a quantity: {part!r}")
    sizes = tuple(_size(x.strip()) for x in (match[2] or "").split(",") if x.strip())
    words = match[3].split()
    labels: a.Size = ""
    if "in" in words:
        labels = _size(words[words.index("in") + 1])
    structure = next((w for w in words if w in a.STRUCTURES), "dense")
    return a.Quantity(match[1], sizes, structure, labels, "key" in words)


class _Reader:
    """Python's syntax trees → statements and expressions; nothing is evaluated."""

    def __init__(self, letters: Iterable[str]) -> None:
        self.letters = frozenset(letters)

    def body(self, statements: list[ast.stmt]) -> tuple[a.Statement, ...]:
        return tuple(self.statement(s) for s in statements if self.stop(s) is None)

    def stop(self, s: ast.stmt) -> str | None:
        """The truth value that ends a recurrence."""
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call):
            (value,) = (self.expr(x) for x in s.value.args)
            if isinstance(value, a.Ref):
                return value.name
        return None

    def statement(self, s: ast.stmt) -> a.Statement:
        if isinstance(s, ast.For):
            assert isinstance(s.target, ast.Name)
            stops = [x for x in map(self.stop, s.body) if x is not None]
            return a.Seq(s.target.id, self.body(s.body), stops[0] if stops else "")
        if isinstance(s, ast.AnnAssign) and s.value is not None:
            return self.let(s.target, s.value, ast.unparse(s.annotation))
        if isinstance(s, ast.Assign):
            return self.let(s.targets[0], s.value, "dense")
        raise InternalError(f"not a statement: {ast.unparse(s)}")

    def let(self, left: ast.expr, right: ast.expr, structure: str) -> a.Let:
        target = self.expr(left)
        assert isinstance(target, a.Ref)
        parts = {"expr": right}
        if isinstance(right, ast.Tuple):
            *special, last = right.elts
            parts = {"expr": last}
            for x in special:
                assert isinstance(x, ast.Call) and isinstance(x.func, ast.Name)
                parts[x.func.id] = x.args[0]
        made: dict[str, Any] = {k: self.expr(v) for k, v in parts.items()}
        letters = tuple(i.letter for i in target.index if isinstance(i, a.Ix))
        return a.Let(target.name, letters, structure=structure, **made)

    def expr(self, e: ast.expr) -> n.Node:
        method = getattr(self, f"read_{type(e).__name__}", None)
        if method is None:
            raise InternalError(f"not an expression: {ast.unparse(e)}")
        found: n.Node = method(e)
        return found

    def read_Constant(self, e: ast.Constant) -> n.Node:
        return n.Const(Fraction(str(e.value)))

    def read_Name(self, e: ast.Name) -> n.Node:
        return n.Named("pi") if e.id == "pi" else a.Ref(e.id)

    def read_BinOp(self, e: ast.BinOp) -> n.Node:
        left, right = self.expr(e.left), self.expr(e.right)
        if isinstance(e.op, ast.Pow):
            if isinstance(right, n.Const) and right.value.denominator == 1 and right.value >= 2:
                return n.Pow(left, int(right.value))
            return n.Call("pow", (left, right))
        if isinstance(e.op, ast.Div) and isinstance(left, n.Const) and isinstance(right, n.Const):
            return n.Const(left.value / right.value)
        make: Callable[[n.Node, n.Node], n.Node] = _ARITHMETIC[type(e.op)]
        return make(left, right)

    def read_UnaryOp(self, e: ast.UnaryOp) -> n.Node:
        return n.neg(self.expr(e.operand))

    def read_Compare(self, e: ast.Compare) -> n.Node:
        operator = _COMPARISONS[type(e.ops[0])]
        return n.Compare(operator, self.expr(e.left), self.expr(e.comparators[0]))

    def read_List(self, e: ast.List) -> n.Node:
        (inner,) = e.elts
        assert isinstance(inner, ast.Compare)
        return a.Is(self.index(inner.left), self.index(inner.comparators[0]))

    def read_IfExp(self, e: ast.IfExp) -> n.Node:
        return n.Select(self.expr(e.test), self.expr(e.body), self.expr(e.orelse))

    def read_Subscript(self, e: ast.Subscript) -> n.Node:
        assert isinstance(e.value, ast.Name)
        index = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
        return a.Ref(e.value.id, tuple(self.index(i) for i in index))

    def index(self, e: ast.expr) -> n.Node:
        if isinstance(e, ast.Name):
            return a.Ix(e.id)
        if isinstance(e, ast.Constant) and isinstance(e.value, int):
            return a.Num(e.value)
        if isinstance(e, ast.BinOp) and isinstance(e.left, ast.Name):
            by = int(ast.unparse(e.right))
            return a.Lag(e.left.id, by if isinstance(e.op, ast.Add) else -by)
        if isinstance(e, ast.Call):
            return a.Last(ast.unparse(e.args[0]))
        found = self.expr(e)
        assert isinstance(found, a.Ref)
        return a.At(found)

    def read_Call(self, e: ast.Call) -> n.Node:
        name = ast.unparse(e.func)
        if name == "size":
            return a.Extent(ast.unparse(e.args[0]))
        if name == "draw":
            law, key, *index = e.args
            of = self.expr(key)
            assert isinstance(of, a.Ref)
            return a.Draw(ast.unparse(law), of, tuple(map(self.index, index)))
        over = re.findall(r"\w+", ast.unparse(e.args[0]))
        if name in a.REDUCTIONS and self.letters.issuperset(over):
            return a.Red(name, tuple(over), *map(self.expr, e.args[1:]))
        args = tuple(self.expr(x) for x in e.args)
        if name in a.LINEAR:
            return a.Lin(name, tuple(x for x in args if isinstance(x, a.Ref)))
        if name == "select":
            condition, yes, no = args
            return n.Select(condition, yes, no)
        return n.Call(name, args)
