"""Which states may be 0 where they are denormal: by the formulas they stand in."""

from __future__ import annotations

from dataclasses import replace

import pytest

import blrgen
from blrgen.program import nodes as n
from blrgen.program.fading import fading
from blrgen.program.lower import Reader
from blrgen.program.part import Part
from blrgen.program.plan import plan
from blrgen.program.program import Program, Variable
from blrgen.program.types import ENTRIES, SCALAR, vector
from tests.program.small import of_trees

pytestmark = pytest.mark.core

x, y, g, a, c = (n.Ref(name) for name in "xygac")
D = ENTRIES
FADES = n.Add((n.Mul((a, x)), g))
NEXT = n.Ref("x_next")


def program(
    y_next: n.Node, x_next: n.Node = FADES, domain: str = "[0, 1)", where: str = "(-oo, oo)"
) -> tuple[Program, dict[str, Part]]:
    """Elementwise states x, y, input g; numbers a in a domain and c."""
    variables = (
        Variable("x", "state", D, domain=where),
        Variable("y", "state", D, domain="(-oo, oo)"),
        Variable("g", "input", D, domain="(-oo, oo)"),
        Variable("a", "hyper", SCALAR, domain=domain),
        Variable("c", "hyper", SCALAR, domain="[0, oo)"),
    )
    body = (("x_next", x_next), ("y_next", y_next))
    writes = (("x", "x_next"), ("y", "y_next"))
    rule = Program(variables)
    return rule, {"update": of_trees(rule, body, writes)}


def call(name: str, *args: n.Node) -> n.Call:
    return n.Call(name, args)


@pytest.mark.parametrize(
    "y_next",
    [
        n.Sub(y, n.Mul((c, NEXT))),
        n.Sub(y, n.Mul((c, NEXT, NEXT, g))),
        n.Sub(y, n.Div(NEXT, c)),
        n.Sub(y, n.Div(NEXT, n.Add((call("sqrt", call("abs", g)), c)))),
        n.Sub(y, n.Div(NEXT, n.Mul((c, n.Add((n.Div(call("sqrt", n.Pow(g, 2)), c), c)))))),
        n.Sub(y, n.Div(NEXT, call("sqrt", n.Add((n.Pow(g, 2), c))))),
        call("max", n.Neg(c), call("min", c, n.Add((y, NEXT)))),
        n.Select(n.Compare("<", g, n.ZERO), NEXT, y),
    ],
)  # fmt: skip
def test_a_numerator_fades(y_next: n.Node) -> None:
    assert fading(*program(y_next)) == ("x",)


@pytest.mark.parametrize(
    "y_next",
    [
        n.Div(g, n.Add((x, c))),
        n.Div(g, NEXT),
        call("sqrt", call("abs", NEXT)),
        call("log", call("abs", x)),
        call("sign", NEXT),
        call("exp", NEXT),
        call("pow", call("abs", x), c),
        n.Select(n.Compare("<", NEXT, n.ZERO), g, y),
        n.Div(NEXT, g),  # which may fade as well
        n.Div(NEXT, n.Pow(n.Add((g, c)), 2)),
        n.Div(NEXT, call("exp", g)),
        n.Add((n.Div(g, y), NEXT)),  # it moves what divides
    ],
)
def test_what_divides_is_kept(y_next: n.Node) -> None:
    assert fading(*program(y_next)) == ()


def test_only_what_falls_by_itself() -> None:
    plain = n.Sub(y, NEXT)
    rest = n.Mul((n.Sub(n.ONE, a), x))
    assert fading(*program(plain, n.Add((rest, n.Mul((a, g)))))) == ("x",)
    assert fading(*program(plain, n.Add((rest, g)), "(0, 1]")) == ("x",)
    assert fading(*program(plain, n.Add((x, g)))) == ()
    assert fading(*program(plain, n.Add((n.Mul((c, x)), g)))) == ()
    assert fading(*program(plain, n.Add((n.Mul((a, x)), n.Pow(x, 2))))) == ()
    assert fading(*program(plain, n.Add((n.Mul((a, g, x)), g)))) == ()
    assert fading(*program(plain, domain="[-1, 1]")) == ()
    assert fading(*program(plain, where="(0, oo)")) == ()
    rule, parts = program(plain, n.Add((n.Mul((y, x)), g)))  # y lies in [0, 1) and is no number
    inside = [replace(v, domain="[0, 1)") if v.name == "y" else v for v in rule.variables]
    assert fading(replace(rule, variables=tuple(inside)), parts) == ()


def test_draws_scales_and_matrices_keep_theirs() -> None:
    rule, plain = program(n.Sub(y, NEXT))
    draw = of_trees(rule, [("at", n.Add((x, y)))], (("at", "at"),))
    assert fading(rule, {"draw": draw, **plain}) == ()
    assert fading(replace(rule, posterior=(("mean", x),)), plain) == ("x",)
    assert fading(replace(rule, posterior=(("precision", x),)), plain) == ()
    rows = tuple(replace(v, type=vector()) for v in rule.variables)
    assert fading(replace(rule, variables=rows), plain) == ()


@pytest.mark.parametrize(
    ("recipe", "found"),
    [("momentum", "u"), ("adam", "u"), ("vadam", "u"), ("ivon", "u"), ("rmsprop", ""),
     ("vogn", ""), ("ogn", ""), ("bayesbinn", ""), ("newton", "")],
)  # fmt: skip
def test_of_recipes(recipe: str, found: str) -> None:
    """Averages of gradients; no precision, and no natural parameter that 1 − tanh² is made of."""
    assert "".join(plan(Reader(blrgen.derive(recipe).rule)).program.fading) == found
