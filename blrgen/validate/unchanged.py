"""Whether support functions of a file are the very text of the runtime, as syntax trees.

A proof takes some functions at their documented meaning instead of running them.  That is
said of the text in `blrgen/runtime`, which is tested there: of any other text it is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from blrgen.decide.proof import Proof
from blrgen.emit import GENERATORS
from blrgen.emit.special.helpers import helper
from blrgen.emit.support import HEADER, MODULES, Definition, table
from blrgen.validate.misfit import missing

WHY = "its text, or that of what it calls, is not the one that the runtime has and tests"


# These have claims of their own (`solvers`), of whatever text they have.
CLAIMED = frozenset({"_solve", "_solve_lower", "_solved", "_gram", "_known_factor", "_products"})


def altered(source: str, names: Iterable[str]) -> list[str]:
    """Those of some functions that differ from the runtime's, or call what differs."""
    own = _defined(source)
    shared = {name for known in _texts() for name in known}
    found = [name for name in names if name in shared - CLAIMED]
    wrong = [x for x in found if not any(_same(own, known, x) for known in _texts())]
    numbered = [x for x in names if x not in shared and helper(x) is not None]
    wrong += [x for x in numbered if own.get(x) not in _made(x)]
    return sorted(wrong)


def untold_proofs(source: str, names: Iterable[str]) -> list[tuple[str, Proof]]:
    """A row for each function that was taken at a meaning that its text may not have."""
    return missing(altered(source, names), WHY)


@cache
def _made(name: str) -> tuple[str, ...]:
    """The trees of a function that is made for an order."""
    known = helper(name)
    return () if known is None else tuple(_tree(known.source(t)) for t in MODULES)


def _same(own: Mapping[str, str], known: Mapping[str, Definition], name: str) -> bool:
    """Whether a function and all that it uses are those of one target."""
    waiting, seen = [name], set[str]()
    while waiting:
        here = waiting.pop()
        if here in seen or here in HEADER:
            continue
        seen.add(here)
        if here not in known or own.get(here) != _tree(known[here].text):
            return False
        waiting += [x for x in known[here].uses if x in known]
        waiting += [d.name for d in known.values() if d.of == here]
    return True


@cache
def _texts() -> tuple[Mapping[str, Definition], ...]:
    """The definitions of every target with every generator."""
    return tuple(table(t, g).definitions for t in MODULES for g in GENERATORS)


@lru_cache(maxsize=16)
def _defined(source: str) -> dict[str, str]:
    """Every name that a file defines once, with the tree of its definition."""
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        for name in _names(node):
            found[name] = "twice" if name in found else ast.dump(node)
    return found


def _names(node: ast.stmt) -> list[str]:
    """What a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [x.id for t in targets for x in ast.walk(t) if isinstance(x, ast.Name)]


@cache
def _tree(text: str) -> str:
    (node,) = ast.parse(text).body
    return ast.dump(node)
