"""Systematic small mistakes in source, to see that every one is found.

A mutant changes one place: a sign, an operator, a constant, an exponent, a name for
another (old for new state, one rate for the other), a root left out or a constant moved
under it, a bias correction or a term left out, an assignment left out, arguments or
results exchanged.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from textwrap import indent
from typing import Any

from blrgen.decide.proof import Verdict


@dataclass(frozen=True)
class Mutant:
    """One changed source."""

    kind: str
    line: int
    before: str
    after: str
    source: str


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant: refuted, broken (it does not run), equivalent or survived."""

    mutant: Mutant
    fate: str
    detail: str = ""


def mutants(
    source: str, functions: Callable[[str], bool], limit: int | None = None
) -> list[Mutant]:
    """Distinct mutants inside the named functions, kinds taken in turn up to the limit."""
    tree = ast.parse(source)
    known: set[str] = set()
    for f in _functions(tree, functions):
        known.add(_spliced(source, f))
    by_kind: dict[str, list[Mutant]] = {}
    for m in _all(source, tree, functions):
        if m.source not in known:
            known.add(m.source)
            by_kind.setdefault(m.kind, []).append(m)
    out: list[Mutant] = []
    queues = [_spread(by_kind[k]) for k in sorted(by_kind)]
    for turn in range(max(map(len, queues), default=0)):
        out += [q[turn] for q in queues if turn < len(q)]
    return out[:limit]


def _spread(found: list[Mutant]) -> list[Mutant]:
    """The same mutants with neighbours far apart, so that the first few come from everywhere."""
    golden = 0.6180339887498949
    order = sorted(range(len(found)), key=lambda i: (i * golden) % 1)
    return [found[i] for i in order]


def judge(
    found: Iterable[Mutant],
    verify: Callable[[str], Verdict],
    broken: tuple[type[BaseException], ...],
) -> list[Outcome]:
    """Each mutant verified; it does not run where nothing of it could be compared.

    Exceptions of the named kinds say so too.
    """
    out = []
    for m in found:
        try:
            verdict = verify(m.source)
        except broken as error:
            out.append(Outcome(m, "broken", str(error)))
            continue
        if len(verdict.not_compared) == len(verdict.proofs):
            out.append(Outcome(m, "broken", "; ".join(p.detail for _, p in verdict.proofs)))
            continue
        fate = "equivalent" if verdict.proved else "survived"
        fate = "refuted" if verdict.level == "refuted" else fate
        out.append(Outcome(m, fate, verdict.level))
    return out


def counts(outcomes: Iterable[Outcome]) -> Counter[str]:
    """How many mutants met which fate."""
    return Counter(o.fate for o in outcomes)


# places and changes -----------------------------------------------------------------------
Path = list[tuple[str, int | None]]  # fields and indices that lead to a node
Change = tuple[str, Any]  # kind, new node (None: leave the statement out)
ALL, BELOW, NOTHING = "all", "below", "nothing"  # of a node that may be changed


def _functions(tree: ast.Module, wanted: Callable[[str], bool]) -> list[ast.FunctionDef]:
    return [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and wanted(f.name)]


def _all(source: str, tree: ast.Module, functions: Callable[[str], bool]) -> Iterator[Mutant]:
    for function in _functions(tree, functions):
        names = _names(function)
        for path, node in list(places(function, _of_step)):
            for kind, new in _changes(node, names):
                yield _mutant(source, function, path, node, kind, new)


def _mutant(
    source: str, function: ast.FunctionDef, path: Path, node: ast.AST, kind: str, new: Any
) -> Mutant:
    """The source with one node of a function replaced."""
    with replaced(function, path, node, new) as after:
        text = _spliced(source, function)
    return Mutant(kind, getattr(node, "lineno", 0), ast.unparse(node), after, text)


@contextmanager
def replaced(top: ast.AST, path: Path, node: ast.AST, new: ast.AST | None) -> Iterator[str]:
    """Inside, the tree has another node at the end of the path; its text is given."""
    parent: Any = top
    for name, index in path[:-1]:
        parent = getattr(parent, name) if index is None else getattr(parent, name)[index]
    name, index = path[-1]
    replacement = ast.Pass() if new is None else ast.copy_location(new, node)
    _put(parent, name, index, replacement)
    try:
        yield "" if new is None else ast.unparse(replacement)
    finally:
        _put(parent, name, index, node)


def _put(parent: Any, name: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def _spliced(source: str, function: ast.FunctionDef) -> str:
    """The source with this function printed from its tree, the rest as it is written."""
    lines = source.splitlines(keepends=True)
    start = min([function.lineno, *(d.lineno for d in function.decorator_list)]) - 1
    text = indent(ast.unparse(function), " " * function.col_offset) + "\n"
    return "".join([*lines[:start], text, *lines[function.end_lineno or start :]])


def places(
    top: ast.AST, looked_at: Callable[[ast.AST, str, ast.AST], str]
) -> Iterator[tuple[Path, ast.AST]]:
    """Every node below, with the way there; a node's field may be left out, or only passed."""

    def walk(node: ast.AST, path: Path) -> Iterator[tuple[Path, ast.AST]]:
        for name, value in ast.iter_fields(node):
            items = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, child in items:
                look = looked_at(node, name, child) if isinstance(child, ast.AST) else NOTHING
                here = [*path, (name, index)]
                if look == ALL:
                    yield here, child
                if look != NOTHING:
                    yield from walk(child, here)

    yield from walk(top, [])


def unread(node: ast.AST, name: str, child: ast.AST) -> bool:
    """What no run depends on: annotations, decorators and texts that stand for themselves."""
    text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
    return text or name in ("annotation", "returns", "decorator_list")


def _of_step(node: ast.AST, name: str, child: ast.AST) -> str:
    """What computes in a step: not its arguments, checks, conditions or indices."""
    if isinstance(child, ast.If):
        return BELOW
    apart = (
        isinstance(child, ast.Raise | ast.Assert)
        or (name == "args" and isinstance(node, ast.FunctionDef))
        or (name == "test" and isinstance(node, ast.If))
        or (name == "slice" and isinstance(node, ast.Subscript))
    )
    return NOTHING if apart or unread(node, name, child) else ALL


def _names(function: ast.FunctionDef) -> dict[str, list[str]]:
    """name → names it may be mistaken for: old and new state, the other rate, a neighbour."""
    arguments = [a.arg for a in (*function.args.args, *function.args.kwonlyargs) if a.arg != "self"]
    assigned = [
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    known = list(dict.fromkeys([*arguments, *assigned]))
    confused: dict[str, list[str]] = {}
    for n in known:
        others = [
            o
            for o in known
            if o != n and (o in (f"{n}_next", n.removesuffix("_next")) or _alike(n, o))
        ]
        confused[n] = others
    for a, b in pairwise(arguments):
        confused[a].append(b)
    return confused


def _alike(a: str, b: str) -> bool:
    """beta1 and beta2, one_minus_beta1 and one_minus_beta2."""
    return (a != b and a.rstrip("0123456789") == b.rstrip("0123456789")) or (
        a.replace("1", "#") == b.replace("2", "#") or a.replace("2", "#") == b.replace("1", "#")
    )


def _changes(node: ast.AST, names: dict[str, list[str]]) -> Iterator[Change]:
    if isinstance(node, ast.BinOp):
        yield from _binary(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node.operand
    elif (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    ):
        yield "constant", ast.Constant(node.value + 1)
        yield "constant", ast.Constant(node.value * 2 if node.value else -1)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for other in names.get(node.id, ()):
            kind = "stale variable" if "_next" in other + node.id else "name"
            yield kind, ast.Name(other, ast.Load())
        if node.id in names:
            yield "value doubled", ast.BinOp(ast.Constant(2), ast.Mult(), node)
            yield "value negated", ast.UnaryOp(ast.USub(), node)
    elif (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ):
        if node.attr.endswith(("1", "2")):
            twin = node.attr[:-1] + ("2" if node.attr.endswith("1") else "1")
            yield "rates", ast.Attribute(copy.deepcopy(node.value), twin, node.ctx)
    elif isinstance(node, ast.Call):
        yield from _call(node)
        if any(isinstance(a, ast.Name | ast.Attribute | ast.BinOp) for a in node.args):
            yield "result doubled", ast.BinOp(ast.Constant(2), ast.Mult(), node)
    elif isinstance(node, ast.Assign | ast.AugAssign):
        yield from _statement(node)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        elements = list(node.value.elts)
        for k in range(len(elements) - 1):
            swapped = [*elements[:k], elements[k + 1], elements[k], *elements[k + 2 :]]
            yield "results exchanged", ast.Return(ast.Tuple(swapped, ast.Load()))


OPERATORS: dict[type[ast.operator], tuple[tuple[str, type[ast.operator]], ...]] = {
    ast.Add: (("sign", ast.Sub), ("operator", ast.Mult)),
    ast.Sub: (("sign", ast.Add), ("operator", ast.Mult)),
    ast.Mult: (("operator", ast.Div), ("operator", ast.Add)),
    ast.Div: (("operator", ast.Mult), ("operator", ast.Sub)),
    ast.Pow: (("operator", ast.Mult),),
}


def _binary(node: ast.BinOp) -> Iterator[Change]:
    for kind, operator in OPERATORS.get(type(node.op), ()):
        yield kind, ast.BinOp(node.left, operator(), node.right)
    if isinstance(node.op, ast.Sub | ast.Div):
        yield "operands exchanged", ast.BinOp(node.right, node.op, node.left)
    what = "term left out" if isinstance(node.op, ast.Add | ast.Sub) else "factor left out"
    if isinstance(node.op, ast.Pow):
        what = "exponent"
        yield (
            what,
            ast.BinOp(node.left, ast.Pow(), ast.BinOp(node.right, ast.Add(), ast.Constant(1))),
        )
        yield (
            what,
            ast.BinOp(node.left, ast.Pow(), ast.BinOp(node.right, ast.Sub(), ast.Constant(1))),
        )
    if (
        isinstance(node.op, ast.Sub)
        and isinstance(node.right, ast.BinOp)
        and isinstance(node.right.op, ast.Pow)
        and not isinstance(node.right.right, ast.Constant)
    ):
        yield "bias correction left out", ast.Constant(1)
    yield what, node.left
    if not isinstance(node.op, ast.Pow):
        yield what, node.right
    root = _root(node.left)
    if isinstance(node.op, ast.Add | ast.Sub) and root is not None:
        inside = ast.BinOp(root.args[0], node.op, node.right)
        yield "constant under the root", ast.Call(root.func, [inside], [])
    if isinstance(node.op, ast.Mult | ast.Div):
        yield "scale", ast.BinOp(ast.Constant(2), ast.Mult(), node)


def _root(node: ast.AST) -> ast.Call | None:
    """The root a sum starts with: sqrt(x), sqrt(x)/b."""
    if (
        isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("sqrt")
        and len(node.args) == 1
    ):
        return node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult):
        return _root(node.left)
    return None


_TWINS = {
    "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "tanh": "sinh",
    "exp": "expm1", "log": "log1p", "log1p": "log", "expm1": "exp", "sin": "cos", "cos": "sin",
}  # fmt: skip


def _call(node: ast.Call) -> Iterator[Change]:
    name = ast.unparse(node.func).split(".")[-1]
    if name in (
        "sqrt",
        "tanh",
        "clip",
        "abs",
        "sign",
        "exp",
        "log",
        "square",
        "maximum",
        "minimum",
    ):
        kind = "root left out" if name == "sqrt" else "function left out"
        yield kind, node.args[0]
    if name in _TWINS and isinstance(node.func, ast.Attribute):
        func = ast.Attribute(node.func.value, _TWINS[name], ast.Load())
        yield "function", ast.Call(func, node.args, node.keywords)
    yield from exchanged(node)


def exchanged(node: ast.Call) -> Iterator[Change]:
    """The call with two neighbouring arguments in the other order."""
    name = ast.unparse(node.func).split(".")[-1]
    if name not in ("zip", "getattr", "isinstance"):
        for k in range(len(node.args) - 1):
            args = [*node.args[:k], node.args[k + 1], node.args[k], *node.args[k + 2 :]]
            yield "arguments exchanged", ast.Call(node.func, args, node.keywords)


def _statement(node: ast.Assign | ast.AugAssign) -> Iterator[Change]:
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    if isinstance(target, ast.Subscript) or isinstance(node, ast.AugAssign):
        yield "assignment left out", None
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield "sign", ast.AugAssign(node.target, other, node.value)
    if isinstance(node, ast.Assign) and not isinstance(
        node.value, ast.List | ast.Dict | ast.Call | ast.Attribute
    ):
        yield "scale", ast.Assign(node.targets, ast.BinOp(ast.Constant(2), ast.Mult(), node.value))
        yield "sign", ast.Assign(node.targets, ast.UnaryOp(ast.USub(), node.value))
