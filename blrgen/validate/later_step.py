"""A step after others of the same object, from values that have nothing to do with theirs.

Between the steps the rule's states are set to other symbols, and the inputs are others, too.
If the last step still computes the rule, nothing that matters was kept of the earlier ones,
wherever it could have been: in an attribute, a closure, a variable of the module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.validate.symbolic.number import CannotRun

if TYPE_CHECKING:
    from blrgen.validate.emitted_run import EmittedRun

EARLIER = 2  # two, for what depends on the last change of something
WHY = (
    "after {0}s on other values the {1} gives something else: it keeps what the rule has no "
    "state for, and only its first {0} was compared"
)


def later_step(run: EmittedRun) -> str:
    """Why a later step of a class is not known to be that of the rule; nothing where it is."""
    try:
        program, opt, params = run.built()
        own = program.domains
        for k in range(EARLIER, 0, -1):
            with run.mode.before(k) as domains:
                program.domains = {**own, **domains}
                run.again(opt, params)
                run.stepped(program, opt)
        run.again(opt, params)
        run.stepped(program, opt)
        alike = run.mode.agree(run.after(opt, params), program)
    except CannotRun as error:
        return f"it could not be run on symbols ({error})"
    return "" if alike else WHY.format("step", "class")
