"""The geometry's numbers at a point: `--at`.

Closed forms are evaluated with more and more digits until they settle, and as limits where
they are removable singularities; what has no known closed form comes from quadrature or
summation of the density.  `error` bounds the absolute error of every number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.show.geometry.rows import Row, words
from blrgen.text.names import unicode_name

Expr = Any
_DIGITS = 20


def numbers_at(geometry: Any, at: Mapping[str, Any]) -> dict[str, Any]:
    """Log-partition, mean, Fisher matrix, entropy and its gradient at a point, as numbers.

    The point is in natural or in working parameters, and the known constants.
    """
    from blrgen.geometry.component_place import component_numbers
    from blrgen.show.geometry.arrays import array_numbers_at

    if geometry.family.components is not None:
        return component_numbers(geometry, at, "--at")
    if not geometry.ring.elementwise:
        return array_numbers_at(geometry, at)
    from blrgen.geometry.place import place_of

    place = place_of(geometry, at)
    source = _Source(geometry, place.natural, place.fixed)
    found = {
        "log_partition": source.double(source.log_partition()),
        "mean": [source.double(x) for x in source.mean()],
        "fisher": [[source.double(x) for x in row] for row in source.fisher()],
        "entropy": source.double(source.entropy()),
        "entropy_gradient": [source.double(x) for x in source.entropy_gradient()],
    }
    return {**found, "error": source.error}


class _Source:
    """Numbers with errors, from closed forms where there are, from the density elsewhere."""

    def __init__(self, geometry: Any, natural: dict[Expr, Expr], fixed: dict[Expr, Expr]) -> None:
        self.geometry, self.natural, self.fixed = geometry, natural, fixed
        self.family: Family = geometry.family
        self.error = 0.0

    def double(self, number: tuple[Any, Any]) -> float:
        """A number as a double; what that and its own error amount to is kept."""
        value, error = number
        try:
            found = float(value)
        except OverflowError:
            found = float("inf")
        if found in (float("inf"), float("-inf")):
            import mpmath

            raise UserError(
                f"a number at this point is {mpmath.nstr(value, 6)}, beyond double precision",
                where="--at",
                how="choose a point nearer to the origin",
            )
        self.error = max(self.error, float(error) + abs(found) * 2.0**-53)
        return 0.0 if abs(value) <= error else found

    def closed(self, e: Expr) -> tuple[Any, Any] | None:
        """The number of a closed form; None when there is none."""
        from blrgen.algebra.nodes import has_nodes
        from blrgen.value.digits import evaluate_at

        if has_nodes(e):
            return None
        point = {**self.fixed, **self.natural}
        return evaluate_at(e, point, _DIGITS, moving=tuple(self.natural))

    @property
    def density(self) -> Any:
        """q at the point, by quadrature or summation."""
        import mpmath

        from blrgen.geometry.numbers.moments import averages_of
        from blrgen.value.digits import exact

        with mpmath.workdps(2 * _DIGITS):
            args = [exact(v) for v in (*self.natural.values(), *self.fixed.values())]
        if self.family.joint:
            from blrgen.geometry.joint_numbers import JointNumbers

            return JointNumbers(self.family, tuple(args))
        log_h = self.log_base
        return averages_of(
            self.family, tuple(args), _DIGITS, functions=(log_h,) if self.varies(log_h) else ()
        )

    @property
    def log_base(self) -> Expr:
        from blrgen.geometry.integrate import log_base

        return log_base(self.family)

    def varies(self, e: Expr) -> bool:
        """Whether an expression depends on the random variable."""
        return bool(set(self.family.variables) & getattr(e, "free_symbols", set()))

    def log_partition(self) -> tuple[Any, Any]:
        return self.closed(self.geometry.log_partition) or self.density.log_partition()

    def mean(self) -> list[tuple[Any, Any]]:
        found = [self.closed(e) for e in self.geometry.mean]
        if all(found):
            return found  # type: ignore[return-value]
        mean, error = self.density.moments()[0], self.density.errors[0]
        return [f or (m, error) for f, m in zip(found, mean, strict=True)]

    def fisher(self) -> list[list[tuple[Any, Any]]]:
        found = [[self.closed(e) for e in row] for row in self.geometry.fisher]
        if all(all(row) for row in found):
            return found  # type: ignore[return-value]
        fisher, error = self.density.moments()[1], self.density.errors[1]
        return [[(x, error) for x in row] for row in fisher]

    def entropy(self) -> tuple[Any, Any]:
        closed = self.closed(self.geometry.entropy)
        return closed or self.density.entropy(self.log_base if self.varies(self.log_base) else None)

    def entropy_gradient(self) -> list[tuple[Any, Any]]:
        found = [self.closed(e) for e in self.geometry.entropy_gradient]
        if all(found):
            return found  # type: ignore[return-value]
        log_h = self.log_base
        return list(self.density.entropy_gradient(log_h if self.varies(log_h) else None))


def number_rows(at: Mapping[str, Any], numbers: dict[str, Any]) -> list[Row]:
    """The numbers as a row of the page."""
    place = ", ".join(f"{name} = {digits(value, 6)}" for name, value in at.items())
    rows = [("log-partition", numbers["log_partition"]), ("entropy", numbers["entropy"])]
    rows += [("mean", numbers["mean"]), ("entropy gradient", numbers["entropy_gradient"])]
    coordinates = numbers.get("coordinates")
    if numbers["fisher"] is None:
        rows += [("Fisher", f"not written out: {len(coordinates or ())} coordinates")]
    else:
        rows += [("Fisher", numbers["fisher"])]
    shown = tuple(words(label, _said(value)) for label, value in rows)
    if coordinates:
        shown += (words("over", ", ".join(map(_coordinate, coordinates))),)
    error = f"error at most {numbers['error']:.1g}"
    return [Row(f"At {place}", shown, error, "natural", "numeric")]


def _coordinate(name: str) -> str:
    """η₂[1,2]."""
    base, bracket, rest = name.partition("[")
    return unicode_name(base) + bracket + rest


def _said(value: Any) -> str:
    return value if isinstance(value, str) else digits(value)


def digits(value: Any, count: int = 15) -> str:
    """A number, or nested lists of them, to so many digits."""
    if isinstance(value, list | tuple):
        return "(" + ", ".join(digits(v, count) for v in value) + ")"
    return f"{value:.{count}g}"
