"""The table of timings in docs/speed.md, written from what `make bench` measured.

    python -m benchmarks.readme              the table from benchmarks/measured/bench.json
    python -m benchmarks.readme build/bench  take over what is there of a run first: bench.json,
                                             growth.json and the pictures

Only rows that a goal is about are kept, and those of a quicker peer in the same case: the
run's own files have everything.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "benchmarks" / "measured"
BEGIN, END = "<!-- measured: benchmarks/readme.py -->", "<!-- /measured -->"
KEPT = (
    "title", "what", "experiment", "size", "dtype", "threads", "against", "ours_ns", "theirs_ns",
    "ratio", "roofline", "most", "goal", "verdict",
)  # fmt: skip


def take(folder: Path) -> None:
    """Keep of a run what the page shows: rows with a goal, numbers to four digits."""
    MEASURED.mkdir(exist_ok=True)
    if (folder / "bench.json").is_file():
        made = json.loads((folder / "bench.json").read_text(encoding="utf-8"))
        shown = [r for r in made["rows"] if r["goal"] or _quicker(r, made["rows"])]
        rows = [{k: _short(r[k]) for k in KEPT} for r in shown]
        kept = {k: made[k] for k in ("schema", "machine", "allocator", "seconds", "summary")}
        _keep("bench.json", kept | {"rows": rows}, 1)
    if (folder / "growth.json").is_file():
        made = json.loads((folder / "growth.json").read_text(encoding="utf-8"))
        _keep("growth.json", _short(made), None)
    for picture in ("roofline.svg", "growth.svg"):
        if (folder / picture).is_file():
            shutil.copy(folder / picture, MEASURED / picture)


def _quicker(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    """Whether it is about a peer that is quicker than the one that a goal is held against."""
    peers = {p.title for several in PEERS.values() for p in several}
    if row["against"] not in peers or not row["theirs_ns"]:
        return False
    case = ("title", "size", "dtype", "threads")
    held = [r for r in rows if r["goal"] and r["against"] in peers and r["theirs_ns"]]
    return any(
        all(r[k] == row[k] for k in case) and row["theirs_ns"] < r["theirs_ns"] for r in held
    )


def _keep(name: str, made: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(made, indent=indent, ensure_ascii=False)
    (MEASURED / name).write_text(text + "\n", encoding="utf-8")


def _short(value: Any) -> Any:
    """Numbers to four digits, wherever they stand."""
    if isinstance(value, list):
        return [_short(x) for x in value]
    if isinstance(value, dict):
        return {k: _short(x) for k, x in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def table(made: dict[str, Any]) -> str:
    """Markdown: a line for what is measured against whom, both thread counts beside each other."""
    machine, lines = made["machine"], dict[tuple[Any, ...], dict[int, dict[str, Any]]]()
    threads = sorted({r["threads"] for r in made["rows"]})
    for r in made["rows"]:
        if r["against"] != "hand-written":
            key = (r["title"], r["size"], r["dtype"], r["against"])
            lines.setdefault(key, {})[r["threads"]] = r
    head = ["what", "size", "against", *(f"{n} thread{'s' * (n > 1)}" for n in threads), "goal"]
    text = [_line(head), _line(["---"] * len(head))]
    for (title, size, dtype, against), found in lines.items():
        goals = dict.fromkeys(r["goal"] for r in found.values() if r["goal"])
        cells = [_cell(found[n]) if n in found else "" for n in threads]
        text.append(_line([f"{title}, {dtype}", f"{size:g}", against, *cells, ", ".join(goals)]))
    bars = [r for r in made["rows"] if r["against"] == "hand-written" and r["ratio"]]
    met = sum(r["verdict"] == "pass" for r in bars)
    packages = ", ".join(f"{k} {v}" for k, v in machine["packages"].items())
    summary = made["summary"]
    return "\n".join(
        [
            "Their time ÷ ours, or the part of the roofline that is reached; "
            f"{machine['cores']} cores, {machine['simd']}; {packages}.",
            "",
            *text,
            "",
            f"Against kernels written by hand, {met} of {len(bars)} cases are within 5 %. "
            f"Of all goals {summary['pass']} are reached and {summary['FAIL']} missed.",
        ]
    )


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(row: dict[str, Any]) -> str:
    """A ratio as its goal is stated; a missed one is marked."""
    if row["ratio"] is None:
        return "–"
    goal = row["goal"] or ""
    if goal.endswith("%"):
        shown = f"{100 * row['ratio']:.0f} %"
    elif goal.startswith("≤"):
        shown = f"{1 / row['ratio']:.2f} × theirs"
    else:
        shown = f"{row['ratio']:.3g} ×"
    if row["verdict"] == "pass" or not goal:
        return shown
    least = re.fullmatch(r"≥ ([\d.]+) ×", goal)
    beyond = least and row.get("most") and row["most"] < float(least[1])
    return f"{shown}, **missed**" + (f" (memory allows {row['most']:.3g} ×)" if beyond else "")


def placed(page: str, made: dict[str, Any]) -> str:
    """The page with the table between its marks."""
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise SystemExit(f"docs/speed.md has not one pair of marks {BEGIN} … {END}")
    return pattern.sub(lambda m: f"{BEGIN}\n{table(made)}\n{END}", page)


def main() -> int:
    """Rewrite the page."""
    if len(sys.argv) > 1:
        take(Path(sys.argv[1]))
    path = ROOT / "docs" / "speed.md"
    made = json.loads((MEASURED / "bench.json").read_text(encoding="utf-8"))
    path.write_text(placed(path.read_text(encoding="utf-8"), made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
