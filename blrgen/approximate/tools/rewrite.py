"""The tools approximations are written with: reading a rule's structure, changing it, saying so.

A rule's mean step is read as  m⁺ = m − K·ĝ  with K = −∂m⁺/∂ĝ, where ĝ is whatever
carries the gradient there (a probe, or its moving average).  With the step size r,
the preconditioner is D⁺ = r K⁻¹; D is D⁺ one step earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from blrgen.algebra.calculus import jacobian
from blrgen.algebra.components import put
from blrgen.algebra.partial import partial
from blrgen.approximate.tools.base import made
from blrgen.core import Assignment, Derivation, Equation, Facts, Probe, Quantity, Rule, Step
from blrgen.errors import InternalError, NotApplicable
from blrgen.rule.arrange import arrange
from blrgen.rule.lines import equations_of, probe_notation
from blrgen.rule.quantities import TIME as TIME
from blrgen.rule.quantities import hyper, place_of, probe_quantity

Expr = Any


def refuse(flag: str, why: str, how: str = "") -> NotApplicable:
    return NotApplicable(f"--{flag} does not apply here", why=why, how=how)


def symbol(d: Derivation, name: str) -> Expr:
    return d.rule[name].symbol


def next_symbol(d: Derivation, name: str) -> Expr:
    return d.geometry.ring.symbol_like(symbol(d, name), f"{name}_next")


def hyper_symbols(d: Derivation) -> list[Expr]:
    return [q.symbol for q in d.rule.of("hyper")] + [TIME]


def location(d: Derivation, flag: str) -> str:
    """The parameter that moves θ; refused when there is not exactly one."""
    name = d.facts.location
    if name is None or name not in d.rule:
        raise refuse(flag, f"{d.family.name} has no single parameter that moves the variable")
    return name


def scale(d: Derivation, flag: str) -> str:
    """The parameter that scales θ; refused when there is none."""
    name = d.facts.scale
    if name is None or name not in d.rule:
        reason = (
            "its scale has been fixed"
            if made(d, "fixed-scale")
            else "only a candidate with a spread of its own learns one"
        )
        raise refuse(
            flag,
            f"{d.family.name} has no scale that is learned here: {reason}",
            "a candidate with a scale, such as gaussian-diag",
        )
    return name


def elementwise(d: Derivation, flag: str, why: str) -> None:
    if not d.geometry.ring.elementwise:
        raise refuse(flag, why, "the diagonal candidate, gaussian-diag")


def probe_of_order(d: Derivation, order: int) -> Probe | None:
    places = ("q", "m", "theta")
    return next((p for p in d.facts.probes if p.order == order and p.at in places), None)


def set_probes(d: Derivation, change: Callable[[Probe], Probe]) -> Derivation:
    """Change where the probes are taken, and how they read."""
    new = tuple(change(p) for p in d.facts.probes)
    mean = dict(d.rule.posterior).get("mean")
    made = {p.name: probe_quantity(p, d.geometry, mean) for p in new}
    quantities = tuple(made.get(q.name, q) if q.kind == "input" else q for q in d.rule.quantities)
    rule = replace(d.rule, quantities=quantities)
    return d.with_(rule=rule, facts=replace(d.facts, probes=new))


def with_quantities(
    d: Derivation, add: tuple[Quantity, ...] = (), drop: tuple[str, ...] = ()
) -> Derivation:
    """Add (or replace by name) quantities and drop others; kinds keep their usual order."""
    kept = {q.name: q for q in d.rule.quantities if q.name not in drop}
    for q in add:
        if q.name in kept and kept[q.name].kind != q.kind:
            taken = kept[q.name]
            raise NotApplicable(
                f"the name {q.name} is taken",
                why=f"here it is a {taken.kind} ({taken.meaning}); "
                f"the approximation brings in {q.name}, {q.meaning}",
                how=f"another name in the family file, or --rename {q.name}:NAME before it",
            )
    kept |= {q.name: q for q in add}
    order = ("state", "input", "data", "known", "draw", "intermediate", "hyper", "counter")
    ranked = sorted(kept.values(), key=lambda q: (order.index(q.kind), place_of(q)))
    return d.with_(rule=replace(d.rule, quantities=tuple(ranked)))


def add_hyper(d: Derivation, *names: str, **changes: str) -> Derivation:
    new = tuple(hyper(n, **changes) for n in names if not chosen(d, n))
    return with_quantities(d, new)


def chosen(d: Derivation, name: str) -> bool:
    """Whether the rule has a hyperparameter of that name (a state may be called alpha too)."""
    return any(q.name == name for q in d.rule.of("hyper"))


def rewrite(
    d: Derivation, change: Mapping[str, Expr], *, before: tuple[Assignment, ...] = ()
) -> Derivation:
    """Replace the right-hand sides of some assignments; put new ones first."""
    assignments = before + tuple(
        replace(a, expr=_arranged(d, change[a.name])) if a.name in change else a
        for a in d.rule.assignments
    )
    return d.with_(rule=replace(d.rule, assignments=ordered(assignments)))


def _arranged(d: Derivation, x: Expr) -> Expr:
    return arrange(x, hyper_symbols(d))


def substitute(d: Derivation, mapping: Mapping[Expr, Expr]) -> Derivation:
    """Replace symbols in every assignment and in the posterior."""

    def moved(x: Expr) -> Expr:
        return put(x, mapping)

    d = rewrite(d, {a.name: moved(a.expr) for a in d.rule.assignments})
    posterior = tuple((k, moved(x)) for k, x in d.rule.posterior)
    d = d.with_(rule=replace(d.rule, posterior=posterior))
    return redraw(d.with_(facts=_moved(d.facts, moved)))


def _moved(facts: Facts, change: Callable[[Expr], Expr]) -> Facts:
    """The facts that are expressions in states and hyperparameters, rewritten with the rule."""
    kept = facts.scale_value
    return replace(
        facts,
        scale_value=None if kept is None else change(kept),
        momentum=facts.momentum and facts.momentum.map(change),
        corrections=tuple((n, change(x)) for n, x in facts.corrections),
    )


def hold_corrections(d: Derivation, x: Expr) -> tuple[Expr, dict[Expr, Expr]]:
    """(x with symbols for 1 − βᵗ, 1 − βᵗ⁻¹, …, what each stands for).

    A correction knows the rate of its own average, and is not touched when the step size
    of the mean is written anew.
    """
    table = {
        f.subs(TIME, TIME - k): sp.Dummy(f"{n}_{k}")
        for n, f in d.facts.corrections
        for k in (0, 1, 2)
    }
    return x.subs(table), {held: f for f, held in table.items()}


def law_of(d: Derivation) -> str:
    """N(mean, precision⁻¹) of the candidate as the rule now writes it."""
    from blrgen.text.expression import ascii

    posterior = dict(d.rule.posterior)
    return f"N({ascii(posterior['mean'])}, {ascii(posterior['precision'] ** -1)})"


def redraw(d: Derivation) -> Derivation:
    """Vector draws are from the candidate: their law follows when a state is rewritten."""
    quantities = tuple(
        replace(q, distribution=law_of(d)) if q.kind == "draw" and q.rank == "vector" else q
        for q in d.rule.quantities
    )
    return d.with_(rule=replace(d.rule, quantities=quantities))


def scale_value(d: Derivation) -> tuple[Expr, Expr]:
    """(x, x as a function of the state): the family's own scale, and how the rule keeps it."""
    return d.facts.family_scale, d.facts.scale_value


def natural_in_scale(d: Derivation) -> bool:
    """Whether the natural parameters are affine in the family's scale."""
    from blrgen.algebra.directions import direction_symbol, directional

    x, _ = scale_value(d)
    way = direction_symbol(x, "X")
    return all(
        directional(directional(value, x, way), x, way) == 0
        for value in d.geometry.natural_of_working.values()
    )


def ordered(assignments: tuple[Assignment, ...]) -> tuple[Assignment, ...]:
    """The same assignments, each after those it uses; their order is kept where it can be."""
    left, done = list(assignments), list[Assignment]()
    while left:
        waiting = {a.name for a in left}
        ready = next(
            (a for a in left if not {s.name for s in a.expr.free_symbols} & (waiting - {a.name})),
            None,
        )
        if ready is None:
            raise InternalError(f"assignments use each other in a circle: {sorted(waiting)}")
        left.remove(ready)
        done.append(ready)
    stages = ("draw", "estimate", "update")
    return tuple(sorted(done, key=lambda a: stages.index(a.stage)))


def shown(x: Expr) -> str:
    """An expression or name inside a sentence, as the printers write it."""
    from blrgen.text.expression import unicode

    return unicode(x)


def drop_unused(d: Derivation, *more: str) -> Derivation:
    """Forget inputs, draws and hyperparameters that no assignment mentions any more.

    `more` are other kinds that go: data, once the loss has been put in.
    """
    d = _without_dangling(d)
    used = {s.name for a in d.rule.assignments for s in a.expr.free_symbols}
    used |= {s.name for q in d.rule.of("state") if q.init is not None
             for s in sp.sympify(q.init).free_symbols}  # fmt: skip
    used |= {s.name for _, x in d.rule.posterior for s in x.free_symbols}
    used |= {a.name for a in d.rule.assignments}
    gone = tuple(
        q.name for q in d.rule.quantities
        if q.kind in ("input", "hyper", "draw", "intermediate", *more) and q.name not in used
        and not (q.kind == "draw" and q.rank == "vector")
    )  # fmt: skip
    return with_quantities(d, drop=gone)


def _without_dangling(d: Derivation) -> Derivation:
    """Forget intermediate results that nothing uses; the place of the probe is always used."""
    states = {f"{q.name}_next" for q in d.rule.of("state")}
    kept = d.rule.assignments
    while True:
        used = {s.name for a in kept for s in a.expr.free_symbols}
        left = tuple(a for a in kept if a.name in used | states or a.stage == "draw")
        if left == kept:
            return d.with_(rule=replace(d.rule, assignments=kept))
        kept = left


def say(
    d: Derivation,
    flag: str,
    option: str | None,
    title: str,
    because: str,
    *,
    equations: tuple[Equation, ...] | None = None,
    notation: tuple[tuple[str, str, str], ...] = (),
) -> Derivation:
    """Add a line: by default the whole rule as it now stands."""
    shown = equations_of(d.rule, d.geometry) if equations is None else equations
    name = flag if option is None else f"{flag}={option}"
    step = Step(title, shown, because, "working", name, (*probe_notation(d.rule), *notation))
    return d.with_(steps=(*d.steps, step))


def final(rule: Rule, name: str) -> Expr:
    return rule.expr(f"{name}_next")


@dataclass(frozen=True)
class MeanStep:
    """m⁺ = m − r D⁺⁻¹ ĝ (+ what does not involve the carrier ĝ)."""

    name: str
    m: Expr
    expr: Expr
    carrier: Expr
    factor: Expr  # K
    rate: Expr
    divisor: Expr  # D⁺
    divisor_now: Expr  # D


def mean_step(d: Derivation, flag: str) -> MeanStep:
    """Read the mean step's structure off its right-hand side."""
    name = location(d, flag)
    expr = final(d.rule, name)
    carrier = carrier_of(d, flag)
    factor = -jacobian(expr, carrier) if not expr.is_commutative else -partial(expr, carrier)
    if factor == 0 or factor.has(carrier):
        raise refuse(flag, f"the step of {name} is not linear in the gradient")
    rate = step_size(d, flag)
    divisor = d.geometry.ring.tidy(rate * factor**-1) if not expr.is_commutative else rate / factor
    return MeanStep(
        name, symbol(d, name), expr, carrier, factor, rate, divisor, one_step_earlier(d, divisor)
    )


def carrier_of(d: Derivation, flag: str) -> Expr:
    """What stands for the gradient in the mean step: a probe, or its moving average."""
    if "u" in d.rule:
        return next_symbol(d, "u")
    probe = probe_of_order(d, 1)
    if probe is None:
        raise refuse(flag, "there is no gradient in this rule")
    return probe.symbol


def step_size(d: Derivation, flag: str) -> Expr:
    """The step size of the mean: α once it has one of its own, else ρ."""
    for name in ("alpha", "rho"):
        if chosen(d, name) and final(d.rule, location(d, flag)).has(symbol(d, name)):
            return symbol(d, name)
    return sp.S.One


def one_step_earlier(d: Derivation, x: Expr) -> Expr:
    """x with every NAME_next replaced by NAME, and t by t − 1."""
    back = {next_symbol(d, q.name): q.symbol for q in d.rule.of("state")}
    return put(x, {**back, TIME: TIME - 1})
