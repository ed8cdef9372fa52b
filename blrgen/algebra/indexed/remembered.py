"""Results kept for later: by what is asked and by what is known of the symbols in it.

Two expressions are equal when their texts are.  What a function makes of them depends on what is
known of their symbols too (log splits what is positive, a simplex sums to its total), and another
model may know something else of a symbol of the same name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

from blrgen.algebra.indexed.values import Expression, Symbol

P = ParamSpec("P")
T = TypeVar("T")


def remembered(size: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function of expressions and plain values whose last `size` results are kept."""

    def decorate(f: Callable[P, T]) -> Callable[P, T]:
        @lru_cache(maxsize=size)
        def known(facts: tuple[frozenset[Symbol], ...], *args: P.args, **kwargs: P.kwargs) -> T:
            return f(*args, **kwargs)

        @wraps(f)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            facts = tuple(x.facts for x in args if isinstance(x, Expression))
            return known(facts, *args, **kwargs)  # type: ignore[arg-type]  # all hashable

        return call

    return decorate
