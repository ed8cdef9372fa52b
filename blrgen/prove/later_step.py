"""A step after others of the same object, from values that have nothing to do with theirs.

Between the steps the rule's states are set to other symbols, and the inputs are others, too.
If the last step still computes the rule, the class has kept nothing of the earlier ones that
matters, wherever it could have: in an attribute, a closure, a variable of the module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.prove import reference
from blrgen.prove.symbolic.number import CannotRun

if TYPE_CHECKING:
    from blrgen.prove.emitted_run import EmittedRun

EARLIER = 2  # two, for what depends on the last change of something
WHY = (
    "after steps on other values the class gives something else: it keeps what the rule has no "
    "state for, and only its first step was compared"
)


def later_step(run: EmittedRun) -> str:
    """Why a later step is not known to be that of the rule; nothing where it is."""
    try:
        return "" if _alike(run) else WHY
    except CannotRun as error:
        return f"it could not be run on symbols ({error})"


def _alike(run: EmittedRun) -> bool:
    program, opt, params = run.built()
    own = program.domains
    for k in range(EARLIER, 0, -1):
        with run.mode.before(k) as domains:
            program.domains = {**own, **domains}
            run.again(opt, params)
            run.stepped(program, opt)
    run.again(opt, params)
    run.stepped(program, opt)
    values, known = run.after(opt, params), reference.next_states(run.rule)
    return all(
        run.mode.compare(n, values[n], known[n], program).proved for n in run.matching.states
    )
