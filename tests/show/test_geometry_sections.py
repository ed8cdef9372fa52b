"""The sections of a geometry's page: what each says, and that what is printed can be read back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import sympy as sp

from blrgen.geometry import geometry_of
from blrgen.read.family import list_families, read_family
from blrgen.show import render_geometry
from blrgen.show.geometry import geometry_page
from tests.shipped import shipped

GAMMA = """
name = "spot"
title = "Spot"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "1/x"
[natural]
eta1 = "(0, oo)"
eta2 = "(-oo, 0)"
[working]
a = { domain = "(0, oo)", natural = "eta1" }
b = { domain = "(0, oo)", natural = "-eta2" }
"""
BESSEL = """
name = "circle"
title = "On the circle"
variable = "x"
support = "(-pi, pi)"
statistics = ["cos(x)", "sin(x)"]
[natural]
eta1 = "(-oo, oo)"
eta2 = "(-oo, oo)"
"""
LEVELS = {"declared", "derived", "identity", "random-exact", "numeric", "given"}


def spot(text: str, folder: Path):
    path = folder / "spot.toml"
    path.write_text(text)
    return geometry_of(read_family(str(path)))


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", list_families())
def test_every_line_says_how_it_is_known(name):
    page = geometry_page(shipped(name))
    assert {line.approximation for line in page.lines} <= LEVELS
    titles = [line.title for line in page.lines]
    assert titles[:2] == ["Density", "Log-partition"]
    for wanted in ("Entropy gradient", "Kullback–Leibler divergence", "Conjugate prior",
                   "Posterior", "Maximum likelihood"):  # fmt: skip
        assert wanted in titles
    assert len(set(titles)) == len(titles)


def test_the_page_of_a_gamma(tmp_path):
    text = render_geometry(spot(GAMMA, tmp_path), "text", columns=88)
    for line in (
        "A(λ) = log Γ(η₁) − η₁ log(−η₂)",
        "μ₁ = ψ(η₁) − log(−η₂)",
        "F₁₁ = ψ′(η₁)",
        "∇_μ₁ 𝓗 = 1 − η₁",
        "Fψ₂₂ = a/b²",
        "KL(q‖q′) = log Γ(a′) − a − log Γ(a) + (a − a′) ψ(a)",
        "χ₁ ← χ₁ + ∑ T₁(xᵢ)",
        "g₁ ∼ Ga(η₁, 1)",
        "with −λ alone it would be wrong",
    ):
        assert re.sub(r"\s+", " ", line) in re.sub(r"\s+", " ", text), line
    assert "polygamma" not in text


def test_a_long_argument_gets_a_letter(tmp_path):
    geometry = spot(BESSEL, tmp_path)
    text = render_geometry(geometry, "text")
    assert "κ    = √(η₁² + η₂²)" in text
    assert "μ₁ = η₁ I₁(κ)/(κ I₀(κ))" in text
    assert "I₀(κ′)" in text
    assert r"I_{0}(\kappa)" in render_geometry(geometry, "latex")
    data = json.loads(render_geometry(geometry, "json"))
    assert "kappa" not in json.dumps(data)


@pytest.mark.parametrize("which", ["gamma", "circle"])
def test_json_is_read_by_sympy(which, tmp_path):
    """Each expression, parsed by SymPy with nothing but the declared names, has the same value."""
    g = spot(GAMMA if which == "gamma" else BESSEL, tmp_path)
    data = json.loads(render_geometry(g, "json"))
    d, c, m = g.divergence, g.conjugate, g.likelihood
    own = [*g.natural, *g.working, *d.prime, *d.prime.values(), d.alpha, *c.chi, c.nu,
           *m.statistics, g.family.variable]  # fmt: skip
    names = {x.name: x for x in own}
    point = {}
    for k, x in enumerate(sorted(names.values(), key=str)):
        point[x] = sp.Rational(3 + k, 7)
    point |= {x: -point[x] for x in own if x.name.startswith("eta2")}
    pairs = [(data["divergence"]["kl"], d.kl), (data["divergence"]["renyi"], d.renyi),
             (data["divergence"]["bhattacharyya"], d.bhattacharyya),
             (data["divergence"]["reverse_kl"], d.reverse_kl),
             (data["divergence"]["cross_entropy"], d.cross_entropy),
             (data["conjugate"]["log_prior"], c.log_prior),
             (data["entropy"], g.entropy)]  # fmt: skip
    if g.family.working:
        pairs += [(data["divergence"]["kl_working"], d.kl_in_working),
                  (data["conjugate"]["log_prior_working"], c.log_prior_in_working),
                  (data["fisher_working"][0][0], g.metric_in_charts.working[0][0])]  # fmt: skip
    for text, expression in pairs:
        read = sp.sympify(text, locals=names)
        assert read.free_symbols <= set(names.values())
        gap = sp.N((read - expression).subs(point), 20)
        assert abs(gap) < 1e-15, text


def test_html_and_latex_break_long_sums(tmp_path, faults):
    geometry = spot(GAMMA, tmp_path)
    latex = render_geometry(geometry, "latex")
    assert faults(latex) == []
    assert max(len(line) for line in latex.splitlines() if "&" in line) < 260
    html = render_geometry(geometry, "html")
    renyi = html[html.index('id="rényi-divergence"') :].split("</section>")[0]
    assert renyi.count("<mtr>") > 3
