"""What was not compared and why, in words for whoever wrote the class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from blrgen.core import Rule
from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict
from blrgen.errors import InternalError, UserError
from blrgen.validate.outline import Outline, outline
from blrgen.validate.symbolic.number import CannotRun

T = TypeVar("T")
OTHERWISE = (
    "instead: write the update as a function `step` in the rule's names, which is read; what is "
    "read: docs/verify.md"
)
FITTING = (
    "instead: hold the class against the rule it was written for (approximations follow "
    "--against as they follow WHAT), or write its update as a function `step`, whose arguments "
    "--map renames"
)
DRAWING = (
    "instead: hold the class against a rule that draws as it does: approximations follow "
    "--against as they follow WHAT, for example --against gaussian-diag --stochastic"
)


class Lacking(CannotRun):
    """The class has nothing by the name of something in the rule."""


def tried(action: Callable[[], T]) -> T:
    """What it gives; what somebody's class raises when it is looked at is CannotRun too."""
    try:
        return action()
    except (CannotRun, UserError, InternalError):
        raise
    except Exception as error:
        raise CannotRun(f"{type(error).__name__}: {error}".rstrip(": ")) from error


def missing(names: Iterable[str], why: object) -> list[tuple[str, Proof]]:
    """One row for each claim that was not compared."""
    return [(n, Proof(NOT_COMPARED, n, str(why))) for n in names]


def not_run(source: str, rule: Rule, trouble: CannotRun) -> Verdict:
    """The verdict on a class that could not be run: nothing was compared, and why."""
    known = outline(source)
    found = list(misfits(known, rule)) if known else []
    if isinstance(trouble, Lacking) and not found:
        found = [str(trouble)]
    why = "; ".join(found) or f"it could not be run on symbols ({trouble})"
    instead = FITTING if found else OTHERWISE
    if known and _only_draws(known, rule) and len(found) == 1:
        instead = DRAWING
    note = "nothing was compared, so this is no proof and no refutation"
    if found and not isinstance(trouble, Lacking):
        note += f"; the run on symbols ended with {trouble}"
    notes = (note, instead)
    return Verdict(tuple(missing((q.name for q in rule.of("state")), why)), notes=notes)


def misfits(known: Outline, rule: Rule) -> Iterator[str]:
    """Where the class takes, or does, something else than the rule."""
    drawn = [q.name for q in rule.of("draw")]
    if _only_draws(known, rule):
        yield "the class draws noise of its own, and the rule does not"
    yield from _built(known, [q.name for q in rule.of("hyper")])
    inputs = [q.name for q in rule.of("input")]
    strange = [n for n in known.needs("step") if n not in rule]
    if strange:
        has = f"its inputs are {', '.join(inputs)}" if inputs else "it has no inputs"
        yield f"`step` needs {', '.join(strange)}, which the rule does not know ({has})"
    takes = known.takes("draw")
    lacking = [n for n in drawn if takes is not None and n not in takes]
    if lacking:
        yield f"`draw` takes no {', '.join(lacking)}, the noise of the rule"


def _only_draws(known: Outline, rule: Rule) -> bool:
    draws = rule.of("draw") or any(a.stage == "draw" for a in rule.assignments)
    return "draw" in known.methods and not draws


def _built(known: Outline, hyper: list[str]) -> Iterator[str]:
    """Whether the class can be built on parameters, with the rule's hyperparameters by name."""
    takes = known.takes("__init__")
    if "__init__" not in known.methods and not known.hidden:
        takes = ()
    if takes is None:
        return
    if not takes:
        said = ", ".join(["params", *(f"{n}=…" for n in hyper)])
        yield f"the class cannot be built as {known.name}({said}): it takes no arguments"
        return
    lacking = [n for n in hyper if n not in takes]
    others = [n for n in takes[1:] if n not in hyper]
    if lacking:
        has = f" (it takes {', '.join(others)})" if others else ""
        yield f"the class takes no {', '.join(lacking)}, which the rule has{has}"
    strange = [n for n in known.needs("__init__")[1:] if n not in hyper]
    if strange:
        yield f"to be built the class needs {', '.join(strange)}, which the rule does not know"
