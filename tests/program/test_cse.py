"""One sweep gives what taking out the largest repeated tree again and again gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blrgen.program import nodes as n
from blrgen.program import wholes as w
from blrgen.program.axes.lowered import Statement
from blrgen.program.axes.parts import part_of
from blrgen.program.axes.text import shown
from blrgen.program.cse import cse
from blrgen.program.naming import name_for
from blrgen.program.program import Program, Variable
from blrgen.program.types import ENTRIES, SCALAR, TRUTH, infer, matrix

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


def program(trees: list[n.Node]) -> tuple[Program, list[Statement]]:
    variables = (*(Variable(v, "state", D) for v in "xy"), Variable("a", "hyper", SCALAR))
    return Program(variables), [Statement(f"v{k}", e, D) for k, e in enumerate(trees)]


def one_after_the_other(p: Program, body: list[Statement]) -> list[tuple[str, n.Node]]:
    """The largest tree that stands twice is taken out first, until none is left."""
    scope = p.scope | {s.name: s.type for s in body}
    taken, body = set(scope), list(body)
    while True:
        counts = Counter(x for s in body for x in n.walk(s.expr))
        worth = [
            x
            for x, times in counts.items()
            if times > 1 and not isinstance(x, (*n.LEAVES, n.Neg, n.Compare))
            and infer(x, scope) not in (TRUTH, SCALAR)
        ]  # fmt: skip
        if not worth:
            return [(s.name, s.expr) for s in body]
        tree = max(worth, key=n.size)
        name = next((s.name for s in body if s.expr == tree), None)
        if name is None:
            name = name_for(tree, taken)
            taken.add(name)
            scope[name] = infer(tree, scope)
            first = next(k for k, s in enumerate(body) if tree in n.walk(s.expr))
            body.insert(first, Statement(name, tree, D))

        def change(x: n.Node, tree: n.Node = tree, name: str = name) -> n.Node:
            return n.Ref(name) if x == tree else x.rebuilt(lambda c: change(c))

        body = [s if s.name == name else replace(s, expr=change(s.expr)) for s in body]


def shared(trees: list[n.Node]) -> list[tuple[str, n.Node]]:
    """What the sweep makes of them, without the letter of their one axis."""
    body = cse(part_of(*program(trees))).body

    def whole(e: n.Node) -> n.Node:
        return n.Ref(e.name) if isinstance(e, n.Ref) else e.rebuilt(whole)

    return [(s.name, whole(s.expr)) for s in body]


@given(st.lists(TREES, min_size=1, max_size=4))
def test_the_sweep_gives_the_same_statements(trees: list[n.Node]) -> None:
    assert shared(trees) == one_after_the_other(*program(trees))


def test_a_tree_inside_a_repeated_tree_is_counted_once() -> None:
    inner = n.Call("exp", (n.Ref("x"),))
    outer = n.Mul((inner, n.Ref("y")))
    found = shared([n.Call("sin", (outer,)), n.Call("cos", (outer,))])
    assert [e for _, e in found] == [
        outer, n.Call("sin", (n.Ref("exp_x_times_y"),)), n.Call("cos", (n.Ref("exp_x_times_y"),)),
    ]  # fmt: skip


def test_trees_that_differ_in_letters_alone_are_one() -> None:
    """exp(x) is summed and divided: one array, read at both letters."""
    x, total = n.Call("exp", (n.Ref("x"),)), w.Total(n.Call("exp", (n.Ref("x"),)))
    p = program([n.Div(x, n.Add((total, w.Total(n.Mul((n.Ref("x"), x))))))])
    part = cse(part_of(*p))
    assert [shown(s) for s in part.body] == [
        "exp_x[i] = exp(x[i])",
        "total_exp_x = sum(i, exp_x[i])",
        "total_1 = sum(i, x[i] * exp_x[i])",
        "v0[i] = exp_x[i] / (total_exp_x + total_1)",
    ]


def test_products_of_matrices_that_are_equal_are_one() -> None:
    """A B and A (A B), whose letters cannot be the same."""
    a, b = n.Ref("A"), n.Ref("B")
    whole = matrix("d", "d")
    body = (
        Statement("y", w.MatMul(a, w.MatMul(a, b)), whole),
        Statement("z", n.Sub(a, w.MatMul(a, b)), whole),
    )
    variables = tuple(Variable(v, "input", whole) for v in "AB")
    part = cse(part_of(Program(variables), body))
    assert [shown(s) for s in part.body] == [
        "k1[k,j] = sum(l, A[k,l] * B[l,j])",
        "y[i,j] = sum(k, A[i,k] * k1[k,j])",
        "z[i,j] = A[i,j] - k1[i,j]",
    ]
