"""What every class of an optimizer has: arguments with their domains, its words, resuming."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from blrgen.core import Derivation
from blrgen.emit.common import (
    ANY,
    defaults,
    is_derived,
    number,
    state_domain,
    usage,
)
from blrgen.emit.names import class_name
from blrgen.emit.prose import clean, heading
from blrgen.emit.ranges import interval
from blrgen.emit.text import WIDTH, sentence_list
from blrgen.emit.tree import classes as c
from blrgen.emit.tree.described import Kept, of_object, put_by
from blrgen.emit.tree.layout import flat
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.plan import Plan
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR

me = c.attribute
SELF, ARRAYS, NOTHING = c.Name("self"), "Arrays", c.Literal(None)
PARAMS, FINITE, PENDING, SUMS, COUNT = map(
    me, ("params", "check_finite", "_pending", "_sums", "_draws")
)
RNG = "Generator"  # as every target spells it
INFINITY = c.Attribute(c.Use("math"), "inf")


def numpy(name: str, *args: c.Expression, **words: c.Expression) -> c.Invoked:
    """A function of NumPy, in what NumPy does for every target."""
    function: c.Expression = c.Use("np")
    for word in name.split("."):
        function = c.Attribute(function, word)
    return c.Invoked(function, args, tuple(words.items()))


def method_of(of: c.Expression, name: str, *args: c.Expression) -> c.Invoked:
    """of.name(args)."""
    return c.Invoked(c.Attribute(of, name), args)


def default(v: Variable) -> c.Expression | None:
    """The default of a hyperparameter as it would be typed."""
    if v.default is None:
        return None
    if is_derived(v):
        return NOTHING
    return INFINITY if number(v.default) == "math.inf" else c.Text(number(v.default))


def hyper_arguments(hypers: Iterable[Variable]) -> list[c.Argument]:
    """Hyperparameters by their names, those that must be given first."""
    ordered = sorted(hypers, key=lambda v: v.default is not None)
    kinds = {v.name: "float | None" if is_derived(v) else "float" for v in ordered}
    return [c.Argument(v.name, kinds[v.name], default(v), True) for v in ordered]


def taken(names: Iterable[str]) -> list[c.Statement]:
    """self.a, self.b = a, b: as many on a line as fit."""
    groups: list[list[str]] = []
    for name in names:
        if not groups or 2 * sum(len(x) + 4 for x in (*groups[-1], name)) > WIDTH - 16:
            groups.append([])
        groups[-1].append(name)
    return [
        c.Set(tuple(map(me, g)), c.Row(c.own(*g)) if len(g) > 1 else c.Name(g[0])) for g in groups
    ]


def derived(v: Variable, names: Mapping[str, c.Expression]) -> c.Set:
    """self.n = float(d) if n is None else n."""
    given = c.Name(v.name)
    value = c.call("float", c.Formula(v.default or n.ZERO, tuple(names.items())))
    absent = c.Sign("is", NOTHING, given)
    return c.Set((me(v.name),), c.Either(value, absent, given))


def between(name: str, value: c.Expression, v: Variable, ends: Mapping[str, c.Expression]) -> c.Do:
    """A check of a number against ends that are made of others."""

    def end(e: n.Node | None, other: c.Expression) -> c.Expression:
        return other if e is None else c.Formula(e, tuple(ends.items()))

    low, high = end(v.lower, c.Sign("-", INFINITY)), end(v.upper, INFINITY)
    return c.Do(c.call("_between", c.Literal(name), value, low, high))


def hyperparameters(program: Program) -> dict[str, c.Expression]:
    """Where they are kept."""
    return {v.name: me(v.name) for v in program.of("hyper")}


def check_method(program: Program) -> list[c.Method]:
    """_check_hyperparameters, where a range depends on other hyperparameters."""
    ends = hyperparameters(program)
    rows = [
        between(v.name, me(v.name), v, ends)
        for v in program.of("hyper")
        if v.type == SCALAR and interval(v.domain) is None
    ]
    said = "Refuse values outside a range that other hyperparameters say."
    return [c.Method("_check_hyperparameters", (), "None", said, tuple(rows))] if rows else []


def checked(program: Program) -> list[c.Statement]:
    """The call of that method, where there is one."""
    found = check_method(program)
    return [c.Do(c.call(me(found[0].name)))] if found else []


def domains(program: Program) -> c.Table:
    """Each hyperparameter with its range, "" where that is no interval between numbers."""
    rows = []
    for v in program.of("hyper"):
        known = interval(v.domain) if v.type == SCALAR else ""
        if known is None and (v.lower, v.upper) == (None, None):
            raise InternalError(f"the domain {v.domain!r} of {v.name} is not an interval")
        rows.append((c.Literal(v.name), c.Literal(known or "")))
    return c.Table(tuple(rows), filled=True)


def resuming(plan: Plan) -> Kept:
    """How the state is saved, taken back, set from outside and told."""
    known = c.Name("HYPERPARAMETERS")
    first, saved = _saving(plan)
    beginning, load = _loading(plan)
    beside = "; save rng.bit_generator.state beside it" if plan.noises else ""
    put, told = put_by("_set", known), of_object("_told", known)
    return Kept(saved, load, put, told, first, beginning, beside)


def _saving(plan: Plan) -> tuple[tuple[c.Statement, ...], c.Expression]:
    """What is saved, on a line, or with lines before it."""
    main, name, numbers, kept = plan.main, *c.own("name", "numbers", "kept")
    saved = {v.name: PARAMS if v.name == main else me(v.name) for v in _main_first(plan)}
    saved |= {"pending": PENDING} if plan.carried else {}
    saved |= {"sums": SUMS, "draws": COUNT} if plan.sums else {}
    states = tuple((c.Literal(k), x) for k, x in saved.items())
    before = ((c.Literal("t"), me("t")), (c.Literal("hyperparameters"), numbers))
    known = c.Name("HYPERPARAMETERS")
    first = c.Set((numbers,), c.Each(c.call("getattr", SELF, name), (name,), known, name))
    whole = c.call(c.Use("deepcopy"), c.Table((*before, *states)))
    if len(f"return {flat(whole)}") <= WIDTH - 8:
        return (first,), whole
    rows = c.Set((kept,), c.Table(states, filled=True))
    return (first, rows), c.call(c.Use("deepcopy"), c.Table(before, rest=kept))


def _loading(plan: Plan) -> tuple[tuple[c.Statement, ...], c.Expression]:
    """How it is taken back: with the ends of states, and what a draw may have left."""
    left: dict[str, c.Expression] = {}
    if plan.carried:
        left["pending"] = _shaped_like(plan, plan.carried, plan.carried)
    if plan.sums:
        left["sums"] = _shaped_like(plan, plan.sums, plan.means)
    found = {v.name: state_domain(v) for v in _main_first(plan)}
    ends = tuple((c.Literal(k), c.Literal(end)) for k, end in found.items() if end != ANY)
    known = c.Name("HYPERPARAMETERS")
    domains = c.Sign("|", c.Table(ends), known) if ends else known
    given = (SELF, c.Name("saved"), c.Literal(plan.main), domains)
    if not left:
        return (), c.call("_load", *given)
    pairs = tuple((c.Literal(k), x) for k, x in left.items())
    rows = c.Set((c.Name("left"),), c.Table(pairs, filled=True))
    return (rows,), c.call("_load", *given, c.Sign("**", c.Name("left")))


def _main_first(plan: Plan) -> list[Variable]:
    """The states, arrays before numbers."""
    return sorted(plan.states, key=lambda v: (v.name != plan.main, v.type == SCALAR))


def _shaped_like(plan: Plan, names: Sequence[str], of: Sequence[str]) -> c.Table:
    """Each name with a state of its shape."""
    rows: list[tuple[c.Expression, c.Expression]] = []
    held = (plan.parameter, *(v for v in plan.states if v.type != SCALAR))
    for name, told in zip(names, of, strict=True):
        kind = plan.program.scope[told]
        like = [me(v.name) for v in held if v.type == kind]
        if not like and kind != SCALAR:
            raise InternalError(f"no state has the shape of {name}")
        rows.append((c.Literal(name), like[0] if like else c.Literal(0.0)))
    return c.Table(tuple(rows))


def unkept(why: str) -> c.Method:
    """Says of the posterior that a rule does not keep why it does not."""
    name = c.Name("name")
    asked = c.Sign("in", c.Row((c.Literal("posterior"), c.Literal("sample"))), name)
    said = c.Words(f"{{type(self).__name__}} has no {{name}}: {why}")
    other = c.Words("{type(self).__name__!r} object has no attribute {name!r}")
    body = (c.When(asked, (c.Raise("AttributeError", said),)), c.Raise("AttributeError", other))
    doc = "Say of what is not there why it is not."
    return c.Method("__getattr__", (c.Argument("name", "str"),), "Any", doc, body)


def described(derivation: Derivation, program: Program, apart: bool = False) -> str:
    """The docstring of a class; `apart`: parameters beside the first ones are attributes."""
    main = program.parameter
    held = clean(main.meaning) or main.name
    params = f"`params` is the array, or the list of arrays, with the {held}; "
    if len(main.type.shape) > 1:
        params = f"`params` is the matrix {main.name}; "
    params += "it is updated in place."
    free = ["hyperparameters"] if program.of("hyper") else []
    others = [v.name for v in program.of("state") if v.name != main.name]
    if apart and "precision" not in dict(derivation.candidate) and others:
        free.append(f"the other parameters, {sentence_list(others)},")
    if free:
        said = " and ".join(free)
        params += (
            f" {said[0].upper()}{said[1:]} are plain attributes and may be changed between steps."
        )
    use = "\n".join(f"    {x}" for x in usage(class_name(derivation), program))
    return f"{heading(derivation)}.\n\n{textwrap.fill(params, WIDTH - 4)}\n\n{use}"


def first_states(program: Program) -> list[str]:
    """The states that have no first value, which the constructor is given."""
    return defaults(program)[1]
