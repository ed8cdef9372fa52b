"""The order of the rooms: what imports what, wherever in a file the import stands."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = [
    line.split("#")[0].strip()
    for line in (ROOT / "docs" / "house.txt").read_text(encoding="utf-8").splitlines()
    if line.split("#")[0].strip()
]
# What goes against the order, and why it may.
EXCEPTIONS = {
    ("blrgen.decide.domain", "blrgen.read.domain"): "a domain reaches the prover as its text",
    ("blrgen.decide.matrices", "blrgen.read.domain"): "the same, where its ends are sizes",
}
FILES = {
    ".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p
    for p in (ROOT / "blrgen").rglob("*.py")
}


def imported(tree: ast.AST):
    """Every module of blrgen that is imported, except for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute here"
            yield from (f"{node.module}.{a.name}" for a in node.names)
        yield from imported(node)


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "api"


def against() -> set[tuple[str, str]]:
    """The imports from a room of one further down."""
    found = set()
    for name, path in FILES.items():
        for target in imported(ast.parse(path.read_text(encoding="utf-8"))):
            while target.startswith("blrgen") and target not in FILES:
                target = target.rpartition(".")[0]
            if target in FILES and ROOMS.index(room(target)) > ROOMS.index(room(name)):
                found.add((name, target))
    return found


def test_every_room_has_a_place():
    assert {room(name) for name in FILES} <= set(ROOMS)
    assert len(set(ROOMS)) == len(ROOMS)


def test_imports_go_up_the_list():
    assert against() == set(EXCEPTIONS)
    assert len(EXCEPTIONS) <= 5


def test_the_map_of_a_room_names_every_module():
    for name, path in FILES.items():
        if path.name != "__init__.py" or path.parent.name == "blrgen":
            continue
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        inside = {p.stem for p in path.parent.glob("[!_]*.py")}
        inside |= {p.parent.name for p in path.parent.glob("*/__init__.py")}
        missing = [x for x in sorted(inside) if f"`{x}`" not in said]
        assert not missing, f"{name} does not say what {missing} are"
