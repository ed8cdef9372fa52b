"""∇_μ E_q[ℓ] as it was found: by which route, from which probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blrgen.core import Probe
from blrgen.errors import InternalError
from blrgen.expect.base_measure import LogBase
from blrgen.expect.identities import Identity
from blrgen.expect.moments import Split
from blrgen.expect.operators import Operator

Expr = Any


@dataclass(frozen=True, eq=False)
class Expectation:
    """∇_μ E_q[ℓ], one entry per statistic, in working parameters and probes."""

    route: str
    because: str
    probes: tuple[Probe, ...]
    mean_gradient: tuple[Expr, ...]
    working_gradient: tuple[Expr, ...]
    identities: tuple[Identity, ...] = ()
    orders: tuple[tuple[Expr, int], ...] = ()  # working parameter → order of its derivative
    operators: tuple[Operator, ...] = ()
    split: Split | None = None  # how a concrete loss was taken apart
    factors: tuple[Expectation, ...] = ()  # of a product
    base: LogBase | None = None  # the case of E_q[log h]; None: constant or closed
    metric: tuple[tuple[Expr, Expr], ...] = ()  # letters for entries of F, where these are long
    current: bool = False  # the loss is ℓ − log q as it stands: the entropy's gradient cancels

    @property
    def folded(self) -> bool:
        """Whether the probes hold log h as well: then the entropy gives −λ alone."""
        return self.base is not None and self.base.case == "open"

    @property
    def rest(self) -> Expr:
        """What a concrete loss still leaves to the probes (without log h); None if abstract."""
        return None if self.split is None else self.split.rest


class NoRoute(InternalError):
    """A way to ∇_μ E_q[ℓ] that this family or loss does not have."""
