"""M-steps: at the new points every slope of E[L] is zero, by differences of E[L] itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import Options, derive_model
from blrgen.rule.model.prepare import points_of, prepared
from blrgen.value.indexed import Values

MODELS = Path(__file__).parents[3] / "models"
SIZES = {"N": 7, "K": 2, "d": 3, "q": 2, "p": 2, "r": 2, "T": 7, "S": 2, "V": 3, "J": 2}
CLOSED = ["gaussian-mixture-full-em", "gaussian-mixture-diag-em", "gaussian-mixture-tied-em",
          "bernoulli-mixture-em", "poisson-mixture-em", "hmm-gaussian-em", "hmm-categorical-em",
          "hmm-poisson-em"]  # fmt: skip
LINEAR = ["factor-analysis-em", "ppca", "state-space-em"]


def derivation(name: str):
    model = read_model((MODELS / f"{name}.model").read_text(), name)
    return model, derive_model(model, "em")


def shape(places, sizes=SIZES):
    return tuple(sizes[i.axis] for i in places)


def start(model, rng):
    """Random data, constants and points of the right kind."""
    p = prepared(model)
    arrays = {}
    for name, v in p.table.variables.items():
        dims = tuple(SIZES[a] for a in (*v.plates, *v.shape))
        s = v.symbol
        if s.one_hot:
            arrays[name] = np.eye(dims[-1])[rng.integers(dims[-1], size=dims[:-1])]
        elif s.symmetric:
            a = rng.normal(size=dims)
            arrays[name] = a @ np.swapaxes(a, -1, -2) + np.eye(dims[-1])
        elif s.total is not None:
            arrays[name] = rng.dirichlet(np.ones(dims[-1]), size=dims[:-1] or None)
        elif s.binary:
            arrays[name] = rng.integers(2, size=dims).astype(float)
        elif s.lower == 0:
            arrays[name] = rng.uniform(0.1, 0.9, size=dims)
        else:
            arrays[name] = rng.normal(size=dims)
    arrays |= {f"seen:{n.names[0]}": np.array([1.0, 1, 0, 1, 1, 1, 1]) for n in model.nodes}
    return arrays


def expectations(d, arrays, rng):
    """E[T] under laws of twelve points a latent: what a q could give, no class empty."""
    found = {}
    for u in d.updates:
        mean = {}
        for weight in rng.dirichlet(np.ones(12)):
            here = arrays | random_latents(u.block, arrays, rng)
            v = Values(here, SIZES)
            for part in u.block.parts:
                t = statistic(v, part.statistic)
                mean[part.statistic.name] = mean.get(part.statistic.name, 0) + weight * t
        found |= mean
    return found


def random_latents(block, arrays, rng):
    out = {}
    for name in block.nodes:
        old = arrays[name]
        one_hot = np.allclose(old.sum(-1), 1) and set(np.unique(old)) <= {0, 1}
        out[name] = rng.permuted(old, axis=-1) if one_hot else rng.normal(size=old.shape)
    return out


def statistic(v, s):
    found = np.zeros([v.size(i.axis) for i in s.places])
    for at in np.ndindex(*found.shape):
        try:
            found[at] = v.of(s.value, {i.name: k for i, k in zip(s.places, at, strict=True)})
        except IndexError:
            found[at] = 0
    return found


def solve(system, values):
    """The points of a linear system, for every place of the letters it shares."""
    shared = list(system.shared)
    found = {u.name: np.zeros(shape(u.places)) for u in system.unknowns}
    for at in np.ndindex(*shape(shared)):
        here = {i.name: k for i, k in zip(shared, at, strict=True)}
        own = [tuple(i for i in u.places if i not in shared) for u in system.unknowns]
        rows = [(g, w) for g, letters in enumerate(own) for w in np.ndindex(*shape(letters))]
        m, b = np.zeros((len(rows), len(rows))), np.zeros(len(rows))
        for x, (g, w) in enumerate(rows):
            row = here | {i.name: k for i, k in zip(own[g], w, strict=True)}
            b[x] = values.of(system.right[g], row)
            for y, (h, z) in enumerate(rows):
                column = {i.name + "'": k for i, k in zip(own[h], z, strict=True)}
                m[x, y] = values.of(system.matrix[g][h], row | column)
        for (g, w), value in zip(rows, np.linalg.solve(m, b), strict=True):
            u = system.unknowns[g]
            place = here | {i.name: k for i, k in zip(own[g], w, strict=True)}
            found[u.name][tuple(place[i.name] for i in u.places)] = value
    return found


def maximised(d, arrays):
    """All points at their new values."""
    for update in d.points:
        values = Values(arrays, SIZES)
        if update.mode == "linear":
            arrays = arrays | solve(update.system, values)
        else:
            assert update.mode == "closed"
            for e in update.equations:
                arrays = arrays | {e.target: values.array(e.value, e.places)}
    return arrays


def slopes(d, model, arrays, point=()):
    """Central differences of E[L] along directions that stay inside each point's domain."""
    for p in points_of(prepared(model, point)):
        x = arrays[p.name]
        for at in np.ndindex(*x.shape):
            direction = np.zeros_like(x)
            direction[at] = 1
            if p.kind == "simplex":
                other = (*at[:-1], (at[-1] + 1) % x.shape[-1])
                direction[other] -= 1
            if p.kind == "spd":
                direction = direction + np.swapaxes(direction, -1, -2)
            step = 1e-5 * (x[at] if p.kind == "simplex" else 1)
            if np.any((x + step * direction < 0) & (direction != 0)) and p.kind == "simplex":
                continue
            ends = [Values(arrays | {p.name: x + s * step * direction}, SIZES).of(d.expected_joint)
                    for s in (1, -1)]  # fmt: skip
            yield p.name, (ends[0] - ends[1]) / (2 * step)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", CLOSED + LINEAR)
def test_every_slope_is_zero_at_the_new_points(name):
    model, d = derivation(name)
    rng = np.random.default_rng(3)
    arrays = start(model, rng)
    arrays = arrays | expectations(d, arrays, rng)
    before = max(abs(g) for _, g in slopes(d, model, arrays))
    after = max(abs(g) for _, g in slopes(d, model, maximised(d, arrays)))
    assert after < 1e-5 < before


PRECISIONS = """
plate n in N
plate k in K
param pi in simplex(K)
param mu[k] in R^d
param L[k] in SPD(d)
z[n] ~ categorical(pi)
x[n] ~ gaussian-full(mu[z[n]], L[z[n]])   observed
"""


@pytest.mark.parametrize("text, point", [
    (PRECISIONS, ()),
    ((MODELS / "gaussian-mixture-full.model").read_text(), ("pi", "mu", "L")),
    ((MODELS / "gaussian-mixture-diag.model").read_text(), ("pi", "mu", "tau")),
])  # fmt: skip
def test_precisions_and_modes_of_posteriors(text, point):
    model = read_model(text, "m")
    d = derive_model(model, "em", Options(point=point))
    assert {u.mode for u in d.points} <= {"closed", "linear"}
    rng = np.random.default_rng(4)
    arrays = start(model, rng) | {"nu0": np.array(9.0), "alpha": np.array([2.0, 3.0])}
    arrays = arrays | expectations(d, arrays, rng)
    after = [abs(g) for _, g in slopes(d, model, maximised(d, arrays), point)]
    assert after and max(after) < 1e-4


def test_factor_analysis_solves_loadings_and_mean_together_and_free_of_the_variances():
    _, d = derivation("factor-analysis-em")
    first = d.points[0]
    assert first.names == ("W", "mu") and first.mode == "linear"
    assert [i.axis for i in first.system.shared] == ["d"]
    assert all("psi" not in e.symbols() for row in first.system.matrix for e in row)
    assert all("psi" not in e.symbols() for e in first.system.right)


def test_a_shape_without_closed_form_is_left_to_newton_with_its_slope():
    model, d = derivation("gamma-mixture")
    assert {u.names: u.mode for u in d.points} == {
        ("pi",): "closed", ("a",): "newton", ("b",): "closed"
    }  # fmt: skip
    newton = next(u for u in d.points if u.mode == "newton")
    rng = np.random.default_rng(1)
    arrays = start(model, rng)
    arrays = arrays | expectations(d, arrays, rng)
    rate = next(e for u in d.points if u.names == ("b",) for e in u.equations)

    def profile(a):
        here = arrays | {"a": a}
        b = Values(here, SIZES).array(rate.value, rate.places)
        return Values(here | {"b": b}, SIZES).of(d.expected_joint)

    values = Values(arrays, SIZES)
    g = values.array(newton.stationary.slope[0], newton.stationary.unknowns[0].places)
    bend = values.array(newton.stationary.bend[0][0], newton.stationary.unknowns[0].places)
    for k in range(2):
        e = np.eye(2)[k] * 1e-5
        up, down = profile(arrays["a"] + e), profile(arrays["a"] - e)
        assert (up - down) / 2e-5 == pytest.approx(g[k], rel=1e-6)
        ends = [Values(arrays | {"a": arrays["a"] + s * e}, SIZES) for s in (1, -1)]
        h = [v.of(newton.stationary.slope[0], {"k": k}) for v in ends]
        assert (h[0] - h[1]) / 2e-5 == pytest.approx(bend[k], rel=1e-6)


NEWTON = {
    "logistic": (
        """
plate n in N
const X[n] in R^d
param w in R^d
y[n] ~ bernoulli(eta = dot(w, X[n]))   observed
"""
    ),
    "two-links": (
        """
plate n in N
const X[n] in R^d
param w in R^d
param u in R^d
y[n] ~ gaussian(dot(w, X[n]), exp(dot(u, X[n])))   observed
"""
    ),
    "softmax": (
        """
plate n in N
plate k in K
const X[n] in R^d
param w[k] in R^d
z[n] ~ categorical(exp(w[:]*X[n])/sum(exp(w[:]*X[n])))   observed
"""
    ),
    "concentration": (
        """
plate n in N
param a in (0, oo)^K
x[n] ~ dirichlet(a)   observed
"""
    ),
}


@pytest.mark.parametrize("name", NEWTON)
def test_newton_has_slope_and_bend_by_differences(name):
    model = read_model(NEWTON[name], "m")
    d = derive_model(model, "em")
    (update,) = d.points
    assert update.mode == "newton"
    s = update.stationary
    arrays = start(model, np.random.default_rng(6))
    values = Values(arrays, SIZES)
    shared = {i.name for i in s.shared}
    for g, (unknown, slope) in enumerate(zip(s.unknowns, s.slope, strict=True)):
        found = values.array(slope, unknown.places)
        for at in np.ndindex(*found.shape):
            step = np.zeros(found.shape)
            step[at] = 1e-6
            ends = [Values(arrays | {unknown.name: arrays[unknown.name] + q * step}, SIZES)
                    for q in (1, -1)]  # fmt: skip
            want = (ends[0].of(d.expected_joint) - ends[1].of(d.expected_joint)) / 2e-6
            assert found[at] == pytest.approx(want, rel=1e-5, abs=1e-6)
            place = {i.name: k for i, k in zip(unknown.places, at, strict=True)}
            moved = place | {f"{k}'": v for k, v in place.items() if k not in shared}
            h = (ends[0].of(slope, place) - ends[1].of(slope, place)) / 2e-6
            assert values.of(s.bend[g][g], moved) == pytest.approx(h, rel=1e-5, abs=1e-6)
