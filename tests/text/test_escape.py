"""Foreign text made safe in every format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blrgen.text.escape import html_prose, html_text, latex_text, markdown_text, printable
from blrgen.text.names import latex_name, unicode_name
from tests.sweeps import examples

pytestmark = pytest.mark.core


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("50% of $5 & #1_a", r"50\% of \$5 \& \#1\_a"),
        ("ρ = 1", r"$\rho$ = 1"),
        ("λ⁺ = (1−ρ)λ", r"$\lambda ^{+}$ = $(1- \rho )\lambda$"),
        ("∇_μ𝓗 = −λ", r"$\nabla _{\mu} \mathcal{H}$ = $- \lambda$"),
        ("a café", "a café"),
        ("x \\ {y}", r"x \textbackslash{} \{y\}"),
        ("snow ☃", "snow (U+2603)"),
        ("m_next is m⁺", r"m\_next is $m^{+}$"),
    ],
)
def test_latex_prose(text, spelled):
    assert latex_text(text) == spelled


@pytest.mark.long
@examples(300)
@given(text=st.text(max_size=30))
def test_no_text_breaks_latex(faults, text):
    assert faults(latex_text(text)) == []


@examples(100)
@given(text=st.text(alphabet="ab1_+^{}()[]|=,.αρ∇𝔼²⁺₁ĝᵀ\\$% ", max_size=14))
def test_no_formula_in_prose_breaks_latex(faults, text):
    assert faults(latex_text(text)) == []


@examples(200)
@given(st.text(max_size=30))
def test_nothing_printable_is_a_control_character(text):
    assert printable(text).isprintable() or not printable(text).strip()
    assert not set(html_text(text)) & set("<>\"'")
    assert "<" not in markdown_text(text)


def test_indices_in_html_prose():
    assert html_prose("𝔼_q[∇_μ f] of m_next") == "𝔼<sub>q</sub>[∇<sub>μ</sub> f] of m_next"


@pytest.mark.parametrize(
    ("name", "line", "spelled"),
    [
        ("m", "m", "m"),
        ("beta1", "β₁", r"\beta_{1}"),
        ("m_next", "m⁺", "m^{+}"),
        ("m_prev", "m⁻", "m^{-}"),
        ("h_hat", "ĥ", r"\hat{h}"),
        ("h_hat_next", "ĥ⁺", r"\hat{h}^{+}"),
        ("theta_r", "θᵣ", r"\theta_{r}"),
        ("lam0", "λ₀", r"\lambda_{0}"),
        ("eps", "ε", r"\varepsilon"),
        ("theta_prior", "θ_prior", r"\theta_{\mathrm{prior}}"),
        ("step", "step", r"\mathrm{step}"),
        ("a b\\x", "a b\\x", r"\text{a b\textbackslash{}x}"),
    ],
)
def test_names(name, line, spelled):
    assert unicode_name(name) == line
    assert latex_name(name) == spelled
