"""Rules that probe the loss at draws: `draw`, `observe`, and a step that draws again.

Where the loss was evaluated is what a step reads.  The noise is not kept: it is read back
from there, or nothing needs it.  A step that draws again writes over the very place it has
read, as fresh memory costs more than the draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from blrgen.emit.common import input_words
from blrgen.emit.optimizer.base import Base, Given, handing
from blrgen.emit.optimizer.parts import (
    ARRAYS,
    COUNT,
    FINITE,
    NOTHING,
    PARAMS,
    PENDING,
    RNG,
    SUMS,
    me,
)
from blrgen.emit.tree import classes as c
from blrgen.program.kernels import Kernel
from blrgen.program.laws import Law, distribution
from blrgen.program.plan import DRAWS
from blrgen.program.program import Variable
from blrgen.program.types import SCALAR
from blrgen.program.ways import Joined

if TYPE_CHECKING:
    from blrgen.emit.optimizer.writer import Writer

Rows = list[c.Statement]
DRAWN = {  # law → the function that NumPy's generator has for it
    "normal": "_normals", "logistic": "_logistics", "uniform": "_uniforms",
    "bernoulli": "_bernoullis",
}  # fmt: skip


def law_of(v: Variable) -> Law:
    """What a draw is distributed by."""
    law = distribution(v.distribution)
    assert law is not None
    return law


def law_numbers(law: Law) -> list[c.Expression]:
    """The numbers that say which law of its kind it is; none of the standard normal."""
    if law.chance:
        return [me(law.chance)]
    own = (law.location, law.scale) if law.name != "normal" else ()
    return [c.Literal(float(x)) for x in own]


def drawing_method(w: Base, said: str, body: Sequence[c.Statement]) -> c.Method:
    """`draw` with its arguments: a generator, or the noise itself."""
    noises = w.plan.noises
    given = [c.Argument("rng", f"{RNG} | None", NOTHING)] if noises else []
    given += [c.Argument(v.name, f"{ARRAYS} | None", NOTHING, True) for v in noises]
    return c.Method("draw", tuple(given), ARRAYS, said, (*w.checked(), *body))


def pending(w: Base) -> Rows:
    """What the step reads of a draw."""
    kept = tuple((c.Literal(x), c.Name(x)) for x in w.plan.carried)
    return [c.Set((PENDING,), c.Table(kept))] if kept else []


def draw(w: Writer) -> c.Method:
    """`draw`: where to evaluate the loss, from noise of its own or what is given."""
    p, main = w.plan, c.Name(w.main)
    assert p.draw is not None
    made, probe = w.ways.kernels()["draw"], c.Name(p.probe)
    rows = w.scalars(p.draw)
    rows.append(c.Set((probe,), c.Each(c.Word("empty", (main,)), (main,), me(w.main))))
    given = {p.probe: probe} | {v.name: c.Name(v.name) for v in p.noises}
    if w.ways.draws_itself:
        rows.append(_either(w, made, given))
    else:
        for v in p.noises:
            law, name = law_of(v), c.Name(v.name)
            args = (c.Literal(v.name), name, c.Name("rng"), PARAMS, c.Use(DRAWN[law.name]))
            rows.append(c.Set((name,), c.call("_noise", *args, FINITE, *law_numbers(law))))
        rows += w.each(made, given)
    rows += [*pending(w), c.Return(c.call("_lent", probe, PARAMS))]
    return drawing_method(w, "Return where to evaluate the loss; `step` looks there again.", rows)


def _either(w: Writer, made: Kernel, given: Given) -> c.When:
    """Noise of its own, or that which is given."""
    j = next(x for x in w.ways.joined() if x.kernel == made and x.noise)
    own, rng = [v.name for v in w.plan.noises], c.Name("rng")
    absent = c.Text(" and ".join(f"{x} is None" for x in own))
    other = c.Literal(" and ".join(f"{x}=" for x in own))
    lines, handed = w.numbered(made.scalars)
    looked = c.Set((rng,), c.call("_generator", rng, other))
    anew = [looked, *lines, *_anew(w, j, given, handed)]
    views = [
        c.Set((c.Name(x),), c.call("_views", c.Literal(x), c.Name(x), PARAMS, FINITE)) for x in own
    ]
    run = handing("_run", (c.Name(made.name), NOTHING), w.rows(made.arrays, given), handed, 12)
    return c.When(absent, tuple(anew), (*views, *lines, *run))


def _anew(w: Writer, j: Joined, given: Given, handed: Sequence[c.Expression]) -> Rows:
    """The call of a function that makes noise."""
    first = (c.Name(j.serial), c.Name(j.threaded), c.Name("rng"))
    return handing("_run_anew", first, w.rows(j.rows, given), handed, 12)


def fused(w: Writer) -> Rows:
    """The step; with a generator the next draw in the same pass."""
    made, given = w.ways.kernels(), w.given()
    k, both = made["single"], next(j for j in w.ways.joined() if j.kernel == made["again"])
    assert w.plan.draw is not None
    one, more = w.scalars(w.plan.single), w.scalars(w.plan.draw)
    count, every = len(k.scalars), both.kernel.scalars
    shared, handed = w.numbered(k.scalars)
    noisy, drawing = c.Name("of_draw"), tuple(w.number(x) for x in every[count:])
    serial, threaded = c.Name(k.name), c.Name(f"{k.name}_threads")
    step = handing("_run", (serial, threaded), w.rows(k.arrays, given), handed, 12)
    again = [r for r in more if r not in one]
    if len(drawing) > 1:
        again.append(c.Set((noisy,), c.Row(drawing)))
        drawing = (c.Sign("*", noisy),)
    again += _anew(w, both, given, [*handed, *drawing])
    alike = [r for r in step if r in again]  # the rows, where they are the same
    return [
        *one, *shared, *alike,
        c.When(
            c.Sign("is", NOTHING, c.Name("rng")),
            (*(r for r in step if r not in alike), c.Set((PENDING,), c.Table(()))),
            tuple(r for r in again if r not in alike),
        ),
    ]  # fmt: skip


def observe(w: Writer) -> c.Method:
    """`observe`: what one of several draws has shown, added to the sums."""
    p, main = w.plan, c.Name(w.main)
    assert p.observe is not None
    scope = w.program.scope
    told = dict(zip(p.sums, p.means, strict=True))
    places = {x: c.Item(SUMS, c.Literal(x)) for x in p.sums}
    zeros = c.Each(c.Word("zeros_like", (main,)), (main,), me(w.main))
    starts = [
        c.Set((places[x],), c.Literal(0.0) if scope[told[x]] == SCALAR else zeros) for x in p.sums
    ]
    rows = [*w.need_pending("observe"), *w.inputs_checked(), *w.scalars(p.observe)]
    rows.append(c.When(c.Sign("not", SUMS), tuple(starts)))
    rows += w.each(w.ways.kernels()["observe"], w.given() | places)
    rows += [
        c.Set((places[x],), c.call("float", c.Name(told[x])), op="+=")
        for x in p.sums
        if scope[told[x]] == SCALAR
    ]
    rows += [c.Set((PENDING,), c.Table(()))] if p.carried else []
    rows.append(c.Set((COUNT,), c.Literal(1), op="+="))
    said = f"Take {input_words(p.inputs)} at the last draw, one of several."
    return c.Method("observe", w.input_arguments(), "None", said, tuple(rows))


def single_rows(w: Writer) -> Rows:
    """From one draw: check, compute the scalars, update."""
    rows = [*w.need_pending(), *w.inputs_checked()]
    if w.fuses:
        return rows + fused(w)
    single = w.plan.single
    rows += [*w.scalars(single), *w.each(w.ways.kernels()["single"], w.given())]
    return [*rows, *w.writes(single), c.Set((PENDING,), c.Table(()))]


def averaged_rows(w: Writer) -> Rows:
    """From the sums over draws: the same."""
    p = w.plan
    assert p.averaged is not None
    sums: dict[str, c.Expression] = {x: c.Item(SUMS, c.Literal(x)) for x in p.sums}
    rows = w.scalars(p.averaged, sums | {DRAWS: COUNT})
    rows += w.each(w.ways.kernels()["averaged"], sums)
    return [*rows, *w.writes(p.averaged)]
