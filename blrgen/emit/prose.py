"""The docstring of an emitted file: equations, approximations, hyperparameters, as prose."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.emit.printers import literal
from blrgen.emit.text import sentence_list
from blrgen.program import nodes as n
from blrgen.program.inspect import ATOM, POWER, PRODUCT, SIGN, SUM, Printer
from blrgen.program.recover import read_back
from blrgen.text.layout import Number

if TYPE_CHECKING:
    from blrgen.core import Derivation
    from blrgen.program.program import Program, Variable

MEASURE = 100
_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "epsilon": "ε",
    "eta": "η", "theta": "θ", "kappa": "κ", "lam": "λ", "mu": "μ", "nu": "ν", "pi": "π",
    "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ", "omega": "ω", "inf": "∞",
}  # fmt: skip
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPT = str.maketrans("0123456789t-", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵗ⁻")


def unicode_name(name: str) -> str:
    """beta1 → β₁, s_next → s⁺, h_hat → ĥ."""
    if name.endswith("_next"):
        return unicode_name(name.removesuffix("_next")) + "⁺"
    if name.endswith("_prev"):
        return unicode_name(name.removesuffix("_prev")) + "₋"
    if name.endswith("_hat") and len(name) > 4:
        letter = unicode_name(name.removesuffix("_hat"))
        return f"{letter[0]}\N{COMBINING CIRCUMFLEX ACCENT}{letter[1:]}".replace(
            "h\N{COMBINING CIRCUMFLEX ACCENT}", "ĥ"
        )
    match = re.fullmatch(r"([A-Za-z]+)_?(\d*)", name)
    if match is None:
        return name
    stem, digits = match.groups()
    return _GREEK.get(stem, stem) + digits.translate(_SUBSCRIPT)


_SPECIAL = {
    "digamma": "ψ({0})", "trigamma": "ψ′({0})", "polygamma_2": "ψ″({0})", "polygamma_3": "ψ‴({0})",
    "trigamma_rest": "(ψ′({0}) − 1/{0})", "log_minus_digamma": "(log({0}) − ψ({0}))",
    "digamma_rise": "(ψ({0} + {1}) − ψ({0}))",
    "trigamma_fall": "(ψ′({0}) − ψ′({0} + {1}))",
    "trigamma_rest_fall": "(ψ′({0}) − ψ′({0} + {1}) − 1/{0} + 1/({0} + {1}))",
    "multitrigamma_rest": "(ψ′_{1}({0}) − {1}/{0})", "multipolygamma_0": "ψ_{1}({0})",
    "multipolygamma_1": "ψ′_{1}({0})", "multigammaln": "log Γ_{1}({0})",
    "loggamma": "log Γ({0})", "log_beta": "log B({0}, {1})",
    "loggamma_ratio": "(log Γ({0} + {1}) − log Γ({0}))", "inverse_digamma": "ψ⁻¹({0})",
    "bessel_quotient": "(R_{0}({1})/{1})", "bessel_slope": "R_{0}′({1})",
    "bessel_bend": "U_{0}({1})",
    "log_besselk": "log K_{0}({1})", "besselk_ratio": "Q_{0}({1})",
    "besselk_order": "∂_ν log K_{0}({1})", "besselk_order_variance": "∂²_ν log K_{0}({1})",
    "besselk_order_slope": "∂_ν Q_{0}({1})", "besselk_tilt": "(−∂_ν∂_x log K_{0}({1}))",
    "besselk_slope": "(−Q_{0}′({1}))", "besselk_curvature": "∂²_x log K_{0}({1})",
    "besselk_spread": "V_{0}({1})", "besselk_turan": "W_{0}({1})",
    "log1mexp": "log(1 − exp({0}))", "logexpm1": "log(exp({0}) − 1)",
    "logcosh": "log(cosh({0}))", "logsinh": "log(sinh({0}))",
    "logaddexp": "log(exp({0}) + exp({1}))",
    "erf": "erf({0})", "erfc": "erfc({0})", "erfcx": "(exp({0}²)·erfc({0}))",
    "log_erfc": "log(erfc({0}))", "log_besseli": "log I_{0}({1})",
    "log_minus_multidigamma": "({1}·log({0}) − ψ_{1}({0}))",
}  # fmt: skip
# What the letters above stand for, said where they are used.
_LETTERS = (
    (("bessel_quotient", "bessel_slope", "bessel_bend"),
     "R_ν(x) is the ratio I_(ν+1)(x)/I_ν(x) of Bessel functions"),
    (("bessel_bend",), "U_ν(x) is R_ν(x)/x − R_(ν+1)(x)/x"),
    (("besselk_ratio", "besselk_order_slope", "besselk_slope", "besselk_spread", "besselk_turan"),
     "Q_ν(x) is the ratio K_(ν+1)(x)/K_ν(x) of Bessel functions"),
    (("besselk_spread",), "V_ν is 1 + 2(ν + 1)Q_ν/x − Q_ν²"),
    (("besselk_turan",), "W_ν is Q_ν² − 2νQ_ν/x − 1"),
)  # fmt: skip


class UnicodePrinter(Printer):
    """Expressions as on a board, on one line; `said` has names for expectations."""

    def __init__(self, said: Mapping[str, str] | None = None) -> None:
        self.said = said or {}

    def print_Const(self, node: n.Const) -> tuple[str, int]:
        if node.value == Fraction(1, 2):
            return "½", ATOM
        text, level = literal(node.value)
        text = text.replace(" / ", "/").replace("e-", "e⁻")
        return re.sub(r"1e⁻(\d+)", lambda m: f"10⁻{m[1].translate(_SUPERSCRIPT)}", text), level

    def print_Named(self, node: n.Named) -> tuple[str, int]:
        return _GREEK.get(node.name, node.name), ATOM

    def print_Ref(self, node: n.Ref) -> tuple[str, int]:
        return unicode_name(node.name), ATOM

    def print_Sub(self, node: n.Sub) -> tuple[str, int]:
        return f"{self.at(node.left, SUM)} − {self.at(node.right, PRODUCT)}", SUM

    def print_Mul(self, node: n.Mul) -> tuple[str, int]:
        first, *rest = node.args
        parts = [self.at(first, PRODUCT)]
        for a in rest:
            parts.append(self.at(a, PRODUCT if isinstance(a, n.MatMul | n.Solve) else SIGN))
        return "·".join(parts), PRODUCT

    def print_Div(self, node: n.Div) -> tuple[str, int]:
        """A quotient; 1.000001·m, not 1000001·m/1000000."""
        above, top = _number_first(node.top)
        below, bottom = _number_first(node.bottom)
        share = above / below
        if share > 0 and Number(share.numerator, share.denominator).decimal and (top or bottom):
            text = self.at(n.mul(n.Const(share), *top), PRODUCT)
            return f"{text}/{self.at(n.mul(*bottom), SIGN)}" if bottom else text, PRODUCT
        return f"{self.at(node.top, PRODUCT)}/{self.at(node.bottom, SIGN)}", PRODUCT

    def print_Neg(self, node: n.Neg) -> tuple[str, int]:
        return f"−{self.at(node.arg, SIGN)}", SIGN

    def print_Pow(self, node: n.Pow) -> tuple[str, int]:
        return self.at(node.base, ATOM) + str(node.exponent).translate(_SUPERSCRIPT), POWER

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        if node.name == "sqrt":
            return f"√{self.at(node.args[0], ATOM)}", ATOM
        if node.name == "abs":
            return f"|{self(node.args[0])}|", ATOM
        if node.name.startswith("binomial_mean_") and node.name in self.said:
            law = ", ".join(map(self, node.args[1::-1]))
            return f"𝔼[{self.said[node.name]} | j ~ Bin({law})]", ATOM
        if node.name in self.said:
            return self.said[node.name], ATOM
        if node.name in _SPECIAL:
            return _SPECIAL[node.name].format(*[self.at(a, ATOM) for a in node.args]), ATOM
        if node.name == "pow" and node.args[1] == n.Ref("t"):
            return f"{self.at(node.args[0], ATOM)}ᵗ", POWER
        if node.name == "pow":
            return f"{self.at(node.args[0], ATOM)}^{self.at(node.args[1], ATOM)}", POWER
        return super().print_Call(node)

    def print_Select(self, node: n.Select) -> tuple[str, int]:
        if node.same:  # what is computed keeps more digits, and means this
            return self.at(node.no, 0), SUM
        yes, condition, no = self(node.yes), self(node.condition), self(node.no)
        return f"({yes} where {condition}, else {no})", ATOM

    def print_MatMul(self, node: n.MatMul) -> tuple[str, int]:
        return f"{self.at(node.left, PRODUCT)} {self.at(node.right, PRODUCT)}", PRODUCT

    def print_Solve(self, node: n.Solve) -> tuple[str, int]:
        inverse = f"{self.at(node.arg, ATOM)}⁻¹"
        if isinstance(node.right, n.Identity):
            return inverse, POWER
        return f"{inverse} {self.at(node.right, PRODUCT)}", PRODUCT

    def print_HalfSolve(self, node: n.HalfSolve) -> tuple[str, int]:
        return f"{self.at(node.arg, ATOM)}^−½ {self.at(node.right, SIGN)}", PRODUCT

    def print_HalfProduct(self, node: n.HalfProduct) -> tuple[str, int]:
        return f"{self.at(node.arg, ATOM)}^½ {self.at(node.right, SIGN)}", PRODUCT

    def print_Transpose(self, node: n.Transpose) -> tuple[str, int]:
        return f"{self.at(node.arg, ATOM)}ᵀ", ATOM

    def print_Outer(self, node: n.Outer) -> tuple[str, int]:
        return f"{self.at(node.left, PRODUCT)} {self.at(n.Transpose(node.right), SIGN)}", PRODUCT

    def print_Total(self, node: n.Total) -> tuple[str, int]:
        return f"Σ{self.at(node.arg, ATOM)}", ATOM

    def print_LogTotal(self, node: n.LogTotal) -> tuple[str, int]:
        terms = [f"Σ exp({self(node.arg)})"]
        terms += [f"exp({self(node.more)})"] if node.more not in (None, n.ZERO) else []
        terms += ["1"] if node.more == n.ZERO else []
        return f"log({' + '.join(terms)})", ATOM

    def print_Count(self, node: n.Count) -> tuple[str, int]:
        return unicode_name(node.label), ATOM

    def print_Trace(self, node: n.Trace) -> tuple[str, int]:
        return self.call("tr", self(node.arg))

    def print_Identity(self, node: n.Identity) -> tuple[str, int]:
        return "I", ATOM

    def print_Symmetrize(self, node: n.Symmetrize) -> tuple[str, int]:
        return self.call("sym", self(node.arg))


def _number_first(node: n.Node) -> tuple[Fraction, list[n.Node]]:
    """A product as its leading number and the rest."""
    first, *rest = node.args if isinstance(node, n.Mul) else (node,)
    if isinstance(first, n.Const):
        return Fraction(first.value), rest
    return Fraction(1), [first, *rest]


def module_docstring(derivation: Derivation, program: Program) -> str:
    """All of it, without the quotes."""
    parts = [_heading(derivation), _quantities(program), *_updates(program)]
    approximations = _approximations(derivation)
    if approximations:
        parts += ["Approximations, in the order in which they were made:", approximations]
    parts += _of_posterior(derivation)
    hypers = program.of("hyper")
    if hypers:
        parts += ["Hyperparameters:", "\n".join(_hyper(v, hypers) for v in hypers)]
    if derivation.recipe is not None and derivation.recipe.citation:
        parts.append(wrapped(f"See {derivation.recipe.citation}."))
    return "\n\n".join(parts)


def _heading(derivation: Derivation) -> str:
    family = clean(derivation.family.title)
    title = heading(derivation)
    first = title if len(title) < MEASURE - 6 else family
    return f"{first}.\n\n" + wrapped(f"The Bayesian learning rule for the candidate: {family}.")


def heading(derivation: Derivation) -> str:
    """The recipe's title, or the family's followed by the approximations."""
    if derivation.recipe is not None:
        return clean(derivation.recipe.title)
    made = derivation.approximations
    flags = [name if value is None else f"{name} {value}" for name, value in made]
    title = clean(derivation.family.title)
    return f"{title} with {sentence_list(flags)}" if flags else title


def clean(text: str) -> str:
    """Text that can stand in a docstring: one line, no backslash, no triple quote."""
    return " ".join(text.split()).replace("\\", "/").replace('"""', "'''")


def wrapped(text: str, indent: str = "", hanging: str | None = None) -> str:
    """Filled to the measure."""
    return textwrap.fill(
        text,
        MEASURE,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _quantities(program: Program) -> str:
    """What the names in the equations mean."""
    known = [f"{unicode_name(v.name)} is {clean(v.meaning)}" for v in _named(program) if v.meaning]
    if any("t" in n.names(s.expr) for s in program.statements):
        known.append("t counts steps from 1")
    called = {x.name for s in program.statements for x in n.walk(s.expr) if isinstance(x, n.Call)}
    known += [said for names, said in _LETTERS if called & set(names)]
    known.append("x⁺ is the next value of x")
    return wrapped(f"Here {'; '.join(known)}.")


def _named(program: Program) -> tuple[Variable, ...]:
    return program.of("state", "input", "data", "draw")


def _updates(program: Program) -> list[str]:
    said = {e.name: e.said for e in program.expectations}
    said |= {e.name: e.said for e in program.binomial_means}
    printer = UnicodePrinter(said)
    titles = {
        "draw": "The loss is probed at:",
        "estimate": "Estimated there, and averaged over several such points:",
        "update": "Update:",
    }
    parts: list[str] = []
    for phase in program.phases:
        lines = [equation(unicode_name(s.name), printer(s.expr)) for s in phase.body]
        parts += [titles[phase.name], "\n".join(lines)]
        back = read_back(program) if phase.name == "draw" else {}
        if back:
            lines = [equation(unicode_name(name), printer(e)) for name, e in back.items()]
            parts += ["from which a step reads the noise back:", "\n".join(lines)]
    if program.halved:
        name = unicode_name(program.halved)
        parts.append(
            wrapped(
                f"{name} is halved until the next values are inside their domains, at each "
                "step anew."
            )
        )
    if program.until:
        parts.append(f"The update is repeated until a {clean(program.until)}.")
    return parts


def equation(left: str, right: str) -> str:
    """Left = right, broken before a sum's signs when it is too long."""
    lines, line = [], f"    {left} ="
    for k, term in enumerate(re.split(r" (?=[+−] )", right)):
        if k and len(line) + 1 + len(term) > MEASURE:
            lines.append(line)
            line = " " * (6 + len(left))
        line += f" {term}"
    return "\n".join([*lines, line])


def _approximations(derivation: Derivation) -> str:
    flags = dict(derivation.approximations)
    lines = []
    for step in derivation.steps:
        if not step.approximation:
            continue
        value = flags.get(step.approximation)
        name = step.approximation if value is None else f"{step.approximation} = {value}"
        lines.append(wrapped(f"{clean(name)}: {clean(step.because)}", "    ", " " * 8))
    return "\n".join(lines)


def _of_posterior(derivation: Derivation) -> list[str]:
    """Why `posterior` is not there, or what bounds what it says."""
    rule = derivation.rule
    if rule.unkept:
        return [wrapped(f"There is no posterior: {rule.unkept}.")]
    return [wrapped(f"Of the posterior: {rule.bounded}.")] if rule.bounded else []


def _hyper(v: Variable, all_of_them: tuple[Variable, ...]) -> str:
    width = max(len(x.name) for x in all_of_them)
    default = f", {UnicodePrinter()(v.default)} by default" if v.default is not None else ""
    meaning = clean(v.meaning) or "hyperparameter"
    domain = (v.domain or "(-oo, oo)").replace("oo", "∞").replace("-", "−")
    return wrapped(f"{v.name:<{width}}  {meaning}, in {domain}{default}", "    ", " " * (width + 6))
