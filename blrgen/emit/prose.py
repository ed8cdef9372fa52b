"""The docstring of an emitted file: equations, approximations, hyperparameters, as prose."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from blrgen.core import Quantity, Rule
from blrgen.emit.text import sentence_list
from blrgen.program.lower import with_noise
from blrgen.program.recover import read_back, together
from blrgen.rule.results import is_matrix_result, symbol_of_result
from blrgen.text.expression import number_text, unicode
from blrgen.text.layout import Reading, arrange
from blrgen.text.names import unicode_name
from blrgen.text.terminal import Terminal

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any
MEASURE = 100
TITLES = {
    "draw": "The loss is probed at:",
    "estimate": "Estimated there, and averaged over several such points:",
    "update": "Update:",
}


def module_docstring(derivation: Derivation) -> str:
    """All of it, without the quotes."""
    rule = with_noise(derivation.rule)
    parts = [_heading(derivation), _quantities(rule), *_updates(rule)]
    approximations = _approximations(derivation)
    if approximations:
        parts += ["Approximations, in the order in which they were made:", approximations]
    parts += _of_posterior(derivation)
    hypers = rule.of("hyper")
    if hypers:
        parts += ["Hyperparameters:", "\n".join(_hyper(v, hypers) for v in hypers)]
    if derivation.recipe is not None and derivation.recipe.citation:
        parts.append(wrapped(f"See {derivation.recipe.citation}."))
    return "\n\n".join(parts)


def _heading(derivation: Derivation) -> str:
    family = clean(derivation.family.title)
    title = heading(derivation)
    first = title if len(title) < MEASURE - 6 else family
    return f"{first}.\n\n" + wrapped(f"The Bayesian learning rule for the candidate: {family}.")


def heading(derivation: Derivation) -> str:
    """The recipe's title, or the family's followed by the approximations."""
    if derivation.recipe is not None:
        return clean(derivation.recipe.title)
    made = derivation.approximations
    flags = [name if value is None else f"{name} {value}" for name, value in made]
    title = clean(derivation.family.title)
    return f"{title} with {sentence_list(flags)}" if flags else title


def clean(text: str) -> str:
    """Text that can stand in a docstring: one line, no backslash, no triple quote."""
    return " ".join(text.split()).replace("\\", "/").replace('"""', "'''")


def wrapped(text: str, indent: str = "", hanging: str | None = None) -> str:
    """Filled to the measure."""
    return textwrap.fill(
        text,
        MEASURE,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _quantities(rule: Rule) -> str:
    """What the names in the equations mean."""
    named = rule.of("state", "input", "data", "draw")
    known = [f"{unicode_name(q.name)} is {clean(q.meaning)}" for q in named if q.meaning]
    if any(x.name == "t" for a in rule.assignments for x in a.expr.free_symbols):
        known.append("t counts steps from 1")
    known.append("x⁺ is the next value of x")
    return wrapped(f"Here {'; '.join(known)}.")


def _updates(rule: Rule) -> list[str]:
    """The assignments, those of each stage under what it is for."""
    said = _Said(rule)
    parts: list[str] = []
    for stage, title in TITLES.items():
        lines = [said.line(a.name, a.expr) for a in rule.assignments if a.stage == stage]
        parts += [title, "\n".join(lines)] if lines else []
        back = read_back(rule) if stage == "draw" else {}
        if back:
            lines = [said.line(name, e.replace(together, lambda x: x)) for name, e in back.items()]
            parts += ["from which a step reads the noise back:", "\n".join(lines)]
    if rule.halved:
        name = unicode_name(rule.halved)
        parts.append(
            wrapped(
                f"{name} is halved until the next values are inside their domains, at each "
                "step anew."
            )
        )
    if rule.until:
        parts.append(f"The update is repeated until a {clean(rule.until)}.")
    return parts


class _Said:
    """Expressions of a rule as on a board."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.reading = Reading({q.name: q.kind for q in rule.quantities} | {"t": "counter"})

    def line(self, name: str, e: Expr) -> str:
        """The name and what it is; a number in the place of a matrix is that multiple of I."""
        matrix, state = is_matrix_result(self.rule, name), name.removesuffix("_next")
        left = arrange(symbol_of_result(self.rule, name), self.reading)
        right = arrange(e, self.reading, matrix, state)
        printer = Terminal(None, self.reading)
        return equation(printer.text(left), printer.text(right))


def equation(left: str, right: str) -> str:
    """Left = right, broken before a sum's signs when it is too long."""
    lines, line = [], f"    {left} ="
    for k, term in enumerate(re.split(r" (?=[+−] )", right)):
        if k and len(line) + 1 + len(term) > MEASURE:
            lines.append(line)
            line = " " * (6 + len(left))
        line += f" {term}"
    return "\n".join([*lines, line])


def _approximations(derivation: Derivation) -> str:
    flags = dict(derivation.approximations)
    lines = []
    for step in derivation.steps:
        if not step.approximation:
            continue
        value = flags.get(step.approximation)
        name = step.approximation if value is None else f"{step.approximation} = {value}"
        lines.append(wrapped(f"{clean(name)}: {clean(step.because)}", "    ", " " * 8))
    return "\n".join(lines)


def _of_posterior(derivation: Derivation) -> list[str]:
    """Why `posterior` is not there, or what bounds what it says."""
    rule = derivation.rule
    if rule.unkept:
        return [wrapped(f"There is no posterior: {rule.unkept}.")]
    return [wrapped(f"Of the posterior: {rule.bounded}.")] if rule.bounded else []


def _hyper(q: Quantity, all_of_them: tuple[Quantity, ...]) -> str:
    width = max(len(x.name) for x in all_of_them)
    default = f", {_default(q)} by default" if q.default is not None else ""
    meaning = clean(q.meaning) or "hyperparameter"
    domain = (q.domain or "(-oo, oo)").replace("oo", "∞").replace("-", "−")
    return wrapped(f"{q.name:<{width}}  {meaning}, in {domain}{default}", "    ", " " * (width + 6))


def _default(q: Quantity) -> str:
    if q.default.is_Rational and q.rank != "symmetric":
        return number_text(q.default)
    return unicode(q.default, matrix=q.rank == "symmetric")
