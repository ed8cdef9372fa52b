"""Mutations are drawn the same for the same seed, change one place, and are told apart."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutate_engine import (
    GROUND,
    KILLED,
    SURVIVED,
    UNRUN,
    Checkout,
    Mutation,
    changes,
    core,
    drawn,
    main,
    mutations,
    rooms,
    told,
)

SOURCE = '''"""Said."""
SIZE: int = 3

def over(a: int, b: int = 2) -> int:
    """Said."""
    if a > b and not b:
        raise ValueError(f"{a + 1}")
    return max(a, b) - a
'''
TESTS = "from blrgen.room.one import over\n\n\ndef test_over():\n    assert over(5, 1) == 0\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with a room, its test, and one of `make quick`."""
    top = tmp_path / "top"
    for name, text in {
        "blrgen/__init__.py": "",
        "blrgen/alone.py": "def three():\n    return 1 + 2\n",
        "blrgen/room/__init__.py": "",
        "blrgen/room/one.py": SOURCE,
        "tests/room/test_one.py": TESTS,
        "tests/test_alone.py": (
            "import pytest\nfrom blrgen.alone import three\n\n\n@pytest.mark.core\n"
            "def test_three():\n    assert three() == 3\n"
        ),
        "tests/test_wrong.py": "def test_never():\n    assert False\n",
        "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["core: quick"]\n',
    }.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
    return top


def test_rooms_take_turns_and_the_seed_decides(tree: Path) -> None:
    assert {k: len(v) for k, v in rooms(tree).items()} == {GROUND: 2, "room": 2}
    found = drawn(tree, 6, 1)
    assert found == drawn(tree, 6, 1) != drawn(tree, 6, 2)
    assert [m.room for m in found].count("room") == 3
    assert {m.room for m in drawn(tree, 4, 1, ["room"])} == {"room"}
    everything = drawn(tree, 10_000, 1)
    assert len(everything) == len({(m.file, m.source) for m in everything}) > 8


def test_one_place_of_the_file_is_changed(tree: Path) -> None:
    path = tree / "blrgen" / "room" / "one.py"
    made = [make() for make in mutations("room", path, tree)]
    said = ast.unparse(ast.parse(SOURCE))
    for m in made:
        assert ast.unparse(ast.parse(m.source)) != said
        assert m.source.startswith('"""Said."""\n') and m.file == "blrgen/room/one.py"
        assert SOURCE.splitlines()[m.line - 1].strip()
    kinds = {m.kind for m in made}
    assert kinds == {"constant", "condition", "and, or", "comparison", "arguments exchanged",
                     "sign", "operator", "statement left out"}  # fmt: skip
    assert not any("a + 2" in m.source for m in made)  # the words of a message
    (m,) = (x for x in made if x.kind == "comparison")
    assert m.diff == "-     if a > b and (not b):\n+     if a >= b and (not b):"


def changed(text: str) -> list[str]:
    node = ast.parse(text).body[0]
    node = node.value if isinstance(node, ast.Expr) else node
    return ["" if new is None else ast.unparse(new) for _, new in changes(node)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x < y", ["x <= y"]),
        ("x is not y", ["x is y"]),
        ("x or y", ["x and y"]),
        ("not x", ["x"]),
        ("-x", ["x"]),
        ("True", ["False"]),
        ("7", ["8"]),
        ("'text'", []),
        ("f(x, y, z)", ["f(y, x, z)", "f(x, z, y)"]),
        ("a if b else c", ["c if b else a"]),
        ("x[0] = 1", [""]),
        ("x += 1", [""]),
        ("x = 1", []),
        ("raise x", [""]),
        ("x * y", ["x / y", "x + y"]),
    ],
)
def test_the_mistakes_at_a_node(before: str, after: list[str]) -> None:
    assert changed(before) == after


@pytest.fixture
def checkout(tree: Path, tmp_path: Path) -> Checkout:
    return Checkout(tree, tmp_path, 60.0, [])


def of(room: str, file: str, source: str) -> Mutation:
    return Mutation(room, file, 1, "kind", "- a\n+ b", source)


def test_what_a_test_sees_is_killed_by_it(checkout: Checkout) -> None:
    file = "blrgen/room/one.py"
    outcome = checkout.judged(of("room", file, SOURCE.replace("- a\n", "+ a\n")))
    assert (outcome.fate, outcome.test) == (KILLED, "tests/room/test_one.py::test_over")
    assert (checkout.root / file).read_text(encoding="utf-8") == SOURCE
    outcome = checkout.judged(of("room", file, "import nothing_of_that_name\n"))
    assert (outcome.fate, outcome.test) == (KILLED, "tests/room/test_one.py")
    survivor = checkout.judged(of("room", file, SOURCE.replace("b: int = 2", "b: int = 3")))
    assert (survivor.fate, survivor.test) == (SURVIVED, "")
    assert told(survivor).endswith("\n- a\n+ b") and "- a" not in told(outcome)


def test_the_quick_tests_come_after_those_of_the_room(checkout: Checkout) -> None:
    assert core(checkout.root) == ["tests/test_alone.py"]
    outcome = checkout.judged(of("room", "blrgen/alone.py", "def three():\n    return 4\n"))
    assert (outcome.fate, outcome.test) == (KILLED, "tests/test_alone.py::test_three")


def test_what_fails_anyhow_kills_nothing(checkout: Checkout) -> None:
    outcome = checkout.judged(of(GROUND, "blrgen/room/one.py", SOURCE + "\nTHREE = 3\n"))
    assert (outcome.fate, outcome.test) == (UNRUN, "tests/test_wrong.py::test_never")


def test_what_does_not_end_is_killed(tree: Path, tmp_path: Path) -> None:
    checkout = Checkout(tree, tmp_path, 2.0, [])
    endless = SOURCE.replace("    return", "    while True:\n        pass\n    return")
    outcome = checkout.judged(of("room", "blrgen/room/one.py", endless))
    assert (outcome.fate, outcome.test) == (KILLED, "no end within 2 s")


def test_the_engine_has_something_to_draw_in_every_room(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-n", "3", "--seed", "5", "--list", "--rooms", "read,rule"]) == 0
    said = capsys.readouterr().out
    assert said.count("blrgen/read/") + said.count("blrgen/rule/") == 3
