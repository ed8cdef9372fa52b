"""A long body in pieces computes what it computed in one."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

import blrgen
from blrgen.emit import emit
from blrgen.program import nodes as n
from blrgen.program.cse import cse
from blrgen.program.part import Part
from blrgen.program.program import Program, Variable
from blrgen.program.split import MOST, is_long, split
from blrgen.program.types import ENTRIES, SCALAR
from blrgen.validate.emitted import verify_emitted
from tests.program.small import of_trees

D = ENTRIES
x, y, a = n.Ref("x"), n.Ref("y"), n.Ref("a")
TERMS = {
    "one shape": lambda k: n.Call("exp", (n.Mul((n.Const(Fraction(k, 7)), x)),)),
    "shared": lambda k: n.Mul((n.Call("sin", (x,)), n.Call("exp", (n.Div(y, n.Const.of(k)),)))),
    "deep": lambda k: n.Sub(
        n.Pow(n.Sub(x, n.Const.of(k)), k % 5 + 2), n.Mul((a, y, n.Const.of(k)))
    ),
    "choices": lambda k: n.Select(n.Compare("<", x, n.Const.of(k)), y, n.Mul((x, n.Const.of(k)))),
}


def value(node: n.Node, known: dict[str, float]) -> float:
    if isinstance(node, n.Ref):
        return known[node.name]
    v = [value(c, known) for c in node.children]
    match node:
        case n.Const():
            return float(node.value)
        case n.Add():
            return math.fsum(v)
        case n.Sub():
            return v[0] - v[1]
        case n.Mul():
            return math.prod(v)
        case n.Div():
            return v[0] / v[1]
        case n.Pow():
            return v[0] ** node.exponent
        case n.Call():
            return float(getattr(math, node.name)(*v))
        case n.Compare():
            return float(v[0] < v[1])
        case n.Select():
            return v[1] if v[0] else v[2]
    raise AssertionError(node)


def run(p: Part, known: dict[str, float]) -> None:
    """One part, of one element: its locals are its own, what it writes stays."""
    inside = dict(known)
    for s in p.body:
        inside[s.name] = value(s.expr, inside)
    known |= {target: inside[local] for target, local in p.writes}


def program(term, count: int) -> Part:
    terms = [term(k) for k in range(2, count + 2)]
    first, second = n.Add(tuple(terms)), n.Add(tuple(n.Mul((t, t)) for t in terms))
    body = (
        ("x_next", n.Sub(x, n.Mul((a, n.Div(first, n.Ref("y_next")))))),
        ("y_next", n.Add((y, second))),
    )
    variables = (*(Variable(v, "state", D) for v in "xy"), Variable("a", "hyper", SCALAR))
    writes = (("x", "x_next"), ("y", "y_next"))
    return cse(of_trees(Program(variables), body[::-1], writes))


@pytest.mark.parametrize("shape", TERMS)
def test_the_pieces_give_the_same_values(shape: str) -> None:
    p = program(TERMS[shape], 60)
    assert is_long(p)
    made = split(p)
    assert len(made.parts) > 2
    whole = {"x": 0.3, "y": 1.7, "a": 0.1}
    pieces = dict(whole)
    run(p, whole)
    for part in made.parts:
        run(part, pieces)
    assert set(pieces) == {*whole, *made.kept}
    for name in "xy":
        assert pieces[name] == pytest.approx(whole[name], rel=1e-12)


@pytest.mark.parametrize("shape", TERMS)
def test_a_piece_is_short_and_little_is_kept(shape: str) -> None:
    made = split(program(TERMS[shape], 120))
    for part in made.parts:
        assert sum(s.expr.weight for s in part.body) <= MOST
    assert len(made.kept) <= 12
    states = [p.writes for p in made.parts]
    assert all(target in made.kept for writes in states[:-1] for target, _ in writes)
    assert [target for target, _ in states[-1]] == ["x", "y"]


def kernels(loss: str) -> str:
    source = emit(blrgen.derive("gaussian-diag", ["delta"], loss=loss))
    return source[source.index("def _step") : source.index("\n\n\nclass ")]


def test_terms_of_one_shape_share_a_function() -> None:
    few, many = (
        kernels("+".join(f"log(1+exp(theta-{k}/11))" for k in range(1, count)))
        for count in (33, 99)
    )
    assert few.count("def ") == many.count("def ") <= 4
    assert many.count("_step_2(") > 2 * few.count("_step_2(")


def test_what_is_called_with_several_constants_is_called_with_floats() -> None:
    code = kernels("+".join(f"exp(-(theta-{k})**2/2)" for k in range(1, 61)))
    calls = code[code.index("last = min(") :].split("_step_")[1:]
    assert any(re.search(r"\d\.0[,)]", call) for call in calls)
    assert not any(re.search(r"[ (]-?\d+[,)]", call) for call in calls)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("what", "flags"), [("gaussian-diag", ["delta"]), ("gaussian-diag", ["stochastic"])]
)
def test_pieces_are_proved(what: str, flags: list[str]) -> None:
    d = blrgen.derive(what, flags, loss="+".join(f"a{k}*theta**{k % 5 + 2}" for k in range(80)))
    source = emit(d)
    assert "def _step_2(" in source
    assert verify_emitted(source, d.rule).level == "identity"
    wrong = source.replace("kept[i] = ", "kept[i] = kept[i] + ", 1)
    assert wrong != source
    assert verify_emitted(wrong, d.rule, locate=False).level == "refuted"


def test_no_shipped_recipe_is_long() -> None:
    for path in ("adam", "ivon", "vogn", "bayesbinn"):
        assert "def _step_2(" not in emit(blrgen.derive(path))
