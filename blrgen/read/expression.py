"""Text → expression, through a whitelist: the only reader of user formulas.

Two walls: `text.scan` lets only numbers, ASCII names, + - * / **, brackets and
commas through, bounded in length and nesting; then Python's own parser makes a
tree of which only constants, names, arithmetic and calls from `functions` are
read, with exact numbers, bounded powers and a rank for every part.  Nothing is
ever evaluated by Python or by SymPy's string reader.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blrgen.errors import UserError, did_you_mean
from blrgen.limits import EXPRESSION_DEPTH as MAX_DEPTH
from blrgen.limits import TERMS
from blrgen.read import limits
from blrgen.read.complaint import Complain
from blrgen.read.functions import (
    COMPONENT_FUNCTIONS,
    CONSTANTS,
    FUNCTIONS,
    MATRIX_FUNCTIONS,
    SQUARE,
    Build,
    Function,
    function,
)
from blrgen.read.suggest import other_name, suggestion
from blrgen.read.text import mistake, scan

Expr = Any

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


@dataclass(frozen=True)
class Value:
    """An expression, its rank, and a bound on its terms when multiplied out."""

    expr: Expr
    rank: str  # "scalar" | "vector" | "row" | "matrix"
    terms: int = 1
    contracted: bool = False  # a number made as row times column: trace(aᵀ b) may be written


def parse(
    text: str, names: Mapping[str, Expr], *, where: str = "", elementwise: bool = True
) -> Expr:
    """The expression a text stands for, in the given names; or a `UserError` that points."""
    return parse_ranked(text, names, where=where, elementwise=elementwise).expr


def parse_ranked(
    text: str, names: Mapping[str, Expr], *, where: str = "", elementwise: bool = True,
    components: bool = False,
) -> Value:  # fmt: skip
    """As `parse`, with the rank: scalar, vector, row or matrix."""
    tree = syntax_tree(text, where=where)
    reader = Reader
    if components:
        from blrgen.read.by_component import ComponentReader

        reader = ComponentReader
    value = reader(text, names, where, elementwise).read(tree)
    limits.check_whole(value.expr, text, where)
    return value


def syntax_tree(text: str, *, where: str = "") -> ast.expr:
    """The whitelisted syntax tree of a text, of bounded depth."""
    scan(text, where=where)
    indent = len(text) - len(text.lstrip())
    try:
        tree = ast.parse(text.lstrip(), mode="eval").body
    except SyntaxError as error:
        end = len(text.rstrip()) - 1
        if text[end] in "+-*/,(":
            what = f"something is missing after {text[end]!r}"
            raise mistake(what, text, end, where=where) from None
        column = min(indent + max((error.offset or 1) - 1, 0), len(text) - 1)
        raise mistake(
            "the expression cannot be read", text, column, where=where, why=_plain(error.msg)
        ) from None
    except (RecursionError, MemoryError, ValueError):
        raise UserError("the expression is nested too deeply", where=where) from None
    for node in ast.walk(tree):
        if hasattr(node, "col_offset"):
            node.col_offset += indent
            node.end_col_offset += indent  # type: ignore[attr-defined]
    _check_depth(tree, text, where)
    return tree


def _plain(message: str) -> str:
    """Python's complaint, where it says something about a formula."""
    return "" if "syntax" in message else message.split(". Maybe")[0]


def chain(node: ast.BinOp) -> list[tuple[str, ast.expr]]:
    """The left spine unrolled: a + b - c as [("+", a), ("+", b), ("-", c)], likewise a*b/c."""
    level = (ast.Add, ast.Sub) if isinstance(node.op, (ast.Add, ast.Sub)) else (ast.Mult, ast.Div)
    parts: list[tuple[str, ast.expr]] = []
    at: ast.expr = node
    while isinstance(at, ast.BinOp) and isinstance(at.op, level):
        parts.append((_OPERATORS[type(at.op)], at.right))
        at = at.left
    parts.append(("+" if level[0] is ast.Add else "*", at))
    return parts[::-1]


def _check_depth(tree: ast.expr, text: str, where: str) -> None:
    todo = [(tree, 1)]
    while todo:
        node, depth = todo.pop()
        if depth > MAX_DEPTH:
            raise mistake("the expression is nested too deeply", text, node.col_offset, where=where)
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow):
            children = [part for _, part in chain(node)] if type(node.op) in _OPERATORS else []
        else:
            children = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        todo += [(child, depth + 1) for child in children]


class Reader:
    """Reads one tree: a method for each kind of node it knows, a refusal for the rest."""

    def __init__(self, text: str, names: Mapping[str, Expr], where: str, elementwise: bool) -> None:
        self.text, self.names, self.where, self.elementwise = text, names, where, elementwise

    def read(self, node: ast.expr) -> Value:
        method = getattr(self, f"read_{type(node).__name__}", None)
        if method is None:
            raise self.mistake("this cannot be part of an expression", node)
        value: Value = method(node)
        limits.check_finite(value.expr, self.complain(node))
        if value.terms > TERMS:
            raise self.mistake(
                "the expression is too large", node,
                why=f"multiplied out it can have more than {TERMS} terms",
            )  # fmt: skip
        return value

    def mistake(self, what: str, node: ast.expr, *, why: str = "", how: str = "") -> UserError:
        return mistake(what, self.text, node.col_offset, where=self.where, why=why, how=how)

    def complain(self, node: ast.expr) -> Complain:
        return lambda what, why: self.mistake(what, node, why=why)

    def made(self, node: ast.expr, build: Build, *args: Expr) -> Expr:
        """What SymPy makes of the parts; a formula on which it gives up is refused."""
        try:
            return build(*args)
        except (ArithmeticError, AssertionError, RecursionError, TypeError, ValueError) as error:
            raise self.mistake(
                "this cannot be computed with", node, why=f"SymPy: {type(error).__name__}"
            ) from None

    def source(self, node: ast.expr) -> str:
        part = self.text[node.col_offset : node.end_col_offset]
        return part if len(part) <= 30 else part[:29] + "…"

    def ranked(self, node: ast.expr, value: Value) -> str:
        return f"{self.source(node)} is a {value.rank}"

    def read_Constant(self, node: ast.Constant) -> Value:
        return Value(limits.exact(self.text[node.col_offset : node.end_col_offset]), "scalar")

    def read_Name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.names:
            expr = self.names[name]
            return Value(expr, rank_word(expr))
        if name in CONSTANTS:
            import sympy as sp

            return Value(getattr(sp, name), "scalar")
        if name == "oo":
            raise self.mistake(
                "infinity is not a number", node, why="oo stands only at the end of an interval"
            )
        if function(name):
            raise self.mistake(
                f"{name!r} is a function", node, why="it needs an argument", how=f"write {name}(…)"
            )
        how = suggestion(name, [*self.names, *CONSTANTS], FUNCTIONS)
        raise self.mistake(f"unknown name {name!r}", node, how=how)

    def read_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if not isinstance(node.op, (ast.USub, ast.UAdd)):
            raise self.mistake("this operator is not part of an expression", node)
        value = self.read(node.operand)
        if isinstance(node.op, ast.UAdd):
            return value
        return Value(-value.expr, value.rank, value.terms)

    def read_BinOp(self, node: ast.BinOp) -> Value:
        if isinstance(node.op, ast.Pow):
            return self.power(node)
        if type(node.op) not in _OPERATORS:
            raise self.mistake("this operator is not part of an expression", node)
        parts = [(sign, part, self.read(part)) for sign, part in chain(node)]
        return self.sum(parts) if parts[0][0] == "+" else self.product(parts)

    def sum(self, parts: list[tuple[str, ast.expr, Value]]) -> Value:
        """A scalar in a sum of matrices is that multiple of the identity; else ranks are equal."""
        import sympy as sp

        first, total = parts[0][1], parts[0][2]
        rank = total.rank
        for _, part, value in parts[1:]:
            if value.rank != rank and {value.rank, rank} != {"scalar", "matrix"}:
                raise self.mistake(
                    f"a {rank} and a {value.rank} cannot be added", part,
                    why=f"{self.ranked(first, total)}, {self.ranked(part, value)}",
                )  # fmt: skip
            if value.rank != rank:
                rank = "matrix"
            if total.rank != rank:
                first, total = part, value
        signed = [v.expr if sign == "+" else -v.expr for sign, _, v in parts]
        expr = self.made(first, sp.Add, *signed)
        return Value(expr, rank, sum(v.terms for _, _, v in parts))

    def product(self, parts: list[tuple[str, ast.expr, Value]]) -> Value:
        """Left to right; a row times a column is the scalar trace(aᵀ b)."""
        first, result = parts[0][1], parts[0][2]
        for sign, part, value in parts[1:]:
            if sign == "/":
                result = self.quotient(result, part, value)
            else:
                rank = _PRODUCT.get((result.rank, value.rank), "")
                if not rank:
                    raise self.mistake(
                        f"a {result.rank} and a {value.rank} cannot be multiplied", part,
                        why=f"{self.ranked(first, result)}, {self.ranked(part, value)}",
                        how="write dot(a, b) for the number, outer(a, b) for the matrix"
                        if {result.rank, value.rank} == {"vector"} else "",
                    )  # fmt: skip
                expr = self.made(part, lambda a, b: a * b, result.expr, value.expr)
                if rank == "scalar":
                    limits.check_roots(expr, 1, self.complain(part))
                if (result.rank, value.rank) == ("row", "vector"):
                    expr = FUNCTIONS["trace"].build(expr)
                contracted = (result.rank, value.rank) == ("row", "vector")
                result = Value(expr, rank, result.terms * value.terms, contracted)
            if result.terms > TERMS:
                break
            first = part
        return result

    def quotient(self, over: Value, part: ast.expr, under: Value) -> Value:
        if under.rank != "scalar":
            raise self.mistake(
                f"division by a {under.rank}", part, why=self.ranked(part, under),
                how="multiply by inv(…)" if under.rank == "matrix" else "",
            )  # fmt: skip
        if under.expr == 0:
            raise self.mistake("division by zero", part)
        expr = self.made(part, lambda a, b: a / b, over.expr, under.expr)
        return Value(expr, over.rank, over.terms * under.terms)

    def power(self, node: ast.BinOp) -> Value:
        base, exponent = self.read(node.left), self.read(node.right)
        if exponent.rank != "scalar":
            raise self.mistake(
                f"the exponent is a {exponent.rank}", node.right,
                why=f"{self.ranked(node.left, base)}, {self.ranked(node.right, exponent)}",
            )  # fmt: skip
        if base.rank in ("vector", "row") or (
            base.rank == "matrix" and not exponent.expr.is_Integer
        ):
            raise self.mistake(
                f"a {base.rank} cannot be raised to this power", node.left,
                why="a matrix has whole powers only"
                if base.rank == "matrix"
                else f"{self.ranked(node.left, base)}, the exponent a {exponent.rank}",
                how="" if base.rank == "matrix" else "write dot(a, a) or outer(a, a)",
            )  # fmt: skip
        terms = limits.check_power(
            base.expr, base.terms, exponent.expr,
            self.complain(node.right),
        )  # fmt: skip
        if terms > TERMS:
            return Value(base.expr, base.rank, terms)
        expr = self.made(node, lambda a, b: a**b, base.expr, exponent.expr)
        return Value(expr, base.rank, max(terms, exponent.terms))

    def read_Call(self, node: ast.Call) -> Value:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.mistake(
                "only a named function can be called", node, how="write products with *"
            )
        name = node.func.id
        called = function(name)
        if called is None:
            if name in self.names:
                raise self.mistake(
                    f"{name!r} is not a function", node, how=f"write {name}*(…) for a product"
                )
            how = other_name(name) or did_you_mean(name, FUNCTIONS)
            raise self.mistake(f"unknown function {name!r}", node, how=how)
        if self.elementwise and called.name in MATRIX_FUNCTIONS | COMPONENT_FUNCTIONS:
            raise self.mistake(
                f"{called.name!r} cannot be used here", node,
                why="this family is elementwise: its formulas are of one coordinate",
                how=_elementwise_form(called.name),
            )  # fmt: skip
        most = len(called.arguments)
        if not most - called.optional <= len(node.args) <= most:
            wants = f"{most - called.optional} or {most}" if called.optional else f"{most}"
            raise self.mistake(
                f"{called.name!r} takes {wants} argument{'s' if most > 1 else ''}, "
                f"not {len(node.args)}", node,
            )  # fmt: skip
        return self.call(called, node, [self.read(a) for a in node.args])

    def call(self, called: Function, node: ast.Call, values: list[Value]) -> Value:
        if called.name in COMPONENT_FUNCTIONS:
            raise self.mistake(
                f"{called.name!r} cannot be used here", node,
                why="this family's formulas are of vectors and matrices as a whole",
                how="use dot, trace and logdet",
            )  # fmt: skip
        if called.name == "trace" and values[0].contracted:
            return values[0]
        for part, value, wanted in zip(node.args, values, called.arguments, strict=False):
            fits = value.rank == wanted or (wanted == "any" and value.rank != "scalar")
            if not fits:
                wanted = "vector or a matrix" if wanted == "any" else wanted
                raise self.mistake(
                    f"{called.name!r} takes a {wanted}, not a {value.rank}", part,
                    why=self.ranked(part, value),
                )  # fmt: skip
        args = [v.expr for v in values]
        shape = _shape(args[0]) if called.name in SQUARE else None
        if shape is not None and shape[0] != shape[1]:
            raise self.mistake(
                f"{called.name!r} takes a square matrix, not one of {shape[0]} × {shape[1]}", node,
                how=f"{called.name}(transpose(A)*A) is of a square one",
            )  # fmt: skip
        limits.check_call(called, args, self.complain(node))
        rank = called.result
        if rank == "flipped":
            rank = {"vector": "row", "row": "vector"}.get(values[0].rank, values[0].rank)
        terms = 1 if called.result == "scalar" and called.name not in MATRIX_FUNCTIONS else 0
        if not terms:
            terms = 1
            for v in values:
                terms *= v.terms
            if terms > TERMS:
                return Value(args[0], rank, terms)
        return Value(self.made(node, called.build, *args), rank, terms)


_PRODUCT = {
    ("scalar", "scalar"): "scalar", ("scalar", "vector"): "vector", ("scalar", "row"): "row",
    ("scalar", "matrix"): "matrix", ("vector", "scalar"): "vector", ("row", "scalar"): "row",
    ("matrix", "scalar"): "matrix", ("matrix", "matrix"): "matrix", ("matrix", "vector"): "vector",
    ("row", "matrix"): "row", ("row", "vector"): "scalar", ("vector", "row"): "matrix",
}  # fmt: skip


def _elementwise_form(name: str) -> str:
    forms = {
        "dot": "write a*b", "outer": "write a*b", "inv": "write 1/a", "transpose": "leave it out",
    }  # fmt: skip
    return forms.get(name, "use a family over vectors, such as one with an SPD parameter")


def rank_word(expr: Expr) -> str:
    """The rank of an expression of the algebra, symmetric counted as matrix."""
    if expr.is_commutative:
        from blrgen.algebra.components import varies

        return "vector" if varies(expr) else "scalar"
    from blrgen.algebra.ranks import rank_of

    rank = rank_of(expr)
    return "matrix" if rank == "symmetric" else rank


def _shape(e: Expr) -> tuple[Expr, Expr] | None:
    """Rows and columns of a matrix, None of a number."""
    from blrgen.algebra.ranks import shape_of

    return shape_of(e)
