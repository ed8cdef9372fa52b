"""The exact rule as a `Derivation`: the quantities, the assignments and the lines so far."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.core import (
    Assignment,
    Derivation,
    Equation,
    Family,
    Loss,
    Parameter,
    Quantity,
    Rule,
    Step,
)
from blrgen.errors import InternalError, UserError
from blrgen.expect.expectation import Expectation, expectation_of
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.geometry.integrate import exponent_of
from blrgen.rule.arrange import arrange
from blrgen.rule.quantities import hyper, probe_quantity, state
from blrgen.rule.rule import RHO, ExactRule, exact_rule

Expr = Any

NOTATION: tuple[tuple[str, str, str], ...] = (
    ("log_q", "log q(θ)", r"\log q(\theta)"),
    ("A_", "A(λ)", r"A(\lambda)"),
    ("H_", "𝓗(q)", r"\mathcal{H}(q)"),
    ("dtheta_q", "∂_θ q", r"\partial_\theta q"),
    ("ddtheta_q", "∂²_θ q", r"\partial^2_\theta q"),
)


def exact_derivation(family: Family, loss: Loss) -> Derivation:
    """Geometry, expectation and rule of a family, written out line by line."""
    geometry = geometry_of(family)
    try:
        expectation = expectation_of(geometry)
        exact = exact_rule(geometry, expectation)
    except InternalError as e:
        raise UserError(
            f"the rule of {family.name!r} cannot be solved for its parameters",
            where=family.path,
            why=str(e),
            how="working parameters in which the natural parameters separate: "
            "the scale alone in one of them, as in mean and precision",
        ) from e
    rule = _rule(geometry, expectation, exact)
    steps = (
        *_geometry_lines(geometry),
        *_expectation_lines(geometry, expectation),
        *_rule_lines(geometry, exact, rule),
    )
    roles = _roles(geometry, expectation)
    return Derivation(
        family=family,
        loss=loss,
        geometry=geometry,
        expectation=expectation,
        exact=exact,
        rule=rule,
        steps=steps,
        facts=(("probes", expectation.probes), *roles),
    )


def _roles(geometry: Geometry, expectation: Expectation) -> tuple[tuple[str, Any], ...]:
    """Which parameter moves θ (first derivative) and which scales it (second)."""
    orders = dict(expectation.orders)
    location = [x for x in geometry.working if orders.get(x) == 1]
    scale = [x for x in geometry.working if orders.get(x) == 2]
    if not orders and len(geometry.working) == 1:
        location = list(geometry.working)
    return (
        ("location", location[0].name if len(location) == 1 else None),
        ("scale", scale[0].name if len(scale) == 1 else None),
        ("scale_value", tuple((x.name, x) for x in scale)),
    )


def _rule(geometry: Geometry, expectation: Expectation, exact: ExactRule) -> Rule:
    quantities: list[Quantity] = []
    domains = {
        p.symbol: p.domain.text for p in (geometry.family.working or geometry.family.natural)
    }
    orders = dict(expectation.orders)
    for x in geometry.working:
        quantities.append(
            state(
                geometry,
                x,
                init=_start(x, domains[x]),
                meaning=_meaning(geometry, x, orders.get(x)),
                domain=_range(domains[x]),
            )
        )
    quantities += [probe_quantity(p, geometry) for p in expectation.probes]
    quantities.append(hyper("rho"))
    quantities += [_constant(p) for p in geometry.family.fixed]
    assignments = tuple(
        Assignment(f"{x.name}_next", arrange(value, [RHO])) for x, value in exact.working_next
    )
    return Rule(tuple(quantities), assignments, _posterior(geometry))


def _range(domain: str) -> str:
    """A parameter's domain, coordinate by coordinate."""
    if "SPD" in domain:
        return domain
    return domain.split("^")[0] if domain.startswith(("(", "[")) else "(-oo, oo)"


def _constant(p: Parameter) -> Quantity:
    """A known constant of the family: chosen once, like a hyperparameter."""
    return Quantity(
        p.name,
        "hyper",
        "scalar",
        p.symbol,
        meaning="known constant of the candidate",
        default=_start(p.symbol, p.domain.text),
        domain=_range(p.domain.text),
    )


def _start(x: Expr, domain: str) -> Expr:
    """A first value inside the domain: 0 where it is allowed, else 1, −1 or the middle."""
    if "SPD" in domain:
        return sp.Integer(-1 if domain.startswith("-") else 1)
    for value in (sp.S.Zero, sp.S.One, sp.S.NegativeOne, sp.S.Half):
        if _inside(value, domain):
            return value
    return sp.S.One


def _inside(value: Expr, domain: str) -> bool:
    from blrgen.read.domain import read_domain

    try:
        d = read_domain(domain, {})
    except UserError:  # bounds in other parameters: nothing to compare with here
        return bool(value == 1)
    if d.kind != "interval":
        return True
    return bool(d.lower < value < d.upper)


def _meaning(geometry: Geometry, x: Expr, order: int | None) -> str:
    if order == 1:
        return "mean"
    if order == 2:
        if _is_precision(geometry, x):
            return "precision"
        return "variance" if _is_variance(geometry, x) else "scale"
    return "parameter" if geometry.family.working else "natural parameter"


def _is_variance(geometry: Geometry, x: Expr) -> bool:
    quadratic = geometry.integral.quadratic
    return (
        quadratic is not None and geometry.ring.tidy(geometry.to_working(quadratic[2]) ** -1) == x
    )


def _is_precision(geometry: Geometry, x: Expr) -> bool:
    """Whether x itself is the precision of θ: the quadratic coefficient of −log q."""
    quadratic = geometry.integral.quadratic
    return quadratic is not None and geometry.to_working(quadratic[2]) == x


def _posterior(geometry: Geometry) -> tuple[tuple[str, Expr], ...]:
    """Mean and precision of q in working parameters, where q is Gaussian; else the mean."""
    quadratic = geometry.integral.quadratic
    if quadratic is not None:
        _, b, precision = quadratic
        mean = geometry.to_working(precision**-1 * b)
        return (("mean", mean), ("precision", geometry.to_working(precision)))
    if geometry.family.support.kind == "finite" and geometry.family.statistics == (
        geometry.family.variable,
    ):
        return (("mean", geometry.mean_in_working[0]),)
    return ()


def sym(name: str) -> Expr:
    """A real symbol that stands for a quantity of the text, read through the notation."""
    return sp.Symbol(name, real=True)


def _geometry_lines(geometry: Geometry) -> list[Step]:
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
    entropy = Equation(sym("H_"), geometry.to_working(geometry.entropy))
    gradients = tuple(
        Equation(sym(f"grad_mu{i}_H"), geometry.to_working(e))
        for i, e in _numbered(geometry.entropy_gradient)
    )
    constant = geometry.expected_log_base.free_symbols.isdisjoint(geometry.natural)
    reason = (
        "𝓗 = A − ⟨λ, μ⟩, and ∇_μ𝓗 = −λ because the base measure is constant"
        if constant
        else "𝓗 = A − ⟨λ, μ⟩ − 𝔼_q[log h], and ∇_μ𝓗 = −λ − ∇_μ𝔼_q[log h]: h depends on θ"
    )
    lines.append(
        Step("Entropy", (entropy, *gradients), reason, "natural",
             notation=(*NOTATION, *_gradient_notation("H", "𝓗", r"\mathcal{H}", len(gradients))))
    )  # fmt: skip
    return lines


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
    from blrgen.show.expression import unicode

    return unicode(x)


def probe_notation(rule: Rule) -> tuple[tuple[str, str, str], ...]:
    """How the probes read at this point of the derivation."""
    return tuple((q.name, q.text, q.latex) for q in rule.of("input", "draw") if q.text)


def _expectation_lines(geometry: Geometry, expectation: Expectation) -> list[Step]:
    probes = tuple(probe_quantity(p, geometry) for p in expectation.probes)
    notation = tuple((q.name, q.text, q.latex) for q in probes)
    lines: list[Step] = []
    for identity, slope in zip(expectation.identities, expectation.working_gradient, strict=True):
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
    extra = _gradient_notation("E", "𝔼_q[ℓ]", r"\mathbb{E}_q[\ell]", len(expectation.mean_gradient))
    chain = (
        "the chain rule, ∇_ψ = (∂μ/∂ψ)ᵀ∇_μ, solved for ∇_μ"
        if expectation.identities
        else expectation.because
    )
    lines.append(
        Step(
            "Gradient of the expected loss",
            tuple(
                Equation(sym(f"grad_mu{i}_E"), x) for i, x in _numbered(expectation.mean_gradient)
            ),
            chain,
            "natural",
            notation=(*notation, *extra),
        )
    )
    return lines


def _rule_lines(geometry: Geometry, exact: ExactRule, rule: Rule) -> list[Step]:
    ring = geometry.ring
    notation = probe_notation(rule)
    natural = tuple(
        Equation(ring.symbol_like(x, f"{x.name}_next"), arrange(y, [RHO]))
        for x, y in zip(geometry.natural, exact.natural_next.parts, strict=True)
    )
    lines = [
        Step(
            "The Bayesian learning rule",
            natural,
            "λ⁺ = λ − ρ∇_μ(𝔼_q[ℓ] − 𝓗) = (1−ρ)λ − ρ∇_μ(𝔼_q[ℓ] + 𝔼_q[log h])",
            "natural",
            notation=notation,
        )
    ]
    if geometry.family.working:
        gone = _eliminated(exact, [q.symbol for q in rule.of("input")])
        lines.append(
            Step(
                "In working parameters",
                equations_of(rule, geometry),
                "solved for the new parameters one after the other"
                + (f"; the first removes {gone} from the second" if gone else ""),
                "working",
                notation=notation,
            )
        )
    return lines


def _eliminated(exact: ExactRule, probes: list[Expr]) -> str:
    """What an equation already solved has removed from a later one, in words."""
    natural = sum(p.has(x) for p in exact.natural_next.parts for x in probes)
    working = sum(value.has(x) for _, value in exact.working_next for x in probes)
    return "the curvature" if working < natural else ""


def equations_of(rule: Rule, geometry: Geometry) -> tuple[Equation, ...]:
    """The assignments of a rule as equations."""
    ring = geometry.ring
    made = []
    for a in rule.assignments:
        base = a.name.removesuffix("_next")
        like = rule[base].symbol if base in rule else sp.Symbol(a.name, real=True)
        made.append(Equation(ring.symbol_like(like, a.name) if base != a.name else like, a.expr))
    return tuple(made)
