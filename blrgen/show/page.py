"""What every format shows of a derivation, gathered once: header, lines, algorithm, quantities."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from blrgen.core import Derivation, Quantity, Rule, Step
from blrgen.errors import InternalError
from blrgen.rule.results import is_matrix_result, symbol_of_result
from blrgen.text.expression import ascii, number_text
from blrgen.text.layout import Name, Node, Reading, arrange
from blrgen.text.names import Notation
from blrgen.text.terminal import Terminal

Expr = Any
RULE_TITLE = "The Bayesian learning rule"


@dataclass(frozen=True)
class Formula:
    """left relation right, in written form, with how its names read there."""

    left: Node
    relation: str
    right: Node
    note: str = ""
    notation: tuple[tuple[str, tuple[str, str]], ...] = ()

    @property
    def names(self) -> Notation:
        return dict(self.notation)


@dataclass(frozen=True)
class Line:
    """One numbered line."""

    number: int
    id: str
    title: str
    formulas: tuple[Formula, ...]
    because: str
    space: str
    approximation: str


@dataclass(frozen=True)
class Command:
    """One assignment of the algorithm with its stage."""

    stage: str
    formula: Formula
    name: str
    text: str  # the right-hand side as SymPy reads it


@dataclass(frozen=True)
class Math:
    """A piece of mathematics inside prose."""

    node: Node
    notation: tuple[tuple[str, tuple[str, str]], ...] = ()

    @property
    def names(self) -> Notation:
        return dict(self.notation)


@dataclass(frozen=True)
class Entry:
    """What one name stands for: its kind, the name, prose with mathematics in it."""

    kind: str
    name: str
    parts: tuple[str | Math, ...]


@dataclass(frozen=True)
class Page:
    """Everything a format needs, in order."""

    title: str
    facts: tuple[tuple[str, str], ...]  # candidate, loss, approximations, assumptions, source
    lines: tuple[Line, ...]
    commands: tuple[Command, ...]
    posterior: tuple[tuple[str, Node], ...]  # nothing where the rule keeps none
    until: str
    entries: tuple[Entry, ...]
    reading: Reading
    heading: str = "Derivation"
    halved: str = ""  # the step size that is halved until the step stays inside
    notes: tuple[str, ...] = ()  # why there is no posterior, or what bounds what it says
    letters: tuple[Formula, ...] = ()  # long arguments, named before the assignments use them


def page_of(derivation: Derivation, *, complete: bool = False) -> Page:
    """Gather a derivation for showing; `complete` repeats equations that a line leaves alone."""
    rule = derivation.rule
    reading = Reading({q.name: q.kind for q in rule.quantities} | {"t": "counter"})
    short = _letters(derivation)
    defined = tuple(
        Formula(arrange(letter, reading), "=", arrange(e, reading)) for e, letter in short.items()
    )
    lines: list[Line] = []
    for number, step in enumerate(derivation.steps, 1):
        line = _line(number, step, reading, [line.id for line in lines], _replaced(short))
        if any(e.lhs.name == "A_" for e in step.equations if e.lhs.is_Symbol):
            line = replace(line, formulas=(*line.formulas, *defined))
        lines.append(line)
    return Page(
        title=_title(derivation),
        facts=_facts(derivation),
        lines=tuple(lines if complete else _changed(lines, reading)),
        commands=tuple(
            _command(rule, k, reading, _support_sizes(derivation), _replaced(short))
            for k in range(len(rule.assignments))
        ),
        posterior=tuple(
            (name, arrange(e, reading, _square(rule, name, e))) for name, e in rule.posterior
        ),
        notes=(*notes(rule), *_of_components(derivation)),
        letters=tuple(
            replace(f, relation="←")
            for f in defined
            if any(a.expr.xreplace(_replaced(short)) != a.expr for a in rule.assignments)
        ),
        until=rule.until,
        entries=entries(rule, reading),
        reading=reading,
        halved="ρ" if rule.halved == "rho" else rule.halved,
    )


def notes(rule: Rule) -> tuple[str, ...]:
    """What must be known of the posterior: that there is none, and why, or what bounds it."""
    if rule.unkept:
        return (f"no posterior: {rule.unkept}",)
    return (f"of the posterior: {rule.bounded}",) if rule.bounded else ()


def _of_components(d: Derivation) -> tuple[str, ...]:
    """Of a mixture, what mean and precision are of."""
    if d.mixture is None or not d.rule.posterior:
        return ()
    return ("the posterior is Σₖ πₖ qₖ: mean and precision are those of one component",)


def flags(derivation: Derivation) -> list[str]:
    """The approximations as `derive` takes them: "delta", "hessian=squared-gradient"."""
    return [
        name if value is None else f"{name}={value}" for name, value in derivation.approximations
    ]


def _title(d: Derivation) -> str:
    """The recipe's title, with the flags that were added to its road."""
    if d.recipe is None:
        return RULE_TITLE
    added = ", ".join(f if o is None else f"{f}={o}" for f, o in d.added)
    return f"{d.recipe.title} with {added}" if added else d.recipe.title


def _facts(d: Derivation) -> tuple[tuple[str, str], ...]:
    source = d.recipe.citation if d.recipe else ""
    assumed = [a for a in d.assumptions if a not in dict(d.approximations)]
    facts = [
        ("candidate", f"{d.family.name}: {d.family.title}"),
        ("loss", f"ℓ(θ) = {d.loss.text}" if d.loss.text else "ℓ(θ), abstract"),
        ("approximations", ", ".join(flags(d)) or "none"),
        *(("assumes" if k == 0 else "", a) for k, a in enumerate(assumed)),
        ("source", source),
    ]
    return tuple((label, text) for label, text in facts if text)


def _changed(lines: list[Line], reading: Reading) -> list[Line]:
    """Lines as a person writes them: an approximation repeats only the equations it changes."""
    kept, above = [], frozenset[str]()
    for line in lines:
        shown = [
            Terminal(f.names, reading).equation(f.left, f.relation, f.right) for f in line.formulas
        ]
        new = tuple(f for f, text in zip(line.formulas, shown, strict=True) if text not in above)
        above = frozenset(shown)
        kept.append(replace(line, formulas=new) if line.approximation else line)
    return kept


def _letters(derivation: Derivation) -> dict[Expr, Expr]:
    """The long argument of a special function → its letter, as on the family's own page."""
    from blrgen.show.geometry.rows import letters

    g = derivation.geometry
    if g is None or not g.ring.elementwise or g.family.factors or g.family.joint:
        return {}
    names = {q.name for q in derivation.rule.quantities}
    found = {}
    for e, letter in letters(g).items():
        power = letter.as_base_exp()
        if not power[0].name.endswith("_0") and power[0].name not in names:
            found[e ** (1 / power[1])] = power[0]
    return found


def _replaced(short: dict[Expr, Expr]) -> dict[Expr, Expr]:
    """What is put in for the letters; under a root it is the square of one."""
    import sympy as sp

    found = dict(short)
    for e, letter in short.items():
        number, root = e.as_coeff_Mul()
        if root.is_Pow and root.exp == sp.Rational(1, 2):
            found[root] = letter / number
            found[root.base] = (letter / number) ** 2
    return found


def _line(
    number: int, step: Step, reading: Reading, taken: list[str], short: dict[Expr, Expr]
) -> Line:
    notation = tuple((name, (text, latex)) for name, text, latex in step.notation)
    formulas = tuple(
        Formula(
            arrange(e.lhs, reading),
            e.relation,
            arrange(
                e.rhs.xreplace(short) if short else e.rhs,
                reading,
                is_matrix(e.lhs),
                _old_value(e.lhs),
            ),
            e.note,
            notation,
        )
        for e in step.equations
    )
    slug = re.sub(r"[^a-z0-9]+", "-", step.title.lower()).strip("-") or "line"
    same = sum(1 for t in taken if t == slug or re.fullmatch(re.escape(slug) + r"-\d+", t))
    unique = slug if not same else f"{slug}-{same + 1}"
    return Line(number, unique, step.title, formulas, step.because, step.space, step.approximation)


def _old_value(left: Expr) -> str:
    """The state whose next value stands on the left; empty for anything else."""
    name = str(getattr(left, "name", ""))
    return name.removesuffix("_next") if name.endswith("_next") else ""


def is_matrix(symbol: Expr) -> bool:
    """Whether the symbol on the left stands for a matrix."""
    from blrgen.algebra.ranks import Mat

    return isinstance(symbol, Mat)


def _square(rule: Rule, name: str, e: Expr) -> bool:
    """A posterior precision that is a bare number stands for a multiple of the identity."""
    full = any(q.rank in ("vector", "symmetric", "matrix") for q in rule.of("state"))
    return bool(name != "mean" and full and e.is_commutative)


def _support_sizes(derivation: Derivation) -> set[str]:
    """The names of the variable's sizes: a rule of numbers alone may use them too."""
    words = [
        w for s in derivation.family.supports for size in s.size for w in re.split("[+-]", size)
    ]
    return {w for w in words if w.isidentifier()}


def _command(
    rule: Rule, k: int, reading: Reading, sizes: set[str], short: dict[Expr, Expr]
) -> Command:
    assignment = rule.assignments[k]
    matrix = is_matrix_result(rule, assignment.name)
    left = arrange(symbol_of_result(rule, assignment.name), reading)
    base = assignment.name.removesuffix("_next")
    shown = assignment.expr.xreplace(short) if short else assignment.expr
    right = arrange(shown, reading, matrix, base)
    formula = Formula(left, "=", right)
    _check_names(rule, k, sizes)
    text = ascii(assignment.expr, reading=reading, matrix=matrix, first=base)
    return Command(assignment.stage, formula, assignment.name, text)


def _sizes_of(x: Expr) -> set[str]:
    """The names of the sizes of a vector or matrix."""
    return {str(s) for size in getattr(x, "shape", ()) for s in size.free_symbols}


def _check_names(rule: Rule, k: int, sizes: set[str]) -> None:
    """An assignment may use declared names and results above it, nothing else."""
    declared = {q.name for q in rule.quantities if q.kind != "intermediate"} | {"t", "d"} | sizes
    declared |= {n for q in rule.quantities for n in _sizes_of(q.symbol)}
    known = declared | {a.name for a in rule.assignments[:k]}
    a = rule.assignments[k]
    unknown = sorted(s.name for s in a.expr.free_symbols if s.name not in known)
    if unknown:
        raise InternalError(f"{a.name} uses {', '.join(unknown)}, which nothing declares before it")


def commands(page: Page) -> list[Formula]:
    """The assignments as displayed formulas; a stage other than the update itself is noted."""
    made = [
        replace(c.formula, relation="←", note="" if c.stage == "update" else c.stage)
        for c in page.commands
    ]
    return [*page.letters, *made]


def entries(rule: Rule, reading: Reading) -> tuple[Entry, ...]:
    """States, inputs, draws and hyperparameters of a rule, and the step counter if it is used."""
    found = [
        *(Entry("state", q.name, _state(q, reading)) for q in rule.of("state")),
        *(Entry("input", q.name, _input(q)) for q in rule.of("input", "data")),
        *(Entry("known", q.name, _input(q)) for q in rule.of("known")),
        *(Entry("draw", q.name, _draw(q, rule, reading)) for q in rule.of("draw")),
        *(Entry("choose", q.name, _hyper(q)) for q in rule.of("hyper")),
    ]
    if any(s.name == "t" for a in rule.assignments for s in a.expr.free_symbols):
        found.append(Entry("counter", "t", ("number of the step, from 1",)))
    return tuple(found)


def _state(q: Quantity, reading: Reading) -> tuple[str | Math, ...]:
    lead = f"{q.meaning}; " if q.meaning else ""
    if q.init is None:
        return (f"{lead}starts where the caller says",)
    node = arrange(q.init, reading, q.init != 0 and q.rank in ("symmetric", "matrix"))
    return (f"{lead}starts at ", Math(node))


def _input(q: Quantity) -> tuple[str | Math, ...]:
    text, latex = q.formula if q.formula[0] else (q.text, q.latex)
    if not text or text == q.name:
        return (q.meaning,)
    sign = Math(Name(q.name), ((q.name, (text, latex)),))
    meaning = q.meaning.removeprefix(f"{text}: ")
    return (sign, f": {meaning}" if meaning else "")


def _draw(q: Quantity, rule: Rule, reading: Reading) -> tuple[str | Math, ...]:
    """What is drawn and from what; the candidate itself by its mean and covariance."""
    known = dict(rule.posterior)
    if q.rank == "vector" and "precision" in known:
        mean, covariance = (arrange(e, reading) for e in (known["mean"], known["precision"] ** -1))
        return (f"{q.meaning}; drawn from N(", Math(mean), ", ", Math(covariance), ")")
    drawn = f"drawn from {q.distribution}" if q.distribution else ""
    return ("; ".join(part for part in (q.meaning, drawn) if part),)


def _hyper(q: Quantity) -> tuple[str | Math, ...]:
    default = number_text(q.default).replace("oo", "∞")
    if q.rank == "symmetric" and q.default is not None:
        default = {"1": "I", "-1": "−I"}.get(default, default)
    domain = f"in {domain_text(q.domain)}" if q.domain else ""
    value = ", ".join(part for part in (default, domain) if part)
    return ("; ".join(part for part in (q.meaning, value) if part),)


def domain_text(domain: str) -> str:
    """(0, oo) as (0, ∞)."""
    return re.sub(r"\bpi\b", "π", re.sub(r"\boo\b", "∞", domain)).replace("-", "−")
