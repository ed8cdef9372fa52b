"""Recurrences drawn by seed: both ways, in loops, with first values, sums over them, early ends."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from tests.program.axes.drawn_expressions import Known

if TYPE_CHECKING:
    from tests.program.axes.drawn_programs import Drawing


def recurrence(d: Drawing) -> list[a.Statement]:
    """One, perhaps inside of a loop over another letter, or with one inside."""
    along = [x for x in d.letters if x.size in ("T", 2) or x.under]
    if not along:
        return []
    letter = d.rng.choice(along)
    if letter.under:
        outer = [letter.under]
    elif d.rng.random() < 0.4:
        rows = [x.name for x in d.letters if x.size not in (letter.size, "W") and not x.under]
        outer = [d.rng.choice(rows)]
    else:
        outer = []
    made = _seq(d, tuple(outer), letter.name)
    for x in a.lets(tuple(made)):
        old = d.known[x.name]
        d.known[x.name] = replace(old, at=())
    d.inside, d.lags, d.coming = (), (), {}
    return made


def _seq(d: Drawing, outer: tuple[str, ...], letter: str) -> list[a.Statement]:
    """The loops around, and in the innermost one the states."""
    if outer:
        x, *rest = outer
        d.inside = (*d.inside, x)
        before = _plain(d) if d.rng.random() < 0.4 else []
        body = _seq(d, tuple(rest), letter)
        after = _plain(d) if d.rng.random() < 0.4 else []
        after += _summed(d) if d.rng.random() < 0.3 else []
        return [a.Seq(x, (*before, *body, *after))]
    d.inside = (*d.inside, letter)
    planned = [_planned(d) for _ in range(d.rng.choice((1, 1, 2, 3)))]
    d.coming = {s.name: _known(d, s) for s in planned}
    body = [x for s in planned for x in _state(d, s)]
    stop = ""
    if d.rng.random() < 0.25:
        truth = _truth(d)
        stop = truth.name
        body.append(truth)
    d.inside = d.inside[:-1]
    d.coming = {}
    for s in a.lets(tuple(body)):
        made = d.known[s.name]
        last = letter if stop and letter in s.letters else ""
        at = tuple("" if x == letter else x for x in made.at)
        d.known[s.name] = replace(made, at=at, last=last, made=s.letters)
    return [a.Seq(letter, tuple(body), stop)]


def _planned(d: Drawing) -> a.Let:
    """A state's name and letters, with a value before the first index or without."""
    more = d.fresh_letters((), d.rng.choice((0, 0, 1, 2)))
    letters = d.arranged(d.shuffled((*d.inside, *more)))
    init = n.ZERO if d.rng.random() < 0.4 else None
    return a.Let(d.name("a"), letters, n.ZERO, init=init)


def _known(d: Drawing, s: a.Let) -> Known:
    sizes = tuple(d.letter[x].size for x in s.letters)
    return Known(s.name, sizes, at=tuple(x if x in d.inside else "" for x in s.letters))


def _state(d: Drawing, s: a.Let) -> list[a.Statement]:
    """The equation of a state; perhaps with a sum over the recurrence after it."""
    letter = d.inside[-1]
    own = dict(d.coming)
    first = None
    if s.init is None and d.rng.random() < 0.85:
        d.coming, d.lags = {}, ()
        first = d.expr(s.letters, 2)
        d.coming = own
    init = None
    if s.init is not None:
        d.coming, d.lags = {}, ()
        inside, d.inside = d.inside, d.inside[:-1]
        init = d.expr(tuple(x for x in s.letters if x != letter), 1)
        d.inside, d.coming = inside, own
    lagged = [x for x in own if first is not None or _begins(d, x, s, init)]
    d.lags, d.late = tuple(lagged), first is not None and not d.letter[letter].under
    e = d.expr(s.letters, 2)
    d.late = False
    if d.lags and d.rng.random() < 0.8:
        before = _before(d, s.letters)
        e = n.add(n.mul(n.Const(Fraction(1, 2)), before), e) if before is not None else e
    e = n.Call("tanh", (e,)) if d.rng.random() < 0.5 else e
    d.lags = ()
    d.known[s.name] = own[s.name]
    if init is not None:
        d.begun.add(s.name)
    out: list[a.Statement] = [replace(s, expr=e, first=first, init=init)]
    if d.rng.random() < 0.4:
        out += _summed(d)
    return out


def _begins(d: Drawing, name: str, s: a.Let, init: n.Node | None) -> bool:
    """Whether something is said of the time before the first index."""
    return (name == s.name and init is not None) or name in d.begun


def _before(d: Drawing, ctx: tuple[str, ...]) -> n.Node | None:
    """A state one step back."""
    back = 1 if d.letter[d.inside[-1]].down else -1
    names = [x for x in d.lags if x in d.coming]
    d.rng.shuffle(names)
    for x in names:
        q = d.coming[x]
        plain = replace(q, at=tuple("" if y == d.inside[-1] else y for y in q.at))
        known = dict(d.known)
        d.known[x] = plain
        index = d.index(plain, ctx)
        d.known = known
        if index is None:
            continue
        at = tuple(
            a.Lag(y, back) if y == d.inside[-1] else i for y, i in zip(q.at, index, strict=True)
        )
        return a.Ref(x, at)
    return None


def _plain(d: Drawing) -> list[a.Statement]:
    """An equation in a loop that is not one step after the other."""
    more = d.fresh_letters((), d.rng.choice((0, 1)))
    letters = d.arranged(d.shuffled((*d.inside, *more)))
    s = a.Let(d.name("g"), letters, d.expr(letters, 2))
    d.known[s.name] = _known(d, s)
    return [s]


def _summed(d: Drawing) -> list[a.Statement]:
    """A sum over the letter of the recurrence, which adds up as it goes."""
    letter = d.inside[-1]
    outer = d.inside[:-1]
    more = d.fresh_letters((), d.rng.choice((0, 0, 1)))
    letters = d.arranged(d.shuffled((*outer, *more)))
    over = (letter, *d.fresh_letters((*letters, letter), d.rng.choice((0, 0, 1))))
    d.lags = tuple(x for x in d.coming if x in d.begun)
    e = d.red(letters, 2, over)
    d.lags = ()
    if not isinstance(e, a.Red) or e.op == "lse":
        return []
    s = a.Let(d.name("r"), letters, e)
    d.known[s.name] = _known(d, s)
    return [s]


def _truth(d: Drawing) -> a.Let:
    """What ends a recurrence."""
    off = n.Const(Fraction(d.rng.randrange(0, 900) * 2 + 1, 1517))
    e = n.Compare(">", d.expr(d.inside, 2), off)
    s = a.Let(d.name("o"), d.inside, e)
    d.known[s.name] = replace(_known(d, s), labels="truth")
    return s
