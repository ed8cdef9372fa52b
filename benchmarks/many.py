"""Many small arrays: as slices of one flat buffer, and as a list, against torch on the same."""

from __future__ import annotations

from benchmarks import arrays
from benchmarks.cases import TENSOR, TENSORS, Case
from benchmarks.elementwise import others
from benchmarks.emitted import Emitted, inputs, loaded
from benchmarks.prepare import Timed
from benchmarks.setup import CHECKED, OURS, Setup
from benchmarks.timing import Stepper


def flat(case: Case, timed: Timed) -> Setup:
    """One buffer for all; the caller's arrays would be slices of it."""
    emitted = Emitted(timed, case.size, case.dtype)
    return Setup({OURS: emitted.whole()} | _theirs(case, timed), case.size)


def listed(case: Case, timed: Timed) -> Setup:
    """The optimizer is given a list of arrays, and a list of gradients each step."""
    params = [arrays.full(TENSOR, case.dtype, 0.25) for _ in range(TENSORS)]
    optimizer = getattr(loaded(timed.path), timed.class_name)(params, check_finite=False)
    each = inputs(timed, TENSOR, case.dtype)
    given = [[arrays.copied(x) for _ in range(TENSORS)] for x in each]

    checked = getattr(loaded(timed.path), timed.class_name)([arrays.copied(x) for x in params])
    ours = {
        OURS: Stepper(lambda: optimizer.step(*given)),
        CHECKED: Stepper(lambda: checked.step(*given)),
    }
    return Setup(ours | _theirs(case, timed), case.size)


def _theirs(case: Case, timed: Timed) -> dict[str, Stepper]:
    g = [arrays.gradient(TENSOR, case.dtype)] * TENSORS
    return {p.title: p.make(g) for p in others(case, timed)}
