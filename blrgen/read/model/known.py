"""Expressions of constants, data and sizes as numbers or arrays over a node's plates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blrgen.read.model.domains import support_domain
from blrgen.read.model.evaluate import Evaluator, TooFar, Undefined
from blrgen.read.model.layout import extents
from blrgen.read.model.values import Domain, Draw, Expr, Letter, Model, Ref


class Known:
    """What arrays and sizes say of an expression; None where it depends on anything else."""

    def __init__(self, model: Model, values: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.model, self.values, self.sizes = model, values, sizes

    def number(self, e: Expr, letters: tuple[str, ...]) -> Any:
        """One number, or an array over the plates of `letters`."""
        if isinstance(e, Ref):
            return self.array(e, letters)
        try:
            return float(Evaluator(self.sizes, self.scalar).value(e))
        except (TooFar, Undefined, TypeError, KeyError):
            return None

    def array(self, e: Ref, letters: tuple[str, ...]) -> Any:
        """A constant along the same plates, or one number."""
        constant = next((c for c in self.model.constants if c.name == e.name), None)
        if constant is None or constant.domain.shape:
            return None
        if e.name not in self.values:
            default = constant.default
            return None if default is None or constant.letters else self.number(default, ())
        plain = all(isinstance(i, Letter) and not i.shift for i in e.indices)
        mine = tuple(i.name for i in e.indices if isinstance(i, Letter))
        if not plain:
            return None
        whole = extents(self.model, letters, ())
        value = self.values[e.name]
        if mine == letters or not mine:
            return value
        return self.spread(value, extents(self.model, mine, ()), whole)

    def spread(self, value: Any, own: tuple[Any, ...], whole: tuple[Any, ...]) -> Any:
        """An array over some of the plates as one that broadcasts over all."""
        if any(a.flat for a in whole) or not set(own) <= set(whole) or len(set(whole)) < len(whole):
            return None
        shape = [value.shape[own.index(a)] if a in own else 1 for a in whole]
        return value.reshape(shape)

    def scalar(self, e: Ref) -> Any:
        """A constant that is one number, inside an expression."""
        from fractions import Fraction

        import numpy as np

        found = self.array(e, ())
        if found is None or np.ndim(found):
            raise TooFar
        return Fraction(float(found))

    def support(self, draw: Draw) -> Domain:
        """Where a draw's variable lives."""
        family = self.model.family(draw.family)
        values = {a.name: a.value for a in draw.arguments}
        return support_domain(family.supports[0], dict(draw.sizes), values)
