"""What `verify FILE.model FLAG` finds of every model that ships: model × flag × target.

A flag that does not apply is refused and counted; of the rest the derivation is one case and the
class of each target another.  What is refuted or ends in an exception is a failure; what is not
proved is told with why.

  python -m tests.verify_models [--only WORD] [--target T] [--interpreted] [--again]
  (also `make verify-models`)

Outcomes are kept in build/verify-models.jsonl with a digest of the engine, the families and the
models, so that a run that was stopped goes on.  With --interpreted the loops of the numba target
are run as Python: its text is the same, and nothing is compiled.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from blrgen.paths import data_dir
from tests.compiles import engine

KEPT = Path("build/verify-models.jsonl")
FLAGS = ("conjugate", "filter", "em", "online-em", "vmp", "svi", "ncvmp", "cvi", "gibbs")
PARTS = ("derivation", "numpy", "numba")
SECONDS = 900  # of one case
FAILED = ("refuted", "failed")
ORDER = (*FAILED, "not compared", "numeric", "random-exact", "identity")


@dataclass(frozen=True)
class Case:
    """One model by one flag: what is derived, or the class of a target."""

    model: str
    flag: str
    part: str

    @property
    def title(self) -> str:
        return f"{self.model} --{self.flag} {self.part}"


@dataclass(frozen=True)
class Outcome:
    """The weakest level, `refused` or `failed`; why it is no more; what took how long."""

    level: str
    why: str = ""
    seconds: float = 0.0


def cases(parts: Sequence[str] = PARTS) -> Iterator[Case]:
    """Target by target, so that a run that is stopped has seen every model."""
    names = sorted(p.stem for p in data_dir("models").glob("*.model"))
    for part in parts:
        for name in names:
            for flag in FLAGS:
                yield Case(name, flag, part)


@cache
def derivation(model: str, flag: str) -> Any:
    """What is derived, or the refusal."""
    from blrgen.read.model.find import read_file
    from blrgen.read.model.mistakes import ModelError
    from blrgen.rule.model.derive import derive_model

    try:
        return derive_model(read_file(f"{model}.model"), flag)
    except ModelError as refusal:
        return refusal


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """An exception where it takes longer."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(case: Case) -> Outcome:
    """What is found of one case."""
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(), limited(SECONDS):
            warnings.simplefilter("ignore")
            d = derivation(case.model, case.flag)
            if isinstance(d, Exception):
                return Outcome("refused", str(d).split("\n")[0][:200])
            proofs = proofs_of(case, d)
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())
        return Outcome("failed", words[:300], round(time.perf_counter() - began, 1))
    level = min((p.level for _, p in proofs), key=ORDER.index)
    why = "" if level in ORDER[-2:] else "; ".join(
        f"{name}: {p.detail}" for name, p in proofs if p.level not in ORDER[-2:]
    )  # fmt: skip
    return Outcome(level, why[:600], round(time.perf_counter() - began, 1))


def interpret() -> None:
    """Let loops of the numba target be run as Python; its bits are then those of `plain`."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # read when numba is imported
    from blrgen.emit import compile as compiling
    from blrgen.runtime import plain

    own = compiling.load

    def load(source: str) -> ModuleType:
        module = own(source)
        for name in (x for x in vars(plain) if x.endswith("_of") or x == "_where"):
            if hasattr(module, name):
                setattr(module, name, getattr(plain, name))
        return module

    compiling.load = load


def proofs_of(case: Case, d: Any) -> list[tuple[str, Any]]:
    """All that is claimed of the derivation, or of a target's class."""
    from blrgen.validate.model.report import of_target, verify_model

    if case.part != "derivation":
        return list(of_target(d, case.part))
    return [x for _, verdict in verify_model(d, targets=()).parts for x in verdict.proofs]


def digest() -> str:
    """Of everything that an outcome comes from."""
    found = hashlib.sha256(engine().encode())
    for path in sorted(data_dir("models").glob("*.model")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def read_kept() -> dict[str, Outcome]:
    """What this engine was found to do before."""
    if not KEPT.is_file():
        return {}
    now = digest()
    rows = [json.loads(x) for x in KEPT.read_text(encoding="utf-8").splitlines()]
    return {
        r["title"]: Outcome(r["level"], r["why"], r["seconds"]) for r in rows if r["digest"] == now
    }


def run(wanted: Sequence[Case], again: bool) -> dict[str, Outcome]:
    """All outcomes, one after the other; each is written as soon as it is there."""
    KEPT.parent.mkdir(exist_ok=True)
    now, found = digest(), {} if again else read_kept()
    waiting = [c for c in wanted if c.title not in found]
    print(f"{len(wanted)} cases, {len(waiting)} of them not looked at yet", file=sys.stderr)
    with KEPT.open("a", encoding="utf-8") as file:
        for case in waiting:
            x = found[case.title] = outcome(case)
            file.write(json.dumps({"title": case.title, "digest": now, **asdict(x)}) + "\n")
            file.flush()
            if x.level != "refused":
                print(told(case.title, x), flush=True)
    return {c.title: found[c.title] for c in wanted}


def told(title: str, x: Outcome) -> str:
    """One line."""
    return f"{x.level:13} {x.seconds:6.1f} s  {title}" + (f"  {x.why}" if x.why else "")


def main() -> int:
    """Run what is asked for; exit code 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify_models", description=__doc__)
    parser.add_argument("--only", default="", help="cases with this word in their title")
    parser.add_argument("--target", choices=PARTS, action="append", help="not all parts")
    parser.add_argument("--interpreted", action="store_true", help="nothing is compiled")
    parser.add_argument("--again", action="store_true", help="also what was looked at before")
    options = parser.parse_args()
    if options.interpreted:
        interpret()
    chosen = [c for c in cases(options.target or PARTS) if options.only in c.title]
    found = run(chosen, options.again)
    counts = Counter(x.level for x in found.values())
    print(", ".join(f"{level} {count}" for level, count in sorted(counts.items())))
    for title, x in found.items():
        if x.level not in (*ORDER[-2:], "refused"):
            print(told(title, x))
    return 1 if any(counts[x] for x in FAILED) else 0


if __name__ == "__main__":
    raise SystemExit(main())
