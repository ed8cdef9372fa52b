"""The stages one after the other; what a refutation leaves standing still runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from blrgen.check.finding import NOT_CHECKED, Finding, NotChecked, Wrong
from blrgen.check.limit import OutOfTime, limit
from blrgen.errors import InternalError, TooLarge, UserError
from blrgen.timing import timed

if TYPE_CHECKING:
    from blrgen.check.context import Context
    from blrgen.core import Family

SECONDS = 30  # of the processor for one stage
TOTAL = 45  # for all stages of a file together; after that each has only
LEAST = 2
Progress = Callable[[str], None]


def check(
    path: str | Path, progress: Progress | None = None, only: Collection[str] = ()
) -> list[Finding]:
    """Every stage in order, or only those named; `progress` is told each before it runs."""
    return list(findings(path, progress, only))


def findings(
    path: str | Path,
    progress: Progress | None = None,
    only: Collection[str] = (),
    total: float = TOTAL,
) -> Iterator[Finding]:
    """The findings as they come; only the declaration's when that fails."""
    from blrgen.check.stages import stages

    say = progress or (lambda _: None)
    say("declaration")
    made = _declared(str(path), total)
    if isinstance(made, Finding):
        yield made
        return
    if made.family.factors:
        from blrgen.check.of_product import product_findings

        yield from product_findings(made.source, made.family, say)
        return
    yield Finding("declaration", True, _summary(made), "identity")
    for stage in stages():
        if only and stage.NAME not in only:
            continue
        say(stage.NAME)
        for finding in timed(stage.NAME, lambda x: list(_run(x, made)), stage):
            if not finding.passed:
                made.failed.add(stage.NAME)
            yield finding


def _declared(path: str, total: float) -> Context | Finding:
    from blrgen.check.context import Context

    try:
        from blrgen.read.family import family_of, source_of

        source = source_of(path)
        with limit(SECONDS):
            return Context(source, family_of(source, minimal=False), total)
    except OutOfTime:
        return Finding("declaration", False, f"not read in {SECONDS} seconds", "refuted")
    except (UserError, InternalError) as error:
        return Finding("declaration", False, str(error), "refuted")


def _summary(context: Context) -> str:
    family = context.family
    statistics, working = len(family.statistics), len(family.working or family.simplex)
    idle = ", ".join(p.name for p in family.fixed if p.symbol not in _used(family))
    return (
        f"{family.name}: {statistics} statistic{'s' * (statistics != 1)}, "
        f"{working} working parameter{'s' * (working != 1)}"
        + (f"; no formula uses the known constant {idle}" if idle else "")
    )


def _used(family: Family) -> set[Any]:
    """The symbols in the formulas, supports and domains of a family."""
    parameters = (*family.fixed, *family.natural, *family.working)
    places: list[Any] = [*family.supports, *(p.domain for p in parameters)]
    formulas = [*family.statistics, family.base_measure, family.log_partition]
    formulas += [p.chart for p in parameters]
    formulas += [e for s in places for e in (s.lower, s.upper)]
    return {x for e in formulas if hasattr(e, "free_symbols") for x in e.free_symbols}


def _run(stage: ModuleType, context: Context) -> Iterator[Finding]:
    """The lines of one stage."""
    from blrgen.check import by_components, by_sizes

    name: str = stage.NAME
    missing = [n for n in stage.NEEDS if n in context.failed]
    if missing:
        yield Finding(name, True, f"not run: stands on {', '.join(missing)}", NOT_CHECKED)
        return
    import mpmath

    seconds = int(max(LEAST, min(SECONDS, context.left)))
    from blrgen.geometry.tabulated import DPS, NotIntegrated

    try:
        with limit(seconds), mpmath.workdps(DPS):
            other = next((m for m in (by_components, by_sizes) if m.applies(context, name)), stage)
            found = stage.run(context) if other is stage else other.run(context, name)
            if not isinstance(found, tuple):
                found = list(found)
    except Wrong as wrong:
        yield wrong.finding(name)
    except OutOfTime:
        whole = seconds == SECONDS
        had = f"{SECONDS} seconds" if whole else "what the stages before it left of the time"
        yield Finding(name, True, f"not checked: not done in {had}", NOT_CHECKED)
    except (NotChecked, NotIntegrated) as reason:
        yield Finding(name, True, f"not checked: {reason}", NOT_CHECKED)
    except mpmath.libmp.NoConvergence as reason:  # its message may be empty
        said = f": {reason}" if str(reason) else ""
        yield Finding(name, True, f"not checked: a series did not converge{said}", NOT_CHECKED)
    except TooLarge as reason:
        yield Finding(name, True, f"not checked: {reason}", NOT_CHECKED)
    except (UserError, InternalError) as error:
        yield Finding(name, False, str(error), "refuted")
    except Exception as bug:  # one stage's bug leaves the others' lines
        if os.environ.get("BLRGEN_DEBUG"):
            raise
        said = f"this is a bug in blrgen, not in the file: {type(bug).__name__}: {bug}"
        yield Finding(name, False, said, "bug")
    else:
        if isinstance(found, tuple):
            level, text = found
            if context.limits:
                text += f" (a limit at {'; '.join(sorted(context.limits))})"
                context.limits.clear()
            text = text if text.startswith(level) or level == NOT_CHECKED else f"{level}: {text}"
            yield Finding(name, True, text, level)
        else:
            yield from found
