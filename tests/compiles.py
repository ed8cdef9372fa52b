"""Compile and step what `generate` accepts: family × approximations × loss × target.

Every family with every approximation alone (each of its options), with the road of every
recipe, and with none; each with an abstract loss and with losses of several kinds in the
family's own variable; for both targets.  What `derive` or `emit` refuses in words is not
accepted and is counted; of what they accept a class is compiled, built and stepped.  A step
may be refused, as one that leaves a domain is; any other exception is a failure.

  python -m tests.compiles [--jobs N] [--only WORD] [--seed S] [--again]   (also `make compiles`)

With a seed the cases are looked at in a random order, so that a run that is stopped has seen
some of everything.  Outcomes are kept in build/compiles.jsonl with a digest of the engine and of
the family, so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import itertools
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from random import Random

from blrgen.paths import data_dir, package_dir
from blrgen.validate import stepped

KEPT = Path("build/compiles.jsonl")
TARGETS = ("numpy", "numba")
# kinds of loss → the expression, V being the variable; what a family cannot take is refused
LOSSES = {
    "abstract": "",
    "square": "(y - V)**2/2",
    "softplus": "log(1 + exp(-y*V))",
    "powers": "V**3/6 + y*V",
    "decay": "exp(-V**2)",
    "wave": "sin(y*V)",
    "logarithm": "log(1 + V**2)",
    "linear model": "(y - dot(z, V))**2/2",
    "logistic model": "log(1 + exp(-y*dot(z, V)))",
    "norm": "dot(V, V)/2",
    "component": "sum(V**2)/2",
    "trace": "trace(V)",
    "determinant": "logdet(V)",
}
VALUES = {"rho": ("1", "1/2"), "tau": ("0", "2"), "rename": ("s:z",)}  # of what takes a number


@dataclass(frozen=True)
class Case:
    """One file that `generate` may be asked for."""

    family: str
    approximations: tuple[str, ...]
    loss: str  # a key of LOSSES
    target: str

    @property
    def title(self) -> str:
        flags = " ".join("--" + a.replace("=", " ", 1) for a in self.approximations)
        return f"{self.family} {flags or '(exact)'} [{self.loss}] {self.target}"


@dataclass(frozen=True)
class Outcome:
    """stepped, refused (nothing to compile), stayed (the step was refused), or failed."""

    word: str
    why: str = ""


def families() -> list[str]:
    return sorted(p.stem for p in data_dir("families").glob("*.toml"))


@cache
def roads() -> tuple[tuple[str, ...], ...]:
    """No approximation, each alone with each of its options, and the recipes' roads."""
    from blrgen.approximate import registry
    from blrgen.read.recipe import read_recipes

    found: list[tuple[str, ...]] = [()]
    for info in registry().values():
        options = info.options if isinstance(info.options, tuple) else VALUES.get(info.flag, ())
        found += [(f"{info.flag}={x}",) for x in options] or [(info.flag,)]
    for recipe in read_recipes().values():
        road = tuple(f if o is None else f"{f}={o}" for f, o in recipe.approximations)
        found.append(road)
    return tuple(dict.fromkeys(found))


def cases() -> Iterator[Case]:
    for family, road, loss in itertools.product(families(), roads(), LOSSES):
        for target in TARGETS:
            yield Case(family, road, loss, target)


def pairwise() -> list[Case]:
    """A few of them: every family, every kind of loss and every road, on both targets."""
    names, ways = families(), roads()
    found = [
        Case(family, ways[0], kind, TARGETS[(i + j) % 2])
        for i, family in enumerate(names)
        for j, kind in enumerate(LOSSES)
        if i % len(LOSSES) == j
    ]
    found += [
        Case(
            "gaussian-full" if k % 4 == 0 else "gaussian-diag", road, "abstract", TARGETS[k % 4 > 1]
        )
        for k, road in enumerate(ways)
    ]
    return list(dict.fromkeys(found))


@cache
def variable(family: str) -> str:
    """The name of what a loss of the family is written in."""
    from blrgen.read.family import read_family

    variables = read_family(family).variables
    return str(variables[0].name)


def outcome(case: Case) -> Outcome:
    """What comes of one case."""
    from blrgen.approximate.tools.road import derive
    from blrgen.emit import emit
    from blrgen.emit.compile import compile_class
    from blrgen.errors import UserError
    from blrgen.program.lower import lower

    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            loss = LOSSES[case.loss].replace("V", variable(case.family))
            derivation = derive(case.family, case.approximations, loss)
            source = emit(derivation, case.target)
        except UserError as error:
            return Outcome("refused", str(error).split("\n")[0][:200])
        except Exception as error:
            return Outcome("failed", f"deriving: {type(error).__name__}: {error}"[:300])
        try:
            said = stepped.run(compile_class(source), lower(derivation.rule))
            return Outcome("stayed", said[:200]) if said else Outcome("stepped")
        except Exception as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())
            return Outcome("failed", words[:300])


@cache
def engine() -> str:
    """A digest of everything that a file is made from."""
    digest = hashlib.sha256()
    for folder in (package_dir(), data_dir("templates"), data_dir("families")):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".toml", ".jinja"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def read_kept() -> dict[str, Outcome]:
    """What this engine was found to do before."""
    if not KEPT.is_file():
        return {}
    rows = map(json.loads, KEPT.read_text(encoding="utf-8").splitlines())
    return {
        r["title"]: Outcome(r["word"], r["why"]) for r in rows if r["engine"] == engine()
    }  # fmt: skip


def run(wanted: Iterable[Case], jobs: int, again: bool) -> dict[str, Outcome]:
    """All outcomes; each is written as soon as it is there."""
    KEPT.parent.mkdir(exist_ok=True)
    found = {} if again else read_kept()
    every = list(wanted)
    waiting = [c for c in every if c.title not in found]
    print(f"{len(every)} cases, {len(waiting)} of them not looked at yet", file=sys.stderr)
    with KEPT.open("a", encoding="utf-8") as file, ProcessPoolExecutor(jobs) as pool:
        asked = {pool.submit(outcome, c): c for c in waiting}
        for count, done in enumerate(as_completed(asked), 1):
            case = asked[done]
            found[case.title] = done.result()
            row = {"title": case.title, "engine": engine(), **asdict(found[case.title])}
            file.write(json.dumps(row) + "\n")
            file.flush()
            if found[case.title].word == "failed":
                print(f"FAILED {case.title}: {found[case.title].why}", flush=True)
            if count % 100 == 0:
                print(f"{count} of {len(waiting)}", file=sys.stderr)
    return {c.title: found[c.title] for c in every}


def main() -> int:
    """Run what is asked for; exit code 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.compiles", description=__doc__)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--only", default="", help="cases with this word in their title")
    parser.add_argument("--pairwise", action="store_true", help="the selection of `make test`")
    parser.add_argument("--again", action="store_true", help="also what was looked at before")
    parser.add_argument("--seed", type=int, default=None, help="in a random order")
    options = parser.parse_args()
    chosen = [c for c in (pairwise() if options.pairwise else cases()) if options.only in c.title]
    if options.seed is not None:
        Random(options.seed).shuffle(chosen)
    found = run(chosen, options.jobs, options.again)
    counts = Counter(x.word for x in found.values())
    print(", ".join(f"{word} {count}" for word, count in sorted(counts.items())))
    for title, x in found.items():
        if x.word == "failed":
            print(f"FAILED {title}: {x.why}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
