"""The table of what is read: printed, used by examples, and checked against NumPy itself."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from at_numbers import NAMES, in_numbers, machine, numbers, point

from blrgen.validate.reading import expressions, statements, table
from blrgen.validate.reading.constructs import EXPRESSIONS, STATEMENTS, Construct
from blrgen.validate.reading.document import printed
from blrgen.validate.reading.expressions import value
from blrgen.validate.reading.interpret import in_doubles
from blrgen.validate.reading.signals import Refused
from blrgen.validate.reading.statements import block
from blrgen.validate.reading.values import Known, Rank, Whole

DOCS = Path(__file__).parents[2] / "docs" / "verify.md"
table.load()
ENTRIES = sorted(table.ENTRIES.values(), key=lambda e: e.name)


@pytest.mark.parametrize("entry", ENTRIES, ids=[e.name for e in ENTRIES])
def test_the_meaning_of_a_name_is_numpys(entry: table.Entry) -> None:
    mc, scope = machine()
    mc.oracle = lambda c: bool(in_doubles([c], point())[c.index])
    read = value(mc, scope, ast.parse(entry.example, mode="eval").body)
    assert entry.name in mc.used
    expected = eval(entry.example, {**NAMES, **numbers()})
    np.testing.assert_allclose(in_numbers(mc, read), np.asarray(expected, dtype=float), rtol=1e-12)


@pytest.mark.parametrize("entry", ENTRIES, ids=[e.name for e in ENTRIES])
def test_one_more_keyword_is_refused(entry: table.Entry) -> None:
    mc, scope = machine()
    if entry.any_keyword:  # its keywords are the caller's names
        assert entry.name in ("dict", "functools.partial")
        return
    with pytest.raises(Refused, match="keyword one_more="):
        table.apply(mc, entry.name, [scope.names["x"]], {"one_more": Whole(1)})


@pytest.mark.parametrize("name", sorted(table.ATTRIBUTES))
def test_attributes(name: str) -> None:
    mc, scope = machine()
    read = value(mc, scope, ast.parse(f"X.{name}", mode="eval").body)
    known = numbers()["X"]
    if name == "dtype":
        assert known.dtype == np.float64 and read == Known("dtype")
        return
    if isinstance(read, Rank):
        read = Whole(read.value)
    found = [in_numbers(mc, v) for v in read] if isinstance(read, tuple) else in_numbers(mc, read)
    np.testing.assert_array_equal(found, np.asarray(getattr(known, name)))


CONSTRUCTS = (*STATEMENTS, *EXPRESSIONS)


@pytest.mark.parametrize("c", CONSTRUCTS, ids=[c.node.__name__ for c in CONSTRUCTS])
def test_every_construct_is_used_by_its_example(c: Construct) -> None:
    mc, scope = machine()
    tree = ast.parse(c.example)
    assert any(isinstance(n, c.node) for n in ast.walk(tree))
    mc.decide = lambda c: bool(in_doubles([c], point())[c.index])
    flow = block(mc, scope, tree.body)
    assert (flow is not None) == (c.node is ast.Return)


def test_the_tables_have_every_construct_that_is_read() -> None:
    assert {c.node for c in STATEMENTS} == set(statements.MEANING)
    assert {c.node for c in EXPRESSIONS} == set(expressions.MEANING)


def test_the_page_is_printed_from_the_tables() -> None:
    assert DOCS.read_text(encoding="utf-8") == printed()
