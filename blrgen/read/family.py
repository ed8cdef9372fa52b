"""Family files: TOML → `Family`.  Declarations only; what is derived comes later.

A wrong closed form of the log-partition, or charts that contradict each other,
are not found here: geometry derives both and compares.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from blrgen.core import Family
from blrgen.errors import UserError, did_you_mean
from blrgen.paths import data_dir
from blrgen.read.declaration import Source, load, of_text
from blrgen.read.declared import Declaration
from blrgen.read.product import product_family, product_source
from blrgen.read.sizes import Misfit, bare_sizes


def list_families() -> tuple[str, ...]:
    """The names of the families that come with blrgen."""
    return tuple(sorted(p.stem for p in data_dir("families").glob("*.toml")))


def find_family(name: str) -> Path:
    """The file of a family, by its name or as a path."""
    if name.endswith(".toml") or "/" in name or "\\" in name:
        return Path(name)
    known = list_families()
    if name not in known:
        raise UserError(
            f"unknown family {name[:80]!r}", how=did_you_mean(name[:80], known),
            why="it is neither a family that comes with blrgen nor a path ending in .toml",
        )  # fmt: skip
    return data_dir("families") / f"{name}.toml"


def read_family(path_or_name: str | Path) -> Family:
    """The family declared in a file (a path ending in .toml) or of a known name."""
    source = source_of(str(path_or_name))
    return family_of(source) if "product" in source.table else _read(source.path, source.text)


@lru_cache(maxsize=256)
def _read(path: str, text: str) -> Family:
    """The family that the text of a file declares: made once a process."""
    return family_of(of_text(text, path))


def source_of(what: str) -> Source:
    """What is declared under a name, a path, or as a product such as gamma*gaussian."""
    if "*" in what:
        return product_source(what)
    path = find_family(what)
    return load(path, str(path))


def family_of(source: Source, *, minimal: bool = True) -> Family:
    """The family that a loaded file declares; that its statistics are minimal is checked too."""
    from blrgen.read.minimal import check_minimal

    if "product" in source.table:
        return product_family(source, read_family)
    family = declared(source)
    if not minimal:
        return family
    check_minimal(family, source.table["statistics"], source.line("statistics"))
    return family


def declared(source: Source) -> Family:
    """The family; where SPD stands without its size, the sizes with which all formulas fit."""
    first: UserError | None = None
    for bare in bare_sizes(source.table):
        try:
            return Declaration(source, bare).family()
        except Misfit as error:
            first = first or error
    assert first is not None
    raise first
