"""Documents as programs: the fenced blocks of a Markdown file, run in order.

| block | what is done with it |
|---|---|
| ```` ```console ```` | each `$ command` runs in a shell; what it prints must be what follows |
| ```` ```python ```` | runs: with `>>>` as a doctest, else to print the next `text output` block |
| ```` ```LANGUAGE file=PATH ```` | is written to PATH |
| ```` ```LANGUAGE append=PATH ```` | is written to the end of PATH |
| ```` ```LANGUAGE replace=PATH ```` | the line that begins as the block does is replaced in PATH |

A document runs in a copy of the tree, so that it leaves nothing behind and what it adds
(a family, an approximation, …) is found where it would stand.  A line `...` stands for any
lines.  Commands see the copy's blrgen.

    python tests/docs/documents.py     rewrite every document's outputs from what is printed now
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from blrgen.cli.progress import WORKING

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (
    "README.md",
    "docs/using.md",
    "docs/tour.md",
    "docs/extending.md",
    "docs/candidates.md",
    "docs/mixtures.md",
    "docs/axes.md",
    "docs/models.md",
)
COPIED = (
    "blrgen",
    "families",
    "models",
    "templates",
    "generated",
    "tests/reference",
    "pyproject.toml",
)
FENCE = re.compile(r"^```(\w+)[ ]*([^\n`]*)\n(.*?)^```[ ]*$", re.M | re.S)
MARK = "@@documents@@"
SECONDS = 120


@dataclass(frozen=True)
class Block:
    """One fenced block; `start` and `end` enclose its text within the document."""

    language: str
    info: str
    text: str
    start: int
    end: int
    line: int

    def given(self, key: str) -> str:
        """The value of key=VALUE after the language."""
        found = re.search(rf"\b{key}=(\S+)", self.info)
        return found[1] if found else ""


@dataclass
class Difference:
    """A block that does not say what is printed."""

    line: int
    said: str
    printed: str

    def __str__(self) -> str:
        here = f"line {self.line}: the document says"
        return f"{here}\n{self.said}\nbut this is printed\n{self.printed}"


@dataclass
class Session:
    """A copy of the tree, and a shell and a Python in it."""

    folder: Path
    python: subprocess.Popen[str] | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> Session:
        tree = self.folder / "blrgen"
        for name in COPIED:
            source, target = ROOT / name, tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.nb[ic]"))
            else:
                shutil.copy(source, target)
        programs = self.folder / "bin"
        programs.mkdir()
        for name, words in (("blrgen", "-m blrgen"), ("python", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            program.chmod(0o755)
        kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "BLRGEN_DEBUG")}
        self.environment = {
            **kept,
            "PYTHONPATH": str(tree),
            "PYTHONIOENCODING": "utf-8",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            # found again by its content: what a run of the tests has computed is as good
            "BLRGEN_CACHE": os.environ.get("BLRGEN_CACHE", str(self.folder / "cache")),
        }
        self.tree = tree
        return self

    def __exit__(self, *_: object) -> None:
        if self.python is not None:
            self.python.kill()
            self.python.communicate()

    def shell(self, commands: list[str]) -> list[str]:
        """What each command prints, standard error included but for what is being done.

        `$?` is that of the command before.
        """
        script = "(exit 0)\n" + "".join(
            f"{c}\n__status=$?; printf '%s\\n' '{MARK}'; (exit $__status)\n" for c in commands
        )
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.tree, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=SECONDS, encoding="utf-8",
        )  # fmt: skip
        lasting = re.sub(rf"^{WORKING}.*\n", "", done.stdout, flags=re.M)
        return lasting.split(MARK + "\n")[:-1]

    def run(self, code: str, line: int) -> tuple[str, list[tuple[int, int, str]]]:
        """What a block prints; for a wrong doctest, (first line, how many, what is printed)."""
        if self.python is None:
            self.python = subprocess.Popen(
                [sys.executable, "-c", WORKER], cwd=self.tree, env=self.environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
            )  # fmt: skip
        assert self.python.stdin is not None and self.python.stdout is not None
        self.python.stdin.write(json.dumps([code, line]) + "\n")
        self.python.stdin.flush()
        answer = self.python.stdout.readline()
        if not answer:
            raise AssertionError(f"Python ended in the block at line {line}")
        printed, error, wrong = json.loads(answer)
        if error:
            raise AssertionError(f"the block at line {line} fails:\n{error}")
        return printed, [tuple(w) for w in wrong]


# The Python that runs a document's blocks, in one namespace.
WORKER = r"""
import contextlib, doctest, io, json, sys, traceback
answers, names = sys.stdout, {"__name__": "__document__"}

class Runner(doctest.DocTestRunner):
    wrong = []
    def report_failure(self, out, test, example, got):
        first = example.lineno + example.source.count("\n")
        self.wrong.append((first, example.want.count("\n"), got))
    def report_unexpected_exception(self, out, test, example, info):
        raise info[1]

for request in sys.stdin:
    code, line = json.loads(request)
    printed, error, Runner.wrong = io.StringIO(), "", []
    try:
        with contextlib.redirect_stdout(printed):
            if ">>> " in code:
                test = doctest.DocTestParser().get_doctest(code, names, "document", None, line)
                test.globs = names
                runner = Runner(optionflags=doctest.ELLIPSIS)
                runner.run(test, out=lambda s: None, clear_globs=False)
            else:
                exec(compile(code, f"document, from line {line}", "exec"), names)
    except BaseException:
        error = traceback.format_exc()
    told = "" if ">>> " in code else printed.getvalue()
    answers.write(json.dumps([told, error, Runner.wrong]) + "\n")
    answers.flush()
"""


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document, in order."""
    return [
        Block(m[1], m[2].strip(), m[3], m.start(3), m.end(3), text.count("\n", 0, m.start()) + 1)
        for m in FENCE.finditer(text)
    ]


def run(text: str, folder: Path) -> Iterator[tuple[Block, str]]:
    """Every block with the text it should have."""
    found = blocks(text)
    with Session(folder) as session:
        for block, following in zip(found, [*found[1:], None], strict=True):
            if any(block.given(key) for key in ("file", "append", "replace")):
                place(block, session.tree)
            elif block.language == "console":
                yield block, console(block, session)
            elif block.language == "python":
                printed, wrong = session.run(block.text, block.line)
                yield block, corrected(block.text, wrong)
                if following is not None and following.info == "output":
                    yield following, printed
                elif printed:
                    raise AssertionError(f"the block at line {block.line} prints:\n{printed}")


def place(block: Block, tree: Path) -> None:
    """Write a file, or add to one."""
    name = block.given("file") or block.given("append") or block.given("replace")
    path = tree / name
    assert path.resolve().is_relative_to(tree.resolve()), name
    path.parent.mkdir(parents=True, exist_ok=True)
    if block.given("replace"):
        start = block.text.split("=")[0]
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        places = [i for i, x in enumerate(lines) if x.startswith(start)]
        assert len(places) == 1, f"{name} has {len(places)} lines that begin with {start!r}"
        lines[places[0]] = block.text
        path.write_text("".join(lines), encoding="utf-8")
        return
    before = path.read_text(encoding="utf-8") if block.given("append") else ""
    path.write_text(before + block.text, encoding="utf-8")


def console(block: Block, session: Session) -> str:
    """The block with what its commands print now."""
    commands = [x[2:] for x in block.text.splitlines() if x.startswith("$ ")]
    said = re.split(r"^\$ .*\n", block.text, flags=re.M)[1:]
    parts = []
    for command, old, printed in zip(commands, said, session.shell(commands), strict=True):
        tidy = re.sub(r"[ ]+$", "", printed, flags=re.M)
        if tidy and not tidy.endswith("\n"):
            tidy += "\n"
        # a blank line before the next command is layout, and so is none
        same = matches(old.rstrip("\n"), tidy.rstrip("\n"))
        parts.append(f"$ {command}\n{old if same else tidy}")
    return "".join(parts)


def matches(said: str, printed: str) -> bool:
    """Equal, a line `...` standing for any number of lines."""
    parts = [re.escape(p) for p in re.split(r"^\.\.\.$", said, flags=re.M)]
    return re.fullmatch(r"(?:.*\n)*?(?:.*)".join(parts), printed) is not None


def corrected(code: str, wrong: list[tuple[int, int, str]]) -> str:
    """A doctest with the outputs that differ replaced."""
    lines = code.splitlines(keepends=True)
    for first, count, printed in sorted(wrong, reverse=True):
        lines[first : first + count] = [re.sub(r"^\n", "<BLANKLINE>\n", printed, flags=re.M)]
    return "".join(lines)


def differences(text: str, folder: Path) -> list[Difference]:
    """The blocks that are not true any more."""
    return [Difference(b.line, b.text, now) for b, now in run(text, folder) if b.text != now]


def updated(text: str, folder: Path) -> str:
    """The document with every output as it is now."""
    for block, now in sorted(run(text, folder), key=lambda pair: -pair[0].start):
        text = text[: block.start] + now + text[block.end :]
    return text


def main() -> int:
    """Rewrite the documents named, or all."""
    import tempfile

    for name in sys.argv[1:] or DOCUMENTS:
        path = ROOT / name
        old = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            new = updated(old, Path(folder))
        if new != old:
            path.write_text(new, encoding="utf-8")
        print(f"{'rewrote' if new != old else 'up to date'}: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
