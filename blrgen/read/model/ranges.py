"""Arguments that can leave their domains: a mistake is kept only with a point that shows it.

Each argument is evaluated at points of the domains of what it refers to, exactly where it is
rational.  On the boundary a prior is improper; outside it the argument is refused.  Where it
depends on the sizes, which are not known yet, only a finding is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from blrgen.read.model.domains import parameter_domain
from blrgen.read.model.evaluate import Evaluator, TooFar, Undefined, Value, pivots
from blrgen.read.model.mistakes import Mistakes
from blrgen.read.model.samples import Sample, size_sets
from blrgen.read.model.spell import spelled
from blrgen.read.model.values import (
    Argument,
    Call,
    Const,
    Domain,
    Draw,
    Expr,
    Model,
    Node,
    Number,
    Power,
    Ref,
    SizeOf,
)
from blrgen.read.model.walk import children

SAMPLES = 24  # points at the first sizes
FEWER = 8  # at further ones
SLACK = 1e-9


@dataclass(frozen=True)
class Finding:
    """What could not be made sure from the text."""

    kind: str
    node: str
    text: str


@dataclass(frozen=True)
class Witness:
    """How a value misses a domain: "outside", "boundary" or "undefined", and where."""

    how: str
    text: str
    place: Any = None


def check_ranges(
    model: Model, known: tuple[tuple[str, str, Draw], ...], mistakes: Mistakes
) -> tuple[Finding, ...]:
    """All arguments of all draws, defaults of constants, and counts of plates.

    `known` are the draws with their nodes and kinds, also those of which only some arguments
    could be read.
    """
    findings: list[Finding] = []
    for constant in model.constants:
        _default(model, constant, mistakes)
    for plate in model.plates:
        if plate.times is not None:
            domain = Domain("interval", lower=Number(Fraction(0)), lower_open=False, text="[0, oo)")
            seen = _witness(model, plate.times, domain)
            if seen is not None and seen[0]:
                mistakes.note(
                    "domain", plate.times.place, f"times can leave [0, oo): {seen[1].text}",
                    why="it counts identical elements", node="",
                    instead="declare the counts in integers >= 0",
                )  # fmt: skip
    for node in model.nodes:
        if node.kind == "deterministic":
            for statement in node.statements:
                _defined(model, node, statement.made, mistakes)  # type: ignore[arg-type]
    for name, kind, draw in known:
        for argument in draw.arguments:
            findings += _argument(model, name, kind, draw, argument, mistakes)
    return tuple(findings)


def check_at_sizes(model: Model, sizes: Mapping[str, int], mistakes: Mistakes) -> None:
    """The arguments once more, now that data say the sizes."""
    for node in model.nodes:
        for draw in node.draws:
            for argument in draw.arguments:
                _argument(model, node.name, node.kind, draw, argument, mistakes, sizes)


def _default(model: Model, constant: Const, mistakes: Mistakes) -> None:
    if constant.default is None:
        return
    seen = _witness(model, constant.default, constant.domain)
    if seen is not None and seen[0]:
        mistakes.note(
            "domain", constant.default.place,
            f"the default of {constant.name} is not in {constant.domain.text}",
            why=seen[1].text, node=constant.name,
        )  # fmt: skip


def _defined(model: Model, node: Node, value: Expr, mistakes: Mistakes) -> None:
    """A deterministic node has a value wherever its parents are."""
    seen = _witness(model, value, Domain("any"))
    if seen is not None and seen[0]:
        mistakes.note(
            "domain", seen[1].place or value.place, f"{node.name} is not defined everywhere",
            why=seen[1].text, node=node.name,
        )  # fmt: skip


def _domain_of(model: Model, draw: Draw, argument: Argument) -> Domain:
    """Where the family lets this parameter be, in the model's terms."""
    family = model.family(draw.family)
    parameters = (*family.natural, *family.working, *family.simplex, *family.fixed)
    parameter = next(p for p in parameters if p.name == argument.name)
    values = {a.name: a.value for a in draw.arguments}
    domain = parameter_domain(parameter.domain, dict(draw.sizes), values)
    if parameter.domain.kind in ("spd", "-spd") and parameter.domain.lower is not None:
        domain = Domain("any", domain.shape)  # moved by a matrix: known once there are numbers
    return domain


def _argument(
    model: Model,
    node: str,
    kind: str,
    draw: Draw,
    argument: Argument,
    mistakes: Mistakes,
    sizes: Mapping[str, int] | None = None,
) -> list[Finding]:
    domain = _domain_of(model, draw, argument)
    seen = _witness(model, argument.value, domain, sizes)
    if seen is None:
        return []
    always, witness = seen
    name = f"{argument.name} of {draw.family}"
    inside = _told(domain)
    if not always:
        text = f"{name} leaves {inside} for some sizes: {witness.text}"
        return [Finding("domain", node, text)]
    fixed = not any(isinstance(e, Ref) for e in _inside(argument.value))
    if witness.how == "boundary" and fixed and kind == "latent":
        mistakes.note(
            "improper", argument.value.place, f"{name} is on the boundary of {inside}",
            why=f"{witness.text}: the prior has no density of finite mass",
            instead=f"choose {argument.name} inside, or declare {node} as a param: no prior",
            node=node,
        )  # fmt: skip
    else:
        verb = "has no value" if witness.how == "undefined" else f"can leave {inside}"
        verb = f"is not in {inside}" if fixed and witness.how != "undefined" else verb
        mistakes.note(
            "domain", witness.place or argument.value.place, f"{name} {verb}", why=witness.text,
            instead=_order(draw) if fixed else _instead(domain), node=node,
        )  # fmt: skip
    return []


def _order(draw: Draw) -> str:
    """Where a number is wrong, it may be the other argument's."""
    names = ", ".join(x.name for x in draw.arguments)
    several = len(draw.arguments) > 1
    return f"choose a value inside; {draw.family} takes ({names})" if several else ""


def _told(domain: Domain) -> str:
    """The domain with its ends as they are here, not as the family's file calls them."""
    ends = [e for e in (domain.lower, domain.upper) if e is not None]
    if domain.kind != "interval" or all(isinstance(e, Number) for e in ends):
        return domain.text
    low = "-oo" if domain.lower is None else spelled(domain.lower)
    high = "oo" if domain.upper is None else spelled(domain.upper)
    return f"{'[('[domain.lower_open]}{low}, {high}{'])'[domain.upper_open]}"


def _instead(domain: Domain) -> str:
    if domain.whole:
        return f"declare what stands in it in {domain.text}"
    if domain.kind == "spd":
        return "a sum with a positive definite matrix is one, W*transpose(W) alone need not be"
    if domain.kind == "simplex":
        return "divide by its sum: f/sum(f), or declare it in simplex(K)"
    if domain.kind == "interval" and isinstance(domain.lower, Number) and not domain.upper:
        return "write exp(…) for a positive number, or declare what stands in it in (0, oo)"
    if domain.kind == "interval" and domain.lower is not None and domain.upper is not None:
        return "write 1/(1 + exp(-f)) for a number between 0 and 1"
    return ""


def _inside(e: Expr) -> list[Expr]:
    found, todo = [], [e]
    while todo:
        at = todo.pop()
        found.append(at)
        todo += children(at)
    return found


def _witness(
    model: Model, e: Expr, domain: Domain, known: Mapping[str, int] | None = None
) -> tuple[bool, Witness] | None:
    """A point at which e is not inside; True where there is one for all sizes that were tried."""
    inside = _inside(e)
    partial = any(isinstance(x, Power | Call) for x in inside)
    if _everything(domain) and not partial:
        return None
    names, counted = _size_names(inside, domain)
    wrong: list[Witness] = []
    sets = size_sets(names, counted=counted) if known is None else [dict(known)]
    tried = 0
    for sizes in sets:
        found, done = _at_sizes(model, e, domain, sizes, SAMPLES if not tried else FEWER)
        tried += done
        if found is not None:
            wrong.append(found)
    if not wrong:
        return None
    wrong.sort(key=lambda w: ("outside", "undefined", "boundary").index(w.how))
    return len(wrong) >= tried, wrong[0]


def _everything(domain: Domain) -> bool:
    free = domain.lower is None and domain.upper is None and not domain.whole
    return domain.kind == "any" or (domain.kind == "interval" and free)


def _size_names(inside: list[Expr], domain: Domain) -> tuple[list[str], bool]:
    """The sizes in an expression and a domain, and whether one is used as a number."""
    ends = [e for end in (domain.lower, domain.upper) if end is not None for e in _inside(end)]
    counted = [e.size for e in (*inside, *ends) if isinstance(e, SizeOf) and e.size.name]
    sizes = [*counted, *(s for e in inside for s in e.shape)]
    return list(dict.fromkeys(s.name for s in sizes if s.name)), bool(counted)


def _at_sizes(
    model: Model, e: Expr, domain: Domain, sizes: dict[str, int], points: int
) -> tuple[Witness | None, bool]:
    """The worst of a number of points; whether any of them could be computed."""
    inside = _inside(e)
    constant = not any(isinstance(x, Ref) for x in inside)
    if domain.kind == "simplex" and Evaluator(sizes, _no_value).size(domain.shape[0]) == 1:
        return None, False  # one class: nothing is chosen
    done, worst = False, None
    for seed in range(1 if constant else points):
        sample = Sample(model, sizes, seed)
        try:
            value = sample.evaluator.value(e)
            how = _membership(sample, value, domain)
        except TooFar:
            continue
        except Undefined as undefined:
            text = f"{undefined.what} {_at(sample, inside, sizes)}".strip()
            return Witness("undefined", text, undefined.place), True
        done = True
        if how:
            shown = Witness(how, f"{_spoken(value)} {_at(sample, inside, sizes)}".strip())
            if how == "outside":
                return shown, True
            worst = worst or shown
    return worst, done


def _no_value(ref: Ref) -> Value:
    raise TooFar


def _at(sample: Sample, inside: list[Expr], sizes: dict[str, int]) -> str:
    """Where the point is: the numbers that stand in the expression, and the sizes."""
    parts: dict[str, None] = {}
    for e in inside:
        if isinstance(e, Ref) and not e.shape:
            with suppress(TooFar, Undefined):  # the value of a node that is the trouble itself
                parts[f"{e.name}{'[…]' * bool(e.indices)} = {_spoken(sample.ref(e))}"] = None
    if not parts:
        parts = {f"{n} = {v}": None for n, v in sizes.items()}
    return f"at {', '.join(list(parts)[:4])}" if parts else ""


def _spoken(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_spoken(v) for v in value[:4])}{', …' * (len(value) > 4)}]"
    if isinstance(value, Fraction) and value.denominator == 1 and abs(value) < 10**9:
        return str(value)
    return f"{float(value):.4g}"


def _membership(sample: Sample, value: Value, domain: Domain) -> str:
    """Inside is the empty word; else "boundary" or "outside"."""
    match domain.kind:
        case "interval":
            lower, upper = (
                None if end is None else sample.evaluator.value(end)
                for end in (domain.lower, domain.upper)
            )
            return _worst(_number(x, domain, lower, upper) for x in _flat(value))
        case "spd" | "-spd":
            return _definite(value, 1 if domain.kind == "spd" else -1)
        case "simplex":
            return _simplex(value, domain)
        case "finite":
            return "" if all(x in domain.points for x in _flat(value)) else "outside"
    return ""


def _flat(value: Value) -> list[Any]:
    return [x for v in value for x in _flat(v)] if isinstance(value, list) else [value]


def _worst(found: Any) -> str:
    seen = set(found)
    return "outside" if "outside" in seen else "boundary" if "boundary" in seen else ""


def _number(x: Any, domain: Domain, lower: Any, upper: Any) -> str:
    exact = isinstance(x, Fraction | int)
    slack = 0 if exact else SLACK * (1 + abs(x))
    if domain.whole and (x != int(x) if exact else abs(x - round(x)) > slack):
        return "outside"
    for end, sign, opened in ((lower, 1, domain.lower_open), (upper, -1, domain.upper_open)):
        if end is None:
            continue
        if (x - end) * sign < -slack:
            return "outside"
        if opened and exact and x == end:
            return "boundary"
    return ""


def _definite(value: Value, sign: int) -> str:
    n = len(value)
    for i in range(n):
        for j in range(i):
            gap = abs(value[i][j] - value[j][i])
            if gap > SLACK * (1 + abs(value[i][j])):
                return "outside"
    found = pivots([[sign * x for x in row] for row in value])
    if any(p < -SLACK for p in found):
        return "outside"
    exact = all(isinstance(p, Fraction) for p in found)
    return "boundary" if exact and any(p <= 0 for p in found) else ""


def _simplex(value: Value, domain: Domain) -> str:
    if any(x < -SLACK for x in value) or abs(sum(value) - 1) > SLACK:
        return "outside"
    return "boundary" if not domain.closed and any(x == 0 for x in value) else ""
