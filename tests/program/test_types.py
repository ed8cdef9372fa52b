"""Types: axes by the names of their sizes, and a structure on the last two."""

from __future__ import annotations

import pytest

from blrgen.program import nodes as n
from blrgen.program import wholes as w
from blrgen.program.types import (
    ENTRIES,
    SCALAR,
    TRUTH,
    Type,
    TypeMismatch,
    check,
    infer,
    matrix,
    symmetric,
    vector,
)

pytestmark = pytest.mark.core
SCOPE = {
    "a": SCALAR, "x": ENTRIES, "m": vector(), "y": vector("n"), "X": matrix("n", "d"),
    "S": symmetric(), "L": Type(("d", "d"), "lower"),
}  # fmt: skip
a, x, m, y, X, S, L = (n.Ref(k) for k in SCOPE)


def test_types_as_text() -> None:
    kinds = (SCALAR, TRUTH, ENTRIES, matrix("n", "d"), symmetric(), SCOPE["L"])
    wanted = ["number", "truth", "[each]", "[n, d]", "[d, d] sym", "[d, d] lower"]
    assert list(map(str, kinds)) == wanted


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        (n.Add((a, x, a)), ENTRIES),
        (n.Call("exp", (m,)), vector()),
        (w.MatMul(X, m), vector("n")),
        (w.MatMul(w.Transpose(X), y), vector()),
        (w.Outer(y, m), matrix("n", "d")),
        (w.Transpose(L), matrix("d", "d")),
        (n.add(S, L), matrix("d", "d")),
        (n.Div(S, a), symmetric()),
        (w.Total(n.Mul((y, y))), SCALAR),
        (w.Count(n.Ref("y")), SCALAR),
        (n.Select(n.Compare("<", m, a), a, a), vector()),
        (w.Solve(L, w.Transpose(X)), matrix("d", "n")),
    ],
)
def test_axes_of_a_result(node: n.Node, wanted: Type) -> None:
    assert infer(node, SCOPE) == wanted


@pytest.mark.parametrize(
    "node",
    [
        n.Add((x, m)),  # entries of arrays of any shape are no vector's
        n.Add((m, y)), n.Mul((m, y)), n.Mul((m, S)), n.Mul((X, X)), n.Div(a, S), n.Div(S, S),
        n.Add((a, S)),  # it might mean that multiple of the identity
        w.MatMul(m, m), w.MatMul(m, S), w.MatMul(S, y), w.Solve(X, y),
        w.Total(S), w.Total(a), w.Count(n.Ref("a")), w.Trace(X), w.Outer(S, m),
        n.Add((n.Compare("<", a, a), a)), n.Select(a, x, x),
    ],
)  # fmt: skip
def test_axes_that_do_not_fit(node: n.Node) -> None:
    with pytest.raises(TypeMismatch):
        infer(node, SCOPE)


@pytest.mark.parametrize(
    ("node", "target"), [(a, ENTRIES), (S, matrix("d", "d")), (L, matrix("d", "d")), (m, vector())]
)
def test_what_may_be_assigned(node: n.Node, target: Type) -> None:
    check(node, target, SCOPE)


@pytest.mark.parametrize(
    ("node", "target"),
    [(a, vector()), (a, symmetric()), (L, symmetric()), (m, ENTRIES), (x, vector()), (x, SCALAR)],
)
def test_what_may_not(node: n.Node, target: Type) -> None:
    with pytest.raises(TypeMismatch, match="does not have the type it is assigned to"):
        check(node, target, SCOPE)
