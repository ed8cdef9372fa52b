"""Formulas of vectors by their components: arithmetic component by component, and sums.

log(x) of a vector is the vector of logarithms, a number in a sum or product with a
vector goes to every component, and sum, prod and dot make numbers.
"""

from __future__ import annotations

import ast
from typing import Any

from blrgen.errors import InternalError, UserError
from blrgen.limits import TERMS
from blrgen.read import limits
from blrgen.read.expression import Reader, Value
from blrgen.read.functions import COMPONENT_FUNCTIONS, MATRIX_FUNCTIONS, Function

Expr = Any


class ComponentReader(Reader):
    """Ranks are scalar and vector; vectors that meet have one size."""

    def sum(self, parts: list[tuple[str, ast.expr, Value]]) -> Value:
        """Component by component; a number is added to every component."""
        import sympy as sp

        signed = [v.expr if sign == "+" else -v.expr for sign, _, v in parts]
        expr = self.made(parts[0][1], sp.Add, *signed)
        return self.valued(parts[-1][1], expr, sum(v.terms for _, _, v in parts))

    def product(self, parts: list[tuple[str, ast.expr, Value]]) -> Value:
        """Component by component, left to right."""
        result = parts[0][2]
        for sign, part, value in parts[1:]:
            if sign == "/":
                if value.expr == 0:
                    raise self.mistake("division by zero", part)
                expr = self.made(part, lambda a, b: a / b, result.expr, value.expr)
            else:
                expr = self.made(part, lambda a, b: a * b, result.expr, value.expr)
                limits.check_roots(expr, 1, self.complain(part))
            result = self.valued(part, expr, result.terms * value.terms)
            if result.terms > TERMS:
                break
        return result

    def power(self, node: ast.BinOp) -> Value:
        """Component by component."""
        base, exponent = self.read(node.left), self.read(node.right)
        complain = self.complain(node.right)
        terms = limits.check_power(base.expr, base.terms, exponent.expr, complain)
        if terms > TERMS:
            return Value(base.expr, base.rank, terms)
        expr = self.made(node, lambda a, b: a**b, base.expr, exponent.expr)
        return self.valued(node, expr, max(terms, exponent.terms))

    def call(self, called: Function, node: ast.Call, values: list[Value]) -> Value:
        """Functions of numbers act on every component; sum, prod and dot make numbers."""
        if called.name in MATRIX_FUNCTIONS - {"dot"}:
            raise self.mistake(
                f"{called.name!r} cannot be used here", node,
                why="this family's formulas are of vectors by their components",
                how="use sum, prod and dot",
            )  # fmt: skip
        if called.name in (*COMPONENT_FUNCTIONS, "dot"):
            for part, value in zip(node.args, values, strict=True):
                if value.rank != "vector":
                    raise self.mistake(
                        f"{called.name!r} takes a vector, not a number", part,
                        why=self.ranked(part, value),
                    )  # fmt: skip
        args = [v.expr for v in values]
        self.sizes(node, sum(args, start=0))
        limits.check_call(called, args, self.complain(node))
        terms = 1
        for v in values:
            terms *= v.terms
        if terms > TERMS:
            return Value(args[0], values[0].rank, terms)
        if called.name not in (*COMPONENT_FUNCTIONS, "dot"):
            terms = 1
        return self.valued(node, self.made(node, called.build, *args), terms)

    def valued(self, node: ast.expr, expr: Expr, terms: int) -> Value:
        """The rank of an expression, its vectors being of one size."""
        size = self.sizes(node, expr)
        return Value(expr, "scalar" if size is None else "vector", terms)

    def sizes(self, node: ast.expr, expr: Expr) -> Expr | None:
        from blrgen.algebra.components import size_of

        try:
            return size_of(expr)
        except InternalError:
            raise self.sizes_differ(node, expr) from None

    def sizes_differ(self, node: ast.expr, expr: Expr) -> UserError:
        from blrgen.algebra.components import Component

        found = sorted(
            {f"{c.name} has {c.size}" for c in expr.atoms(Component)},
        )
        return self.mistake(
            "vectors of different sizes meet here", node, why=f"{', '.join(found)} components"
        )
