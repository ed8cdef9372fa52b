"""Small mistakes in the engine, drawn by seed, each put to the tests until one fails.

    python tests/mutate_engine.py -n 40 --seed 1        draw, run, report
    python tests/mutate_engine.py -n 40 --seed 1 --list only draw

A mutation changes one node of one syntax tree in a copy of the checkout: an operator, a
comparison, a condition, a constant, the order of arguments, a statement left out.  The rooms
of blrgen/ take turns, and within a room every node is as likely.  First the tests of the room
are run, as `make test` runs them, then those of `make quick`.  One that fails counts only if it
passes without the mutation.  What survives is either a gap in the tests, or changes nothing that
anybody can see: that is for a person to say.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, takewhile
from pathlib import Path

from blrgen.validate.mutate import (
    ALL,
    BELOW,
    NOTHING,
    OPERATORS,
    Change,
    exchanged,
    replaced,
    unread,
)
from blrgen.validate.mutate import places as all_places

ROOT = Path(__file__).resolve().parents[1]
GROUND = "ground"  # the modules that stand in no room
APART = (".git", ".venv*", ".*_cache", ".hypothesis", "build", "dist", "__pycache__", "*.nb[ic]")
WIDTH = 60  # of a long line that is shown, before the place that differs
Way = list[tuple[str, int | None]]  # fields and indices that lead to a node
KILLED, SURVIVED, UNRUN = "killed", "survived", "fails without it too"
PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider")
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """One changed node of a file; `source` is the whole file with it."""

    room: str
    file: str
    line: int
    kind: str
    diff: str
    source: str


@dataclass(frozen=True)
class Outcome:
    """What became of a mutation, and by which test."""

    mutation: Mutation
    fate: str
    test: str
    seconds: float


# drawing ----------------------------------------------------------------------------------


def rooms(root: Path) -> dict[str, list[Path]]:
    """room → its modules; those of no room are one together."""
    found: dict[str, list[Path]] = {}
    for path in sorted((root / "blrgen").rglob("*.py")):
        parts = path.relative_to(root / "blrgen").parts
        found.setdefault(parts[0] if len(parts) > 1 else GROUND, []).append(path)
    return found


def _looked_at(node: ast.AST, name: str, child: ast.AST) -> str:
    """Every node that a run may depend on, but for the words of a message."""
    for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
    if unread(node, name, child) or for_types or isinstance(child, ast.JoinedStr | ast.Assert):
        return NOTHING
    return BELOW if isinstance(child, ast.FunctionDef | ast.ClassDef | ast.arguments) else ALL


def changes(node: ast.AST) -> Iterator[Change]:
    """The small mistakes that can be made at a node."""
    if isinstance(node, ast.BinOp):
        for kind, operator in OPERATORS.get(type(node.op), ()):
            yield kind, ast.BinOp(node.left, operator(), node.right)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield "comparison", ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()],
                                        node.comparators)  # fmt: skip
    elif isinstance(node, ast.BoolOp):
        yield (
            "and, or",
            ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values),
        )
    elif isinstance(node, ast.UnaryOp):
        yield "sign" if isinstance(node.op, ast.USub) else "condition", node.operand
    elif isinstance(node, ast.Constant):
        yield from _constant(node.value)
    elif isinstance(node, ast.Call):
        yield from exchanged(node)
    elif isinstance(node, ast.IfExp):
        yield "condition", ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.stmt):
        yield from _statement(node)


def _constant(value: object) -> Iterator[Change]:
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield "constant", ast.Constant(value + 1)


def _statement(node: ast.stmt) -> Iterator[Change]:
    """A condition turned round; a statement left out that nothing after it needs by name."""
    if isinstance(node, ast.If):
        yield "condition", ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    stored = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
    if stored or isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue):
        yield "statement left out", None


def mutations(room: str, path: Path, root: Path) -> list[Callable[[], Mutation]]:
    """What can be changed in a file, each made when it is asked for."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    made: list[Callable[[], Mutation]] = []
    for way, node in all_places(tree, _looked_at):
        for kind, new in changes(node):

            def make(
                way: Way = way, node: ast.AST = node, kind: str = kind, new: ast.AST = new
            ) -> Mutation:
                top = tree.body[way[0][1] or 0]
                before = ast.unparse(top)
                with replaced(tree, way, node, new):
                    after = ast.unparse(tree.body[way[0][1] or 0])
                lines = source.splitlines(keepends=True)
                first = min([top.lineno, *(d.lineno for d in getattr(top, "decorator_list", []))])
                text = "".join([*lines[: first - 1], after, "\n", *lines[top.end_lineno :]])
                name = path.relative_to(root).as_posix()
                return Mutation(
                    room, name, getattr(node, "lineno", 0), kind, _diff(before, after), text
                )

            made.append(make)
    return made


def _diff(before: str, after: str) -> str:
    """The lines that differ; of long ones, what is around the place."""
    old, new = before.splitlines(), after.splitlines()
    found = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            first = "\n".join(old[a:b]), "\n".join(new[c:d])
            same = takewhile(lambda pair: pair[0] == pair[1], zip(*first, strict=False))
            start = max(0, sum(1 for _ in same) - WIDTH)
            shown = (text[start:][: 3 * WIDTH] for text in first)
            found += [f"{sign} {text}" for sign, text in zip("-+", shown, strict=True)]
    return "\n".join(found)


def drawn(root: Path, count: int, seed: int, wanted: Sequence[str] = ()) -> list[Mutation]:
    """So many distinct mutations, the rooms taken in turn; the same for the same seed."""
    chance = random.Random(seed)
    known = {k: v for k, v in rooms(root).items() if k in wanted or not wanted}
    waiting = {
        room: [make for path in files for make in mutations(room, path, root)]
        for room, files in known.items()
    }
    for makes in waiting.values():
        chance.shuffle(makes)
    order = [room for room in waiting if waiting[room]]
    chance.shuffle(order)
    found: dict[str, Mutation] = {}
    for room in cycle(order):
        if len(found) == count or not any(waiting.values()):
            break
        if waiting[room]:
            made = waiting[room].pop()
            mutation = made()
            if mutation.diff:
                found.setdefault(mutation.file + mutation.source, mutation)
    return list(found.values())


# running ----------------------------------------------------------------------------------


def mirror_of(root: Path, room: str) -> list[str]:
    """The tests that mirror a room: none where it has no folder of its own."""
    folder = root / "tests" / room
    found = sorted(folder.parent.glob("test_*.py")) if room == GROUND else [folder]
    return [p.relative_to(root).as_posix() for p in found if p.exists()]


def core(root: Path) -> list[str]:
    """The files with tests of `make quick`, which are marked so."""
    files = sorted((root / "tests").rglob("test_*.py"))
    marked = [p for p in files if re.search(r"\bmark\.core\b", p.read_text(encoding="utf-8"))]
    return [p.relative_to(root).as_posix() for p in marked]


class Checkout:
    """A copy of the tree in which tests are run."""

    def __init__(self, root: Path, folder: Path, limit: float, words: Sequence[str]) -> None:
        self.root, self.limit, self.words = folder / "checkout", limit, list(words)
        shutil.copytree(root, self.root, ignore=shutil.ignore_patterns(*APART))
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        self.environment["PYTHONPATH"] = str(self.root)
        self.moment = int(time.time())

    def put(self, file: str, text: str) -> None:
        """Write a file; each time is a second of its own, by which byte code is known as old."""
        self.moment += 1
        (self.root / file).write_text(text, encoding="utf-8")
        os.utime(self.root / file, (self.moment, self.moment))

    def failing(self, *words: str) -> str:
        """The first test that fails among these, or nothing."""
        command = [sys.executable, *PYTEST, *self.words, *words]
        try:
            done = subprocess.run(
                command, cwd=self.root, env=self.environment, capture_output=True, text=True,
                stdin=subprocess.DEVNULL, timeout=self.limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"no end within {self.limit:g} s"
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
        return "" if done.returncode == 0 else found[1] if found else _last(done.stdout)

    def judged(self, mutation: Mutation) -> Outcome:
        """The mutation put in, its room's tests and those of `make quick` run, and taken out."""
        began = time.monotonic()
        kept = (self.root / mutation.file).read_text(encoding="utf-8")
        self.put(mutation.file, mutation.source)
        try:
            tests = mirror_of(self.root, mutation.room)
            test = self.failing("-m", "not rest", *tests) if tests else ""
            test = test or self.failing("-m", "core and not (long or rest)", *core(self.root))
        finally:
            self.put(mutation.file, kept)
        fate = KILLED if test else SURVIVED
        if test.startswith("tests/") and self.failing(*_alone(test)):
            fate = UNRUN
        return Outcome(mutation, fate, test, round(time.monotonic() - began, 1))


def _alone(test: str) -> list[str]:
    """To run a test with all its parameters; of a file that cannot be imported, to import it."""
    return [test.split("[")[0]] if "::" in test else [test, "--collect-only"]


def _last(text: str) -> str:
    """Why nothing ran at all."""
    return next((x for x in reversed(text.splitlines()) if x.strip()), "no output")


def told(outcome: Outcome) -> str:
    """One outcome for people."""
    m = outcome.mutation
    head = f"{outcome.fate:9} {m.file}:{m.line} {m.kind}  {outcome.test}"
    return head if outcome.fate == KILLED else f"{head}\n{m.diff}"


def main(words: Sequence[str] | None = None) -> int:
    """Draw, run, report; 1 where one survived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", type=int, default=40, help="how many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="the first so many, run before")
    parser.add_argument("--rooms", default="", help="only these, comma-separated")
    parser.add_argument("--list", action="store_true", help="only draw")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for a run of tests")
    parser.add_argument("--out", type=Path, help="a file for the outcomes, a line of JSON each")
    parser.add_argument("--pytest", default="", help="more words for pytest: --pytest='-n 2'")
    options = parser.parse_args(words)
    chosen = drawn(ROOT, options.n, options.seed, [x for x in options.rooms.split(",") if x])
    chosen = chosen[options.skip :]
    if options.list:
        print("\n".join(f"{m.file}:{m.line} {m.kind}\n{m.diff}" for m in chosen))
        return 0
    fates: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="blrgen-mutations-") as folder:
        checkout = Checkout(ROOT, Path(folder), options.limit, options.pytest.split())
        for mutation in chosen:
            outcome = checkout.judged(mutation)
            fates[outcome.fate] += 1
            print(told(outcome), flush=True)
            if options.out:
                row = asdict(outcome)
                del row["mutation"]["source"]
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(", ".join(f"{fates[x]} {x}" for x in (KILLED, SURVIVED, UNRUN)))
    return 1 if fates[SURVIVED] else 0


if __name__ == "__main__":
    sys.exit(main())
