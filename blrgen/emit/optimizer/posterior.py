"""Posterior and samples of rules of arrays: formulas of what is kept, the same for every target."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.emit.common import wants_gaussian, wants_two_points
from blrgen.emit.drawn import Rows
from blrgen.emit.law import MethodPrinter
from blrgen.emit.optimizer import parts
from blrgen.emit.optimizer.base import together
from blrgen.emit.optimizer.parts import ARRAYS, PARAMS, RNG, me, method_of, numpy
from blrgen.emit.sampler import Drawing
from blrgen.emit.tree import classes as c
from blrgen.emit.uses import spelled, watching
from blrgen.program import nodes as n
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.emit.optimizer.writer import Writer
    from blrgen.program.moments import Moments

REAL, SEED = c.Name("real"), c.Name("rng")
MEAN, DEVIATION, MEANS, DEVIATIONS, VALUES = c.own(
    "mean", "deviation", "means", "deviations", "values"
)
VARIANCE = c.Name("variance")
GENERATOR = c.Do(c.call("_generator", SEED))
PAIRS, KEY = c.own("pairs", "key")
START = c.Set((VALUES, KEY), c.Row((c.Row((), listed=True),
              c.call("int", method_of(SEED, "integers", c.Text("2**63"))))))  # fmt: skip
SAME = "the same seed gives the same draw"


def methods(w: Writer) -> list[c.Method]:
    """Posterior and sample, or nothing when the rule keeps no spread."""
    q = dict(w.program.posterior)
    if "mean" in q and "precision" in q and wants_gaussian(w.derivation):
        return [_gaussian(w, q["mean"], q["precision"]), _gaussian_sample(w)]
    points = wants_two_points(w.derivation)
    if "mean" in q and points is not None:
        return _two_points(w, q["mean"], *map(n.Const, points))
    if w.law is not None:
        return _of_law(w)
    own = [_of_components(w, w.moments)] if w.moments is not None else []
    return [*own, *_own_draws(w)]


def posterior(said: str, body: Sequence[c.Statement]) -> c.Method:
    """`posterior` with what it says."""
    return c.Method("posterior", (), f"tuple[{ARRAYS}, {ARRAYS}]", said, tuple(body))


def sample(said: str, body: Sequence[c.Statement], mark: str = "") -> c.Method:
    """`sample` with what it says."""
    given = (c.Argument("rng", RNG),)
    return c.Method("sample", given, ARRAYS, said, (GENERATOR, *body), mark)


def shaped(*lists: c.Expression) -> c.Return:
    """Lists of flat arrays in the shape of the parameters."""
    found = tuple(c.call("_shaped", x, PARAMS) for x in lists)
    return c.Return(found[0] if len(found) == 1 else c.Row(found))


def formula(w: Writer, expr: n.Node) -> c.Formula:
    """An expression of what is kept, in a loop over arrays."""
    scope = w.program.scope
    numbers = {v.name for v in (*w.program.of("hyper"), *w.plan.numbers)}
    names = {x: c.call(REAL, me(x)) if x in numbers else c.Name(x) for x in n.names(expr)}
    over = tuple(x for x in n.names(expr) if scope[x] != SCALAR)
    return c.Formula(expr, tuple(names.items()), over or (w.main,))


def each_array(
    w: Writer, exprs: Sequence[n.Node], body: Sequence[c.Statement], typed: bool = False
) -> c.Loop:
    """The body for each array, with what expressions read of it under its own name."""
    read = {x for e in exprs for x in n.names(e)}
    arrays = [v.name for v in w.plan.arrays if v.name in read and v.name != w.main]
    held = [me(x) for x in (w.main, *arrays)]
    numbers = {v.name for v in (*w.program.of("hyper"), *w.plan.numbers)}
    main = c.Name(w.main)
    first = [c.Set((REAL,), c.Word("type", (main,)))] if typed or read & numbers else []
    over = together(held) if len(held) > 1 else held[0]
    return c.Loop(c.own(w.main, *arrays), over, (*first, *body))


def _whole(w: Writer, expr: n.Node) -> c.Expression:
    """An expression as an array of its own."""
    if isinstance(expr, n.Ref) and w.program.scope[expr.name] != SCALAR:
        return c.Word("copy", (c.Name(expr.name),))
    value = formula(w, expr)
    if all(w.program.scope[x] == SCALAR for x in n.names(expr)):
        return c.Word("all", (c.Name(w.main), c.Formula(expr, value.names, typed=True)))
    return value


def _lists(*names: c.Name) -> list[c.Statement]:
    """New lists under their names."""
    empty = c.Row((), listed=True)
    return [c.Set(names, c.Row((empty,) * len(names)) if len(names) > 1 else empty)]


def _append(to: c.Name, value: c.Expression) -> c.Do:
    return c.Do(method_of(to, "append", value))


def _gaussian(w: Writer, mean: n.Node, precision: n.Node) -> c.Method:
    said, x = "Return mean and standard deviation of every parameter.", c.Name("x")
    if n.is_name(mean, w.main) and isinstance(precision, n.Ref):
        held = me(precision.name)
        rows = [
            c.Set((DEVIATIONS,), c.Each(c.call("_deviation", x), (x,), held)),
            c.Set((MEANS,), c.Each(c.Word("copy", (x,)), (x,), me(w.main))),
        ]
        return posterior(said, [*rows, shaped(MEANS, DEVIATIONS)])
    scalar = all(w.program.scope[y] == SCALAR for y in n.names(precision))
    spread = _whole(w, precision) if scalar else formula(w, precision)
    body = (_append(MEANS, _whole(w, mean)), _append(DEVIATIONS, c.call("_deviation", spread)))
    loop = each_array(w, (mean, precision), body)
    return posterior(said, [*_lists(MEANS, DEVIATIONS), loop, shaped(MEANS, DEVIATIONS)])


def _gaussian_sample(w: Writer) -> c.Method:
    rows: list[c.Statement] = [c.Set((MEANS, DEVIATIONS), c.call(me("posterior")))]
    lists = (c.call("_listed", MEANS), c.call("_listed", DEVIATIONS))
    rows.append(c.Set((PAIRS,), together(lists)))
    noise = c.Name("noise")
    moved = n.Add((n.Ref("mean"), n.Mul((n.Ref("deviation"), n.Ref("noise")))))
    names: dict[str, c.Expression] = {"mean": MEAN, "deviation": DEVIATION}
    if any(x.law == "normal" for j in w.ways.joined() for x in j.noise):
        size, stream = c.Attribute(MEAN, "size"), c.Name("stream")
        fill = c.call("_standard_normal", noise, KEY, stream, c.Literal(0))
        names["noise"] = method_of(noise, "reshape", c.Attribute(MEAN, "shape"))
        body = (
            c.Set((noise,), numpy("empty", size, c.Attribute(MEAN, "dtype"))),
            c.Do(fill),
            _append(VALUES, c.Formula(moved, tuple(names.items()), tuple(names))),
        )
        targets = (stream, c.Row((MEAN, DEVIATION)))
        loop = c.Loop(targets, c.call("enumerate", PAIRS), body)
        rows += [START, loop, shaped(VALUES)]
    else:
        names["noise"] = c.call("_normals", SEED, MEAN)
        value = c.Formula(moved, tuple(names.items()), tuple(names))
        drawn = c.Each(value, (MEAN, DEVIATION), PAIRS)
        rows += [c.Set((VALUES,), drawn), shaped(VALUES)]
    return sample(f"Draw from the posterior; {SAME}.", rows)


def _two_points(w: Writer, mean: n.Node, low: n.Const, high: n.Const) -> list[c.Method]:
    """P(high) = (mean − low)/(high − low); the variance is (mean − low)(high − mean)."""
    own = n.Ref("mean")
    above = n.Sub(own, low) if low.value > 0 else n.add(own, n.neg(low))
    spread = n.sqrt(n.mul(above, n.Sub(high, own)))
    share = n.div(above, n.Const(high.value - low.value))

    def of_mean(e: n.Node) -> c.Formula:
        return c.Formula(e, (("mean", MEAN),), ("mean",))

    rows = [
        *_lists(MEANS),
        each_array(w, (mean,), (_append(MEANS, _whole(w, mean)),)),
        c.Set((DEVIATIONS,), c.Each(of_mean(spread), (MEAN,), MEANS)),
        shaped(MEANS, DEVIATIONS),
    ]
    first = posterior("Return mean and standard deviation of every binary variable.", rows)
    ends = tuple(c.Literal(_plain(x.value)) for x in (low, high))
    value = c.Word("picked", (SEED, MEAN, of_mean(share), *ends))
    listed = c.call("_listed", MEANS)
    body: list[c.Statement] = [c.Set((MEANS, c.Name("_")), c.call(me("posterior")))]
    if w.ways.joined():
        stream, kept = c.Name("stream"), c.Name("value")
        given = c.Name("share")
        floats = tuple(c.Literal(float(x.value)) for x in (low, high))
        fill = c.call("_signs", kept, given, *floats, KEY, stream, c.Literal(0))
        inner = (
            c.Set((given,), numpy("ravel", of_mean(share))),
            c.Set((kept,), numpy("empty_like", given)),
            c.Do(fill),
            _append(VALUES, method_of(kept, "reshape", c.Attribute(MEAN, "shape"))),
        )
        body += [START, c.Loop((stream, MEAN), c.call("enumerate", listed), inner)]
    else:
        body.append(c.Set((VALUES,), c.Each(value, (MEAN,), listed)))
    said = f"Draw {ends[0].value} or {ends[1].value} for each; the same seed, the same draw."
    return [first, sample(said, [*body, shaped(VALUES)])]


def _plain(value: Fraction) -> float | int:
    return int(value) if value.denominator == 1 else float(value)


def _of_law(w: Writer) -> list[c.Method]:
    """Moments and draws of a candidate that is no Gaussian."""
    law, made = w.law, list[c.Method]()
    assert law is not None
    main = c.Name(w.main)
    if law.mean is not None and law.variance is not None:
        variance = n.Ref("variance")
        spread = c.Formula(n.sqrt(variance), (("variance", VARIANCE),), ("variance",))
        body: list[c.Statement] = [
            c.Set((MEAN,), formula(w, law.mean)),
            c.Set((VARIANCE,), formula(w, law.variance)),
            _append(MEANS, c.Word("like", (MEAN, main))),
            _append(DEVIATIONS, c.Word("like", (spread, main))),
        ]
        loop = each_array(w, (law.mean, law.variance), body)
        said = "Return mean and standard deviation of every variable."
        rows = [*_lists(MEANS, DEVIATIONS), loop, shaped(MEANS, DEVIATIONS)]
        made.append(posterior(said, rows))
    if law.steps:
        loop = _drawn(w)
        said = "Draw every variable from the candidate; the same seed, the same draw."
        body = [*_lists(VALUES), loop, shaped(VALUES)]
        made.append(sample(said, body, 'np.errstate(all="ignore")'))
    return made


def _drawn(w: Writer) -> c.Loop:
    """The lines that draw one array, from what is kept of it."""
    law, main, jitted = w.law, w.main, w.ways.compiled
    assert law is not None
    numbers = (*w.program.of("hyper"), *w.plan.numbers)
    names = {v.name: spelled(v.name, v.name) for v in w.plan.arrays}
    names |= {v.name: spelled(f"real(self.{v.name})", "real") for v in numbers}
    rows = Rows(f"{main}.shape", 12, {**names, main: main},
                lambda own: MethodPrinter(own, jitted), f"{main}.dtype", law.first)  # fmt: skip
    rows.reserve([main, "values", "real", "rng", "self"])
    with watching() as needs:
        for step in law.steps:
            value = rows.step(step)
    lines = c.Lines(tuple(rows.lines), tuple(sorted(needs)))
    read = [n.Ref(v.name) for v in w.plan.arrays if v.name in needs]
    return each_array(w, read, (lines, _append(VALUES, c.Name(value))), "real" in needs)


def _own_draws(w: Writer) -> list[c.Method]:
    """Draws of vectors by their components, and of several variables."""
    if w.drawing is None:
        return []
    arrays = {v.name for v in w.plan.arrays}
    names = [p.name for p in w.drawing.parameters]
    values = [c.Name(x) if x in arrays else me(x) for x in names]
    read = [n.Ref(x) for x in names if x in arrays]

    def loop(value: c.Expression) -> c.Loop:
        return each_array(w, read, (_append(VALUES, value),))

    return [drawn(w.drawing, values, loop)]


def drawn(made: Drawing, values: Sequence[c.Expression], loop: object) -> c.Method:
    """`sample` of a class: the parameters as its attributes, one array after the other."""
    shaped_as = made.numbers and callable(loop)
    size = c.Row(()) if shaped_as else c.Name("size")
    value = c.call(c.Use("_drawn"), SEED, size, *values)
    said = f"Draw from the candidate, in doubles; {SAME}."
    given = [c.Argument("rng", RNG)]
    if not shaped_as:
        given.append(c.Argument("size", "Any", parts.NOTHING))
        said += "\n\nAn array has the shape of `size` and then that of one draw."
    rows: list[c.Statement] = [GENERATOR]
    if not callable(loop):
        rows.append(c.Return(value))
    else:
        rows += [c.Set((VALUES,), c.Row((), listed=True), "list[Any]"), loop(value)]
        rows.append(_collected(made, shaped_as))
    return c.Method("sample", tuple(given), "Any", said, tuple(rows))


def _collected(made: Drawing, shaped_as: bool) -> c.Return:
    """What is drawn for every array, as the caller holds his."""
    x = c.Name("x")
    if shaped_as and made.several:
        zipped = c.call("zip", c.Sign("*", VALUES), strict=c.Literal(True))
        each = c.Each(c.call("_shaped", x, PARAMS), (x,), zipped, bare=True)
        return c.Return(c.call("tuple", each))
    if shaped_as:
        return shaped(VALUES)
    return c.Return(c.Either(VALUES, _several(), c.Item(VALUES, c.Literal(0))))


def _several() -> c.Expression:
    """Whether the caller holds more than one array."""
    return c.call("isinstance", PARAMS, c.Text("list | tuple"))


def _of_components(w: Writer, moments: Moments) -> c.Method:
    """`posterior` of vectors by a kernel: one vector after the other, in doubles."""
    k, main = moments.kernel(), c.Name(w.main)
    mean, variance = c.own(moments.mean, moments.variance)
    double = numpy("float64")
    doubles = {v.name: method_of(c.Name(v.name), "astype", double.function)
               for v in w.program.of("state", "hyper") if v.type != SCALAR}  # fmt: skip
    given = [doubles.get(a, c.Name(a)) for a in k.arrays]
    values = [w.number(x) for x in k.scalars]
    typed = [c.Sign("*", c.call("_typed", mean, *values))] if values else []
    call = c.call(c.Name(k.name), *given, *typed)
    results = c.own(*(b for a in moments.last for t, b in _writes(moments) if t == a))
    shape = c.Attribute(main, "shape")
    body: list[c.Statement] = [c.Set((x,), numpy("empty", shape)) for x in (mean, variance)]
    body.append(c.Set(c.own(*k.returns), call) if k.returns else c.Do(call))
    body += [c.Set((x,), numpy("append", x, last))
             for x, last in zip((mean, variance), results, strict=False)]  # fmt: skip
    dtype = c.Attribute(main, "dtype")
    spread = numpy("sqrt", numpy("maximum", variance, c.Literal(0)))
    body += [_append(MEANS, method_of(mean, "astype", dtype)),
             _append(DEVIATIONS, method_of(spread, "astype", dtype))]  # fmt: skip
    read = [n.Ref(a) for a in k.arrays if a in {v.name for v in w.plan.arrays}]
    rows = [*w.scalars(moments.program), *_lists(MEANS, DEVIATIONS), each_array(w, read, body)]
    if moments.last:  # one component more than the arrays have
        first = c.Literal(0)
        rows.append(c.When(_several(), (c.Return(c.Row((MEANS, DEVIATIONS))),)))
        rows.append(c.Return(c.Row((c.Item(MEANS, first), c.Item(DEVIATIONS, first)))))
    else:
        rows.append(shaped(MEANS, DEVIATIONS))
    variable = w.derivation.family.variable.name
    said = f"Return mean and standard deviation of every component of {variable}."
    return posterior(said, rows)


def _writes(moments: Moments) -> tuple[tuple[str, str], ...]:
    return moments.program.writes
