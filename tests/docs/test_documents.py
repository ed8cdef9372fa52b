"""What the documents say is so: code runs, outputs are what is printed, names exist."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.docs.documents import DOCUMENTS, blocks, differences, matches, updated

PAGES = (
    "README.md", "docs/using.md", "docs/proofs.md", "docs/speed.md", "docs/tree.md", "docs/tour.md",
    "docs/extending.md", "docs/decisions.md", "docs/json.md",
)  # fmt: skip


@pytest.fixture(scope="module")
def page(root):
    return lambda name: (root / name).read_text(encoding="utf-8")


# every command of a document is run: two documents in every run, the long ones with the rest
SAID = [
    name if name in ("README.md", "docs/axes.md") else pytest.param(name, marks=pytest.mark.rest)
    for name in DOCUMENTS
]


@pytest.mark.parametrize("name", SAID)
def test_what_is_printed_is_what_the_document_says(name, page, tmp_path):
    found = differences(page(name), tmp_path)
    hint = f"python tests/docs/documents.py {name}"
    assert not found, "\n\n".join([*map(str, found), f"to rewrite: {hint}"])


def table_after(text, heading):
    """The cells of the rows of the table below a heading row."""
    rows = text[text.index(heading) :].splitlines()[2:]
    cells = [re.split(r"(?<!\\)\|", r)[1:-1] for r in rows[: next_blank(rows)]]
    return [[c.strip().replace("\\|", "|") for c in row] for row in cells]


def next_blank(rows):
    return next((i for i, r in enumerate(rows) if not r.startswith("|")), len(rows))


def test_every_command_is_listed(page):
    from blrgen.cli.main import COMMANDS

    listed = table_after(page("README.md"), "| command | does |")
    assert listed == [[f"`{f'blrgen {n} {a}'.strip()}`", s] for n, (a, s) in COMMANDS.items()]


def test_every_missing_row_is_listed(page, root):
    rows = tomllib.loads((root / "blrgen/table.toml").read_text(encoding="utf-8"))["row"]
    missing = [[r["title"], r["needs"]] for r in rows if "needs" in r]
    there = "| row | needs |" in page("docs/proofs.md")
    assert missing == (table_after(page("docs/proofs.md"), "| row | needs |") if there else [])


def test_every_level_of_proof_is_listed(page):
    from blrgen.decide.proof import LEVELS

    listed = table_after(page("README.md"), "| level | means |")
    assert tuple(row[0].strip("`") for row in listed) == LEVELS


def test_the_first_page_is_short(page):
    assert len(page("README.md").splitlines()) <= 200


def test_every_stage_is_listed(page, root):
    listed = [r[0] for r in table_after(page("docs/tree.md"), "| stage | folder |")]
    folders = {p.parent.name for p in (root / "blrgen").glob("*/__init__.py")}
    rooms = (root / "docs/house.txt").read_text(encoding="utf-8").splitlines()
    assert listed == [x for x in rooms if x in folders]


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name, page, root):
    text = re.sub(r"```.*?```", "", page(name), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert ((root / name).parent / target).exists(), target


@pytest.mark.parametrize("name", PAGES)
def test_flags_and_make_targets_exist(name, page, root):
    from blrgen.approximate import registry
    from blrgen.cli.algorithms import FLAGS

    text = page(name)
    known = {f"--{flag}" for flag in registry()} | {"--damping"}  # the guide's own example
    known |= {f"--{flag}" for flag in FLAGS}
    others = ("benchmarks/__main__.py", "tests/mutate_engine.py")
    for file in (*(root / "blrgen/cli").glob("*.py"), *(root / name for name in others)):
        known |= set(re.findall(r'"(--[a-z-]+)"', file.read_text(encoding="utf-8")))
    shell = "\n".join(b.text for b in blocks(text) if b.language == "sh")
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    said = {w for span in re.findall(r"`([^`]*)`", prose) for w in re.findall(r"--[a-z-]+", span)}
    assert said <= known, said - known
    phony = re.search(r"^\.PHONY: (.*)$", (root / "Makefile").read_text(), re.M)[1].split()
    spans = " ".join(re.findall(r"`([^`]*)`", prose)) + "\n" + shell
    assert set(re.findall(r"\bmake ([a-z]+)", spans)) <= set(phony)


# The check itself: what is wrong is seen, and what is rewritten is right.


def test_a_wrong_output_is_seen_and_rewritten(tmp_path):
    text = "```console\n$ echo one; false\nsomething else\n$ echo $?\n1\n```\n"
    (found,) = differences(text, tmp_path / "a")
    assert found.line == 1 and found.printed == "$ echo one; false\none\n$ echo $?\n1\n"
    new = updated(text, tmp_path / "b")
    assert new == text.replace("something else", "one")
    assert differences(new, tmp_path / "c") == []


def test_a_wrong_doctest_is_seen_and_rewritten(tmp_path):
    text = "```python\n>>> x = 2\n>>> x + 1\n4\n>>> for i in range(2):\n...     print(i)\n0\n```\n"
    (found,) = differences(text, tmp_path / "a")
    assert found.printed == text.replace("4", "3").replace("\n0\n", "\n0\n1\n")[10:-4]
    assert differences(updated(text, tmp_path / "b"), tmp_path / "c") == []


def test_a_wrong_printed_text_is_seen(tmp_path):
    text = "```python\nprint(6 * 7)\n```\n\n```text output\n41\n```\n"
    (found,) = differences(text, tmp_path)
    assert (found.said, found.printed) == ("41\n", "42\n")


@pytest.mark.parametrize("code", ["1 / 0", ">>> 1 / 0", "print(1)", "import sys; sys.exit(0)"])
def test_a_block_that_fails_or_prints_unasked_is_an_error(code, tmp_path):
    with pytest.raises(AssertionError):
        differences(f"```python\n{code}\n```\n", tmp_path)


def test_files_are_written_in_the_copy_only(root, tmp_path):
    made = [("file", "x = 1"), ("append", "y = 2"), ("replace", "x = 3")]
    text = "".join(f"```python {how}=families/new.py\n{line}\n```\n" for how, line in made)
    text += "```console\n$ cat families/new.py\nx = 3\ny = 2\n```\n"
    assert differences(text, tmp_path) == []
    assert not (root / "families/new.py").exists()


@pytest.mark.parametrize(
    ("said", "printed", "same"),
    [
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...", "a\nb", True),
        ("a\n...\nd", "a\nb\nc", False),
        ("a", "a\nb", False),
        ("a.c", "abc", False),
    ],
)
def test_dots_stand_for_lines(said, printed, same):
    assert matches(said, printed) == same
