"""Derivations in every format: hand-built ones exactly, every recipe for soundness."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
import sympy as sp

import blrgen
from blrgen.algebra.ranks import positive, scalar
from blrgen.core import (
    Assignment,
    Derivation,
    Domain,
    Equation,
    Family,
    Loss,
    Parameter,
    Quantity,
    Rule,
    Step,
    Support,
)
from blrgen.errors import InternalError, UserError
from blrgen.read.recipe import read_recipes
from blrgen.show import notebook, render
from blrgen.show.derivation import terminal_columns
from blrgen.show.text import broken
from blrgen.text.table import width

RECIPES = sorted(read_recipes())
FORMATS = ["text", "latex", "markdown", "html", "json"]
m, g, u, u_next = map(scalar, ["m", "g", "u", "u_next"])
alpha, beta1, beta2, c = map(positive, ["alpha", "beta1", "beta2", "c"])
s, s_next = positive("s"), positive("s_next")
t = sp.Symbol("t", integer=True, positive=True)


def _hyper(symbol, default, domain, meaning=""):
    return Quantity(symbol.name, "hyper", "scalar", symbol, meaning, default=default, domain=domain)


def _state(symbol, meaning, init=sp.S.Zero):
    return Quantity(symbol.name, "state", "elementwise", symbol, meaning, init)


def adam(**changes) -> Derivation:
    rule = Rule(
        (
            _state(m, "mean"),
            _state(u, "moving average of the gradient"),
            _state(s, "scale"),
            Quantity(
                "g", "input", "elementwise", g, "the gradient", text="ĝ(m)", latex=r"\hat g(m)"
            ),
            _hyper(alpha, sp.Rational(1, 1000), "(0, oo)", "step size"),
            _hyper(beta1, sp.Rational(9, 10), "[0, 1)"),
            _hyper(beta2, sp.Rational(999, 1000), "[0, 1)"),
            _hyper(c, sp.Rational(1, 10**8), "[0, oo)"),
        ),
        (
            Assignment("u_next", beta1 * u + (1 - beta1) * g),
            Assignment("s_next", beta2 * s + (1 - beta2) * g**2),
            Assignment(
                "m_next",
                m - alpha * u_next / (1 - beta1**t) / (sp.sqrt(s_next / (1 - beta2**t)) + c),
            ),
        ),
        (("mean", m),),
    )
    theta = scalar("theta")
    line = Domain("vector", size=("d",), text="R^d")
    family = Family(
        "gaussian-diag", "Gaussian with diagonal covariance", theta, Support("vector", text="R^d"),
        (theta, theta**2), sp.S.One, (Parameter("lam1", line, scalar("lam1")),),
    )  # fmt: skip
    steps = (
        Step(
            "Delta method",
            (Equation(scalar("E_g"), g, "≈", "at the mean"),),
            "the expectation is replaced by the value at the mean",
            "working",
            "delta",
            (("g", "∇ℓ(m)", r"\nabla\ell(m)"), ("E_g", "𝔼_q[∇ℓ(θ)]", r"\mathbb{E}_q[\nabla\ell]")),
        ),
    )
    made = Derivation(
        family,
        Loss(),
        None,
        None,
        None,
        rule,
        steps,
        (("delta", None), ("hessian", "squared-gradient")),
    )
    return made.with_(**changes)


ADAM = """\
The Bayesian learning rule
candidate       gaussian-diag: Gaussian with diagonal covariance
loss            ℓ(θ), abstract
approximations  delta, hessian=squared-gradient

(1)  Delta method  [delta]                                               working
     𝔼_q[∇ℓ(θ)] ≈ ∇ℓ(m)   (at the mean)   the expectation is replaced by the
                                          value at the mean

The algorithm
  update    u⁺ ← β₁u + (1 − β₁)g
            s⁺ ← β₂s + (1 − β₂)g²
            m⁺ ← m − αu⁺/((1 − β₁ᵗ)(√(s⁺/(1 − β₂ᵗ)) + c))
  posterior mean m

What its names stand for
  state    m   mean; starts at 0
           u   moving average of the gradient; starts at 0
           s   scale; starts at 0
  input    g   ĝ(m): the gradient
  choose   α   step size; 0.001, in (0, ∞)
           β₁  0.9, in [0, 1)
           β₂  0.999, in [0, 1)
           c   1e-8, in [0, ∞)
  counter  t   number of the step, from 1
"""


def test_text_to_the_letter():
    assert render(adam(), "text", columns=80) == ADAM


def test_json_to_the_letter():
    shown = json.loads(render(adam(), "json"))
    assert list(shown) == [
        "schema", "family", "loss", "approximations", "state", "inputs", "hyperparameters",
        "draws", "update", "steps", "identified", "halved",
    ]  # fmt: skip
    assert shown["schema"] == "blrgen.derivation/1"
    assert shown["approximations"] == ["delta", "hessian=squared-gradient"]
    assert shown["state"][0] == {"name": "m", "shape": ["d"], "init": 0}
    assert shown["inputs"] == [{"name": "g", "meaning": "the gradient", "shape": ["d"]}]
    assert shown["hyperparameters"][0] == {
        "name": "alpha", "default": 0.001, "domain": "(0, oo)", "meaning": "step size"
    }  # fmt: skip
    assert shown["update"] == [
        ["u_next", "beta1*u + (1 - beta1)*g"],
        ["s_next", "beta2*s + (1 - beta2)*g**2"],
        ["m_next", "m - alpha*u_next/((1 - beta1**t)*(sqrt(s_next/(1 - beta2**t)) + c))"],
    ]
    assert shown["steps"] == [
        {
            "id": "delta-method",
            "title": "Delta method",
            "equation": "𝔼_q[∇ℓ(θ)] ≈ ∇ℓ(m)",
            "latex": r"\mathbb{E}_q[\nabla\ell] \approx \nabla\ell(m)",
            "because": "the expectation is replaced by the value at the mean",
            "space": "working",
            "approximation": "delta",
        }
    ]


def test_colour_only_when_asked():
    assert "\033" not in render(adam(), "text")
    coloured = render(adam(), "text", columns=80, colour=True)
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == ADAM
    assert "\033[33m" in coloured


def test_an_undeclared_name_is_a_bug():
    rule = adam().rule
    wrong = Rule(rule.quantities, (rule.assignments[2], *rule.assignments[:2]))
    with pytest.raises(InternalError, match="m_next uses s_next, u_next"):
        render(adam(rule=wrong), "json")


def test_an_unknown_format_is_refused_with_a_suggestion():
    with pytest.raises(UserError, match="did you mean 'latex'"):
        render(adam(), "latx")


def test_only_what_an_approximation_changes_is_written_again():
    same, new = Equation(m, g), Equation(s, g**2)
    steps = (
        Step("First", (same, Equation(s, g)), "", approximation="delta"),
        Step("Second", (same, new), "", approximation="stochastic"),
        Step("Third", (same, new), "nothing moves", approximation="slow-scale"),
    )
    text = render(adam(steps=steps), "text")
    second, third = text.index("Second"), text.index("Third")
    assert "m = g" in text[:second]
    assert "m = g" not in text[second:]
    assert "s = g²" in text[second:third]
    assert "= g" not in text[third : text.index("The algorithm")]
    full = json.loads(render(adam(steps=steps), "json"))
    assert [step["equation"] for step in full["steps"]] == ["m = g\ns = g", *["m = g\ns = g²"] * 2]


HOSTILE = (
    "\033[31m<script>alert(1)</script> \\end{document} $x$ %no & #1 "
    "_a_ `b` | [l](javascript:x) \r\n ☃"
)


@pytest.mark.parametrize("format_", FORMATS)
def test_foreign_text_cannot_do_harm(format_, faults):
    family = Family(
        HOSTILE,
        HOSTILE,
        m,
        Support("vector"),
        (m,),
        sp.S.One,
        (Parameter("lam", Domain("vector"), m),),
    )
    step = Step(
        HOSTILE, (Equation(sp.Symbol(HOSTILE), m, "=", HOSTILE),), HOSTILE, HOSTILE, HOSTILE
    )
    hyper = _hyper(positive("x_y"), sp.S.One, HOSTILE, HOSTILE)
    rule = Rule((*adam().rule.quantities, hyper), adam().rule.assignments, until=HOSTILE)
    made = adam(family=family, loss=Loss(HOSTILE), steps=(step,), rule=rule, assumptions=(HOSTILE,))
    page = render(made, format_)
    assert "\033" not in page and "\r" not in page
    if format_ == "latex":
        assert faults(page) == []
        assert page.count(r"\end{document}") == 1
    if format_ in ("html", "markdown"):
        assert "<script" not in page
    if format_ == "html":
        _well_formed(page)
    if format_ == "json":
        assert json.loads(page)["loss"] == HOSTILE


class _Page(HTMLParser):
    """Collects tags and checks that they nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.links += [v or "" for k, v in attrs if k in ("src", "href")]
        if tag not in ("meta", "br", "mspace"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "mspace":
            assert self.open.pop() == tag


def _well_formed(page: str) -> None:
    parser = _Page()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    assert parser.links == []
    assert "script" not in parser.seen
    for formula in re.findall(r"<math>.*?</math>", page):
        ET.fromstring(formula)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("what", RECIPES)
def test_every_recipe_in_every_format(what, derived, faults):
    made = derived(what)
    text = render(made, "text", columns=88)
    long_lines = [line for line in text.splitlines() if width(line) > 88]
    assert long_lines == []
    tex = render(made, "latex")
    assert faults(tex) == []
    assert tex.startswith(r"\documentclass") and tex.rstrip().endswith(r"\end{document}")
    _well_formed(render(made, "html"))
    markdown = render(made, "markdown")
    assert markdown.count("$$") % 2 == 0
    assert all(faults(block) == [] for block in re.findall(r"\$\$\n(.*?)\n\$\$", markdown, re.S))
    assert notebook(made) == markdown
    for step in made.steps:
        assert step.title in text


@pytest.mark.sweep(6)
@pytest.mark.parametrize("what", RECIPES)
def test_every_recipe_as_data(what, derived, meaning):
    """Shapes, names in order, and update texts that SymPy reads to the value of the rule."""
    made = derived(what)
    shown = json.loads(render(made, "json"))
    kinds = ("state", "inputs", "hyperparameters", "draws")
    names = {q["name"] for kind in kinds for q in shown[kind]}
    values = {"t": sp.Integer(3)}
    for k, name in enumerate(sorted(names)):
        quantity = made.rule[name]
        values[name] = _sample(len(quantity.shape) if "vector" in _ranks(made) else 0, k)
    exact = dict(values)
    for name, text in shown["update"]:
        read = sp.sympify(text, locals={**exact, "d": 2})
        expected = meaning(made.rule.expr(name), exact)
        got = sp.Matrix(read.doit()) if getattr(read, "is_Matrix", False) else read
        if isinstance(got, sp.MatrixBase) and not isinstance(expected, sp.MatrixBase):
            expected = expected * sp.eye(2)
        difference = sp.Matrix([got - expected])
        assert max(abs(sp.N(x, 30)) for x in difference) < 1e-25, (name, text)
        exact[name] = got


def _ranks(made: Derivation) -> set[str]:
    return {q.rank for q in made.rule.quantities}


def _sample(dimensions: int, k: int) -> sp.Expr:
    """A positive number, a vector of two, or a positive definite matrix."""
    base = sp.Rational(2 * k + 3, 7 * k + 11)
    if dimensions == 0:
        return base
    if dimensions == 1:
        return sp.Matrix([base, -base / 3])
    return sp.Matrix([[base + 1, base / 2], [base / 2, base + 2]])


def test_the_same_bytes_whatever_the_hash_seed(root):
    command = (
        "from blrgen.api import derive; from blrgen.show import render; "
        "d = derive('ivon'); print(*(render(d, f) for f in ('text', 'latex', 'html', 'json')))"
    )
    pages = {
        subprocess.run(
            [sys.executable, "-c", command],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root), "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("0", "77")
    }
    assert len(pages) == 1


def test_long_sums_break_before_a_sign():
    text = "m − α(u⁺ + δm) + β₁s·(m − m⁻)/s⁺ − γ(h − ĥ)² + ρh"
    lines = broken(text, 24)
    assert all(width(x) <= 24 for x in lines)
    assert [x.strip()[0] for x in lines[1:]] == [
        x.strip()[0] for x in lines[1:] if x.strip()[0] in "+−"
    ]
    assert " ".join(x.strip() for x in lines) == text


def test_a_long_argument_has_a_letter_on_the_page_alone() -> None:
    """κ is named where A is, and before the assignments; JSON keeps what SymPy reads."""
    d = blrgen.derive("von-mises")
    text = render(d, "text")
    assert "κ    = √(η₁² + η₂²)" in text
    assert "μ₁ = η₁ I₁(κ)/(κ I₀(κ))" in text
    assert "update    κ   ← √(η₁² + η₂²)" in text
    assert text.count("√(η₁² + η₂²)") == 2
    assert not any("kappa" in e for _, e in json.loads(render(d, "json"))["update"])


@pytest.mark.parametrize(("there", "used"), [(20, 80), (80, 80), (93, 93), (300, 100)])
def test_the_width_of_a_terminal_is_kept_in_bounds(
    there: int, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(there))
    assert terminal_columns() == used
    monkeypatch.setattr(sys, "stdout", None)
    assert terminal_columns() == 88
