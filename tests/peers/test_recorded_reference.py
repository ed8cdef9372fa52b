"""The hand-written references against recorded runs of the public implementations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.peers import adapters, problems, trajectories
from tests.peers.adapters import CASES, IVON, LIMIT, Case
from tests.peers.models import recorded as models

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "recorded"
SAME = [case for case in CASES if case.same]
OTHER = [case for case in CASES if not case.same]


def gap(case: Case) -> float:
    """The largest relative difference between the reference and the recording."""
    ours = trajectories.reference(case, trajectories.noise_of(case))
    return trajectories.compared(case, ours, trajectories.recorded(case))


@pytest.mark.parametrize("case", SAME, ids=lambda c: c.name)
def test_reference_is_what_the_public_code_does(case: Case) -> None:
    assert gap(case) <= LIMIT


@pytest.mark.parametrize("case", OTHER, ids=lambda c: c.name)
def test_settings_that_are_another_formula_differ(case: Case) -> None:
    assert 1e-3 < gap(case) < 1e3


@pytest.mark.parametrize(
    ("case", "name"),
    [
        (case, name)
        for case in SAME
        if case.peer != "ivon.IVON" or case in (IVON[0], IVON[-1])
        for name, value in case.hyperparameters().items()
        if math.isfinite(value)
    ],
    ids=lambda x: x if isinstance(x, str) else x.name,
)
def test_a_hyperparameter_slightly_off_is_noticed(
    case: Case, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Case.hyperparameters

    def wrong(self: Case) -> dict[str, float]:
        return {k: v * (1 + 1e-2 * (k == name)) for k, v in right(self).items()}

    monkeypatch.setattr(Case, "hyperparameters", wrong)
    assert gap(case) > LIMIT


def test_all_thirty_two_ivon_settings_are_there_and_differ() -> None:
    assert len({tuple(sorted(map(str, c.settings.items()))) for c in IVON}) == 32
    ends = [trajectories.recorded(c)["m"][-1] for c in IVON]
    closest = min(np.max(np.abs(a - b)) for a, b in itertools.combinations(ends, 2))
    assert closest > 1e-6


def test_recordings_are_complete_small_and_of_fifty_steps() -> None:
    for case in CASES:
        record = trajectories.recorded(case)
        assert record["m"].shape == (len(case.steps()), problems.PARAMETERS), case.name
        assert all(a.dtype == np.float64 and np.isfinite(a).all() for a in record.values())
    names = {f"{c.name}/{q}" for c in CASES for q in ("m", *c.extra)} | {"noise"}
    names |= {f"{c.name}/z" for c in CASES if c.masks}
    paths = [path for path in sorted(FOLDER.glob("*.npz")) if path != models.FILE]
    assert {k for path in paths for k in np.load(path).files} == names
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 300_000
    for case in models.every_case():
        run = models.recorded(case)
        assert len(run.trace) or run.end, case.name
        assert all(np.isfinite(x).all() for x in (run.trace, *run.end.values())), case.name
    whole = [c for c in CASES if c.keep == problems.STEPS]
    assert {c.recipe for c in CASES} - {c.recipe for c in whole} == {"ridge"}


@pytest.mark.parametrize(
    ("function", "derivative"),
    [(problems.loss, problems.gradient), (problems.gradient, problems.hessian)],
    ids=["gradient", "hessian"],
)
def test_derivatives_are_those_of_the_loss(
    function: Callable[..., object], derivative: Callable[..., np.ndarray]
) -> None:
    size, x = 1e-5, problems.START
    for t in (None, 3) if derivative is problems.gradient else (None,):
        extra = () if derivative is problems.hessian else (t,)
        slopes = [
            (np.asarray(function(x + e, *extra)) - np.asarray(function(x - e, *extra))) / (2 * size)
            for e in size * np.eye(problems.PARAMETERS)
        ]
        np.testing.assert_allclose(derivative(x, *extra), slopes, atol=1e-9)


def test_the_separate_problems_have_their_derivative() -> None:
    size, x = 1e-5, problems.START
    up, down = problems.separate_gradient(x + size), problems.separate_gradient(x - size)
    np.testing.assert_allclose(problems.separate_curvature(x), (up - down) / (2 * size), atol=1e-9)


def test_the_problem_is_not_quadratic() -> None:
    a, b = problems.hessian(problems.START), problems.hessian(-problems.START)
    assert np.max(np.abs(a - b)) > 1e-2


def test_clipping_clips_some_coordinates_and_not_others() -> None:
    """Otherwise the small radius would test nothing, or nothing else."""
    free, clipped = (
        trajectories.recorded(next(c for c in IVON if c.name == n)) for n in ("ivon", "ivon-clip")
    )
    first = np.abs(clipped["m"][0] - problems.START)
    common = adapters.IVON_COMMON
    bound = common["lr"] * (common["hess_init"] + common["weight_decay"]) * 0.05
    at_bound = np.isclose(first, bound, rtol=1e-9)
    assert 0 < at_bound.sum() < problems.PARAMETERS
    np.testing.assert_allclose(clipped["m"][0][~at_bound], free["m"][0][~at_bound], rtol=1e-14)


def test_every_model_that_ships_stands_beside_something() -> None:
    own = {case.model for case in models.every_case()}
    assert {path.stem for path in (ROOT / "models").glob("*.model")} <= own
