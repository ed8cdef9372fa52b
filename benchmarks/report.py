"""Results as rows: a ratio for everybody we are measured against, with its goal."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.goals import Goal, goal_of
from benchmarks.machine import TUNABLES, facts
from benchmarks.setup import OURS, ROOF

SCHEMA = "blrgen-bench/1"
HEADINGS = (
    "what", "size", "dtype", "threads", "ours ns", "against", "theirs ns", "ratio",
    "roofline", "goal", "",
)  # fmt: skip
FIELDS = ("experiment", "what", "size", "dtype", "threads")


@dataclass(frozen=True)
class Row:
    """One comparison; times are nanoseconds an element of the best round and the median one."""

    case: Case
    against: str
    ours: float
    theirs: float
    ours_median: float
    theirs_median: float
    reached: float  # fraction of the roofline; NaN where there is none
    goal: Goal | None
    error: str = ""

    @property
    def ratio(self) -> float:
        """Their time over ours."""
        return self.theirs / self.ours if self.ours > 0 else math.nan

    @property
    def most(self) -> float:
        """Their time over that of memory itself: the ratio that nothing can exceed."""
        return self.ratio / self.reached if self.reached > 0 else math.nan

    @property
    def limited(self) -> bool:
        """Whether a goal is missed that memory itself would miss."""
        return (
            self.goal is not None
            and self.verdict == "FAIL"
            and not (math.isnan(self.most) or self.goal.met(self.most))
        )

    @property
    def verdict(self) -> str:
        """pass, FAIL, not measured; empty without a goal."""
        if self.goal is None:
            return ""
        if math.isnan(self.ratio):
            return "not measured"
        return "pass" if self.goal.met(self.ratio) else "FAIL"


def rows(results: Iterable[dict[str, Any]], goals: tuple[Goal, ...]) -> list[Row]:
    """Every comparison, and every goal that could not be looked at."""
    found: list[Row] = []
    for result in results:
        case = Case(**{k: result[k] for k in FIELDS})
        times = result.get("times", {})
        others = [t for t in times if t != OURS]
        wanted = [g.against for g in goals if g.what == case.what and g.concerns(case)]
        for against in dict.fromkeys([*others, *wanted]):
            found.append(_row(case, result, against, goal_of(goals, case, against)))
        if not others and not wanted:
            found.append(_row(case, result, "", None))
    return found


def _row(case: Case, result: dict[str, Any], against: str, goal: Goal | None) -> Row:
    times, per = result.get("times", {}), result.get("elements", 1) or 1

    def nanoseconds(title: str, key: str) -> float:
        return times[title][key] / per * 1e9 if title in times else math.nan

    theirs = _best_title(times, against)
    ours, roof = nanoseconds(OURS, "best"), nanoseconds(ROOF, "best")
    return Row(
        case, against, ours, nanoseconds(theirs, "best"),
        nanoseconds(OURS, "median"), nanoseconds(theirs, "median"),
        roof / ours if ours > 0 else math.nan, goal, result.get("error", ""),
    )  # fmt: skip


def _best_title(times: dict[str, Any], against: str) -> str:
    """The title meant: itself, or the quickest way in which they do it (`NAME, way`)."""
    ways = [t for t in times if t == against or t.startswith(f"{against}, ")]
    return min(ways, key=lambda t: float(times[t]["best"]), default=against)


def cells(row: Row) -> tuple[str, ...]:
    """A row as text."""
    goal = "" if row.goal is None else row.goal.text
    if row.error:
        return (*_what(row.case), "", row.against, row.error, "", "", goal, row.verdict)
    reached = "" if math.isnan(row.reached) else f"{100 * row.reached:.0f} %"
    return (
        *_what(row.case), _number(row.ours), row.against, _number(row.theirs),
        _ratio(row), reached, goal, _said(row),
    )  # fmt: skip


def _what(case: Case) -> tuple[str, ...]:
    return case.title, f"{case.size:g}", case.dtype, str(case.threads)


def _said(row: Row) -> str:
    """The verdict; with what memory allows where a goal asks for more."""
    return row.verdict + (f" (memory allows {row.most:.3g})" if row.limited else "")


def _ratio(row: Row) -> str:
    if math.isnan(row.ratio):
        return ""
    if row.goal is not None and row.goal.at_most:
        return f"1/{1 / row.ratio:.3g}"
    return f"{row.ratio:.3g}"


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"


def summary(found: list[Row]) -> str:
    """How many goals were met, missed, not measured."""
    counts = {v: sum(r.verdict == v for r in found) for v in ("pass", "FAIL", "not measured")}
    said = f"{counts['pass']} goals reached, {counts['FAIL']} missed"
    left = counts["not measured"]
    return said + (f", {left} not measured" if left else "")


def failed(found: Iterable[Row]) -> bool:
    """Whether a goal that was measured is missed."""
    return any(r.verdict == "FAIL" for r in found)


def document(
    results: list[dict[str, Any]], found: list[Row], seconds: float, quick: bool
) -> dict[str, Any]:
    """Everything, for a program to read."""
    return {
        "schema": SCHEMA,
        "machine": facts(),
        "allocator": TUNABLES,
        "quick": quick,
        "seconds": round(seconds, 1),
        "results": results,
        "rows": [_as_dict(r) for r in found],
        "summary": {v: sum(r.verdict == v for r in found) for v in _VERDICTS},
    }


_VERDICTS = ("pass", "FAIL", "not measured")


def _as_dict(row: Row) -> dict[str, Any]:
    goal = row.goal
    return row.case.as_dict() | {
        "title": row.case.title,
        "against": row.against,
        "ours_ns": _finite(row.ours),
        "theirs_ns": _finite(row.theirs),
        "ours_median_ns": _finite(row.ours_median),
        "theirs_median_ns": _finite(row.theirs_median),
        "ratio": _finite(row.ratio),
        "roofline": _finite(row.reached),
        "most": _finite(row.most),
        "goal": None if goal is None else goal.text,
        "verdict": row.verdict,
        "error": row.error,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def save(folder: Path, made: dict[str, Any], name: str = "bench.json") -> Path:
    """Write the JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
