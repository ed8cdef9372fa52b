"""Rewriting source so that it computes exactly and tells what each line computed.

Float literals become rationals, the right side of a division or power exact, every
assignment and returned value passes through a recorder, loops count their rounds.
Names with double underscores are refused, so that no object leads out of the stand-ins.
"""

from __future__ import annotations
import __future__

import ast
import copy
from functools import lru_cache
from types import CodeType

from blrgen.validate.symbolic.number import CannotRun

LITERAL, EXACT, TRACE, TICK = "_blr_literal", "_blr_exact", "_blr_trace", "_blr_tick"
FILENAME = "<step>"
_ALLOWED = {"__name__", "__doc__", "__init__", "__all__", "__version__", "__author__", "__slots__"}


@lru_cache(maxsize=64)
def instrumented(source: str) -> CodeType:
    """Compiled source; SyntaxError as the compiler raises it."""
    tree = ast.parse(source, FILENAME)
    tree = ast.fix_missing_locations(_Rewriter().visit(tree))
    flags = __future__.annotations.compiler_flag  # annotations are never evaluated
    code: CodeType = compile(tree, FILENAME, "exec", flags=flags, dont_inherit=True)
    return code


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


class _Rewriter(ast.NodeTransformer):
    def __init__(self) -> None:
        self.inside = 0  # depth of functions

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr.startswith("__") and node.attr not in _ALLOWED:
            raise CannotRun(f"the attribute {node.attr}", node.lineno)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        private = node.id.startswith("__") and node.id not in _ALLOWED
        if private or node.id.startswith("_blr_"):
            raise CannotRun(f"the name {node.id}", node.lineno)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, float):
            return ast.copy_location(_call(LITERAL, ast.Constant(repr(node.value))), node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div | ast.Pow):
            node.right = ast.copy_location(_call(EXACT, node.right), node.right)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.inside += 1
        node.args = self.visit(node.args)
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.body = [self._tick(node), *self._block(node.body)]
        self.inside -= 1
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = self.visit(node.iter)
        node.target = self.visit(node.target)
        node.body = [self._tick(node), *self._block(node.body)]
        node.orelse = self._block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        node.test = self.visit(node.test)
        node.body = [self._tick(node), *self._block(node.body)]
        node.orelse = self._block(node.orelse)
        return node

    def _tick(self, node: ast.AST) -> ast.stmt:
        return ast.copy_location(ast.Expr(_call(TICK)), node)

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in body:
            new = self.visit(s)
            out += new if isinstance(new, list) else [new] if new is not None else []
        return out

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        targets = [t for target in node.targets for t in _leaves(target)]
        recorded = self._recorded(node, targets)
        self.generic_visit(node)
        return [node, *recorded]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        if node.value is None:
            return node
        recorded = self._recorded(node, _leaves(node.target))
        node.value = self.visit(node.value)
        return [node, *recorded]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        recorded = self._recorded(node, [node.target])
        self.generic_visit(node)
        if isinstance(node.op, ast.Div | ast.Pow):
            node.value = ast.copy_location(_call(EXACT, node.value), node.value)
        return [node, *recorded]

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        targets: list[ast.expr] = []
        if isinstance(node.value, ast.Call):
            call = node.value
            outs = [k.value for k in call.keywords if k.arg == "out"]
            targets = [x for o in outs for x in _leaves(o)]
            if isinstance(call.func, ast.Attribute) and call.func.attr == "copyto":
                targets += call.args[:1]
        recorded = self._recorded(node, targets)
        self.generic_visit(node)
        return [node, *recorded]

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is None:
            return node
        value = node.value
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        texts = [
            f"{'returned' if isinstance(p, ast.Name) else 'return'} {ast.unparse(p)}" for p in parts
        ]
        new = [self.visit(p) for p in parts]
        new = [
            p if isinstance(p, ast.Starred)
            else _call(TRACE, ast.Constant(node.lineno), ast.Constant(text), p)
            for p, text in zip(new, texts, strict=True)
        ]  # fmt: skip
        node.value = ast.Tuple(new, ast.Load()) if isinstance(value, ast.Tuple) else new[0]
        return node

    def _recorded(self, node: ast.stmt, targets: list[ast.expr]) -> list[ast.stmt]:
        if not self.inside:
            return []
        out: list[ast.stmt] = []
        for t in targets:
            if not isinstance(t, ast.Name | ast.Attribute | ast.Subscript):
                continue
            store, load = copy.deepcopy(t), copy.deepcopy(t)
            store.ctx, load.ctx = ast.Store(), ast.Load()
            value = _call(
                TRACE, ast.Constant(node.lineno), ast.Constant(ast.unparse(t)), self.visit(load)
            )
            new = ast.Assign([self.visit(store)], value)
            out.append(ast.copy_location(new, node))
        return out


def _leaves(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        return [x for t in target.elts for x in _leaves(t)]
    return [target]
