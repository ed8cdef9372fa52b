"""Rules that probe the loss at draws: `draw`, `observe`, and a step that draws again.

Where the loss was evaluated is what a step reads.  The noise is not kept: it is read back
from there, or nothing needs it.  The arrays of an earlier draw are used again once nobody
else holds them, as fresh memory costs more than the draw; a step that draws again writes
over the very place it has read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from blrgen.emit.common import input_words, law_functions, noise_arguments, wants_gaussian
from blrgen.emit.guard import guarded
from blrgen.emit.joined import Joined, joined_kernels, one_array
from blrgen.emit.kernels import Kernel, in_turn, kernel
from blrgen.emit.noise import LAWS
from blrgen.emit.plan import phase_of
from blrgen.emit.templates import fill
from blrgen.emit.text import WIDTH, call, indented
from blrgen.program import nodes as n
from blrgen.program.effort import better_apart
from blrgen.program.laws import Law, distribution

if TYPE_CHECKING:
    from blrgen.emit.elementwise import ElementwiseWriter

COMPILED = LAWS  # of noise that compiled code makes itself


def joins(writer: ElementwiseWriter, k: Kernel) -> bool:
    """Whether the kernel can be run on all arrays in one call."""
    return writer.jitted and not (writer.coupled or k.returns or writer.program.halved)


def draws_itself(writer: ElementwiseWriter) -> bool:
    """Whether noise is made where it is used: compiled, and not needed again."""
    made = writer.phase_kernels().get("draw")
    if made is None or not writer.plan.noises or not joins(writer, made):
        return False
    laws = {law.name for v in writer.plan.noises if (law := distribution(v.distribution))}
    stored = {v.name for v in writer.plan.noises} & {*writer.plan.carried}
    return laws <= COMPILED and not stored


def compiled_laws(writer: ElementwiseWriter) -> dict[str, Law]:
    """The laws that compiled code makes noise of, by the functions that make it."""
    if not draws_itself(writer):
        return {}
    found = {}
    for v in writer.plan.noises:
        law = distribution(v.distribution)
        assert law is not None
        found[law_functions((v,), False, names_only=True)[0]] = law
    return found


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
    """The functions over all arrays that the class calls."""
    made = writer.kernels()
    noisy = drawing(writer, made)
    found = []
    for what, k in made.items():
        if what == "moments" or not joins(writer, k):
            continue
        if k in noisy:
            laws = [law_functions((v,), False, names_only=True)[0] for v in writer.plan.noises]
            noise = tuple(zip((v.name for v in writer.plan.noises), laws, strict=True))
            found.append(Joined(k, noise))
        if what != "again":
            found.append(Joined(k))
    return found


def joined_functions(writer: ElementwiseWriter) -> list[str]:
    """Those functions as source, and what they need."""
    made = joined(writer)
    if not made:
        return []
    helpers = [fill(f"joined/{x}.py.jinja") for x in ("helpers", "groups")]
    if len(writer.array_states) > 1 or writer.plan.probe:
        helpers.append(fill("joined/laid.py.jinja"))
    if writer.plan.draw is not None:
        helpers.append(fill("functions/holders.py.jinja"))
    parts = []
    for j in made:
        parts += joined_kernels(j)
        if not j.noise:  # which takes long enough for addresses not to be noticed
            parts.append(one_array(j))
    return parts + helpers


def noise_functions(writer: ElementwiseWriter) -> list[str]:
    """The functions that make noise."""
    gaussian = wants_gaussian(writer.derivation) and not writer.jitted
    if not writer.plan.noises:
        return law_functions((), True) if gaussian else []
    if draws_itself(writer):
        return []  # the compiled ones, which `assemble` adds
    return [*law_functions(writer.plan.noises, gaussian), fill("functions/noise.py.jinja")]


def init_rows(writer: ElementwiseWriter) -> list[str]:
    """What the class keeps for these functions, and for where the loss was probed."""
    rows = []
    if writer.plan.draw is not None and writer.new_arrays(writer.plan.probe):
        rows.append(
            "self._places: list[tuple[list[Array], int]] = []  # of draws, to be used again"
        )
    if joined(writer):
        rows += [
            "self._inputs: dict[str, Any] = {}  # many arrays, as they were given last",
            "self._known: dict[Any, Any] = {}  # where arrays begin",
            "self._groups = _groups(self.m)".replace("self.m", f"self.{writer.main}"),
            f"self._joined = _many(self.{writer.main})",
            "self._threads = 0  # at most, as many as there were in the first step; asking is slow",
        ]
    return rows


def run_methods(writer: ElementwiseWriter) -> list[str]:
    """The methods that run kernels on all arrays."""
    made = joined(writer)
    rows = []
    if made:
        rows.append(fill("class/seen.py.jinja"))
        rows.append(_run_method(noise=bool(writer.plan.noises)))
    if writer.plan.draw is not None:
        laid = writer.new_arrays(writer.plan.probe)
        if laid:
            rows.append(fill("class/place.py.jinja", laid=laid))
        rows.append(fill("class/lent.py.jinja"))
    if any(j.noise for j in made):
        given = " and ".join(f"{v.name}=" for v in writer.plan.noises)
        said = f'"pass rng=np.random.default_rng(seed), or {given} with the noise itself"'
        refusal = call("            raise TypeError(", [said])
        rows.append(fill("class/run_drawing.py.jinja", refusal=refusal))
    return rows


def _run_method(noise: bool) -> str:
    """The method that runs a kernel on all arrays, with keys for noise where it makes some."""
    function = "Callable[..., None]"
    arguments = [f"alone: {function}{' | None' if noise else ''}", f"one: {function}"]
    arguments += [f"several: {function}", "rows: Sequence[Sequence[Array]]", "*numbers: float"]
    says = "        `alone` is for one large array, which needs no table of addresses."
    if noise:
        arguments.append("rng: np.random.Generator | None = None")
        says += " A kernel that makes\n        noise has keys from rng."
    made = "keys = () if rng is None else (int(rng.integers(2**63)),)"
    return fill(
        "class/run_all.py.jinja",
        signature=call("    def _run(", ["self", *arguments], ") -> None:"),
        says=says,
        has="alone is not None and " if noise else "",
        made=f"\n            {made}" if noise else "",
        keys="*keys, " if noise else "",
    )


def containers(names: tuple[str, ...], given: dict[str, str]) -> dict[str, str]:
    """Where the class has the arrays of each name."""
    return {a: given.get(a, f"self.{a}[index]").removesuffix("[index]") for a in names}


def _tuple(name: str, values: list[str], indent: int) -> str:
    """The assignment of a tuple, without brackets where it needs none."""
    text = f"{' ' * indent}{name} = {', '.join(values)}"
    if len(values) == 1:
        text = f"{' ' * indent}{name} = ({values[0]},)"
    if len(text) <= WIDTH:
        return text
    margin = " " * indent
    return "\n".join([f"{margin}{name} = (", *(f"{margin}    {v}," for v in values), f"{margin})"])


def _drawn_rows(
    writer: ElementwiseWriter, j: Joined, given: dict[str, str], indent: int
) -> list[str]:
    """The call of a function that makes noise."""
    rows = _tuple("rows", list(containers(j.rows, given).values()), indent)
    arguments = [j.stretch, j.name, "rng", "rows", *numbers_of(writer, j.kernel.scalars)]
    return [
        rows,
        call(f"{' ' * indent}self._run_anew(", arguments),
    ]


def numbers_of(writer: ElementwiseWriter, names: tuple[str, ...]) -> list[str]:
    """The numbers that a kernel takes, where the class has them."""
    attributes = {v.name for v in (*writer.program.of("hyper"), *writer.scalar_states)}
    return [writer.number(s, attributes) for s in names]


def run_all(
    writer: ElementwiseWriter, k: Kernel, given: dict[str, str], indent: int = 8
) -> list[str]:
    """Run a kernel on all arrays: in one call where they are many or large, else one by one.

    One by one they are found by their index, which costs half of what zip does.
    """
    margin = " " * indent
    values = numbers_of(writer, k.scalars)
    numbers = ["*numbers"] if values else []
    rows = _tuple("rows", list(containers(k.arrays, given).values()), indent + 4)
    made = _tuple("numbers", values, indent) if values else ""
    both = Joined(k)
    handed = [both.threads, both.stretch, both.name, "rows", *numbers]
    main = writer.main
    each = f"index, {main} in enumerate(self.{main})"
    if main not in k.arrays:
        each = f"index in range(len(self.{main}))"
    given = {main: main} | given
    alone = [given.get(a, f"self.{a}[index]") for a in k.arrays]
    return [
        *([made] if made else []),
        f"{margin}if self._joined:",
        rows,
        call(f"{margin}    self._run(", handed),
        f"{margin}else:",
        f"{margin}    for {each}:",
        call(f"{margin}        {k.name}(", [*alone, *numbers]),
    ]


def fused_rows(writer: ElementwiseWriter, given: dict[str, str]) -> list[str]:
    """The step; with a generator the next draw in the same pass."""
    made = writer.kernels()
    k, both = made["single"], next(j for j in joined(writer) if j.kernel == made["again"])
    assert writer.plan.again is not None
    probe = writer.plan.probe
    programs = [part.program for part in made["again"].parts] or [writer.plan.again]
    one = writer.scalar_lines(writer.plan.single)
    other = list(dict.fromkeys(row for p in programs for row in writer.scalar_lines(p)))
    given = given | {probe: f'self._pending["{probe}"][index]'}
    return [
        *(r for r in one if r in other),
        "        if rng is None:",
        *(indented(r) for r in one if r not in other),
        *run_all(writer, k, given, 12),
        "            self._pending = {}",
        "        else:",
        *(indented(r) for r in other if r not in one),
        *_drawn_rows(writer, both, given, 12),
    ]


def draw_method(writer: ElementwiseWriter) -> str:
    """`draw`: where to evaluate the loss, from noise of its own or what is given."""
    p = writer.plan
    assert p.draw is not None
    made = writer.kernels()["draw"]
    probe = p.probe
    rows = writer.scalar_lines(p.draw)
    plain = f"[np.empty_like({writer.main}) for {writer.main} in self.{writer.main}]"
    rows.append(f"        {probe} = {'self._place()' if writer.new_arrays(probe) else plain}")
    given = {probe: f"{probe}[index]"}
    noises = [v.name for v in p.noises]
    if draws_itself(writer):
        rows += _either(writer, made, given, noises)
    else:
        for v in p.noises:
            law = law_functions((v,), False, names_only=True)[0]
            arguments = [f'"{v.name}"', v.name, "rng", "self._arrays", law]
            rows.append(f"        {v.name} = _noise({', '.join(arguments)})")
        rows += writer.loop(made, given | {x: f"{x}[index]" for x in noises})
    if p.carried:
        kept = ", ".join(f'"{x}": {x}' for x in p.carried)
        rows.append(f"        self._pending = {{{kept}}}")
    rows.append(f"        return self._lent({probe})")
    return fill(
        "class/draw.py.jinja",
        signature=call("    def draw(", ["self", *noise_arguments(p.noises)], ") -> Arrays:"),
        summary="Return where to evaluate the loss; `step` looks there again.",
        body="\n".join(rows),
    )


def _either(
    writer: ElementwiseWriter, made: Kernel, given: dict[str, str], noises: list[str]
) -> list[str]:
    """Noise of its own, or that which is given."""
    j = next(x for x in joined(writer) if x.kernel == made and x.noise)
    missing = " and ".join(f"{x} is None" for x in noises)
    return [
        f"        if {missing}:",
        *_drawn_rows(writer, j, given, 12),
        "        else:",
        *(f'            {x} = _views("{x}", {x}, self._arrays)' for x in noises),
        *run_all(writer, made, given | {x: f"{x}[index]" for x in noises}, 12),
    ]


def observe_method(writer: ElementwiseWriter) -> str:
    """`observe`: what one of several draws has shown, added to the sums."""
    p = writer.plan
    assert p.observe is not None
    rows = [*writer.need_pending("observe"), *writer.input_views()]
    rows += writer.scalar_lines(p.observe)
    rows.append("        if not self._sums:")
    zeros = f"[np.zeros_like({writer.main}) for {writer.main} in self.{writer.main}]"
    for x in p.sums:
        rows.append(f'            self._sums["{x}"] = {writer.new_arrays(x) or zeros}')
    given = writer.given_inputs() | writer.pending()
    given |= {x: f'self._sums["{x}"][index]' for x in p.sums}
    rows += writer.loop(writer.kernels()["observe"], given)
    if p.carried:
        rows.append("        self._pending = {}")
    rows.append("        self._draws += 1")
    return fill(
        "class/observe.py.jinja",
        arguments=", ".join(["self", *writer.input_arguments()]),
        summary=f"Take {input_words(p.inputs)} at the last draw, one of several.",
        body="\n".join(rows),
    )
