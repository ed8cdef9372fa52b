"""Numbers before quotients and clips, on small trees."""

from __future__ import annotations

import pytest

from blrgen.program import nodes as n
from blrgen.program.absorbed import absorbed
from blrgen.program.inspect import text
from blrgen.program.program import Program, Variable
from blrgen.program.types import ENTRIES, SCALAR
from tests.program.small import of_trees

pytestmark = pytest.mark.core

a, b, c, x, y, z = (n.Ref(name) for name in "abcxyz")
D = ENTRIES
SUM = n.Add((x, n.Mul((b, y))))


def clip(inside: n.Node, *bounds: n.Node) -> n.Node:
    low, high = bounds or (n.Neg(c), c)
    return n.Call("max", (low, n.Call("min", (high, inside))))


def after(*body: n.Node, domain: str = "(0, oo)") -> list[str]:
    """Number a of a domain, numbers b ≥ 0 and c > 0, elements x, y, z."""
    variables = [Variable(v, "state", D) for v in "xy"] + [Variable("z", "input", D)]
    domains = {"a": domain, "b": "[0, oo)", "c": "(0, oo]"}
    variables += [Variable(v, "hyper", SCALAR, domain=d) for v, d in domains.items()]
    before = of_trees(Program(tuple(variables)), [(f"r{k}", e) for k, e in enumerate(body)])
    return [text(s.expr) for s in absorbed(before).body]


def test_a_quotient_of_a_sum_takes_it_in() -> None:
    wanted = ["(a * x + a * b * y) / z"]
    assert after(n.Div(n.Mul((a, SUM)), z)) == wanted
    assert after(n.Mul((a, n.Div(SUM, z)))) == wanted
    assert after(n.Div(n.Mul((a, n.Add((n.Div(x, b), n.Neg(y))))), z)) == [
        "(a * x / b - a * y) / z"
    ]


def test_a_clip_takes_it_in_where_it_is_positive() -> None:
    inside = n.Div(SUM, z)
    wanted = ["max(-(a * c), min(a * c, (a * x + a * b * y) / z))"]
    assert after(n.Mul((a, clip(inside)))) == wanted
    assert after(n.Mul((a, clip(inside))), domain="[0, oo)") == ["a * " + text(clip(inside))]
    both = n.Mul((a, n.Add((b, c))))
    assert after(n.Mul((both, clip(inside))))[0].startswith("max(")
    assert after(n.Mul((b, clip(inside)))) == ["b * " + text(clip(inside))]


@pytest.mark.parametrize(
    "kept",
    [
        n.Div(n.Mul((a, n.Add((x, y)))), z),  # one multiplication would become two
        n.Mul((a, SUM)),
        n.Div(n.Mul((a, SUM, x)), z),
        n.Div(n.Mul((n.TWO, SUM)), z),
        n.Mul((a, clip(x))),
        n.Mul((a, clip(n.Div(SUM, z), x, c))),
        n.Div(SUM, a),
    ],
)
def test_what_gains_nothing_stays(kept: n.Node) -> None:
    assert after(kept) == [text(kept)]


def test_a_sum_that_others_read_stays() -> None:
    quotient = n.Div(n.Mul((a, SUM)), z)
    assert after(quotient, n.Mul((z, SUM))) == [text(quotient), text(n.Mul((z, SUM)))]
