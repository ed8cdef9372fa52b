"""A product under check: every factor as it is declared, then the joint density itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from blrgen.check.finding import NOT_CHECKED, Finding, within
from blrgen.check.limit import OutOfTime, limit
from blrgen.core import Family
from blrgen.errors import InternalError, UserError
from blrgen.read.declaration import Source

Progress = Callable[[str], None]
_ORDER = ("refuted", NOT_CHECKED, "numeric", "derived", "random-exact", "identity")


def product_findings(source: Source, family: Family, say: Progress) -> Iterator[Finding]:
    """One line a stage, with what it says of each factor; the first refutation as it is."""
    from blrgen.check.run import TOTAL, findings
    from blrgen.read.product import factor_names

    names = factor_names(source)
    found = [list(findings(name, say, total=TOTAL / len(names))) for name in names]
    stages = list(dict.fromkeys(f.stage for lines in found for f in lines))
    for stage in stages:
        lines = [
            (f"{k}. {Path(names[k - 1]).stem}", f)
            for k, lines in enumerate(found, 1)
            for f in lines
            if f.stage == stage
        ]
        yield _merged(stage, lines)
    if all(f.passed for lines in found for f in lines):
        say("product")
        yield _joint(family)


def _merged(stage: str, lines: list[tuple[str, Finding]]) -> Finding:
    level = min((f.level for _, f in lines), key=lambda x: _ORDER.index(x) if x in _ORDER else 2)
    wrong = next((f for _, f in lines if not f.passed), None)
    text = "\n".join(f"{name}: {f.text}" for name, f in lines)
    if wrong is not None:
        return Finding(stage, False, text, "refuted", wrong.point, wrong.given, wrong.should)
    return Finding(stage, True, text, level)


def _joint(family: Family) -> Finding:
    """A, μ, F, 𝓗 of the product against sums over the joint density."""
    from blrgen.check.run import SECONDS
    from blrgen.geometry.at_sizes import TOLERANCE, comparisons, said
    from blrgen.geometry.geometry import geometry_of

    kinds = {s.kind for s in family.supports}
    if family.components is not None or not kinds <= {
        "interval", "integers", "finite", "vector", "matrix", "spd",
    }:  # fmt: skip
        return Finding("product", True, "not checked: the joint support is not summed", NOT_CHECKED)
    try:
        with limit(SECONDS):
            own = list(comparisons(geometry_of(family)))
    except OutOfTime:
        text = f"not checked: not done in {SECONDS} seconds"
        return Finding("product", True, text, NOT_CHECKED)
    except (UserError, InternalError) as error:
        return Finding("product", False, str(error), "refuted")
    if not own:
        text = "not checked: too many dimensions for a sum over the joint density"
        return Finding("product", True, text, NOT_CHECKED)
    worst = max(own, key=lambda c: c.gap)
    if not worst.gap <= TOLERANCE:
        text = f"{worst.what} should be {worst.found:.12g} at {said(worst.place)}"
        return Finding("product", False, f"{text}, not {worst.claimed:.12g}", "refuted",
                       worst.place, f"{worst.claimed:.12g}", f"{worst.found:.12g}")  # fmt: skip
    text = f"A, μ, F and 𝓗 within {within(worst.gap)} of the joint density"
    return Finding("product", True, f"numeric: {text}", "numeric")
