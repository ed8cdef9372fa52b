"""An emitted file against what is emitted for its derivation, definition by definition.

A proof runs one step of the class.  What else a file holds (defaults, resuming, checks, what
threads do, samples) is told only of the text that is emitted: of a definition with another
syntax tree nothing is known, and the verdict says so.  Docstrings and comments may differ.
A class of somebody else is no proof at all: it was run on stand-ins, which its code can tell from
numbers, and not read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from blrgen.core import Derivation
from blrgen.decide.proof import Proof
from blrgen.emit import DTYPES, GENERATORS, emit
from blrgen.emit.targets import TARGETS
from blrgen.errors import UserError
from blrgen.validate.misfit import missing
from blrgen.validate.reading.module import encoding

FEW = 3  # functions in common, from which on a file was emitted; a getter can be anybody's
FOREIGN = (
    "it is no file that blrgen emits, and a class is run on stand-ins, not read; "
    "instead: write its update as a function `step` in the rule's names"
)
WHY = "it is not the text that is emitted for this rule, and only what one step computes was run"


def untold(source: str, d: Derivation) -> list[tuple[str, Proof]]:
    """A row for each definition that differs from the nearest file that is emitted for it.

    One row, for the class, of a file that has hardly a function of any of these: somebody else
    wrote it.
    """
    said = encoding(source)
    if said:
        return missing(("the file",), f"it asks Python for the encoding {said}")
    own = definitions(source)
    found: list[str] | None = None
    for text in _emitted(source, d):
        known = definitions(text)
        if _shared(own, known) < FEW:
            continue
        other = _differences(own, known)
        if found is None or len(other) < len(found):
            found = other
        if not found:
            return []
    return missing(("the class",), FOREIGN) if found is None else missing(found, WHY)


def _shared(own: Mapping[str, str], known: Mapping[str, str]) -> int:
    """How many functions two files have in common."""
    ours = {tree for tree in own.values() if tree.startswith("FunctionDef")}
    return len(ours & set(known.values()))


def definitions(source: str) -> dict[str, str]:
    """What a file defines, by name, as syntax trees; methods by class and name."""
    body = ast.parse(source).body
    named = [repr(node.name) for node in body if isinstance(node, ast.ClassDef)]
    found: dict[str, str] = {}
    for name, node in _parts(body, ""):
        tree = ast.dump(node)
        for one in named:  # what a class is called is not what it does
            tree = tree.replace(one, "'a class'")
        found[name] = "twice" if name in found else tree
    return found


def _parts(body: list[ast.stmt], inside: str) -> Iterator[tuple[str, ast.AST]]:
    for node in _without_docstring(body):
        if isinstance(node, ast.ClassDef):
            head = ast.ClassDef(node.name, node.bases, node.keywords, [], node.decorator_list)
            yield "class", head
            yield from _parts(node.body, "class.")
        elif isinstance(node, ast.FunctionDef):
            node.body = _without_docstring(node.body)
            yield f"{inside}{node.name}", node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield inside + ", ".join(map(ast.unparse, targets)).strip("()"), node
        else:
            yield inside + ast.unparse(node)[:60], node


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    said = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if said else body


def _differences(own: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    lacking = [f"{name} (not there)" for name in other if name not in own]
    return [name for name, tree in own.items() if other.get(name) != tree] + lacking


def _emitted(source: str, d: Derivation) -> Iterator[str]:
    """The files that are emitted for the derivation, in every form there is."""
    sizes = _sizes(source)
    for target in TARGETS:
        for dtype in (None, *DTYPES):
            for noise in (None, *GENERATORS[1:]) if target == "numba" else (None,):
                try:
                    yield emit(d, target, dtype, noise, sizes)
                except UserError:
                    continue


def _sizes(source: str) -> dict[str, int] | None:
    """The sizes that a file is for, from its constant."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SIZES":
            try:
                return {str(k): int(v) for k, v in ast.literal_eval(node.value).items()}
            except (ValueError, AttributeError, TypeError):
                return None
    return None
