"""Expressions read as a person would write them, in every notation."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
import sympy as sp

from blrgen.algebra.ranks import T, logdet, mat, positive, scalar, symmat, trace, vec
from blrgen.text.expression import ascii, latex, mathml, unicode
from blrgen.text.latex import Latex
from blrgen.text.layout import Node
from blrgen.text.mathml import MathML
from blrgen.text.plain import Plain
from blrgen.text.terminal import Terminal

pytestmark = pytest.mark.core

m, g, u, h, lam, theta, x, y = map(scalar, ["m", "g", "u", "h", "lam", "theta", "x", "y"])
h_hat, m_prev, theta_r, eps = map(scalar, ["h_hat", "m_prev", "theta_r", "eps"])
u_next, h_next = scalar("u_next"), scalar("h_next")
s, s_next = positive("s"), positive("s_next")
alpha, beta1, beta2, rho, gamma, delta, c, N, tau = map(
    positive, ["alpha", "beta1", "beta2", "rho", "gamma", "delta", "c", "N", "tau"]
)
t = sp.Symbol("t", integer=True, positive=True)
S, S_next, H, G = map(symmat, ["S", "S_next", "H", "G"])
mv, gv, yv = map(vec, ["m", "g", "y"])
X = mat("X")
half = sp.Rational(1, 2)

READS = [
    (beta1 * u + (1 - beta1) * g, "beta1*u + (1 - beta1)*g", "β₁u + (1 − β₁)g"),
    ((1 - rho) * s + rho * h, "(1 - rho)*s + rho*h", "(1 − ρ)s + ρh"),
    (
        m - alpha * (u_next / (1 - beta1**t)) / (sp.sqrt(s_next / (1 - beta2**t)) + c),
        "m - alpha*u_next/((1 - beta1**t)*(sqrt(s_next/(1 - beta2**t)) + c))",
        "m − αu⁺/((1 − β₁ᵗ)(√(s⁺/(1 − β₂ᵗ)) + c))",
    ),
    (m + eps / sp.sqrt(N * (h + delta)), "m + eps/sqrt(N*(h + delta))", "m + ε/√(N(h + δ))"),
    (N * (h + delta) * eps * g, "N*(h + delta)*eps*g", "N(h + δ)εg"),
    (
        beta2 * h + (1 - beta2) * h_hat + half * (1 - beta2) ** 2 * (h - h_hat) ** 2 / (h + delta),
        "beta2*h + (1 - beta2)*h_hat + (1 - beta2)**2*(h - h_hat)**2/(2*(h + delta))",
        "β₂h + (1 − β₂)ĥ + ½(1 − β₂)²(h − ĥ)²/(h + δ)",
    ),
    (m - rho * g / s_next, "m - rho*g/s_next", "m − ρg/s⁺"),
    (m - rho * g + gamma * (m - m_prev), "m + gamma*(m - m_prev) - rho*g", "m + γ(m − m⁻) − ρg"),
    (
        (1 - theta_r**2) / (tau * (1 - sp.tanh(lam) ** 2)),
        "(1 - theta_r**2)/(tau*(1 - tanh(lam)**2))",
        "(1 − θᵣ²)/(τ(1 − tanh(λ)²))",
    ),
    (s * (theta - m) ** 2 / 2, "s*(theta - m)**2/2", "½s·(θ − m)²"),
    (x**2 + x * y + y**2 + x + 1, "x**2 + x + y**2 + x*y + 1", "x² + x + y² + xy + 1"),
    (-s * (x + y), "-s*(x + y)", "−s·(x + y)"),
    ((-sp.sqrt(s) - c) * (m - m_prev), "-(sqrt(s) + c)*(m - m_prev)", "−(√s + c)(m − m⁻)"),
    (1 / s, "1/s", "1/s"),
    ((g**x) ** y, "(g**x)**y", "(gˣ)ʸ"),
    (
        sp.Add(x, sp.Mul(-1, y + m, evaluate=False), evaluate=False),
        "x - (m + y)",
        "x − (m + y)",
    ),
    (1 + rho * s * h - rho, "1 - rho + rho*s*h", "1 − ρ + ρsh"),
    (rho + 1, "1 + rho", "1 + ρ"),
    ((1 - rho) * m / s + rho * h * m - rho * g, None, "(1 − ρ)m/s + ρhm − ρg"),
    (-1 / s**2, "-1/s**2", "−1/s²"),
    (sp.Rational(2, 3) * x, "2*x/3", "⅔x"),
    (-half, "-1/2", "−½"),
    (beta1**-t, "1/beta1**t", "1/β₁ᵗ"),
    (m ** sp.Rational(2, 3), "m**(2/3)", "m^(2/3)"),
    (u_next**2, "u_next**2", "(u⁺)²"),
    (sp.sqrt(s_next), "sqrt(s_next)", "√s⁺"),
    (-lam, "-lam", "−λ"),
    (sp.Abs(m) * sp.sign(g), "Abs(m)*sign(g)", "|m|·sign(g)"),
    (sp.Max(-c, sp.Min(c, g)), "Max(-c, Min(c, g))", "max(−c, min(c, g))"),
    (sp.Piecewise((m, m > 0), (-m, True)), None, "{m if m > 0; −m otherwise}"),
    (sp.loggamma(s) - s * sp.log(alpha), "loggamma(s) - s*log(alpha)", "log Γ(s) − s log(α)"),
    (sp.digamma(s) + sp.polygamma(1, s), "polygamma(0, s) + polygamma(1, s)", "ψ(s) + ψ′(s)"),
]
MATRICES = [
    (
        (1 - rho) * S + rho * (H + delta),
        "(1 - rho)*S + rho*(H + delta*Identity(d))",
        "(1 − ρ)S + ρ(H + δI)",
    ),
    (mv - rho * S_next**-1 * gv, "m - rho*S_next**(-1)*g", "m − ρ(S⁺)⁻¹g"),
    (
        S + rho * G + rho**2 / 2 * G * S**-1 * G,
        "S + rho*G + rho**2/2*G*S**(-1)*G",
        "S + ρG + ½ρ²GS⁻¹G",
    ),
    (
        (H - S) * S**-1 * (H - S),
        "(H - S)*S**(-1)*(H - S)",
        "(H − S)S⁻¹(H − S)",
    ),
    (
        trace(T(mv) * S * mv) / 2 - logdet(S) / 2,
        "trace(m.T*S*m)/2 - log(det(S))/2",
        "½ mᵀSm − ½ log|S|",
    ),
    ((T(X) * X + delta) ** -1 * T(X) * yv, None, "(XᵀX + δI)⁻¹Xᵀy"),
    (trace(S * H), "trace(H*S)", "tr(HS)"),
]


@pytest.mark.parametrize(("e", "plain", "line"), READS + MATRICES)
def test_reads_as_written(e, plain, line):
    assert unicode(e) == line
    if plain is not None:
        assert ascii(e) == plain


@pytest.mark.parametrize(
    ("e", "spelled"),
    [
        (m - rho * g / s_next, r"m - \frac{\rho g}{s^{+}}"),
        (mv - rho * S_next**-1 * gv, r"m - \rho (S^{+})^{-1} g"),
        (m + eps / sp.sqrt(N * (h + delta)), r"m + \frac{\varepsilon}{\sqrt{N (h + \delta)}}"),
        (h_hat**2 * half, r"\tfrac{1}{2} \hat{h}^{2}"),
        (scalar("theta_prior"), r"\theta_{\mathrm{prior}}"),
        (delta * S**-1 + 1, r"I + \delta S^{-1}"),
        (T(mv) * S * mv, r"m^{\top} S m"),
        (sp.polygamma(2, s), r"\psi''(s)"),
        (sp.Derivative(sp.Function("f")(m), (m, 2)), r"\frac{\partial^{2}}{\partial m^{2}} f(m)"),
    ],
)
def test_latex(e, spelled):
    assert latex(e) == spelled


def test_notation_replaces_names():
    notation = {"g": ("∇ℓ(m)", r"\nabla\ell(m)"), "h": ("𝔼_q[∇²ℓ]", r"\mathbb{E}_q[\nabla^2\ell]")}
    assert unicode(m - rho * g, notation) == "m − ρ ∇ℓ(m)"
    assert unicode(rho * g**2, notation) == "ρ(∇ℓ(m))²"
    assert latex(rho * g**2, notation) == r"\rho (\nabla\ell(m))^{2}"
    assert "<msub><mi>𝔼</mi><mi>q</mi></msub>" in mathml(h, notation)


def test_a_bare_scalar_can_stand_for_a_multiple_of_the_identity():
    assert ascii(delta, matrix=True) == "delta*Identity(d)"
    assert ascii(sp.Integer(1), matrix=True) == "Identity(d)"
    assert unicode(-delta / 2, matrix=True) == "−½δI"
    assert latex(delta, matrix=True) == r"\delta I"


NODES = [
    *[e for e, *_ in READS + MATRICES],
    sp.pi, sp.E, sp.oo, -sp.oo, sp.Float("1e-8") * m, sp.Float(2.5), sp.Integer(0), sp.true,
    sp.Tuple(m, s), (m, s**2), "words of any kind",
    sp.And(m > 0, g <= 1), sp.Or(m < 0, sp.Eq(g, 1)), sp.Ne(m, 0),
    sp.Integral(m * s, (m, 0, sp.oo)), sp.Sum(x**t, (t, 1, N)), sp.Derivative(sp.exp(m * s), m, s),
    sp.factorial(t), sp.binomial(t, 2), sp.besseli(1, x), sp.zeta(s), sp.erf(x), sp.gamma(s),
    sp.Function("log1p")(x), sp.Function("ell")(theta), sp.Heaviside(x), sp.beta(s, alpha),
    sp.Mul(2, x + y, evaluate=False), sp.Mul(3, sp.Rational(1, 2), evaluate=False),
    sp.Pow(x + y, x, evaluate=False), T(X), mat("A") * mat("B"), trace(S) ** 2, S**2, X * T(X),
]  # fmt: skip


@pytest.mark.parametrize("e", NODES, ids=lambda e: str(e)[:40])
def test_every_kind_in_every_notation(e, faults):
    for printed in (ascii(e), unicode(e), latex(e), mathml(e)):
        assert printed
        assert not any(leak in printed for leak in ("object at", "Node", "Symbol(", "None"))
    assert faults(latex(e)) == []
    ET.fromstring(f"<math>{mathml(e)}</math>")


@pytest.mark.parametrize("printer", [Plain(), Terminal(), Latex(), MathML()])
def test_no_node_is_forgotten_by_a_printer(printer):
    for kind in Node.__subclasses__():
        assert callable(getattr(printer, f"_{kind.__name__.lower()}", None)), kind


@pytest.mark.parametrize(
    ("e", "line"),
    [
        (x - (y - m), "m + x − y"),
        ((x * y) ** 2, "x²y²"),
        (2 ** (x + 1), "2ˣ⁺¹"),
        (sp.exp(-x), "exp(−x)"),
        ((x + 1) / (y * (m + 1)), "(x + 1)/((m + 1)y)"),
        (x / y / m, "x/(my)"),
        (sp.Pow(x, -y, evaluate=False), "1/xʸ"),
        (sp.sqrt(x) * y, "√x·y"),
        (sp.sqrt(x * y), "√(xy)"),
        (sp.Function("f")(x) ** 2, "f(x)²"),
        (sp.log(x) * y, "y log(x)"),
        (2 * sp.sqrt(2), "2√2"),
    ],
)
def test_brackets_stand_where_they_must(e, line):
    assert unicode(e) == line


def test_roots_are_joined_only_where_that_is_true():
    a, b = sp.symbols("a b", real=True)
    apart = sp.Mul(sp.sqrt(a), sp.sqrt(b), evaluate=False)
    assert ascii(apart) == "sqrt(a)*sqrt(b)"
    assert ascii(sp.sqrt(s) * sp.sqrt(a)) in ("sqrt(s*a)", "sqrt(a*s)")
    assert ascii(sp.sqrt(a) / sp.sqrt(b)) == "sqrt(a)/sqrt(b)"
