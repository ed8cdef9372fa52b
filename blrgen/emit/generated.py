"""The committed output under `generated/`: one file for each recipe and target.

`write_all` makes the folder what it should be, stale files removed; `check` says how
it differs.  Run as a module: `python -m blrgen.emit.generated [--check] [FOLDER]`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from blrgen.emit import emit
from blrgen.emit.targets import TARGETS


def file_name(recipe: str, target: str) -> str:
    """adam, numba → adam_numba.py."""
    return f"{recipe.replace('-', '_')}_{target}.py"


def sources(recipes: Iterable[str] | None = None) -> dict[str, str]:
    """File name → source, for the recipes named (all by default)."""
    from blrgen.approximate.tools.road import derive
    from blrgen.read.recipe import read_recipes

    made = {}
    for recipe in sorted(read_recipes() if recipes is None else recipes):
        derivation = derive(recipe)
        for target in TARGETS:
            made[file_name(recipe, target)] = emit(derivation, target)
    return made


def present(directory: Path) -> dict[str, str]:
    """File name → text, of what is there."""
    found = sorted(directory.glob("*.py")) if directory.is_dir() else []
    return {p.name: p.read_text(encoding="utf-8") for p in found if p.name != "__init__.py"}


def write_all(directory: Path, wanted: dict[str, str] | None = None) -> list[str]:
    """Write what is missing or different, remove what is stale; say what was done."""
    wanted = sources() if wanted is None else wanted
    directory.mkdir(parents=True, exist_ok=True)
    there, done = present(directory), []
    for name, text in wanted.items():
        if there.get(name) != text:
            (directory / name).write_text(text, encoding="utf-8", newline="\n")
            done.append(f"{'rewrote' if name in there else 'wrote'} {name}")
    for name in sorted(there.keys() - wanted.keys()):
        (directory / name).unlink()
        done.append(f"removed {name}")
    return done


def check(directory: Path, wanted: dict[str, str] | None = None) -> list[str]:
    """What is missing, different or stale, one line each; nothing when all is well."""
    wanted = sources() if wanted is None else wanted
    there = present(directory)
    problems = [f"missing: {name}" for name in wanted if name not in there]
    problems += [
        f"different: {name}, {_first_difference(there[name], text)}"
        for name, text in wanted.items()
        if name in there and there[name] != text
    ]
    return problems + [f"stale: {name}" for name in sorted(there.keys() - wanted.keys())]


def _first_difference(old: str, new: str) -> str:
    pairs = zip(old.split("\n"), new.split("\n"), strict=False)
    line = next((k for k, (a, b) in enumerate(pairs, 1) if a != b), None)
    return "in length" if line is None else f"first in line {line}"


def main(arguments: list[str]) -> int:
    """Write, or with --check compare; exit code 1 when something differs."""
    from blrgen.paths import package_dir

    folders = [a for a in arguments if not a.startswith("-")]
    directory = Path(folders[0]) if folders else package_dir().parent / "generated"
    comparing = "--check" in arguments
    lines = check(directory) if comparing else write_all(directory)
    print("\n".join(lines) or "generated/ is up to date")
    return 1 if comparing and lines else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
