"""The committed emitted classes against recorded runs of the public implementations.

A file that is not there fails: nothing is skipped.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.peers import trajectories
from tests.peers.adapters import CASES, IVON, LIMIT, Case

SETTINGS = [(case, label) for case in CASES for label in trajectories.classes(case)]


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    ("case", "label"), SETTINGS, ids=lambda x: x if isinstance(x, str) else x.name
)
def test_emitted_class_is_what_the_public_code_does(case: Case, label: str) -> None:
    kind = trajectories.classes(case)[label]()
    ours = trajectories.emitted(case, kind, trajectories.noise_of(case))
    gap = trajectories.compared(case, ours, trajectories.recorded(case))
    if case.same:
        assert gap <= LIMIT
    else:
        assert 1e-3 < gap < 1e3


def test_every_ivon_setting_has_its_own_road() -> None:
    """2 estimates × 2 × 2 × 2 switches; the number of draws is no approximation."""
    assert len({tuple(trajectories.ivon_approximations(c.settings)) for c in IVON}) == 16


def test_a_file_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError, match=r"generated/no_such_numpy\.py"):
        trajectories.emitted_class("no-such", "numpy")


def test_a_class_with_a_wrong_step_is_noticed() -> None:
    """The comparison itself: a class with the interface, right and then slightly wrong."""

    class Sgd:
        def __init__(self, params: np.ndarray, rho: float) -> None:
            self.params, self.rho = params, rho

        def step(self, g: np.ndarray) -> None:
            self.params -= self.rho * g

    class Wrong(Sgd):
        def step(self, g: np.ndarray) -> None:
            self.params -= self.rho * g * (1 + 1e-9)

    case = next(c for c in CASES if c.name == "torch-sgd")
    record = trajectories.recorded(case)
    assert trajectories.compared(case, trajectories.emitted(case, Sgd), record) <= LIMIT
    assert trajectories.compared(case, trajectories.emitted(case, Wrong), record) > LIMIT


def test_draws_are_observed_one_by_one() -> None:
    """The protocol itself: draw, observe, draw, observe, step; and draw, step(g) for one."""
    calls: list[str] = []

    class Probe:
        def __init__(self, params: np.ndarray, **hyper: float) -> None:
            self.params = params

        def draw(self, rng: object = None, *, eps: np.ndarray) -> np.ndarray:
            calls.append("draw")
            theta: np.ndarray = self.params + eps
            return theta

        def observe(self, g: np.ndarray) -> None:
            calls.append("observe")

        def step(self, g: np.ndarray | None = None) -> None:
            calls.append("step" if g is None else "step(g)")

        def state_dict(self) -> dict[str, np.ndarray]:
            return {"h": np.ones_like(self.params)}

    for name, order in (
        ("ivon", ["draw", "step(g)"]),
        ("ivon-mc2", ["draw", "observe", "draw", "observe", "step"]),
    ):
        calls.clear()
        case = next(c for c in IVON if c.name == name)
        trajectories.emitted(case, Probe, trajectories.recorded_noise())
        assert calls == order * case.keep


def test_no_emitted_class_is_mistaken_for_another() -> None:
    """Adam's trajectory is not RMSprop's: a file under the wrong name would be seen."""
    by_name = {c.name: c for c in CASES}
    adam, rmsprop = by_name["torch-adam"], by_name["torch-rmsprop"]
    other = trajectories.recorded(rmsprop)
    assert trajectories.difference(trajectories.recorded(adam), other) > 1e-3
