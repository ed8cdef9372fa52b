"""Rules that probe the loss at draws: `draw`, `observe`, and a step that draws again.

Where the loss was evaluated is what a step reads.  The noise is not kept: it is read back
from there, or nothing needs it.  A step that draws again writes over the very place it has
read, as fresh memory costs more than the draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from blrgen.emit.common import check_line, input_words, law_numbers, noise_arguments
from blrgen.emit.guard import guarded
from blrgen.emit.joined import Joined, Noise, drivers
from blrgen.emit.kernels import Kernel, in_turn, kernel
from blrgen.emit.plan import phase_of
from blrgen.emit.templates import fill
from blrgen.emit.text import WIDTH, assignment_of, bracketed, call, indented
from blrgen.emit.tree.numba import function
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.effort import better_apart
from blrgen.program.laws import distribution
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.emit.elementwise import ElementwiseWriter

# law → the function that fills blocks with it in compiled code, and the one that NumPy has
FILLED = {"normal": "_standard_normal", "logistic": "_logistic", "uniform": "_uniform"}
DRAWN = {
    "normal": "_normals", "logistic": "_logistics", "uniform": "_uniforms",
    "bernoulli": "_bernoullis",
}  # fmt: skip


def joins(writer: ElementwiseWriter, k: Kernel) -> bool:
    """Whether the kernel may be run on stretches of arrays: no element needs another."""
    return not (writer.coupled or k.returns or writer.program.halved)


def draws_itself(writer: ElementwiseWriter) -> bool:
    """Whether noise is made where it is used: compiled, and not needed again."""
    made = writer.phase_kernels().get("draw")
    if made is None or not writer.plan.noises:
        return False
    if not writer.jitted or not joins(writer, made):
        return False
    laws = {law.name for v in writer.plan.noises if (law := distribution(v.distribution))}
    stored = {v.name for v in writer.plan.noises} & {*writer.plan.carried}
    return laws <= FILLED.keys() and not stored


def noises(writer: ElementwiseWriter) -> tuple[Noise, ...]:
    """What compiled code fills arrays with before it runs a kernel."""
    found = []
    for v in writer.plan.noises:
        law = distribution(v.distribution)
        assert law is not None
        numbers = () if law.name == "normal" else (law.location, law.scale)
        found.append(Noise(v.name, FILLED[law.name], numbers))
    return tuple(found)


def fuses(writer: ElementwiseWriter) -> bool:
    """Whether the step and the next draw can be one pass over memory.

    Nothing may have to be looked at between the two, and steps are counted between them.
    """
    if writer.plan.again is None or writer.scalar_states or not draws_itself(writer):
        return False
    if guarded(writer.derivation, writer.plan.states, writer.coupled):
        return False
    assert writer.plan.draw is not None
    return not any("t" in n.names(s.expr) for s in phase_of(writer.plan.draw).scalars)


def drawing_again(writer: ElementwiseWriter, step: Kernel, draw: Kernel) -> Kernel:
    """The step and the next draw: in one loop, or in two where one would be too long."""
    p = writer.plan
    assert p.again is not None and p.draw is not None
    summary = f"Update every element in place, and {p.probe} for the next draw."
    apart = better_apart(p.again, p.single, p.draw)
    if apart and _agree(*(writer.scalar_lines(x) for x in (p.single, p.draw))):
        return in_turn("_step_draw", summary, p.again, (step, draw), writer.order)
    return kernel("_step_draw", summary, p.again, writer.order)


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether statements give no name two meanings."""
    names = {row.split(" = ")[0]: row for row in one}
    return all(names.get(row.split(" = ")[0], row) == row for row in other)


def drawing(writer: ElementwiseWriter, made: Mapping[str, Kernel]) -> list[Kernel]:
    """The kernels that are run with new noise, block by block."""
    found = [made["again"]] if "again" in made else []
    return [*found, made["draw"]] if draws_itself(writer) else found


def joined(writer: ElementwiseWriter) -> list[Joined]:
    """The ways in which kernels are run on stretches."""
    if not writer.jitted:
        return []
    made = writer.kernels()
    noisy = drawing(writer, made)
    found = []
    for what, k in made.items():
        if what == "moments" or not joins(writer, k):
            continue
        if k in noisy:
            found.append(Joined(k, noises(writer)))
        if what != "again" and (what != "draw" or not draws_itself(writer)):
            found.append(Joined(k))
    return found


def joined_functions(writer: ElementwiseWriter) -> list[str]:
    """Those functions as source."""
    return [function(f) for j in joined(writer) for f in drivers(j)]


def run_all(
    writer: ElementwiseWriter,
    k: Kernel,
    given: dict[str, str],
    indent: int = 8,
    threads: bool = True,
) -> list[str]:
    """Run a kernel on all arrays, array by array; `given` says where lists of them are."""
    margin = " " * indent
    rows = [given.get(a, f"self.{a}") for a in k.arrays]
    numbers, handed = numbers_of(writer, k.scalars, indent)
    if writer.jitted and threads:
        both = Joined(k)
        arguments = [both.serial, both.threaded, "rows", *handed]
        return [*numbers, *_given(use("_run"), arguments, rows, indent)]
    last = [f"*{use('_typed')}({', '.join(['arrays[0]', *handed])})"] if handed else []
    return [
        *numbers,
        call(f"{margin}for arrays in zip(", [*rows, "strict=True"], "):"),
        call(f"{margin}    {k.name}(", ["*arrays", *last]),
    ]


def _given(function: str, arguments: Sequence[str], rows: Sequence[str], indent: int) -> list[str]:
    """A call with lists of arrays among its arguments, which have a line where it is long."""
    margin = " " * indent

    def text(listed: str) -> str:
        return call(f"{margin}{function}(", [listed if x == "rows" else x for x in arguments])

    if len(margin + function + ", ".join(arguments)) + len(bracketed(rows)) <= WIDTH + 2:
        return [text(bracketed(rows))]
    return [assignment_of("rows", rows, indent, listed=True), text("rows")]


def numbers_of(
    writer: ElementwiseWriter, names: tuple[str, ...], indent: int
) -> tuple[list[str], list[str]]:
    """The numbers that a kernel takes, where the class has them: a line, and how they are given."""
    attributes = {v.name for v in (*writer.program.of("hyper"), *writer.scalar_states)}
    values = [writer.number(s, attributes) for s in names]
    if len(values) < 3:
        return [], values
    return [assignment_of("numbers", values, indent)], ["*numbers"]


def _run_anew(
    writer: ElementwiseWriter,
    j: Joined,
    given: dict[str, str],
    indent: int,
    more: tuple[str, ...] | None = None,
    stepping: bool = False,
) -> list[str]:
    """The call of a function that makes noise; with `more` its first numbers have a name.

    A step has looked at its generator before anything else.
    """
    rows = [given.get(a, f"self.{a}") for a in j.rows]
    numbers, handed = numbers_of(writer, j.kernel.scalars, indent)
    if more is not None:
        numbers, handed = [], ["*numbers", *numbers_of(writer, more, indent)[1]]
    other = " and ".join(f"{v.name}=" for v in writer.plan.noises)
    rng = f'{" " * indent}rng = {use("_generator")}(rng, "{other}")'
    first = [] if stepping else [rng]
    arguments = [j.serial, j.threaded, "rng", "rows", *handed]
    return [*first, *numbers, *_given(use("_run_anew"), arguments, rows, indent)]


def fused_rows(writer: ElementwiseWriter, given: dict[str, str]) -> list[str]:
    """The step; with a generator the next draw in the same pass."""
    made = writer.kernels()
    k, both = made["single"], next(j for j in joined(writer) if j.kernel == made["again"])
    assert writer.plan.again is not None
    programs = [part.program for part in made["again"].parts] or [writer.plan.again]
    one = writer.scalar_lines(writer.plan.single)
    other = list(dict.fromkeys(row for p in programs for row in writer.scalar_lines(p)))
    more, shared = _more(k.scalars, both.kernel.scalars), list[str]()
    if more is not None and len(k.scalars) > 2 and set(one) <= set(other):
        shared = numbers_of(writer, k.scalars, 8)[0]
    run = run_all(writer, k, given, 12)
    anew = _run_anew(writer, both, given, 12, more if shared else None, stepping=True)
    own = set(numbers_of(writer, k.scalars, 12)[0]) if shared else set()
    return [
        *(r for r in one if r in other),
        *shared,
        "        if rng is None:",
        *(indented(r) for r in one if r not in other),
        *(r for r in run if r not in own),
        "            self._pending = {}",
        "        else:",
        *(indented(r) for r in other if r not in one),
        *anew,
    ]


def _more(some: Sequence[str], every: Sequence[str]) -> tuple[str, ...] | None:
    """What follows some names in others; None where those do not begin with these."""
    return tuple(every[len(some) :]) if tuple(every[: len(some)]) == tuple(some) else None


def draw_method(writer: ElementwiseWriter) -> str:
    """`draw`: where to evaluate the loss, from noise of its own or what is given."""
    p, main = writer.plan, writer.main
    assert p.draw is not None
    made, probe = writer.kernels()["draw"], p.probe
    rows = writer.scalar_lines(p.draw)
    rows.append(f"        {probe} = [np.empty_like({main}) for {main} in self.{main}]")
    given = {probe: probe} | {v.name: v.name for v in p.noises}
    if draws_itself(writer):
        rows += _either(writer, made, given)
    else:
        for v in p.noises:
            law = distribution(v.distribution)
            assert law is not None
            arguments = [f'"{v.name}"', v.name, "rng", "self.params", use(DRAWN[law.name])]
            arguments += ["self.check_finite", *law_numbers(law)]
            made_of = call(f"        {v.name} = {use('_noise')}(", arguments)
            rows.append(made_of)
        rows += writer.loop(made, given)
    if p.carried:
        kept = ", ".join(f'"{x}": {x}' for x in p.carried)
        rows.append(f"        self._pending = {{{kept}}}")
    rows.append(f"        return {use('_lent')}({probe}, self.params)")
    return fill(
        "class/draw.py.jinja",
        signature=call("    def draw(", ["self", *noise_arguments(p.noises)], ") -> Arrays:"),
        summary="Return where to evaluate the loss; `step` looks there again.",
        check=check_line(writer.program),
        body="\n".join(rows),
    )


def _either(writer: ElementwiseWriter, made: Kernel, given: dict[str, str]) -> list[str]:
    """Noise of its own, or that which is given."""
    j = next(x for x in joined(writer) if x.kernel == made and x.noise)
    own = [v.name for v in writer.plan.noises]
    missing = " and ".join(f"{x} is None" for x in own)
    return [
        f"        if {missing}:",
        *_run_anew(writer, j, given, 12),
        "        else:",
        *(
            f'            {x} = {use("_views")}("{x}", {x}, self.params, self.check_finite)'
            for x in own
        ),
        *run_all(writer, made, given, 12, threads=False),
    ]


def observe_method(writer: ElementwiseWriter) -> str:
    """`observe`: what one of several draws has shown, added to the sums."""
    p, main = writer.plan, writer.main
    assert p.observe is not None
    rows = [*writer.need_pending("observe"), *writer.input_views()]
    rows += writer.scalar_lines(p.observe)
    rows.append("        if not self._sums:")
    scope = writer.program.scope
    numbers = {x: told for x, told in zip(p.sums, p.means, strict=True) if scope[told] == SCALAR}
    for x in p.sums:
        zeros = "0.0" if x in numbers else f"[np.zeros_like({main}) for {main} in self.{main}]"
        rows.append(f'            self._sums["{x}"] = {zeros}')
    given = writer.given_inputs() | writer.pending()
    given |= {x: f'self._sums["{x}"]' for x in p.sums}
    rows += writer.loop(writer.kernels()["observe"], given)
    rows += [f'        self._sums["{x}"] += float({told})' for x, told in numbers.items()]
    if p.carried:
        rows.append("        self._pending = {}")
    rows.append("        self._draws += 1")
    return fill(
        "class/observe.py.jinja",
        arguments=", ".join(["self", *writer.input_arguments()]),
        summary=f"Take {input_words(p.inputs)} at the last draw, one of several.",
        body="\n".join(rows),
    )
