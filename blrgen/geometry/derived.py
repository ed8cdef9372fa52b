"""What a geometry also has, derived when it is asked for: a mixin of `Geometry`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blrgen.geometry.conjugate import Conjugate
    from blrgen.geometry.divergence import Divergence
    from blrgen.geometry.eliminate import Elimination
    from blrgen.geometry.fisher import Fisher
    from blrgen.geometry.invert import Inversion
    from blrgen.geometry.likelihood import Likelihood


class Derived:
    """Divergences, the metric in every chart, the conjugate prior, maximum likelihood."""

    @cached_property
    def divergence(self) -> Divergence:
        """KL, Rényi and their relatives between two members."""
        from blrgen.geometry.divergence import divergence_of

        return divergence_of(self)  # type: ignore[arg-type]

    @cached_property
    def metric_in_charts(self) -> Fisher:
        """F in natural, working and mean coordinates (scalar parameters)."""
        from blrgen.geometry.fisher import Fisher

        return Fisher(self)  # type: ignore[arg-type]

    @cached_property
    def conjugate(self) -> Conjugate:
        """The conjugate prior of this family as a likelihood."""
        from blrgen.geometry.conjugate import Conjugate

        return Conjugate(self)  # type: ignore[arg-type]

    @cached_property
    def likelihood(self) -> Likelihood:
        """Maximum likelihood: the moment match."""
        from blrgen.geometry.likelihood import Likelihood

        return Likelihood(self)  # type: ignore[arg-type]

    @cached_property
    def elimination(self) -> Elimination | None:
        """All parameters but one as functions of that one and μ, where that goes."""
        from blrgen.geometry.eliminate import elimination

        return elimination(self)  # type: ignore[arg-type]

    def natural_of_mean(
        self, mean: Mapping[str, Any] | Sequence[Any], fixed: Mapping[str, Any] | None = None
    ) -> Inversion:
        """λ for mean parameters μ (and the known constants), and whether it converged."""
        from blrgen.geometry.invert import natural_of_mean

        return natural_of_mean(self, mean, fixed)  # type: ignore[arg-type]
