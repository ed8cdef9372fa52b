"""Step functions with one mistake each, put to `verify`: none may be proved.

    python -m tests.mutants                     every recipe, at least forty mistakes each
    python -m tests.mutants adam ridge --each 10
    python -m tests.mutants --emitted           the files that are emitted, too

Right functions of every recipe (the one written by hand, and those in odd styles) get systematic
mistakes (`blrgen.validate.mutate`) and such as a run on a few numbers does not show
(`blrgen.validate.subtle`).  A change that is no mistake, as far as calls on many numbers show, is
told apart: it may be proved.  Five numbers come of it: right ones that are proved and that are not
compared, wrong ones that are refuted, that are not compared, and that are proved, of which there
must be none.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import blrgen
from blrgen.core import Rule
from blrgen.decide.proof import Verdict
from blrgen.errors import UserError
from blrgen.validate.emitted import verify_emitted
from blrgen.validate.mutate import Mutant, mutants
from blrgen.validate.subtle import subtle
from blrgen.validate.symbolic.number import CannotRun
from blrgen.validate.verify_file import verify_source
from blrgen.validate.very_text import definitions
from tests.as_numbers import Calls

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "tests" / "reference"
CORPUS = ROOT / "tests" / "validate" / "corpus" / "right.txt"
EACH = 40
STEP = ("step", "draw", "observe")  # the functions of an emitted file that compute
ORDER = ("right proved", "right not compared", "right refuted", "wrong refuted",
         "wrong not compared", "wrong proved")  # fmt: skip


@dataclass(frozen=True)
class Fate:
    """One mutant, whether it is a mistake, and what was said of it."""

    recipe: str
    mutant: Mutant
    wrong: bool
    said: str  # proved | refuted | not compared

    @property
    def name(self) -> str:
        return f"{'wrong' if self.wrong else 'right'} {self.said}"

    def __str__(self) -> str:
        m = self.mutant
        after = " ⏎ ".join(m.after.splitlines()) or "(left out)"
        return f"{self.name}: {self.recipe}, line {m.line}, {m.kind}: {m.before} → {after}"


@cache
def rule(recipe: str) -> Rule:
    return blrgen.derive(recipe).rule


def recipes() -> list[str]:
    """Those that are written by hand."""
    found = (p.stem for p in REFERENCE.glob("*.py") if not p.stem.startswith("test_"))
    return sorted(x.replace("_", "-") for x in found)


def sources(recipe: str) -> list[str]:
    """Right functions: the one by hand, written out, and those in odd styles."""
    by_hand = (REFERENCE / f"{recipe.replace('-', '_')}.py").read_text(encoding="utf-8")
    styles = []
    for part in re.split(r"^### ", CORPUS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, _, source = part.partition("\n")
        if head.partition("|")[2].strip() == recipe:
            styles.append(source)
    return [written_out(by_hand), *styles]


def written_out(source: str) -> str:
    """What `step` returns is given names before, so that every value is an assignment."""
    tree = ast.parse(source)
    step = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "step")
    last = step.body[-1]
    assert isinstance(last, ast.Return) and last.value is not None
    values = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    made: list[ast.stmt] = []
    names: list[ast.expr] = []
    for k, v in enumerate(values):
        if isinstance(v, ast.Name):
            names.append(v)
            continue
        made.append(ast.parse(f"out_{k} = {ast.unparse(v)}").body[0])
        names.append(ast.Name(f"out_{k}", ast.Load()))
    back = ast.Tuple(names, ast.Load()) if len(names) > 1 else names[0]
    step.body[-1:] = [*made, ast.Return(back)]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def mistakes(recipe: str, each: int, seed: int) -> Iterator[tuple[Mutant, str]]:
    """(mutant, the function it was made of): all sources and all kinds in turn."""
    quantities = rule(recipe)
    state, given = quantities.of("state")[0].name, _given(quantities)
    rates = [q.name for q in quantities.of("hyper")]
    counter = next((q.name for q in quantities.of("counter")), "")
    queues: list[list[tuple[Mutant, str]]] = []
    for k, source in enumerate(sources(recipe)):
        found = mutants(source, lambda f: f == "step")
        if k == 0:
            rate = rates[0] if rates else f"{given}[0]"
            found = [*subtle(source, state, given, rate, counter=counter), *found]
        Random(f"{recipe} {k} {seed}").shuffle(found)
        queues.append([(m, source) for m in found])
    count = 0
    while any(queues) and count < each:
        for q in queues:
            if q and count < each:
                count += 1
                yield q.pop()


def _given(quantities: Rule) -> str:
    """An input or data in the shape of the first state."""
    state = quantities.of("state")[0]
    found = [q for kind in ("input", "data") for q in quantities.of(kind) if q.rank == state.rank]
    return found[0].name


def judged(recipe: str, found: Iterator[tuple[Mutant, str]]) -> Iterator[Fate]:
    """Each mutant on numbers, and before `verify`; one that is no Python is passed over."""
    for m, source in found:
        calls = Calls(rule(recipe), source, m.source)
        try:
            verdict = verify_source(m.source, rule(recipe), locate=False)
        except UserError:  # a result too few, no state changed: refused in words
            yield Fate(recipe, m, True, "not compared")
            continue
        yield Fate(recipe, m, calls.differ(), said(verdict))


def said(verdict: Verdict) -> str:
    if verdict.proved:
        return "proved"
    return "refuted" if verdict.level == "refuted" else "not compared"


# emitted files ------------------------------------------------------------------------------------
def emitted(recipe: str, each: int, seed: int) -> Iterator[Fate]:
    """Mistakes in what an emitted file computes: another text is never proved."""
    folder = ROOT / "generated"
    for path in sorted(folder.rglob(f"{recipe.replace('-', '_')}_n*.py")):
        source = path.read_text(encoding="utf-8")
        found = mutants(source, lambda f: f.strip("_").split("_")[0] in STEP)
        Random(f"{path.stem} {seed}").shuffle(found)
        for m in found[: each // 2]:
            try:
                verdict = verify_emitted(m.source, rule(recipe), locate=False, briefly=True)
                level = said(verdict)
            except (CannotRun, UserError):
                level = "not compared"
            same = definitions(m.source) == definitions(source)
            if level == "proved" and not same:
                level = "not compared"
            yield Fate(f"{recipe}, {path.stem.rpartition('_')[2]}", m, not same, level)


# the count ----------------------------------------------------------------------------------------
def count(fates: Sequence[Fate]) -> Counter[str]:
    return Counter(f.name for f in fates)


def row(fates: Counter[str]) -> str:
    return ", ".join(f"{fates[name]} {name}" for name in ORDER)


def main(arguments: Sequence[str] | None = None) -> int:
    """Every recipe, its five numbers, what was no mistake, and what was proved though wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("recipes", nargs="*", default=[])
    parser.add_argument("--each", type=int, default=EACH, help="mistakes a recipe")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--emitted", action="store_true", help="in emitted files, too")
    parser.add_argument("--list", action="store_true", help="what was not refuted, one by one")
    options = parser.parse_args(arguments)
    every: list[Fate] = []
    for recipe in options.recipes or recipes():
        found = list(judged(recipe, mistakes(recipe, options.each, options.seed)))
        if options.emitted:
            found += emitted(recipe, options.each, options.seed)
        print(f"{recipe:18}{row(count(found))}", flush=True)
        for f in found:
            loud = f.name in ("wrong proved", "right refuted", "right proved", "right not compared")
            if loud or (options.list and f.said == "not compared"):
                print(f"    {f}", flush=True)
        every += found
    print(f"{'all':18}{row(count(every))}")
    return int(any(f.name == "wrong proved" for f in every))


if __name__ == "__main__":
    sys.exit(main())
