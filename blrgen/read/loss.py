"""Losses: text → `Loss`, a formula in the random variable and in data.

Every name that is not the variable is data.  In an elementwise family data are
numbers (one a coordinate).  Over vectors and matrices a name that starts with a
capital is a matrix; any other is a number unless the formula needs a vector
there: an operand added to a vector, an argument of dot, outer or transpose.  Of
vectors by their components data are vectors of the variable's size.
"""

from __future__ import annotations

import ast
from typing import Any

from blrgen.core import Family, Loss
from blrgen.errors import UserError
from blrgen.read.defined import check_defined
from blrgen.read.expression import chain, parse_ranked, rank_word, syntax_tree
from blrgen.read.functions import CONSTANTS, function
from blrgen.read.names import STATE_WORDS, check_free
from blrgen.read.text import mistake

Expr = Any
WHERE = "--loss"
NO_NAMES = frozenset({"nan", "inf", "infinity", "none", "true", "false"})


def read_loss(text: str, family: Family, *, where: str = WHERE) -> Loss:
    """The loss ℓ(θ); abstract when the text is empty."""
    if not isinstance(text, str):
        raise UserError("a loss must be text", where=where, why=f"got {text!r:.40}")
    if not text.strip():
        return Loss()
    tree = syntax_tree(text, where=where)
    names = {str(x): x for x in family.variables}
    own = {p.name for p in (*family.natural, *family.working, *family.fixed)}
    if "theta" not in own and len(names) == 1:
        names["theta"] = family.variable
    data = _data_names(tree, set(names))
    _check_names(data, family, text, where)
    ranks = {name: "scalar" for name in data}
    if family.components is not None:
        ranks = dict.fromkeys(data, "component")
    elif not family.elementwise:
        ranks = _Ranks(tree, names, data, text, where).infer()
    names |= {name: _symbol(name, rank, family) for name, rank in ranks.items()}
    value = parse_ranked(
        text, names, where=where, elementwise=family.elementwise,
        components=family.components is not None,
    )  # fmt: skip
    if value.rank != "scalar":
        raise UserError(
            "the loss is not a number", where=where, why=f"{text.strip()} is a {value.rank}",
            how="reduce it, as in dot(r, r) or trace(A)",
        )  # fmt: skip
    free = value.expr.free_symbols
    if free.isdisjoint(family.variables):
        raise UserError(
            f"the loss does not depend on {' or '.join(map(str, family.variables))}", where=where,
            why=f"its names are {', '.join(sorted(data)) or 'none'}; the variable is "
            f"{' or '.join(sorted(n for n in names if names[n] in family.variables))}",
        )  # fmt: skip
    check_defined(value.expr, family, where)
    used = tuple(names[name] for name in sorted(data) if names[name] in free)
    return Loss(text.strip(), value.expr, used)


def _data_names(tree: ast.expr, known: set[str]) -> dict[str, int]:
    """Names that are neither the variable nor a function or constant → first column."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in called:
            name = node.id
            if name not in known and name not in (*CONSTANTS, "oo") and not function(name):
                found[name] = min(found.get(name, node.col_offset), node.col_offset)
    return found


def _check_names(data: dict[str, int], family: Family, text: str, where: str) -> None:
    taken = {
        p.name: f"a parameter of {family.name}"
        for p in (*family.natural, *family.working, *family.fixed)
    }
    taken |= {name: f"{meaning} in rules" for name, meaning in STATE_WORDS.items()}
    for name, column in sorted(data.items()):
        if name.lower() in NO_NAMES:
            raise mistake(
                f"{name} is no name of data", text, column, where=where,
                why="it reads as what is not a number", how=f"rename it: {name}0",
            )  # fmt: skip
        try:
            check_free(name, "data in a loss", where, taken)
        except UserError as error:
            raise mistake(
                error.what, text, column, where=where, why=error.why, how=f"rename it: {name}0"
            ) from None


def _symbol(name: str, rank: str, family: Family) -> Expr:
    from blrgen.algebra import ranks
    from blrgen.algebra.components import Component

    if rank == "component":
        return Component(name, family.components)
    return {"scalar": ranks.scalar, "vector": ranks.vec, "matrix": ranks.mat}[rank](name)


class _Ranks:
    """The ranks of data names, from how the formula uses them."""

    def __init__(
        self, tree: ast.expr, names: dict[str, Expr], data: dict[str, int], text: str, where: str
    ) -> None:
        self.tree, self.data, self.text, self.where = tree, data, text, where
        self.ranks = {n: "matrix" if n[0].isupper() else "scalar" for n in data}
        self.unclear: UserError | None = None
        self.known = {n: rank_word(e) for n, e in names.items()}

    def infer(self) -> dict[str, str]:
        """Names become vectors until nothing changes; each pass changes one or more.

        What is unclear in one pass may be settled by a use that comes later.
        """
        for _ in range(len(self.data) + 1):
            before, self.unclear = dict(self.ranks), None
            self.rank(self.tree)
            if self.ranks == before:
                break
        if self.unclear is not None:
            raise self.unclear
        return self.ranks

    def rank(self, node: ast.expr) -> str:
        """The rank of a part; on the way, operands that must be vectors are made so."""
        if isinstance(node, ast.Name):
            return self.ranks.get(node.id) or self.known.get(node.id, "scalar")
        if isinstance(node, ast.UnaryOp):
            return self.rank(node.operand)
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            self.rank(node.right)
            return self.rank(node.left)
        if isinstance(node, ast.BinOp):
            parts = [part for _, part in chain(node)]
            if isinstance(node.op, (ast.Add, ast.Sub)):
                return self.sum(parts)
            return self.product(parts)
        return "scalar"

    def sum(self, parts: list[ast.expr]) -> str:
        ranks = [self.rank(p) for p in parts]
        for wanted in ("vector", "row"):
            if wanted in ranks:
                for part, rank in zip(parts, ranks, strict=True):
                    if rank == "scalar" and wanted == "vector":
                        self.want_vector(part)
                return wanted
        return "matrix" if "matrix" in ranks else "scalar"

    def product(self, parts: list[ast.expr]) -> str:
        result = "scalar"
        for rank in [self.rank(p) for p in parts]:
            pair = (result, rank)
            if pair == ("row", "vector"):
                result = "scalar"
            elif pair == ("vector", "row"):
                result = "matrix"
            elif result == "scalar" or (rank in ("vector", "row") and result == "matrix"):
                result = rank
        return result

    def call(self, node: ast.Call) -> str:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        called = function(name)
        ranks = [self.rank(a) for a in node.args]
        if called is None:
            return "scalar"
        if called.name in ("dot", "outer", "transpose"):
            for i, part in enumerate(node.args):
                if ranks[i] == "scalar" or (ranks[i] == "matrix" and called.name != "transpose"):
                    self.want_vector(part)
                    ranks[i] = self.rank(part)
        if called.result == "flipped" and ranks:
            return {"vector": "row", "row": "vector"}.get(ranks[0], ranks[0])
        return called.result if called.result != "flipped" else "scalar"

    def want_vector(self, node: ast.expr) -> None:
        """Make the names of a part vectors so that it is one; leave it when it cannot be."""
        if isinstance(node, ast.Name):
            if self.ranks.get(node.id) == "scalar":
                self.ranks[node.id] = "vector"
        elif isinstance(node, ast.UnaryOp):
            self.want_vector(node.operand)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            for _, part in chain(node):
                if self.rank(part) != "vector":
                    self.want_vector(part)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            self.want_vector_factor(node)

    def want_vector_factor(self, node: ast.BinOp) -> None:
        """In a product one factor is the vector: behind a matrix, or the only candidate."""
        parts = chain(node)
        free = [p for sign, p in parts if sign == "*" and self.could_be_vector(p)]
        if any(self.rank(p) == "vector" for _, p in parts) or not free:
            return
        last = parts[-1]
        behind = len(parts) > 1 and self.rank(parts[-2][1]) == "matrix" and last[0] == "*"
        if len(free) > 1 and not (behind and last[1] is free[-1]):
            names = ", ".join(self.text[p.col_offset : p.end_col_offset] for p in free)
            self.unclear = mistake(
                "one of these factors must be a vector, and it is not clear which", self.text,
                node.col_offset, where=self.where, why=f"candidates: {names}",
                how="write numbers outside: a*dot(y, z) instead of dot(a*y, z)",
            )  # fmt: skip
            return
        self.want_vector(free[-1])

    def could_be_vector(self, node: ast.expr) -> bool:
        if self.rank(node) != "scalar":
            return False
        names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
        calls = any(isinstance(n, ast.Call) for n in ast.walk(node))
        powers = any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow) for n in ast.walk(node))
        return not calls and not powers and any(n in self.data for n in names)
