"""How long the tool itself takes, as ratios measured in one run.

Every command is timed in turn, round after round, and the best time of each
counts, so that a machine busy with something else delays all of them alike.  A
ratio over its limit gets further rounds before it counts as a failure.

    python -m benchmarks.tool_speed [--rounds N] [--only WORD]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ARGPARSE, SYMPY = ("-c", "import argparse"), ("-c", "import sympy")


@dataclass(frozen=True)
class Case:
    """A command line of blrgen, what it is measured against, and the largest ratio allowed."""

    words: tuple[str, ...]
    baseline: tuple[str, ...]
    limit: float

    @property
    def title(self) -> str:
        return "blrgen " + " ".join(self.words)


def blrgen() -> list[str]:
    """The installed command of this interpreter, or the module where it is not installed."""
    script = Path(sysconfig.get_path("scripts")) / "blrgen"
    return [str(script)] if script.exists() else [sys.executable, "-m", "blrgen"]


def listed(subject: str) -> list[str]:
    """The names that the command line lists."""
    said = subprocess.run(
        [*blrgen(), "list", subject], check=True, capture_output=True, text=True
    ).stdout
    return [line.split()[0] for line in said.splitlines() if line.strip()]


def families() -> list[str]:
    """The names of the families' files; `list families` would check them all first."""
    folder = Path(__file__).resolve().parent.parent / "families"
    return sorted(p.stem for p in folder.glob("*.toml"))


def cases() -> list[Case]:
    """The limits the tool is held to."""
    return [
        Case(("--help",), ARGPARSE, 1.6),
        Case(("derive", "--help"), ARGPARSE, 4.0),
        Case(("derive", "gaussian-diag", "--delta"), SYMPY, 2.5),
        *(Case(("derive", name), SYMPY, 5.0) for name in listed("recipes")),
        Case(("list", "recipes"), ARGPARSE, 6.0),
        Case(("check", "bernoulli"), SYMPY, 6.0),
        # the first round fills the cache that the others read
        *(Case(("show", name), SYMPY, 3.0) for name in families()),
    ]


def seconds(command: list[str]) -> float:
    """One run in a fresh process; a command that fails is not timed but reported."""
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    elapsed = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return elapsed


def measured(chosen: list[Case], rounds: int) -> dict[tuple[str, ...], float]:
    """Best time of every command and baseline, in interleaved rounds."""
    best: dict[tuple[str, ...], float] = {}
    pending = list(chosen)
    for turn in range(3 * rounds):
        if turn >= rounds:
            pending = [c for c in pending if best[c.words] > c.limit * best[c.baseline]]
        for key in [*dict.fromkeys(c.baseline for c in pending), *(c.words for c in pending)]:
            command = [sys.executable, *key] if key[0] == "-c" else [*blrgen(), *key]
            best[key] = min(best.get(key, float("inf")), seconds(command))
        if not pending:
            break
    return best


def main() -> int:
    """Measure, print the table, and fail when a ratio is over its limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="only commands that contain this")
    options = parser.parse_args()
    # As for a user: byte code is kept, so that the first round compiles and the others do not.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    kept = tempfile.TemporaryDirectory(prefix="blrgen-speed-")
    os.environ["BLRGEN_CACHE"] = kept.name
    chosen = [c for c in cases() if options.only in c.title]
    best = measured(chosen, options.rounds)
    width = max(len(c.title) for c in chosen)
    print(f"{'command':{width}}  {'ms':>6}  {'against':16}  {'ms':>6}  {'ratio':>5}  limit")
    failed = 0
    for case in chosen:
        ratio = best[case.words] / best[case.baseline]
        failed += ratio > case.limit
        print(
            f"{case.title:{width}}  {best[case.words] * 1e3:6.0f}  {case.baseline[1]:16}  "
            f"{best[case.baseline] * 1e3:6.0f}  {ratio:5.2f}  {case.limit:.1f}  "
            f"{'FAIL' if ratio > case.limit else 'ok'}"
        )
    print(f"{len(chosen) - failed} within their limit, {failed} over it")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
