"""Derived log joints, conditionals, expectations and updates against log joints by hand.

Conditionals are compared by differences of the hand-written log joint under θ → θ′, so that
nothing of the algebra stands on both sides.  Expectations are taken under laws of two points
a block, enumerated in full: any dependence inside a block is in them.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from blrgen.algebra.indexed.build import add
from blrgen.expect.blocks.block import block_of
from blrgen.expect.blocks.expectation import expecting, stationary, with_expectations
from blrgen.expect.factors.joint import log_joint
from blrgen.expect.factors.names import table_of
from blrgen.read.model.reader import read_model
from blrgen.value.indexed import Values
from tests.expect.blocks.cases import CASES, Case

NAMES = [c.name for c in CASES]
TOLERANCE = 2e-11


@lru_cache
def derived(name: str):
    """(case, factors, latent nodes, blocks) of a model."""
    case = next(c for c in CASES if c.name == name)
    model = read_model(case.text, name)
    table, factors = table_of(model), log_joint(model)
    latents = [n for n in model.nodes if n.kind == "latent"]
    return case, factors, latents, [block_of(table, factors, [n]) for n in latents]


@lru_cache
def expectations(name: str):
    """(E[L], blocks with the expectations of their coefficients, q)."""
    from dataclasses import replace

    _, factors, latents, blocks = derived(name)
    q = expecting(blocks, {b.name: n.names for b, n in zip(blocks, latents, strict=True)})
    joint = q.of(add(*[f.total for f in factors]))
    return joint, [replace(b, parts=with_expectations(b, q)) for b in blocks], q


def values_of(case: Case, arrays) -> Values:
    ragged = {"exists:W": np.array([[1.0, 1.0], [1.0, 0.0]])} if "W[d]" in case.text else {}
    return Values(arrays | ragged, case.sizes)


def statistic(values: Values, s) -> np.ndarray:
    """T at all its places; a pair that would be read before the start is never used: 0."""
    found = np.zeros([values.size(i.axis) for i in s.places])
    for at in np.ndindex(*found.shape):
        try:
            found[at] = values.of(s.value, {i.name: k for i, k in zip(s.places, at, strict=True)})
        except IndexError:
            found[at] = 0
    return found


def close(a: float, b: float) -> bool:
    return abs(a - b) <= TOLERANCE * (1 + abs(a) + abs(b))


@pytest.mark.parametrize("name", NAMES)
def test_the_log_joint_is_the_one_by_hand(name):
    case, factors, _, _ = derived(name)
    joint = add(*[f.total for f in factors])
    for seed in range(3):
        v = case.values(np.random.default_rng(seed))
        assert close(values_of(case, v).of(joint), case.joint(v))


@pytest.mark.parametrize("name", NAMES)
def test_every_block_is_conjugate_and_multiplied_back(name):
    _, _, _, blocks = derived(name)
    assert all(b.proved and not b.remainder for b in blocks)
    assert {b.kind for b in blocks} <= {"element", "banded", "dense", "labels"}


@pytest.mark.parametrize("name", NAMES)
def test_full_conditionals_by_differences_of_the_log_joint(name):
    case, _, latents, blocks = derived(name)
    one, two = (case.values(np.random.default_rng(s)) for s in (5, 6))
    for node, block in zip(latents, blocks, strict=True):
        changed = one | {n: two[n] for n in node.names}
        gain = sum(
            (1 if here is changed else -1) * conditional(case, block, here)
            for here in (changed, one)
        )
        assert close(gain, case.joint(changed) - case.joint(one)), block.name


def conditional(case: Case, block, arrays) -> float:
    """Σ measure ⟨c, T⟩ + log h at values of everything."""
    from blrgen.algebra.indexed.build import multiplied

    v = values_of(case, arrays)
    total = v.of(block.base)
    for part in block.parts:
        t = statistic(v, part.statistic)
        c = v.array(multiplied(part.coefficient, block.measure), part.statistic.places)
        total += float(np.sum(t * c))
    return total


@pytest.mark.parametrize("name", NAMES)
def test_expectations_under_laws_of_two_points(name):
    case, _, latents, blocks = derived(name)
    joint, _, _ = expectations(name)
    rng = np.random.default_rng(7)
    fixed = case.values(rng)
    points = [case.values(rng) for _ in range(2)]
    weights = rng.uniform(0.2, 0.8, size=len(latents))
    symbols = {}
    for node, block, w in zip(latents, blocks, weights, strict=True):
        here = [values_of(case, fixed | {n: p[n] for n in node.names}) for p in points]
        for part in block.parts:
            a, b = (statistic(v, part.statistic) for v in here)
            symbols[part.statistic.name] = w * a + (1 - w) * b
    want = 0.0
    for choice in product((0, 1), repeat=len(latents)):
        arrays = dict(fixed)
        weight = 1.0
        for node, w, c in zip(latents, weights, choice, strict=True):
            arrays |= {n: points[c][n] for n in node.names}
            weight *= (w, 1 - w)[c]
        want += weight * case.joint(arrays)
    assert close(values_of(case, fixed | symbols).of(joint), want)


@pytest.mark.parametrize("name", NAMES)
def test_every_update_is_the_stationarity_of_the_objective(name):
    joint, blocks, q = expectations(name)
    assert not q.unnamed
    for block in blocks:
        assert not stationary(block, joint, q), block.name


PLANTED = {
    "a third for a half": ("x[n] ~ gaussian(mu, 1/tau)", "x[n] ~ gaussian(mu, 1/(2*tau))"),
    "a shape one too small": ("normal-gamma(1/2, 2, 3, 4)", "normal-gamma(1/2, 2, 2, 4)"),
    "a precision for a variance": ("x[n] ~ gaussian(mu, 1/tau)", "x[n] ~ gaussian(mu, tau)"),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_errors_are_seen(planted):
    case = CASES[0]
    model = read_model(case.text.replace(*PLANTED[planted]), "planted")
    joint = add(*[f.total for f in log_joint(model)])
    v = case.values(np.random.default_rng(1))
    assert abs(values_of(case, v).of(joint) - case.joint(v)) > 1e-3


def test_a_base_measure_left_in_the_conditional_is_seen():
    from dataclasses import replace

    case, _, latents, blocks = derived("regression")
    block = next(b for b in blocks if b.name == "tau")
    node = next(n for n in latents if n.name == "tau")
    one, two = (case.values(np.random.default_rng(s)) for s in (5, 6))
    changed = one | {n: two[n] for n in node.names}
    wrong = replace(block, base=add())
    gain = conditional(case, wrong, changed) - conditional(case, wrong, one)
    assert not close(gain, case.joint(changed) - case.joint(one))
