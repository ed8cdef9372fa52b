"""A step that leaves the domain of the parameters is undone and said, never continued from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from blrgen.emit.common import moving_end
from blrgen.emit.optimizer import parts
from blrgen.emit.optimizer.base import together
from blrgen.emit.optimizer.parts import me
from blrgen.emit.text import sentence_list
from blrgen.emit.tree import classes as c
from blrgen.program import nodes as n
from blrgen.program.program import Variable

if TYPE_CHECKING:
    from blrgen.emit.optimizer.writer import Writer

HALVINGS = 60  # of a step size: a double keeps nothing of it beyond
OUTSIDE, BEFORE, INDEX = c.own("outside", "before", "index")
UNKNOWN = (
    "no number for some of {outside} elements: an average without a closed form could not be "
    "computed there, or an input is no number; nothing has been changed"
)


def numbers(w: Writer) -> tuple[Variable, ...]:
    """The states beside the arrays that are numbers."""
    return tuple(w.plan.numbers) if w.ways.guarded else ()


def _held(w: Writer) -> c.Row:
    return c.Row(tuple(me(v.name) for v in w.ways.guarded))


def before(w: Writer) -> list[c.Statement]:
    """Copies to go back to."""
    if not w.ways.guarded:
        return []
    x, arrays = c.own("x", "arrays")
    copies = c.Each(c.Each(c.Word("copy", (x,)), (x,), arrays), (arrays,), _held(w))
    rows: list[c.Statement] = [c.Set((BEFORE,), copies)]
    return rows + [c.Set((c.Name(f"{v.name}_before"),), me(v.name)) for v in numbers(w)]


def after(w: Writer) -> list[c.Statement]:
    """Look, and go back where it is needed."""
    if not w.ways.guarded:
        return []
    arrays, kept, array, old, unknown = c.own("arrays", "kept", "array", "old", "unknown")
    some: list[c.Statement] = []
    said: list[c.Statement] = []
    if w.program.expectations:  # which are nan where their sums are not to be trusted
        x = c.Name("x")
        seen = c.Each(c.Word("unknown", (x,)), (x,), arrays, bare=True)
        every = c.Each(c.call("any", seen), (arrays,), _held(w), bare=True)
        some = [c.Set((unknown,), c.call("any", every))]
        said = [c.When(unknown, (c.Raise("ValueError", c.Words(UNKNOWN)),))]
    back = c.Loop((array, old), together((arrays, kept)),
                  (c.Set((c.Item(array, c.Name(":")),), old),))  # fmt: skip
    undone = c.Loop((arrays, kept), together((_held(w), BEFORE)), (back,))
    own = [c.Set((me(v.name),), c.Name(f"{v.name}_before")) for v in numbers(w)]
    names = sentence_list(v.name for v in (*w.ways.guarded, *numbers(w)))
    left = c.Words(
        f"the step leaves the domain of {names} at {{outside}} elements; nothing has been "
        f"changed; {_advice(w)}"
    )
    looked = c.Set((OUTSIDE,), c.call(me("_outside")))
    return [looked, c.When(OUTSIDE, (*some, undone, *own, *said, c.Raise("ValueError", left)))]


def _advice(w: Writer) -> str:
    if w.program.halved:
        return "no smaller rho helps"
    rates = [v.name for v in w.program.of("hyper") if v.name in ("rho", "alpha")]
    return f"a smaller {rates[0]} helps" if rates else "the inputs ask for too much"


def methods(w: Writer) -> list[c.Method]:
    """_outside and _check_state, or nothing."""
    if not w.ways.guarded:
        return _saved(w)
    read = {x for v in w.ways.guarded for b in (v.lower, v.upper) if b for x in n.names(b)}
    hypers = {v.name for v in w.program.of("hyper")}
    real = c.Name("real")
    ends = {x: c.call(real, me(x)) for x in hypers & read}
    own = c.own(*(v.name for v in w.ways.guarded))
    inside = c.Name("inside")
    body: list[c.Statement] = []
    if ends:
        body.append(c.Set((real,), c.Word("type", (own[0],))))
    body.append(c.Set((inside,), _inside(w, ends)))
    body.append(c.Set((OUTSIDE,), c.Word("count_false", (inside,)), op="+="))
    chosen: list[c.Statement] = []
    rows: list[c.Expression] = [me(x.name) for x in own]
    arguments: tuple[c.Argument, ...] = ()
    if w.program.halved:
        only, here = c.own("only", "chosen")
        stop = c.Either(parts.NOTHING, c.Sign("is", parts.NOTHING, only), c.Text("only + 1"))
        chosen = [c.Set((here,), c.call("slice", only, stop))]
        rows = [c.Item(x, here) for x in rows]
        arguments = (c.Argument("only", "int | None", parts.NOTHING),)
    over = together(rows) if len(rows) > 1 else rows[0]
    said = "Return how many elements are outside the domain of the parameters; NaN is outside."
    counted = [c.Set((OUTSIDE,), _number(w, v), op="+=") for v in numbers(w)]
    start = c.Set((OUTSIDE,), c.Literal(0))
    whole = (start, *chosen, c.Loop(own, over, tuple(body)), *counted, c.Return(OUTSIDE))
    return [c.Method("_outside", arguments, "int", said, whole), _check_state(w)]


def _saved(w: Writer) -> list[c.Method]:
    """_check_state, where what was saved has an end that a hyperparameter moves; or nothing."""
    ends = {v.name: moving_end(v) for v in w.plan.states}
    looks = tuple(
        c.Do(c.call("_fitting", c.Literal(x), me(x), me(x),
                    c.Table(((c.Literal(x), c.Words(f"[{{-self.{end}}}, inf)")),))))
        for x, end in ends.items() if end
    )  # fmt: skip
    said = "Refuse what is kept outside its domain."
    return [c.Method("_check_state", (), "None", said, looks)] if looks else []


def _inside(w: Writer, ends: Mapping[str, c.Expression]) -> c.Formula:
    """Whether an element is between its ends, and finite; of all states at once."""
    tests: list[n.Node] = []
    for v in w.ways.guarded:
        tests += [] if v.lower is None else [n.Compare(">", n.Ref(v.name), v.lower)]
        tests += [] if v.upper is None else [n.Compare("<", n.Ref(v.name), v.upper)]
        tests.append(n.Call("isfinite", (n.Ref(v.name),)))
    own = tuple((v.name, c.Name(v.name)) for v in w.ways.guarded)
    return c.Formula(n.Call("all", tuple(tests)), (*own, *ends.items()), tuple(k for k, _ in own))


def _number(w: Writer, v: Variable) -> c.Expression:
    """Whether a number is outside."""
    tests: list[n.Node] = []
    tests += [] if v.lower is None else [n.Compare(">", n.Ref(v.name), v.lower)]
    tests += [] if v.upper is None else [n.Compare("<", n.Ref(v.name), v.upper)]
    tests.append(n.Call("isfinite", (n.Ref(v.name),)))
    names = {v.name: me(v.name)} | parts.hyperparameters(w.program)
    whole = c.Formula(n.Call("all", tuple(tests)), tuple(names.items()))
    return c.Sign("not", c.call(c.Text(""), whole))


def _check_state(w: Writer) -> c.Method:
    """_check_state: what is there at the start, and what was saved."""
    names = sentence_list(v.name for v in (*w.ways.guarded, *numbers(w)))
    said = c.Words(f"{names}: {{self._outside()}} elements are outside the domain")
    body = (c.When(c.call(me("_outside")), (c.Raise("ValueError", said),)),)
    return c.Method("_check_state", (), "None", f"Refuse {names} outside the domain.", body)


def tried(w: Writer) -> list[c.Statement]:
    """For each array: the kernel with ρ, ρ/2, ρ/4, … until the array stays inside.

    Each array is a candidate of its own and has its own halvings.  A trial writes to the arrays
    and is looked at as every step of such a class is; the next one starts from what was there.
    """
    k, rate = w.ways.kernels()["single"], w.program.halved
    halvings, arrays = c.own("halvings", "arrays")
    old = [c.Item(c.Item(BEFORE, c.Literal(j)), INDEX) for j in range(len(w.ways.guarded))]
    back: list[c.Statement] = [
        c.Set((c.Item(c.Item(me(v.name), INDEX), c.Name(":")),), x)
        for v, x in zip(w.ways.guarded, old, strict=True)
    ]
    back += [c.Set((me(v.name),), c.Name(f"{v.name}_before")) for v in numbers(w)]
    smaller = c.Sign("/", c.Sign("**", halvings, c.Literal(2)), me(rate))
    body = (
        c.When(halvings, tuple(back), note="what was tried last is outside"),
        c.Set((c.Name(rate),), smaller),
        *w.scalars(k.program, {rate: c.Name(rate)}),
        w.called(k, [w.number(x, (rate,)) for x in k.scalars]),
        *w.writes(k.program),
        c.When(c.Sign("not", c.call(me("_outside"), INDEX)), (c.Break(),)),
    )
    trials = c.Loop((halvings,), c.call("range", c.Literal(HALVINGS + 1)), body)
    places = c.call("enumerate", together(w.rows(k.arrays, w.given())))
    return [c.Loop((INDEX, arrays), places, (trials,))]
