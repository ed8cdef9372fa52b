"""Pieces that the classes of both kinds of program share."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.emit.printers import ScalarPrinter, literal
from blrgen.emit.ranges import interval
from blrgen.emit.text import sentence_list
from blrgen.program import nodes as n
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.core import Derivation

DTYPES = ("float32", "float64")
ANY = "(-inf, inf)"  # every number that is finite


def dtype_tuple(dtype: str | None) -> str:
    """The accepted dtypes as source of a tuple."""
    names = DTYPES if dtype is None else (dtype,)
    return ", ".join(f"np.{x}" for x in names) + ("," if len(names) == 1 else "")


def usage(name: str, program: Program) -> list[str]:
    """How the class is built and called, as lines of code; what has no default is given."""
    lacking = [v.name for v in program.of("hyper") if v.default is None]
    given = ", ".join(["params", *(f"{x}={x}" for x in (*defaults(program)[1], *lacking))])
    inputs = ", ".join(v.name for v in program.of("input", "data"))
    probe = [program.probe] if program.probe else []
    noise = "rng" if program.of("draw") else ""
    draws = [f"{name} = opt.draw({noise})" for name in probe]
    where = f"  # {inputs} at {probe[0]}" if probe else ""
    return [f"opt = {name}({given})", *draws, f"opt.step({inputs}){where}"]


def defaults(program: Program) -> tuple[list[str], list[str]]:
    """Arguments of the constructor, and the states among them (which have no first value)."""
    needed = [
        v.name
        for v in program.of("state")
        if v.init is None and v.name != program.parameter.name and v.name in program.reads
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


def number(node: n.Node) -> str:
    """A default value as it would be typed: 1e-8 and 0.1, never 1/10."""
    if isinstance(node, n.Const):
        text = literal(node.value)[0]
        return text + ".0" if text.lstrip("-").isdigit() else text
    return ScalarPrinter()(node)


def state_domain(v: Variable) -> str:
    """What is looked at in a saved state: the ends of an interval; all is finite.

    An end that is minus a hyperparameter is looked at where that is known (`moving_end`).
    """
    return (interval(v.domain) if v.domain else None) or ANY


def moving_end(v: Variable) -> str:
    """The hyperparameter whose negative is the lower end of a state's domain; else nothing.

    The end belongs to the domain: what is above may be rounded to it.
    """
    below = re.fullmatch(r"\(-([a-zA-Z]\w*), oo\)", v.domain or "")
    return below[1] if below and not interval(v.domain) else ""


def input_words(inputs: tuple[Variable, ...]) -> str:
    """The inputs in words: g and h."""
    if not inputs:
        return "what is stored"
    return sentence_list(v.name for v in inputs)


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
