"""Posterior and samples of elementwise rules, in NumPy whatever the target."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.emit.common import wants_gaussian, wants_two_points
from blrgen.emit.law import each_array, methods
from blrgen.emit.moments import posterior_method
from blrgen.emit.printers import ArrayPrinter
from blrgen.emit.probing import joined
from blrgen.emit.sampler import sample_method
from blrgen.emit.templates import fill
from blrgen.emit.uses import spelled, use, watching
from blrgen.emit.writer import Writer
from blrgen.program import nodes as n
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.emit.elementwise import ElementwiseWriter


def posterior_methods(writer: ElementwiseWriter) -> list[str]:
    """Posterior and sample, or nothing when the rule keeps no spread."""
    q = dict(writer.program.posterior)
    if "mean" not in q:
        return _of_law(writer)
    names = _names(writer)
    printer = ArrayPrinter(names)
    if "precision" in q and wants_gaussian(writer.derivation):
        return [_gaussian(writer, q, printer), _gaussian_sample(writer)]
    points = wants_two_points(writer.derivation)
    if points is not None:
        return _two_points(writer, q["mean"], points, printer)
    return _of_law(writer)


def _names(writer: ElementwiseWriter) -> dict[str, str]:
    """How the states and hyperparameters are written in a loop over arrays."""
    numbers = (*writer.program.of("hyper"), *writer.scalar_states)
    states = {v.name: spelled(f"self.{v.name}[index]", "index") for v in writer.array_states}
    typed = {v.name: spelled(f"real(self.{v.name})", "real") for v in numbers}
    return {**states, **typed, writer.main: writer.main}


def _of_law(writer: ElementwiseWriter) -> list[str]:
    """Moments and draws of a candidate that is no Gaussian."""
    if writer.law is None:
        own = [posterior_method(writer, writer.moments)] if writer.moments is not None else []
        return [*own, *_own_draws(writer)]
    names = {x: text for x, text in _names(writer).items() if x != writer.main}
    said = {
        "posterior": "Return mean and standard deviation of every variable.",
        "draws": "Draw every variable from the candidate; the same seed, the same draw.",
    }
    return [
        fill(f"class/{name}.py.jinja", summary=said[name], body=body)
        for name, body in methods(writer.law, names, writer.main, writer.jitted)
    ]


def _own_draws(writer: Writer) -> list[str]:
    """Draws of vectors by their components, and of several variables."""
    made = writer.drawing
    if made is None:
        return []
    arrays = {v.name for v in writer.array_states}
    values = {p.name: f"self.{p.name}" for p in made.parameters}
    values |= {name: f"self.{name}[index]" for name in arrays & values.keys()}
    if writer.main in values:
        values[writer.main] = writer.main
    each = f"        for {writer.main} in self.{writer.main}:"
    if arrays & values.keys() - {writer.main}:
        each = f"        for index, {writer.main} in enumerate(self.{writer.main}):"
    return [sample_method(made, values, each)]


def _value(writer: Writer, expr: n.Node, printer: ArrayPrinter) -> str:
    """An expression as an array of its own."""
    scope = writer.program.scope
    if isinstance(expr, n.Sym) and scope[expr.name] != SCALAR:
        return f"{printer(expr)}.copy()"
    if all(scope[x] == SCALAR for x in n.names(expr)):
        return f"np.full_like({writer.main}, {printer(expr)})"
    return printer(expr)


def _rows(writer: Writer, makes: list[tuple[str, str]], needs: set[str]) -> list[str]:
    """For each array: a value of every name, kept in a list."""
    body = [f"            {name}s.append({text})" for name, text in makes]
    return each_array([name for name, _ in makes], writer.main, body, needs)


def _gaussian(writer: ElementwiseWriter, q: dict[str, n.Node], printer: ArrayPrinter) -> str:
    scope = writer.program.scope
    with watching() as needs:
        mean, precision = _value(writer, q["mean"], printer), printer(q["precision"])
        if all(scope[x] == SCALAR for x in n.names(q["precision"])):
            precision = _value(writer, q["precision"], printer)
    if q["mean"] == n.Sym(writer.main) and isinstance(q["precision"], n.Sym):
        rows = [
            f"        deviations = [{use('_deviation')}(x) for x in self.{q['precision'].name}]",
            f"        means = [x.copy() for x in self.{writer.main}]",
            f"        return {use('_shaped')}(means, self.params), "
            "_shaped(deviations, self.params)",
        ]
    else:
        deviation = f"{use('_deviation')}({precision})"
        rows = _rows(writer, [("mean", mean), ("deviation", deviation)], needs)
        rows.append(
            f"        return {use('_shaped')}(means, self.params), _shaped(deviations, self.params)"
        )
    return fill(
        "class/posterior.py.jinja",
        summary="Return mean and standard deviation of every parameter.",
        body="\n".join(rows),
    )


def _gaussian_sample(writer: ElementwiseWriter) -> str:
    pairs = f"pairs = zip({use('_listed')}(means), _listed(deviations), strict=True)"
    rows = ["        means, deviations = self.posterior()"]
    if any(x.function == "_standard_normal" for j in joined(writer) for x in j.noise):
        for name in ("_standard_normal_threads", "_stretch"):
            use(name)
        rows += [
            f"        {pairs}",
            "        values, key = [], int(rng.integers(2**63))",
            "        for stream, (mean, deviation) in enumerate(pairs):",
            "            noise = np.empty(mean.size, mean.dtype)",
            "            _standard_normal_threads(noise, key, stream, _stretch(noise.size))",
            "            values.append(mean + deviation * noise.reshape(mean.shape))",
            f"        return {use('_shaped')}(values, self.params)",
        ]
    else:
        rows += [
            f"        {pairs}",
            "        draws = [x + s * rng.standard_normal(x.shape, x.dtype) for x, s in pairs]",
            f"        return {use('_shaped')}(draws, self.params)",
        ]
    return fill(
        "class/sample.py.jinja",
        summary="Draw from the posterior; the same seed gives the same draw.",
        body="\n".join(rows),
    )


def _two_points(
    writer: ElementwiseWriter,
    mean: n.Node,
    points: tuple[Fraction, Fraction],
    printer: ArrayPrinter,
) -> list[str]:
    """P(high) = (mean − low)/(high − low); the variance is (mean − low)(high − mean)."""
    low, high = (n.Const(p) for p in points)
    above = n.Sub(n.Sym("mean"), low) if low.value > 0 else n.add(n.Sym("mean"), n.neg(low))
    text = ArrayPrinter()
    spread = text(n.sqrt(n.mul(above, n.Sub(high, n.Sym("mean")))))
    share = text(n.div(above, n.Const(high.value - low.value)))
    with watching() as needs:
        value = _value(writer, mean, printer)
    rows = _rows(writer, [("mean", value)], needs)
    rows += [
        f"        deviations = [{spread} for mean in means]",
        f"        return {use('_shaped')}(means, self.params), _shaped(deviations, self.params)",
    ]
    posterior = fill(
        "class/posterior.py.jinja",
        summary="Return mean and standard deviation of every binary variable.",
        body="\n".join(rows),
    )
    rows = [
        "        means, _ = self.posterior()",
        "        values = []",
        f"        for mean in {use('_listed')}(means):",
        "            u = rng.random(mean.shape, dtype=mean.dtype)",
        f"            low, high = mean.dtype.type({text(low)}), mean.dtype.type({text(high)})",
        f"            values.append(np.where(u < {share}, high, low))",
        f"        return {use('_shaped')}(values, self.params)",
    ]
    if joined(writer):
        ends = f"{float(low.value)!r}, {float(high.value)!r}"
        for name in ("_signs_threads", "_stretch"):
            use(name)
        rows[1:-1] = [
            "        values, key = [], int(rng.integers(2**63))",
            "        for stream, mean in enumerate(_listed(means)):",
            f"            share = np.ravel({share})",
            "            value, stretch = np.empty_like(share), _stretch(share.size)",
            f"            _signs_threads(value, share, {ends}, key, stream, stretch)",
            "            values.append(value.reshape(mean.shape))",
        ]
    sample = fill(
        "class/sample.py.jinja",
        summary=f"Draw {text(low)} or {text(high)} for each; the same seed, the same draw.",
        body="\n".join(rows),
    )
    return [posterior, sample]
