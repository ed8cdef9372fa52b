"""One sweep gives what taking out the largest repeated tree again and again gives."""

from __future__ import annotations

from collections import Counter

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from blrgen.algebra.components import Component, total
from blrgen.algebra.ranks import DIM, mat
from blrgen.program import nodes as n
from blrgen.program.axes.text import shown
from blrgen.program.cse import cse
from blrgen.program.naming import name_for
from blrgen.program.program import Program, Variable
from blrgen.program.types import ENTRIES, SCALAR, matrix
from tests.program.small import Body, of_symbols, of_trees

pytestmark = pytest.mark.core

D = ENTRIES
LEAVES = [n.Ref("x"), n.Ref("y"), n.Ref("a"), n.ONE, n.TWO]


def _grown(inner: st.SearchStrategy[n.Node]) -> st.SearchStrategy[n.Node]:
    pair = st.tuples(inner, inner)
    return st.one_of(
        pair.map(n.Add), pair.map(n.Mul), pair.map(lambda p: n.Sub(*p)),
        pair.map(lambda p: n.Div(*p)), inner.map(n.Neg), inner.map(lambda x: n.Call("exp", (x,))),
        pair.map(lambda p: n.Select(n.Compare("<", *p), *p)),
    )  # fmt: skip


TREES = st.recursive(st.sampled_from(LEAVES), _grown, max_leaves=10)


RULE = Program((*(Variable(v, "state", D) for v in "xy"), Variable("a", "hyper", SCALAR)))


def named(trees: list[n.Node]) -> Body:
    return [(f"v{k}", e) for k, e in enumerate(trees)]


def one_after_the_other(given: Body) -> list[tuple[str, n.Node]]:
    """The largest tree that stands twice is taken out first, until none is left."""
    body = list(given)
    taken = {*RULE.scope, *(x for x, _ in body)}
    while True:
        counts = Counter(x for _, e in body for x in n.walk(e))
        worth = [
            x
            for x, times in counts.items()
            if times > 1 and not isinstance(x, (*n.LEAVES, n.Neg, n.Compare))
            and set(n.names(x)) - {"a"}
        ]  # fmt: skip
        if not worth:
            return body
        tree = max(worth, key=n.size)
        name = next((x for x, e in body if e == tree), None)
        if name is None:
            name = name_for(tree, taken)
            taken.add(name)
            first = next(k for k, (_, e) in enumerate(body) if tree in n.walk(e))
            body.insert(first, (name, tree))

        def change(x: n.Node, tree: n.Node = tree, name: str = name) -> n.Node:
            return n.Ref(name) if x == tree else x.rebuilt(lambda c: change(c))

        body = [(x, e if x == name else change(e)) for x, e in body]


def shared(trees: list[n.Node]) -> list[tuple[str, n.Node]]:
    """What the sweep makes of them, without the letter of their one axis."""
    body = cse(of_trees(RULE, named(trees))).body

    def whole(e: n.Node) -> n.Node:
        return n.Ref(e.name) if isinstance(e, n.Ref) else e.rebuilt(whole)

    return [(s.name, whole(s.expr)) for s in body]


@given(st.lists(TREES, min_size=1, max_size=4))
def test_the_sweep_gives_the_same_statements(trees: list[n.Node]) -> None:
    assert shared(trees) == one_after_the_other(named(trees))


def test_a_tree_inside_a_repeated_tree_is_counted_once() -> None:
    inner = n.Call("exp", (n.Ref("x"),))
    outer = n.Mul((inner, n.Ref("y")))
    found = shared([n.Call("sin", (outer,)), n.Call("cos", (outer,))])
    assert [e for _, e in found] == [
        outer, n.Call("sin", (n.Ref("exp_x_times_y"),)), n.Call("cos", (n.Ref("exp_x_times_y"),)),
    ]  # fmt: skip


def test_trees_that_differ_in_letters_alone_are_one() -> None:
    """sin(x) is summed and divided: one array, read at both letters."""
    x = Component("x", DIM)
    sums = total(sp.sin(x), DIM) + total(x * sp.sin(x), DIM)
    part = cse(of_symbols(RULE, ("v0", sp.sin(x) / sums)))
    assert [shown(s) for s in part.body] == [
        "sin_x[i] = sin(x[i])",
        "total_sin_x = sum(i, sin_x[i])",
        "total_1 = sum(i, x[i] * sin_x[i])",
        "v0[i] = sin_x[i] / (total_sin_x + total_1)",
    ]


def test_products_of_matrices_that_are_equal_are_one() -> None:
    """A B and A (A B), whose letters cannot be the same."""
    a, b = mat("A"), mat("B")
    variables = tuple(Variable(v, "input", matrix("d", "d")) for v in "AB")
    part = cse(of_symbols(Program(variables), ("y", a * a * b), ("z", a - a * b)))
    assert [shown(s) for s in part.body] == [
        "k1[k,j] = sum(l, A[k,l] * B[l,j])",
        "y[i,j] = sum(k, A[i,k] * k1[k,j])",
        "z[i,j] = A[i,j] - k1[i,j]",
    ]
