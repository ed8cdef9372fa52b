"""Pieces that the classes of both kinds of program share."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.emit.names import class_name
from blrgen.emit.printers import ArrayPrinter, ScalarPrinter, literal
from blrgen.emit.prose import clean, heading, wrapped
from blrgen.emit.ranges import interval
from blrgen.emit.templates import fill
from blrgen.emit.text import indented, sentence_list
from blrgen.emit.uses import use
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.laws import Law
from blrgen.program.program import LINEAR, Program, Variable
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.core import Derivation

DTYPES = ("float32", "float64")
ANY = "(-inf, inf)"  # every number that is finite


def dtype_tuple(dtype: str | None) -> str:
    """The accepted dtypes as source of a tuple."""
    names = DTYPES if dtype is None else (dtype,)
    return ", ".join(f"np.{x}" for x in names) + ("," if len(names) == 1 else "")


def head(derivation: Derivation, program: Program) -> str:
    """Class NAME with its docstring."""
    main = program.parameter
    held = clean(main.meaning) or main.name
    params = f"`params` is the array, or the list of arrays, with the {held}; "
    if main.type.rank in ("symmetric", "matrix"):
        params = f"`params` is the matrix {main.name}; "
    params += "it is updated in place. Hyperparameters"
    others = [v.name for v in program.of("state") if v.name != main.name]
    if program.kind == LINEAR and "precision" not in dict(derivation.candidate) and others:
        params += f" and the other parameters, {sentence_list(others)},"
    params += (
        " are plain attributes and may be changed between steps. The module's docstring has "
        "the equations."
    )
    return fill(
        "class/head.py.jinja",
        name=class_name(derivation),
        summary=f"{heading(derivation)}.",
        params=wrapped(params).replace("\n", "\n    "),
        use=indented("\n".join(usage(class_name(derivation), program)), 8).lstrip(),
    )


def usage(name: str, program: Program) -> list[str]:
    """How the class is built and called, as lines of code; what has no default is given."""
    lacking = [v.name for v in program.of("hyper") if v.default is None]
    given = ", ".join(["params", *(f"{x}={x}" for x in (*defaults(program)[1], *lacking))])
    inputs = ", ".join(v.name for v in program.of("input", "data"))
    probe = [s.name for s in program.phase("draw").body][-1:]
    noise = "rng" if program.of("draw") else ""
    draws = [f"{name} = opt.draw({noise})" for name in probe]
    where = f"  # {inputs} at {probe[0]}" if probe else ""
    return [f"opt = {name}({given})", *draws, f"opt.step({inputs}){where}"]


def defaults(program: Program) -> tuple[list[str], list[str]]:
    """Arguments of the constructor, and the states among them (which have no first value)."""
    read = {x for s in program.statements for x in n.names(s.expr)}
    needed = [
        v.name
        for v in program.of("state")
        if v.init is None and v.name != program.parameter.name and v.name in read
    ]
    kinds = {v.name: "Arrays" if v.type != SCALAR else "float" for v in program.of("state")}
    arguments = [f"{name}: {kinds[name]}" for name in needed]
    hypers = sorted(program.of("hyper"), key=lambda v: v.default is not None)
    for v in hypers:
        if is_derived(v):
            arguments.append(f"{v.name}: float | None = None")
            continue
        value = "" if v.default is None else f" = {number(v.default)}"
        arguments.append(f"{v.name}: float{value}")
    return arguments, needed


def is_derived(v: Variable) -> bool:
    """Whether a hyperparameter that is left out follows from others, or from a size."""
    return v.default is not None and bool(n.names(v.default))


def derived_assignment(v: Variable, names: dict[str, str]) -> str:
    """self.n = float(d) if n is None else n."""
    value = ScalarPrinter(names)(v.default or n.ZERO)
    return f"self.{v.name} = float({value}) if {v.name} is None else {v.name}"


def keyword_arguments(arguments: list[str]) -> str:
    """Keyword-only arguments, one a line."""
    rows = ("*", *arguments, "check_finite: bool = True")
    return indented("\n".join(f"{a}," for a in rows), 8) + "\n"


def number(node: n.Node) -> str:
    """A default value as it would be typed: 1e-8 and 0.1, never 1/10."""
    if isinstance(node, n.Const):
        text = literal(node.value)[0]
        return text + ".0" if text.lstrip("-").isdigit() else text
    return ScalarPrinter()(node)


def hyper_assignments(program: Program) -> str:
    """self.alpha = alpha …, each line with its newline."""
    hypers = [v for v in program.of("hyper") if v.type == SCALAR]  # matrices are checked first
    rows = [f"self.{v.name} = {v.name}" for v in hypers if not is_derived(v)]
    if program.kind != LINEAR:
        names = {v.name: f"self.{v.name}" for v in hypers}
        rows += [derived_assignment(v, names) for v in hypers if is_derived(v)]
    return "".join(f"        {row}\n" for row in rows)


def check_method(program: Program) -> list[str]:
    """_check_hyperparameters, where a range depends on other hyperparameters."""
    rows = []
    for v in (v for v in program.of("hyper") if v.type == SCALAR):
        if interval(v.domain) is None and program.kind != LINEAR:
            rows.append(_between(v, {h.name: f"self.{h.name}" for h in program.of("hyper")}))
    return [fill("class/check.py.jinja", checks=indented("\n".join(rows), 8))] if rows else []


def check_line(program: Program) -> str:
    """The call of that method, where there is one."""
    return "        self._check_hyperparameters()\n" if check_method(program) else ""


def domains(program: Program) -> list[str]:
    """Each hyperparameter with its range, "" where that is no interval between numbers."""
    rows = []
    for v in program.of("hyper"):
        known = interval(v.domain) if v.type == SCALAR else ""
        if known is None and (v.lower, v.upper) == (None, None):
            raise InternalError(f"the domain {v.domain!r} of {v.name} is not an interval")
        rows.append(f'"{v.name}": "{known or ""}"')
    return rows


def state_domain(v: Variable) -> str:
    """What is looked at in a saved state: the ends of an interval; all is finite."""
    return (interval(v.domain) if v.domain else None) or ANY


def _between(v: Variable, names: dict[str, str]) -> str:
    """A check against ends that are made of other hyperparameters."""
    printer = ScalarPrinter(names)
    low = f"-{use('math')}.inf" if v.lower is None else printer(v.lower)
    high = f"{use('math')}.inf" if v.upper is None else printer(v.upper)
    return f'{use("_between")}("{v.name}", self.{v.name}, {low}, {high})'


def init_number(program: Program, v: Variable) -> str | None:
    """The first value of every element, where it is the same for all; nothing where it is 0."""
    start = v.init if v.init is not None else n.ZERO
    if start == n.ZERO:
        return ""
    if any(program.scope[x] != SCALAR for x in n.names(start)):
        return None
    return ScalarPrinter({h.name: f"self.{h.name}" for h in program.of("hyper")})(start)


def init_value(program: Program, v: Variable, main: str) -> str:
    """The first value of an array state, beside the flat parameters `main`."""
    start = v.init if v.init is not None else n.ZERO
    number = init_number(program, v)
    if number is not None:
        return f"np.full_like({main}, {number})" if number else f"np.zeros_like({main})"
    hypers = {h.name: f"self.{h.name}" for h in program.of("hyper")}
    if isinstance(start, n.Sym) and start.name == main:
        return f"{main}.copy()"
    if set(n.names(start)) <= {main, *hypers}:
        return f"np.asarray({ArrayPrinter(hypers)(start)}, dtype={main}.dtype)"
    others = {s.name: s for s in program.of("state") if s.name not in (v.name, main)}
    if isinstance(start, n.Sym) and start.name in others:
        return init_value(program, others[start.name], main)  # it starts where that one does
    raise InternalError(f"the first value of {v.name} depends on another state")


def input_words(inputs: tuple[Variable, ...]) -> str:
    """The inputs in words: g and h."""
    if not inputs:
        return "what is stored"
    return sentence_list(v.name for v in inputs)


def noise_arguments(noises: tuple[Variable, ...]) -> list[str]:
    """Arguments of `draw`."""
    if not noises:
        return []
    given = [f"{v.name}: Arrays | None = None" for v in noises]
    return ["rng: np.random.Generator | None = None", "*", *given]


def law_numbers(law: Law) -> list[str]:
    """The numbers that say which law of its kind it is; none of the standard normal."""
    if law.name == "normal":
        return []
    if law.chance:
        return [f"self.{law.chance}"]
    return [repr(float(law.location)), repr(float(law.scale))]


def wants_gaussian(derivation: Derivation) -> bool:
    """Whether mean and precision of the posterior say all of it: a Gaussian on the whole space."""
    posterior = dict(derivation.rule.posterior)
    if not {"mean", "precision"} <= posterior.keys():
        return False
    kind = derivation.family.support.kind
    whole = kind == "vector" or (kind == "interval" and _unbounded(derivation))
    return whole


def _unbounded(derivation: Derivation) -> bool:
    support = derivation.family.support
    return all(b is None or bool(b.is_infinite) for b in (support.lower, support.upper))


def wants_two_points(derivation: Derivation) -> tuple[Fraction, Fraction] | None:
    """The two values of a binary variable, whose mean says all of its law."""
    support = derivation.family.support
    if support.kind != "finite" or len(support.points) != 2:
        return None
    low, high = sorted(Fraction(str(p)) for p in support.points)
    return low, high
