"""Posterior and samples of families that are no Gaussians: moments, draws, inverse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from blrgen.core import Derivation
from blrgen.emit.averages import QUANTILE
from blrgen.emit.common import wants_two_points
from blrgen.emit.printers import ArrayPrinter
from blrgen.emit.text import assignment
from blrgen.errors import UserError
from blrgen.geometry.integrate.draws import Draw, draws_of
from blrgen.geometry.law import law_of
from blrgen.program import nodes as n
from blrgen.program.averages import density
from blrgen.program.density import Density, Expectation
from blrgen.program.expand import expanded
from blrgen.program.lower import Lowering
from blrgen.program.program import Program
from blrgen.program.stable import stable_form

Expr = Any


@dataclass(frozen=True)
class Lowered:
    """Mean and variance, draws in order (name, kind, arguments) and the variable from them.

    Without a sampler: the density for the inverse, at `arguments`, or the weights of points.
    """

    mean: n.Node | None = None
    variance: n.Node | None = None
    draws: tuple[tuple[str, str, tuple[n.Node, ...]], ...] = ()
    value: n.Node | None = None
    density: Density | None = None
    arguments: tuple[n.Node, ...] = ()
    points: tuple[tuple[n.Node, n.Node], ...] = ()  # (value, log weight)
    expectations: tuple[Expectation, ...] = ()


def lowered_law(derivation: Derivation, program: Program) -> Lowered | None:
    """What the class can say of the candidate; None where its states are not the parameters."""
    law = law_of(derivation.geometry) if derivation.geometry is not None else None
    if law is None or "precision" in dict(program.posterior) or wants_two_points(derivation):
        return None
    geometry, family = derivation.geometry, derivation.family
    held = {v.name for v in program.of("state", "hyper")}
    needed = {s.name for e in geometry.natural_of_working.values() for s in e.free_symbols}
    if not needed | {p.name for p in family.fixed} <= held:
        return None
    lowering = Lowering(dict(program.scope))
    lowering.first = len(program.expectations)

    def lower(e: Expr) -> n.Node:
        return expanded(stable_form(lowering.lower(e, where="in the posterior")))

    found = Lowered()
    try:
        if law.mean is not None and law.variance is not None:
            found = replace(found, mean=lower(law.mean), variance=lower(law.variance))
    except UserError:
        pass  # no target computes the moments: only samples then
    found = replace(found, **_draws(law.sampler, lower, lowering, derivation))
    return replace(found, expectations=tuple(lowering.expectations))


def _draws(sampler: Expr | None, lower: Any, lowering: Any, derivation: Derivation) -> Any:
    """By the sampler, over points, or by the inverse of the distribution function."""
    ways: list[Callable[[], dict[str, Any]]] = [lambda: _numerically(derivation, lower)]
    if derivation.family.support.kind == "finite":
        ways = [lambda: {"points": tuple(_points(derivation.geometry, lower))}]
    if sampler is not None:
        ways.insert(0, lambda: _by_sampler(sampler, lower, lowering))
    for way in ways:
        try:
            return way()
        except UserError:
            continue  # no target computes what it needs
    return {}


def _by_sampler(sampler: Expr, lower: Any, lowering: Any) -> dict[str, Any]:
    names: dict[Expr, Expr] = {}
    rows = []
    element = next(t for t in lowering.types.values() if t.rank == "elementwise")
    for k, d in enumerate(draws_of(sampler), start=1):
        args = tuple(lower(a.xreplace(names)) for a in d.args[2:])
        name = f"{d.args[0]}_{k}"
        positive = str(d.args[0]) in ("uniform", "gamma")
        names[d] = sp.Symbol(name, real=True, positive=positive or None)
        lowering.types[name] = element
        rows.append((name, str(d.args[0]), args))
    value = sampler
    while value.has(Draw):
        value = value.xreplace(names)
    return {"draws": tuple(rows), "value": lower(value)}


def _numerically(derivation: Derivation, lower: Any) -> dict[str, Any]:
    family = derivation.family
    arguments = [derivation.geometry.to_working(p.symbol) for p in family.natural]
    arguments += [p.symbol for p in family.fixed]
    return {"density": density(family), "arguments": tuple(map(lower, arguments))}


def _points(geometry: Any, lower: Any) -> Any:
    from blrgen.geometry.integrate import exponent_of

    family = geometry.family
    exponent = exponent_of(family, geometry.ring)
    for p in family.support.points:
        level = sp.expand_log(exponent.subs(family.variable, p), force=True)
        yield lower(sp.sympify(p)), lower(geometry.to_working(level))


class MethodPrinter(ArrayPrinter):
    """Expressions of methods: compiled functions are applied element by element."""

    def __init__(self, names: dict[str, str], jitted: bool) -> None:
        super().__init__(names)
        self.jitted = jitted

    def _special(self, node: n.Call) -> tuple[str, int]:
        text, level = super()._special(node)
        if not self.jitted:
            return text, level
        name, _, rest = text.partition("(")
        return f"_over({name}, {rest}", level


def methods(law: Lowered, names: dict[str, str], main: str, jitted: bool) -> list[tuple[str, str]]:
    """(template, body) of posterior and sample; each array is called `main` in turn."""
    made = []
    printer = MethodPrinter(names, jitted)
    if law.mean is not None and law.variance is not None:
        body = [
            assignment("mean", printer(law.mean), 12),
            assignment("deviation", f"np.sqrt({printer(law.variance)})", 12),
        ]
        rows = _each(["mean", "deviation"], main, body)
        rows += _kept(["mean", "deviation"], main)
        rows.append("        return self._shaped(means), self._shaped(deviations)")
        made.append(("posterior", "\n".join(rows)))
    drawn = _draw_rows(law, names, main, jitted)
    if drawn:
        rows = [*_each(["value"], main, drawn), *_kept(["value"], main)]
        rows.append("        return self._shaped(values)")
        made.append(("sample", "\n".join(rows)))
    return made


def _each(kept: list[str], main: str, body: list[str]) -> list[str]:
    """The loop over arrays, with the names that its body uses."""
    text = "\n".join(body)
    rows = [f"        {x}s = []" for x in kept]
    if "[index]" in text:
        rows.append(f"        for index, {main} in enumerate(self.{main}):")
    else:
        rows.append(f"        for {main} in self.{main}:")
    if "real(" in text:
        rows.append(f"            real = {main}.dtype.type")
    return [*rows, *body]


def _kept(kept: list[str], main: str) -> list[str]:
    whole = "np.broadcast_to({0}, {1}.shape).astype({1}.dtype)"
    return [f"            {x}s.append({whole.format(x, main)})" for x in kept]


_RNG = {
    "normal": "rng.standard_normal({shape})",
    "uniform": "rng.random({shape})",
    "gamma": "rng.standard_gamma({0}, {shape})",
    "poisson": "rng.poisson({0}, {shape})",
    "binomial": "rng.binomial({0}, {1}, {shape})",
    "vonmises": "rng.vonmises(0, {0}, {shape})",
}


def _draw_rows(law: Lowered, names: dict[str, str], main: str, jitted: bool) -> list[str]:
    shape = f"{main}.shape"
    margin = " " * 12
    if law.value is not None:
        own = names | {name: name for name, _, _ in law.draws}
        printer = MethodPrinter(own, jitted)
        rows = []
        for name, kind, args in law.draws:
            made = _RNG[kind].format(*map(printer, args), shape=shape)
            rows.append(f"{margin}{name} = {made}")
        return [*rows, assignment("value", printer(law.value), 12)]
    printer = MethodPrinter(names, jitted)
    if law.points:
        levels = [f"{margin}    {printer(level)}," for _, level in law.points]
        values = ", ".join(printer(v) for v, _ in law.points)
        return [
            f"{margin}levels = np.stack(np.broadcast_arrays(", f"{margin}    0 * {main},",
            *levels, f"{margin})[1:])",
            f"{margin}shares = np.cumsum(np.exp(levels - levels.max(axis=0)), axis=0)",
            f"{margin}u = rng.random({shape}) * shares[-1]",
            f"{margin}value = np.array([{values}])[(u >= shares[:-1]).sum(axis=0)]",
        ]  # fmt: skip
    if law.density is not None:
        call = n.Call(QUANTILE, (n.Sym("u"), *law.arguments))
        text = MethodPrinter(names | {"u": "u"}, jitted)(call)
        return [f"{margin}u = rng.random({shape}, dtype={main}.dtype)", f"{margin}value = {text}"]
    return []
