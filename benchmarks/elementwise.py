"""Steps of an elementwise rule against memory, public packages and a kernel by hand.

`step` is a whole step as a user makes it, draw included, against a pass over the states,
the inputs and (where the rule draws) the next draw.  `update` leaves the draw out of the
time.  `given` hands the noise in, so that emitted and hand-written code do the same work.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks import arrays, bars, peers, roofline
from benchmarks.cases import Case
from benchmarks.emitted import Emitted, inputs
from benchmarks.goals import read_goals
from benchmarks.prepare import Shape, Timed
from benchmarks.setup import BAR, CHECKED, OURS, ROOF, Setup
from benchmarks.timing import Stepper

PLAIN = 1_000_000  # elements up to which the NumPy form is timed beside


def step(case: Case, timed: Timed) -> Setup:
    """A whole step against everybody."""
    emitted = Emitted(timed, case.size, case.dtype)
    steppers = {OURS: emitted.whole()}
    steppers[CHECKED] = Emitted(timed, case.size, case.dtype, checked=True).whole()
    if timed.noises and emitted.fused:
        steppers[f"{OURS}, two calls"] = Emitted(timed, case.size, case.dtype).apart()
    if not timed.noises:
        steppers |= bar(case, timed, emitted)
    if timed.plain and case.size <= PLAIN:
        plain = Emitted(timed, case.size, case.dtype, timed.plain)
        steppers["the same in NumPy"] = plain.whole()
    g = arrays.gradient(case.size, case.dtype)
    for peer in others(case, timed):
        steppers[peer.title] = peer.make([g])
    return with_roof(case, timed.whole, steppers, emitted)


def others(case: Case, timed: Timed) -> list[peers.Peer]:
    """The peers that are timed beside: all of them, or those that a goal is about."""
    found = peers.of(case.what, case.size, case.dtype)
    if not timed.lean:
        return found
    wanted = {g.against for g in read_goals() if g.concerns(case)}
    return [p for p in found if p.title in wanted]


def sized(case: Case, timed: Timed) -> Setup:
    """A whole step against memory and the bar alone: nobody else is there at every size."""
    emitted = Emitted(timed, case.size, case.dtype)
    steppers = {OURS: emitted.whole()}
    if not timed.noises:
        steppers |= bar(case, timed, emitted)
    return with_roof(case, timed.whole, steppers, emitted)


def update(case: Case, timed: Timed) -> Setup:
    """The update alone."""
    emitted = Emitted(timed, case.size, case.dtype)
    return with_roof(case, timed.step, {OURS: emitted.update()}, emitted)


def given(case: Case, timed: Timed) -> Setup:
    """Draw and update with the noise handed in."""
    emitted = Emitted(timed, case.size, case.dtype)
    noise = {name: noise_of(law, case.size, case.dtype) for name, law in timed.noises}
    draw, update_, inputs_ = emitted.optimizer.draw, emitted.optimizer.step, emitted.inputs

    def once() -> None:
        draw(**noise)
        update_(*inputs_)

    steppers = {OURS: Stepper(once)} | bar(case, timed, emitted, noise)
    return Setup(steppers, case.size)


def noise_of(law: str, size: int, dtype: str) -> object:
    """Noise of a law, the same each time; only its cost matters here."""
    made = arrays.copied(arrays.gradient(size, dtype))
    if law.startswith("U("):
        made -= np.floor(made)
    return made


def bar(
    case: Case, timed: Timed, emitted: Emitted, noise: Mapping[str, object] | None = None
) -> dict[str, Stepper]:
    """The kernel written by hand, if the recipe has one, on the very same arrays."""
    probe = [timed.probe] if timed.probe else []
    made = bars.stepper(
        timed,
        emitted.optimizer,
        inputs(timed, case.size, case.dtype),
        dict(noise or {}),
        case.threads,
        emitted.held([*timed.states, *probe]),
    )
    return {} if made is None else {BAR: made}


def with_roof(case: Case, shape: Shape, steppers: dict[str, Stepper], emitted: Emitted) -> Setup:
    """The setup with a pass of this shape over the arrays of the step, serial and parallel."""
    held = emitted.arrays(shape)
    roofs = roofline.passes(shape, case.size, case.dtype, case.threads, held)
    for kind, one in roofs.items():
        steppers[ROOF if kind == "serial" else f"{ROOF}, {kind}"] = Stepper(one)
    return Setup(steppers, case.size, shape.bytes(np.dtype(case.dtype).itemsize))
