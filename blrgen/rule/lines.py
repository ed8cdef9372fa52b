"""The exact derivation line by line: geometry, the gradient of the expected loss, the rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sympy as sp

from blrgen.algebra.ring import Matrix
from blrgen.core import Equation, Quantity, Rule, Step
from blrgen.errors import UserError
from blrgen.expect.expectation import Expectation
from blrgen.expect.gaps import gaps_of
from blrgen.expect.operators import Operator
from blrgen.expect.probes import Subject
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.integrate import exponent_of
from blrgen.rule.arrange import arrange
from blrgen.rule.divisors import divisors, spelled
from blrgen.rule.gather import gathered
from blrgen.rule.quantities import probe_quantity
from blrgen.rule.rule import RHO, ExactRule, entropy_gradient

Expr = Any

NOTATION: tuple[tuple[str, str, str], ...] = (
    ("log_q", "log q(θ)", r"\log q(\theta)"),
    ("A_", "A(λ)", r"A(\lambda)"),
    ("H_", "𝓗(q)", r"\mathcal{H}(q)"),
    ("dtheta_q", "∂_θ q", r"\partial_\theta q"),
    ("ddtheta_q", "∂²_θ q", r"\partial^2_\theta q"),
)


def sym(name: str) -> Expr:
    """A real symbol that stands for a quantity of the text, read through the notation."""
    return sp.Symbol(name, real=True)


def exact_lines(
    geometry: Geometry, expectation: Expectation, exact: ExactRule, rule: Rule
) -> tuple[Step, ...]:
    """Every line of the exact derivation, in order."""
    return (
        *_geometry_lines(geometry, expectation),
        *_expectation_lines(geometry, expectation),
        *_rule_lines(geometry, expectation, exact, rule),
    )


def _geometry_lines(geometry: Geometry, expectation: Expectation) -> list[Step]:
    family, ring = geometry.family, geometry.ring
    lines = [
        Step(
            "The candidate",
            (Equation(sym("log_q"), exponent_of(family, ring) - sym("A_")),),
            f"{family.title}: an exponential family with statistics "
            f"{', '.join(map(_plain, family.statistics))}",
            "sample",
            notation=NOTATION,
        ),
        Step(
            "Log-partition",
            (Equation(sym("A_"), geometry.log_partition),),
            geometry.integral.because,
            "natural",
            notation=NOTATION,
        ),
        Step(
            "Mean parameters",
            tuple(Equation(sym(f"mu{i}"), m) for i, m in _numbered(geometry.mean)),
            "μ = ∇A(λ), the expectation of T(θ)",
            "mean",
        ),
    ]
    if family.working:
        chart = tuple(Equation(x, geometry.natural_of_working[x]) for x in geometry.natural)
        mean = tuple(Equation(sym(f"mu{i}"), m) for i, m in _numbered(geometry.mean_in_working))
        names = " and ".join(p.name for p in family.working)
        lines.append(Step("Working parameters", chart + mean, f"the chart in {names}", "working"))
    gradients = tuple(
        Equation(sym(f"grad_mu{i}_H"), e)
        for i, e in _numbered(entropy_gradient(geometry, expectation))
    )
    entropy = _entropy(geometry)
    known = expectation.base is not None and expectation.base.gradient is not None
    reason = expectation.base.because if expectation.base else ""
    lines.append(
        Step("Entropy", (*entropy, *(gradients if known else ())), reason, "natural",
             notation=(*NOTATION, *_gradient_notation("H", "𝓗", r"\mathcal{H}", len(gradients))))
    )  # fmt: skip
    return lines


def _entropy(geometry: Geometry) -> tuple[Equation, ...]:
    """𝓗 in working parameters; nothing where 𝔼_q[log h] is not known."""
    try:
        return (Equation(sym("H_"), geometry.to_working(geometry.entropy)),)
    except UserError:
        return ()


def _numbered(parts: tuple[Expr, ...]) -> list[tuple[str, Expr]]:
    """("", x) for one part, ("1", x1), ("2", x2) for several."""
    if len(parts) == 1:
        return [("", parts[0])]
    return [(str(i + 1), p) for i, p in enumerate(parts)]


def _gradient_notation(key: str, text: str, latex: str, n: int) -> tuple[tuple[str, str, str], ...]:
    marks = [""] if n == 1 else [str(i + 1) for i in range(n)]
    low = str.maketrans("123456789", "₁₂₃₄₅₆₇₈₉")
    return tuple(
        (
            f"grad_mu{i}_{key}",
            f"∇_μ{i.translate(low)} {text}",
            rf"\nabla_{{\mu_{{{i}}}}} {latex}" if i else rf"\nabla_{{\mu}} {latex}",
        )
        for i in marks
    )


def _plain(x: Expr) -> str:
    from blrgen.text.expression import unicode

    return unicode(x)


def probe_notation(rule: Rule) -> tuple[tuple[str, str, str], ...]:
    """How the probes read at this point of the derivation."""
    return tuple((q.name, q.text, q.latex) for q in rule.of("input", "draw") if q.text)


def _expectation_lines(geometry: Geometry, expectation: Expectation) -> list[Step]:
    probes = tuple(probe_quantity(p, geometry) for p in expectation.probes)
    notation = tuple((q.name, q.text, q.latex) for q in probes)
    lines: list[Step] = []
    for identity, slope in zip(expectation.identities, expectation.working_gradient, strict=False):
        x = identity.parameter.name
        name = {1: "dtheta_q", 2: "ddtheta_q"}[identity.order]
        derivative = geometry.ring.gradient_symbol() if identity.order == 1 else None
        derivative = sp.Symbol(name, commutative=derivative is None or derivative.is_commutative)
        if not identity.parameter.is_commutative:
            derivative = sp.Symbol(name, commutative=False)
        lines.append(
            Step(
                f"Moving ∂/∂{x} onto the loss",
                (
                    Equation(sym(f"d{x}_q"), identity.left * derivative * identity.right),
                    Equation(sym(f"d{x}_E"), slope),
                ),
                "found by dividing the two polynomials in θ, remainder zero; "
                "integrating by parts moves the derivative to ℓ",
                "dual of working",
                notation=(
                    *NOTATION,
                    *notation,
                    (f"d{x}_q", f"∂q/∂{x}", rf"\partial q / \partial {x}"),
                    (f"d{x}_E", f"∂𝔼_q[ℓ]/∂{x}", rf"\partial \mathbb{{E}}_q[\ell] / \partial {x}"),
                ),
            )
        )
    lines += [_operator_line(o, expectation) for o in expectation.operators]
    subject = "ℓ + log h" if expectation.folded else "ℓ"
    latex = r"\ell + \log h" if expectation.folded else r"\ell"
    extra = _gradient_notation(
        "E", f"𝔼_q[{subject}]", rf"\mathbb{{E}}_q[{latex}]", len(expectation.mean_gradient)
    )
    inputs = [p.symbol for p in expectation.probes]
    gradient, named = _shortened(geometry, expectation.mean_gradient, inputs)
    spelled = [p for p in expectation.probes if p.formula[0]]
    chain = (
        "the chain rule, ∇_ψ = (∂μ/∂ψ)ᵀ∇_μ, solved for ∇_μ"
        if expectation.route == "identities"
        else expectation.because
    )
    lines.append(
        Step(
            "Gradient of the expected loss",
            (
                *(Equation(sym(f"grad_mu{i}_E"), x) for i, x in _numbered(gradient)),
                *(Equation(s, divisor) for s, divisor in named),
                *(Equation(s, entry) for s, entry in expectation.metric),
                *(
                    Equation(p.symbol, geometry.ring.symbol_like(p.symbol, f"{p.name}_is"))
                    for p in spelled
                ),
            ),
            chain,
            "natural",
            notation=(*notation, *extra, *((f"{p.name}_is", *p.formula) for p in spelled)),
        )
    )
    return lines


def _shortened(
    geometry: Geometry, expressions: tuple[Expr, ...], inputs: list[Expr]
) -> tuple[tuple[Expr, ...], tuple[tuple[Expr, Expr], ...]]:
    """The expressions with letters for long divisors, and what the letters stand for."""
    if isinstance(geometry.ring, Matrix):
        work = gathered(
            expressions,
            inputs,
            [RHO],
            _names(geometry),
            coefficients=False,
            gaps=gaps_of(geometry.family),
        )
        return work.values, work.named
    named = divisors(geometry.ring, expressions, set())
    return tuple(x.xreplace(named) for x in expressions), spelled(named, _names(geometry))


def _names(geometry: Geometry) -> set[str]:
    family = geometry.family
    return {p.name for p in (*family.natural, *family.working, *family.fixed)}


def _operator_line(o: Operator, expectation: Expectation) -> Step:
    """The identity on q, and what it makes of E_q[ℓ]."""
    from blrgen.text.expression import latex, unicode

    probes = {p.weight: p for p in expectation.probes if p.at == "weighted"}
    subject, in_latex = Subject(expectation.rest, expectation.folded).words(bracket=False)
    parts, right, notation = [], [], []
    mark, tex = ("∇ₖ", r"\nabla_k") if o.difference else ("∂ₓ", r"\partial_x")
    for i, (c, f) in enumerate(o.terms):
        inside, in_tex = ("q", "q") if f == 1 else (f"{unicode(f)} q", f"{latex(f)} q")
        if f.is_Add:
            inside, in_tex = f"({unicode(f)})q", f"({latex(f)})q"
        name = f"flux{i}"
        parts.append(-c * sym(name))
        right.append(c * probes[f].symbol)
        notation.append((name, f"{mark}[{inside}]", f"{tex}[{in_tex}]"))
        notation.append((probes[f].name, probes[f].text, probes[f].latex))
    moved, pulled = [], []
    for x, a in ((o.parameter, sp.S.One), *o.along):
        moved.append(a * sym(f"d{x}_q"))
        pulled.append(a * sym(f"d{x}_E"))
        notation.append((f"d{x}_q", f"∂q/∂{unicode(x)}", rf"\partial q / \partial {latex(x)}"))
        notation.append(
            (
                f"d{x}_E",
                f"∂𝔼_q[{subject}]/∂{unicode(x)}",
                rf"\partial \mathbb{{E}}_q[{in_latex}] / \partial {latex(x)}",
            )
        )
    how = "summing by parts" if o.difference else "integrating by parts"
    means = ", where ∇ₖf = f(k) − f(k−1)," if o.difference else ""
    return Step(
        f"Moving ∂/∂{unicode(o.parameter)} onto the loss",
        (
            Equation(sp.Add(*moved), sp.Add(*parts)),
            Equation(sp.Add(*pulled), sp.Add(*right)),
        ),
        f"found by linear algebra on log q{means} and checked to vanish at the ends of the "
        f"support; {how} moves it to a loss that does not outgrow 1/q there",
        "dual of working",
        notation=(*NOTATION, *notation),
    )


def _rule_lines(
    geometry: Geometry, expectation: Expectation, exact: ExactRule, rule: Rule
) -> list[Step]:
    ring = geometry.ring
    notation = probe_notation(rule)
    inputs = [p.symbol for p in expectation.probes]
    parts, _ = _shortened(geometry, exact.natural_next.parts, inputs)
    if not isinstance(ring, Matrix):
        parts = tuple(arrange(y, [RHO]) for y in parts)
    natural = tuple(
        Equation(ring.symbol_like(x, f"{x.name}_next"), y)
        for x, y in zip(geometry.natural, parts, strict=True)
    )
    lines = [
        Step(
            "The Bayesian learning rule",
            natural,
            "λ⁺ = λ − ρ∇_μ𝔼_q[ℓ]: with the prior q as it stands the loss is ℓ − log q, and "
            "∇_μ𝔼_q[log q] = −∇_μ𝓗 cancels the entropy, log h included"
            if expectation.current
            else "λ⁺ = λ − ρ∇_μ(𝔼_q[ℓ] − 𝓗) = (1−ρ)λ − ρ∇_μ(𝔼_q[ℓ] + 𝔼_q[log h])"
            + _case_of(expectation),
            "natural",
            notation=notation,
        )
    ]
    if geometry.family.working:
        gone = _eliminated(exact, rule.of("input"))
        lines.append(
            Step(
                "In working parameters",
                equations_of(rule, geometry),
                "λ⁺ carried to the working parameters through the chart, ψ⁺ = ψ(λ⁺)"
                if exact.carried
                else "solved for the new parameters one after the other"
                + (f"; {_which(exact)} removes {gone} from {_later(exact)}" if gone else "")
                + "".join(f"; {_plain(s)} = {_changed(exact, s)}" for s, _ in exact.changes),
                "working",
                notation=notation,
            )
        )
    return lines


def _case_of(expectation: Expectation) -> str:
    """What became of 𝔼_q[log h], where there is something to say."""
    case = expectation.base.case if expectation.base else ""
    return {
        "span": "; the second expectation is linear in μ",
        "open": "; both expectations are taken together, by the caller",
    }.get(case, "")


def _changed(exact: ExactRule, letter: Expr) -> str:
    """m⁺ − m, what a letter stands for."""
    (x,) = (x for x, value in exact.working_next if value == x + letter)
    return f"{_plain(x)}⁺ − {_plain(x)}"


def _which(exact: ExactRule) -> str:
    return "the first" if len(exact.working_next) == 2 else "an earlier one"


def _later(exact: ExactRule) -> str:
    return "the second" if len(exact.working_next) == 2 else "a later one"


def _eliminated(exact: ExactRule, inputs: Sequence[Quantity]) -> str:
    """What an equation already solved has removed from a later one, in words."""

    def count(x: Expr, values: Iterable[Expr]) -> int:
        return sum(value.has(x) for value in values)

    after = [value for _, value in exact.working_next]
    gone = [q for q in inputs if count(q.symbol, after) < count(q.symbol, exact.natural_next.parts)]
    if not gone:
        return ""
    return "an expectation" if any(q.formula[0] for q in gone) else "the curvature"


def equations_of(rule: Rule, geometry: Geometry) -> tuple[Equation, ...]:
    """The assignments of a rule as equations."""
    ring = geometry.ring
    made = []
    for a in rule.assignments:
        base = a.name.removesuffix("_next")
        like = rule[base].symbol if base in rule else sp.Symbol(a.name, real=True)
        made.append(Equation(ring.symbol_like(like, a.name) if base != a.name else like, a.expr))
    return tuple(made)
