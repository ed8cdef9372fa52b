"""Every family that comes with blrgen, checked in parallel processes."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from blrgen.check.as_json import as_data
from blrgen.check.run import check
from blrgen.check.shipped import shipped


@dataclass(frozen=True)
class Checked:
    """One family's outcome."""

    name: str
    names: tuple[str, ...]  # of all families under check
    passed: bool
    text: str
    data: dict[str, Any]


def known_evidence(progress: Callable[[str], None] | None = None) -> Iterator[Checked]:
    """The outcome of every family: as kept, and checked now where nothing is kept."""
    from blrgen.read.family import list_families

    names = list_families()
    kept = {name: _kept(name) for name in names}
    missing = tuple(name for name in names if kept[name] is None)
    made = {done.name: done.data for done in check_all(progress, missing)} if missing else {}
    for name in names:
        data = kept[name] or made[name]
        yield Checked(name, names, data["passed"], _summary(data), data)


def check_all(
    progress: Callable[[str], None] | None = None, names: tuple[str, ...] = ()
) -> Iterator[Checked]:
    """The families in the order of their names, each as soon as it and those before are done."""
    from concurrent.futures import ProcessPoolExecutor

    from blrgen.read.family import list_families

    names = names or list_families()
    say, start = progress or (lambda _: None), time.monotonic()
    # a process that forks after threads have started may hang: start fresh ones
    from multiprocessing import get_context

    workers = max(1, min(len(names), _processors()))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        jobs = {name: pool.submit(_one, name) for name in names}
        try:
            for name in names:
                _wait(jobs, name, say, start)
                data = jobs[name].result()
                yield Checked(name, names, data["passed"], _summary(data), data)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _wait(jobs: dict[str, Any], name: str, say: Callable[[str], None], start: float) -> None:
    """Until that job is done, saying how far all are."""
    from concurrent.futures import TimeoutError, wait

    while not jobs[name].done():
        finished = sum(job.done() for job in jobs.values())
        elapsed = int(time.monotonic() - start)
        say(f"checking families: {finished} of {len(jobs)} done, {elapsed} s; waiting for {name}")
        try:
            wait([jobs[name]], timeout=0.5)
        except TimeoutError:
            continue


def _one(name: str) -> dict[str, Any]:
    """Checked now, and kept for whoever asks what is known."""
    from blrgen import cache

    data = as_data(name, check(name))
    cache.put(_entry(name), data)
    return data


def _entry(name: str) -> str:
    from blrgen import cache
    from blrgen.read.family import find_family

    return cache.entry_name("check", (name, find_family(name).read_bytes()))


def _kept(name: str) -> dict[str, Any] | None:
    from blrgen import cache

    found: dict[str, Any] | None = cache.get(_entry(name))
    return found or shipped(name)


SHORT = {
    "declaration": "", "minimality": "minimal T", "log-partition": "A", "normalised": "∫q",
    "mean": "μ", "covariance": "F", "convexity": "F>0", "entropy": "𝓗", "entropy gradient": "∇𝓗",
    "parametrisations": "log q", "inverse mean": "λ(μ)", "sampling": "draws",
}  # fmt: skip


def evidence(data: dict[str, Any]) -> str:
    """Every claim under the level that it reached, the strongest first."""
    groups: dict[str, list[str]] = {}
    for finding in data["findings"]:
        name = SHORT.get(finding["stage"], finding["stage"])
        if name:
            level = "REFUTED" if finding["status"] == "refuted" else finding["level"]
            groups.setdefault(level, []).append(name)
    order = ("REFUTED", "identity", "random-exact", "derived", "numeric", "not checked")
    ranked = sorted(groups, key=lambda g: order.index(g) if g in order else len(order))
    return "; ".join(f"{level}: {', '.join(groups[level])}" for level in ranked)


def _summary(data: dict[str, Any]) -> str:
    """The counts of levels; of a refuted family the first line that is wrong."""
    wrong = [f for f in data["findings"] if f["status"] == "refuted"]
    if wrong:
        first = " ".join(wrong[0]["text"].split())
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        return f"{wrong[0]['stage']}: {first}{more}"
    levels = Counter(f["level"] for f in data["findings"])
    return ", ".join(f"{levels[k]} {k}" for k in sorted(levels))
