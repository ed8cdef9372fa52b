"""The exact rule as a `Derivation`: the quantities, the assignments and the lines so far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from blrgen.algebra.components import outer_totals
from blrgen.algebra.ring import Matrix
from blrgen.core import (
    Assignment,
    Derivation,
    Facts,
    Family,
    Loss,
    Parameter,
    Quantity,
    Rule,
)
from blrgen.errors import InternalError, UserError
from blrgen.expect.expectation import Expectation, NoRoute
from blrgen.expect.gaps import gaps_of
from blrgen.expect.routes import expectation_of
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.rule.arrange import arrange
from blrgen.rule.by_inputs import by_inputs
from blrgen.rule.change import with_changes
from blrgen.rule.divisors import divisors, spelled
from blrgen.rule.gather import gathered
from blrgen.rule.lines import exact_lines
from blrgen.rule.loss_names import data_quantities, with_hyperparameters
from blrgen.rule.quantities import hyper, probe_quantity, state
from blrgen.rule.rule import RHO, ExactRule, exact_rule, next_of
from blrgen.rule.sizes import elementwise_if_scalars, with_sizes
from blrgen.rule.start import moved_off, starts
from blrgen.timing import timed

Expr = Any


def exact_derivation(
    family: Family, loss: Loss, route: str = "", *, current: bool = False
) -> Derivation:
    """Geometry, expectation and rule of a family, written out line by line.

    A concrete loss is used here only where its expectation has a closed form and the
    candidate is no Gaussian; everywhere else the rule is that of an abstract loss.
    """
    geometry = timed("geometry", geometry_of, family)
    known = with_hyperparameters(loss)
    try:
        expectation = timed(
            "expect", lambda g: expectation_of(g, known.expr, route, current=current), geometry
        )
        exact = timed("rule", lambda e: exact_rule(geometry, e), expectation)
        if geometry.ring.elementwise or geometry.ring.components:
            expectation, exact = _collected(expectation, exact)
        if geometry.ring.elementwise:
            exact = with_changes(exact, geometry.ring, *_symbols(geometry, expectation))
    except NoRoute:
        raise
    except InternalError as e:
        raise UserError(
            f"the rule of {family.name!r} cannot be solved for its parameters",
            where=family.path,
            why=str(e),
            how="working parameters in which the natural parameters separate: "
            "the scale alone in one of them, as in mean and precision",
        ) from e
    rule = timed("arrange", lambda e: _rule(geometry, expectation, e), exact)
    steps = timed("lines", lambda r: exact_lines(geometry, expectation, exact, r), rule)
    if expectation.split is not None:
        loss = known
        rule = replace(rule, quantities=(*rule.quantities, *data_quantities(loss, rule, geometry)))
    return Derivation(
        family=family,
        loss=loss,
        geometry=geometry,
        expectation=expectation,
        exact=exact,
        rule=rule,
        steps=steps,
        facts=_facts(geometry, expectation),
    )


def _collected(expectation: Expectation, exact: ExactRule) -> tuple[Expectation, ExactRule]:
    """Both with each input written once, wherever that is shorter."""
    inputs = [p.symbol for p in expectation.probes]
    parts = (*expectation.mean_gradient, *exact.natural_next.parts)
    inputs += sorted({t for x in parts for t in outer_totals(x) if t.has(*inputs)}, key=str)

    def step(x: Expr) -> Expr:
        return by_inputs(x, inputs, RHO)

    return (
        replace(
            expectation,
            mean_gradient=tuple(by_inputs(x, inputs) for x in expectation.mean_gradient),
        ),
        replace(
            exact,
            natural_next=exact.natural_next.map(step),
            working_next=tuple((x, step(value)) for x, value in exact.working_next),
        ),
    )


def _symbols(geometry: Geometry, expectation: Expectation) -> tuple[list[Expr], set[str]]:
    """What the loss is asked for, and every name that the rule has."""
    family = geometry.family
    inputs = [p.symbol for p in expectation.probes]
    own = (p.symbol for p in (*family.natural, *family.working, *family.fixed))
    names = {s.name for s in (*own, *inputs, *(s for s, _ in expectation.metric), RHO)}
    return inputs, names


def _facts(geometry: Geometry, expectation: Expectation) -> Facts:
    """What is asked of the loss, which parameter moves θ (first derivative), which scales it."""
    orders = dict(expectation.orders)
    location = [x for x in geometry.working if orders.get(x) == 1]
    scale = [x for x in geometry.working if orders.get(x) == 2]
    if not orders and len(geometry.working) == 1:
        location = list(geometry.working)
    own = scale[0] if len(scale) == 1 else None
    return Facts(
        probes=expectation.probes,
        location=location[0].name if len(location) == 1 else None,
        scale=None if own is None else own.name,
        family_scale=own,
        scale_value=own,
    )


def rule_of(d: Derivation) -> Rule:
    """The exact rule of a derivation, before any rewriting."""
    return _rule(d.geometry, d.expectation, d.exact)


def _rule(geometry: Geometry, expectation: Expectation, exact: ExactRule) -> Rule:
    family = geometry.family
    quantities: list[Quantity] = []
    parameters = family.working or family.natural
    domains = {p.symbol: p.domain for p in parameters}
    first = starts((*family.fixed, *parameters))
    values = [x for _, x in (*exact.working_next, *expectation.metric)]
    first = moved_off(first, geometry.working, domains, values)
    orders = dict(expectation.orders)
    for x in geometry.working:
        quantities.append(
            state(
                geometry,
                x,
                init=first[x],
                meaning=_meaning(geometry, x, orders.get(x)),
                domain=_range(domains[x].text),
            )
        )
    quantities += [probe_quantity(p, geometry) for p in expectation.probes]
    quantities.append(hyper("rho"))
    quantities += [_constant(geometry, p, first[p.symbol]) for p in family.fixed]
    taken = {q.name for q in quantities} | {p.name for p in family.natural}
    inputs = [p.symbol for p in expectation.probes]
    made, letters = _updates(geometry, exact, inputs, taken)
    quantities += letters
    quantities += [
        Quantity(s.name, "intermediate", "elementwise", s, _part(expectation))
        for s, _ in expectation.metric
    ]
    assignments = (
        *(Assignment(s.name, entry) for s, entry in expectation.metric),
        *made,
    )
    posterior = _posterior(geometry)
    if isinstance(geometry.ring, Matrix):
        quantities = with_sizes(quantities, assignments, posterior, [*family.fixed, *parameters])
        quantities = elementwise_if_scalars(quantities)
    return Rule(tuple(quantities), assignments, posterior)


def _part(expectation: Expectation) -> str:
    """What the letters of the metric are."""
    return "weight of a slope" if expectation.route == "enumeration" else "part of F⁻¹"


def _updates(
    geometry: Geometry, exact: ExactRule, inputs: list[Expr], taken: set[str]
) -> tuple[list[Assignment], list[Quantity]]:
    """The next values in order, and the letters for what is long in them."""
    values = [value for _, value in exact.working_next]
    shared = "divisor that the terms of F⁻¹ share"
    if not isinstance(geometry.ring, Matrix):
        named = divisors(geometry.ring, [*values, *(c for _, c in exact.changes)], taken)
        spelling = spelled(named, taken)
        made = [Assignment(s.name, divisor) for s, divisor in spelling]
        letters = [
            Quantity(s.name, "intermediate", geometry.ring.rank(s), s, shared) for s, _ in spelling
        ]
        changes = dict(exact.changes)
        for x, value in exact.working_next:
            for s in (s for s in changes if value == x + s):
                made.append(Assignment(s.name, arrange(changes[s].xreplace(named), [RHO])))
                said = f"change of {x.name}"
                letters.append(Quantity(s.name, "intermediate", geometry.ring.rank(s), s, said))
            made.append(Assignment(f"{x.name}_next", arrange(value.xreplace(named), [RHO])))
        return made, letters
    taken = taken | {f"{x.name}_next" for x, _ in exact.working_next}
    gaps = gaps_of(geometry.family)
    results = [next_of(x, geometry.ring) for x, _ in exact.working_next]
    work = gathered(values, inputs, [RHO], taken, coefficients=True, results=results, gaps=gaps)
    made = []
    for (x, _), value, before in zip(exact.working_next, work.values, work.before, strict=True):
        made += [Assignment(s.name, e) for s, e in before]
        made.append(Assignment(f"{x.name}_next", value))
    return made, [_letter(geometry, s) for s, _ in work.named]


def _letter(geometry: Geometry, s: Expr) -> Quantity:
    """A letter of the rule, and what it is for."""
    rank = geometry.ring.rank(s)
    said = "divisor that the terms of F⁻¹ share"
    if not s.name.startswith("det"):
        said = "what a matrix of the step is multiplied by" if rank == "scalar" else "moved state"
    return Quantity(s.name, "intermediate", rank, s, said)


def _range(domain: str) -> str:
    """A parameter's domain, coordinate by coordinate."""
    if "SPD" in domain:
        return domain
    if domain.startswith("integers >="):
        return f"[{domain.removeprefix('integers >=').strip()}, oo)"
    return domain.split("^")[0] if domain.startswith(("(", "[")) else "(-oo, oo)"


def _constant(geometry: Geometry, p: Parameter, value: Expr) -> Quantity:
    """A known constant of the family: chosen once, like a hyperparameter."""
    return Quantity(
        p.name,
        "hyper",
        geometry.ring.rank(p.symbol) if hasattr(p.symbol, "shape") else "scalar",
        p.symbol,
        meaning="known constant of the candidate",
        default=value,
        domain=_range(p.domain.text),
    )


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
