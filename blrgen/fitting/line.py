"""Components on a line, on whole numbers, on points: nodes where their mass is.

A line is mapped onto the whole of R by u ↦ θ (exp from a half line, the logistic from an
interval, sinh else); the trapezoidal rule over u stretches over what is not negligible, and
its step is halved until the rule of twice the step agrees.  Whole numbers are summed, points
enumerated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from blrgen.core import Derivation, Probe
from blrgen.errors import UserError
from blrgen.fitting.asked import weight_of
from blrgen.fitting.loss import Target
from blrgen.geometry.integrate import exponent_of
from blrgen.value.tape import Tape

Array = Any
DROP = 42.0  # in the logarithm: what is further below the peak does not count
GOAL = 1e-9
MOST = 8  # how often the step is halved
LARGEST = 200_000  # whole numbers that are summed


@dataclass
class Lines:
    """All components of a mixture of a family of one number."""

    d: Derivation
    target: Target
    seed: int = 0
    level: dict[int, int] = field(default_factory=dict)
    rough: float = 0.0
    doubt: float = 0.0  # none: the nodes are as many as the error asks for

    def __post_init__(self) -> None:
        g = self.d.geometry
        family = g.family
        if not g.ring.elementwise or family.support.size or family.joint:
            raise UserError(
                f"mixtures of {family.name} are not fitted", where="blrgen fit",
                why="components are integrated on a line, on whole numbers, or as Gaussians",
                how="blrgen derive " + self.d.family.name + " has the rule",
            )  # fmt: skip
        self.states = [q.name for q in self.d.rule.of("state") if q.name != "pi"]
        self.symbols = [self.d.rule[x].symbol for x in self.states]
        self.hypers = {q.symbol: float(q.default) for q in self.d.rule.of("hyper")
                       if q.name != "rho" and q.default is not None}  # fmt: skip
        log = g.to_working(exponent_of(family, g.ring) - g.log_partition).subs(self.hypers)
        self._log = Tape([log], [family.variable, *self.symbols])
        asked = [p for p in self.d.facts.probes if p.name in self.d.rule and not p.of_mixture]
        self.asked = asked
        self._weights = {p.name: self._tape(p) for p in asked}

    def _tape(self, p: Probe) -> Tape | None:
        if p.at in map(str, self.d.geometry.family.support.points):
            return None
        w = weight_of(p, self.d.geometry)
        w = p.weight if w is None else w
        made = self.d.geometry.to_working(sp.sympify(w)).subs(self.hypers)
        return Tape([made], [self.d.geometry.family.variable, *self.symbols])

    def log_density(self, x: Array, own: list[float]) -> Array:
        """log q_k."""
        (found,) = self._log.run([x, *own], doubles=True)
        found = np.broadcast_to(np.asarray(found, dtype=float), x.shape)
        return np.where(np.isnan(found), -np.inf, found)

    def values(self, points: Array, state: dict[str, Array]) -> Array:
        """log q at points (N, 1)."""
        x = points[:, 0]
        with np.errstate(divide="ignore"):
            logs = np.log(state["pi"])[:, None] + np.stack(
                [self.log_density(x, self.own(state, k)) for k in range(len(state["pi"]))]
            )
        top = logs.max(0)
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return top + np.log(np.exp(logs - top).sum(0))

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the support, known constants put in."""
        support = self.d.geometry.family.support
        low, high = (sp.sympify(x).subs(self.hypers) for x in (support.lower, support.upper))
        return float(low), float(high)

    def own(self, state: dict[str, Array], k: int) -> list[float]:
        return [float(state[x][k]) for x in self.states]

    def held(self, x: Array, state: dict[str, Array]) -> Array:
        """f = ℓ + log q at points."""
        points = x[:, None]
        with np.errstate(invalid="ignore"):  # ∞ − ∞ beyond an end, where a weight is 0
            return self.target(points) + self.values(points, state)

    # expectations -------------------------------------------------------------------------
    def closely(self, state: dict[str, Array]) -> float:
        """E_q[ℓ + log q]: the rule's own nodes are as many as their error asks for."""
        return self.expected(state)[0]

    def refined(self) -> bool:
        """The nodes are as many as their error asks for in every step."""
        return False

    def expected(self, state: dict[str, Array]) -> tuple[float, dict[str, Array]]:
        """E_q[ℓ + log q], and for every component what the rule asks of it."""
        self.rough = 0.0
        rows = [self._of(k, state) for k in range(len(state["pi"]))]
        made = {p.name: np.array([row[p.name] for row in rows]) for p in self.asked}
        for p in self.d.known:
            made[p.name] = np.zeros(len(rows))
        values = np.array([row["value"] for row in rows])
        return float(state["pi"] @ values), made

    def _of(self, k: int, state: dict[str, Array]) -> dict[str, float]:
        own, kind = self.own(state, k), self.d.geometry.family.support.kind
        if kind == "finite":
            x = np.array([float(p) for p in self.d.geometry.family.support.points])
            return self._sums(x, np.exp(self.log_density(x, own)), own, state)
        if kind == "integers":
            x, w = self._whole(own)
            return self._sums(x, w, own, state)
        return self._integrated(k, own, state)

    def _sums(
        self, x: Array, w: Array, own: list[float], state: dict[str, Array]
    ) -> dict[str, float]:
        """Σ w f·(weight) for each of what is asked."""
        f = self.held(x, state)
        f = np.where(w > 0, f, 0.0)
        share = w / w.sum()
        found = {"value": float(share @ f)}
        held = f - found["value"]
        for p in self.asked:
            tape = self._weights[p.name]
            if tape is None:
                at = [float(q) for q in x].index(float(sp.sympify(p.at)))
                found[p.name] = float(f[at])
                continue
            (weight,) = tape.run([x, *own], doubles=True)
            weight = np.where(w > 0, weight, 0.0)
            value = held
            if p.at == "weighted" and p.order == 0:
                value = self.held(x + 1, state) - f
                value = np.where(w > 0, value, 0.0)
            elif p.order == 0 and p.at == "q":
                value = f
            with np.errstate(all="ignore"):  # a weight of 0 stands where a step would leave the end
                product = np.where(weight == 0, 0.0, value * weight)
            found[p.name] = float(share @ product)
        return found

    def _whole(self, own: list[float]) -> tuple[Array, Array]:
        """Whole numbers and their masses."""
        low, upper = self.ends
        high = min(upper, low + LARGEST)
        x = np.arange(low, high + 1)
        logs = self.log_density(x, own)
        kept = logs > logs.max() - DROP
        last = int(np.nonzero(kept)[0][-1]) + 1
        return x[:last], np.exp(logs[:last])

    def _integrated(self, k: int, own: list[float], state: dict[str, Array]) -> dict[str, float]:
        low, high = self._stretch(own)
        level = max(self.level.get(k, 0) - 1, 0)
        while True:
            count = 2 ** (level + 6)
            u = np.linspace(low, high, count + 1)
            x, log_slope = self.place(u)
            w = np.exp(self.log_density(x, own) + log_slope)
            fine = self._sums(x, w, own, state)
            rough = self._sums(x[::2], w[::2], own, state)
            scale = 1 + abs(fine["value"])
            gap = max(abs(fine[n] - rough[n]) for n in fine) / scale
            if gap < GOAL or level >= MOST or not np.isfinite(gap):
                break
            level += 1
        self.level[k] = level
        self.rough = max(self.rough, gap)
        return fine

    def place(self, u: Array) -> tuple[Array, Array]:
        """θ(u), and log dθ/du."""
        low, high = self.ends
        if np.isfinite(low) and np.isfinite(high):
            part = 1 / (1 + np.exp(-u))
            return low + (high - low) * part, np.log(high - low) - np.logaddexp(0, -u) - (
                np.logaddexp(0, u)
            )
        if np.isfinite(low):
            return low + np.exp(u), u
        if np.isfinite(high):
            return high - np.exp(u), u
        return np.sinh(u), np.log(np.cosh(u))

    def _stretch(self, own: list[float]) -> tuple[float, float]:
        """Where the mass is, by looking ever closer around the peak."""

        def height(u: Array) -> Array:
            x, log_slope = self.place(u)
            return self.log_density(x, own) + log_slope

        return stretch(height)


def stretch(height: Any) -> tuple[float, float]:
    """The ends of what is above the peak less DROP."""
    low, high = -300.0, 300.0
    peak = 0.0
    for _ in range(6):
        u = np.linspace(low, high, 601)
        with np.errstate(all="ignore"):
            level = height(u)
        level = np.where(np.isfinite(level), level, -np.inf)
        peak = float(u[int(level.argmax())])
        step = (high - low) / 600
        low, high = peak - 8 * step, peak + 8 * step
    top = float(level.max())
    return _end(height, peak, top, -1.0), _end(height, peak, top, 1.0)


def _end(height: Any, peak: float, top: float, sign: float) -> float:
    """The nearest place beyond which the mass is negligible, within a part of its distance."""
    out = peak + sign * np.geomspace(1e-9, 600.0, 400)
    with np.errstate(all="ignore"):
        level = height(out)
    level = np.where(np.isfinite(level), level, -np.inf)
    below = np.nonzero(level < top - DROP)[0]
    return float(out[below[0]] if below.size else out[-1])
