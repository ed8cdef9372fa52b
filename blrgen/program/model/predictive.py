"""log p of new rows: each row's part of the objective, with points and q as they stand.

    points only        log p(x_n) = A(λ_n) + E[terms of row n]
    one exact block    log ∫ p(x_n | θ) q(θ) dθ = A(λ + c_n) − A(λ) + the row's other terms

c_n is what a row adds to the natural parameter.  Where neither holds there is no closed form:
p(x_n | θ), with the row's own latents summed out, is averaged over draws of q(θ).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.algebra.indexed import Expression, Index, Term
from blrgen.algebra.indexed.build import scaled
from blrgen.errors import UserError
from blrgen.expect.factors.names import axis_of
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations, labels_reader
from blrgen.program.model.family import negated, resized
from blrgen.program.model.given import handing_out
from blrgen.program.model.member import Lowered, named, symmetrised
from blrgen.program.model.names import Given
from blrgen.program.model.objective import without
from blrgen.program.model.values import Argument, Array, Method, ModelProgram, Predicted
from blrgen.rule.model.given import given_values
from blrgen.rule.model.values import ModelDerivation

if TYPE_CHECKING:
    from blrgen.program.model.own import Own

MEANING = "Return log p of each of some new rows, by what is known of the others."


def row_equation(
    d: ModelDerivation, first: Sequence[Own], others: Sequence[Own], given: Given, eq: Equations
) -> Row | None:
    """log p of a row, where it has a closed form."""
    axis = rows_axis(d)
    if not axis or others or d.batch:
        return None
    before = dict(given.readers)
    takes: tuple[Argument, ...] = ()
    letter = eq.letter(axis, "n", ())
    within = [own for own in first if any(i.axis == axis for i in own.lowered.elements)]
    if len(within) == len(first):
        parts = [_partition(own, axis, letter, eq) for own in first]
    elif len(first) == 1 and first[0].member.is_plain:
        takes = new_rows(given, axis)
        letter = eq.letter(f"{axis}_new", "m", ())
        parts = _added(first[0], axis, letter, eq)
    else:
        return None
    gone = {p.statistic.name for own in first for p in own.member.block.parts}
    rest = of_row(without(d.expected_joint, gone), axis)
    parts.append(eq.expr(rest, {_OPEN: letter}))
    name = eq.own("log_row")
    eq.let(a.Let(name, (letter,), eq.level(n.add(*parts), (letter,))))
    given.readers |= before
    return Row(name, takes)


@dataclass(frozen=True)
class Row:
    """An equation by its name; what it takes if it reads new rows beside the old ones."""

    name: str
    takes: tuple[Argument, ...] = ()


def new_rows(given: Given, axis: str) -> tuple[Argument, ...]:
    """Arrays for new rows beside those of the old ones, which expressions read from here on."""
    out = []
    for x in given.arguments:
        if axis not in x.array.sizes:
            continue
        name = given.names.of(f"{x.array.name}_new")
        array = replace(_moved(x.array, axis, f"{axis}_new"), name=name)
        out.append(replace(x, array=array, default=None))
        given.quantities[name] = a.Quantity(name, array.sizes, labels=array.labels)
        given.readers[x.called] = labels_reader(name) if array.labels != "" else named(name)
    return tuple(out)


_OPEN = "@row"


def rows_axis(d: ModelDerivation) -> str:
    """The one outermost plate of all that is observed, if no chain runs along it."""
    observed = [x for x in d.model.nodes if x.kind == "observed"]
    letters = {x.letters[:1] for x in observed}
    if len(letters) != 1 or letters == {()} or any(x.missing for x in observed):
        return ""
    ((letter,),) = letters
    chained = any(x.chain is not None and x.chain.letter == letter for x in d.model.nodes)
    plate = d.model.plate(letter)
    ragged = any(letter in p.outer for p in d.model.plates)
    return "" if chained or ragged or plate.outer else axis_of(plate.size)


def of_row(e: Expression, axis: str) -> Expression:
    """The terms that each row has, at one of them."""
    found: list[tuple[Term, Fraction]] = []
    for term, c in e.terms:
        over = [r for r in term.bound if r.axis == axis]
        counts = [(x, p) for x, p in term.factors if x.kind == "size" and x.name == axis]
        if len(over) + len(counts) != 1 or any(p != 1 for _, p in counts):
            continue
        factors = tuple(f for f in term.factors if f not in counts)
        bound = tuple(r for r in term.bound if r not in over)
        found.append((_renamed(Term(factors, bound), over[0].name if over else ""), c))
    return Expression(tuple(found))


def _renamed(term: Term, name: str) -> Term:
    """The term with a bound letter under the name of the row's."""
    from blrgen.algebra.indexed.moving import move_atom

    if not name:
        return term
    places = {i: Index(i.axis, _OPEN) for x, _ in term.factors for i in x.letters
              if i.name == name}  # fmt: skip
    return Term(tuple((move_atom(x, places), p) for x, p in term.factors), term.bound)


def _partition(own: Own, axis: str, letter: str, eq: Equations) -> n.Node:
    """Σ of A over what a row has of the block's elements."""
    letters: tuple[str, ...] = ()
    for i in own.lowered.elements:
        letters = (*letters, eq.letter(i.axis, i.name, letters))
    value = a.ref(own.lowered.partition(own.natural, f"{own.name}_row"), *letters)
    rest = tuple(x for x in letters if x != letter)
    return a.Red("sum", rest, value) if rest else value


def _added(own: Own, axis: str, letter: str, eq: Equations) -> list[n.Node]:
    """A(λ + c_n) − A(λ)."""
    more = Lowered(eq, own.member)
    more.extra = (letter,)
    assert more.geometry is not None
    turned = set(negated(more.geometry))
    natural = []
    made = {s.name: s for s in a.lets(tuple(eq.body))}
    for k, (s, old) in enumerate(zip(own.member.statistics, own.natural, strict=True)):
        part = next(p for p in own.member.block.parts if p.statistic == s)
        e = of_row(part.expected, axis)
        if len(s.places) == 2:
            e = symmetrised(e, *s.places)
        minus = own.member.family.natural[k].symbol in turned
        letters = made[old].letters
        where = dict(zip((i.name for i in s.places), letters, strict=True)) | {_OPEN: letter}
        value = n.add(a.ref(old, *letters), eq.expr(scaled(e, -1) if minus else e, where))
        name = eq.own(f"{own.name}_with")
        eq.let(a.Let(name, (letter, *letters), value, made[old].structure))
        natural.append(name)
    with_row = more.partition(tuple(natural), f"{own.name}_more")
    alone = own.lowered.partition(own.natural, f"{own.name}_alone")
    return [a.ref(with_row, letter), n.neg(a.ref(alone))]


def predictive(every: a.Program, row: Row, axis: str, given: Given) -> Method:
    """The method: new rows in the place of the old ones, sums of the old ones as they are."""
    program = handing_out(every, (row.name,))
    if row.takes:
        return Method(given.names.of("log_rows"), program, MEANING, row.takes)
    new = f"{axis}_new"
    rows = tuple(x for x in given.arguments if axis in x.array.sizes)
    takes = tuple(replace(x, array=_moved(x.array, axis, new), default=None) for x in rows)
    return Method(given.names.of("log_rows"), resized(program, {axis: new}), MEANING, takes)


def predicted(
    program: ModelProgram,
    d: ModelDerivation,
    lowered: Callable[[ModelDerivation, Sequence[str]], tuple[Method, dict[str, str]] | None],
) -> ModelProgram:
    """The program with log p of new rows by draws, where it has no closed form.

    Latents without the rows' plate have values drawn from their q; given these a row's own
    latents are summed or integrated out exactly.
    """
    axis = rows_axis(d)
    if program.predictive is not None or not axis:
        return program
    letter = next(x.letters[0] for x in d.model.nodes if x.kind == "observed")
    whole = {n.name: n for n in d.model.nodes if n.kind == "latent" and letter not in n.letters}
    drawable = {x.node for x in program.samples if x.family is not None and x.law == "family"}
    if not whole or not set(whole) <= drawable:
        return program
    try:
        found = lowered(given_values(d.model, tuple(whole)), tuple(whole))
    except UserError:
        return program
    if found is None:
        return program
    method, arrays = found
    drawn = tuple((x, tuple((v, arrays[v]) for v in n.names)) for x, n in whole.items())
    return replace(program, predicted=Predicted(method, drawn))


def _moved(x: Array, axis: str, new: str) -> Array:
    return replace(x, sizes=tuple(new if s == axis else s for s in x.sizes))


def reads_old_rows(program: a.Program, arguments: Sequence[Argument], axis: str) -> bool:
    """Whether a sum over all rows is left in the program, or what the state holds of each."""
    names = {x.array.name for x in arguments if axis in x.array.sizes}
    come = {y for x in arguments for y in (x.array.name, x.seen)}
    held = {q.name for q in program.given if axis in q.sizes} - come
    over = {x.name for x in program.letters if x.size == axis}
    for s in program.lets:
        if held & {x for e in s.expressions for x in e.names}:
            return True
        for e in s.expressions:
            for x in n.walk(e):
                if isinstance(x, a.Red) and set(x.letters) & over and set(x.names) & names:
                    return True
    return False
