"""Points without a closed equation: Newton's method, each element by itself.

    for r: x ← x − g(x)/h(x), halfway to the end of its domain where that is beyond it
    until |g/h| < 10⁻¹³ (1 + |x|) in all elements

g is the slope of E[L], h its slope.  Where h is not negative the step goes uphill by the size
of x instead: E[L] has one maximum, and Newton's direction is wrong only far from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations, Reader
from blrgen.program.model.member import named
from blrgen.program.model.values import REAL, Array
from blrgen.rule.model.values import Stationary

MOST = 100
RESTS = Fraction(1, 10**13)


def no_programs(s: Stationary, why: str) -> UserError:
    """The refusal of equations that no search here solves."""
    names = " and ".join(u.name for u in s.unknowns)
    return UserError(f"no programs yet for {names}: coupled equations without a solution", why=why)


def is_apart(s: Stationary) -> bool:
    """Whether each element of one point has an equation by itself."""
    return len(s.unknowns) == 1 and s.unknowns[0].places == s.shared


def turned(s: Stationary, array: Array, readers: dict[str, Reader], eq: Equations) -> a.Let:
    """The equation of the point where its slope is 0."""
    (u,) = s.unknowns
    r, guess = eq.own("_turn"), eq.own(f"{array.name}_guess")
    eq.letters[r] = a.Letter(r, MOST)
    before = readers[u.name]
    readers[u.name] = named(guess)
    start = len(eq.body)
    slope = eq.equation(eq.own("slope"), u.places, s.slope[0])
    bend = eq.equation(eq.own("bend"), u.places, s.bend[0][0])
    readers[u.name] = before
    inside = eq.body[start:]
    del eq.body[start:]
    letters = slope.letters
    steps, value, small = eq.own("step"), eq.own(f"{array.name}_turn"), eq.own("small")
    outside, turning, at_turn = apart(inside, {guess}, r)
    last = (
        _step(steps, slope, bend, value, r),
        _moved(value, steps, array, letters, r),
        _rests(small, steps, value, letters, r),
    )

    def before_it(x: n.Node) -> n.Node:
        """The point as the turn before left it."""
        if isinstance(x, a.Ref) and x.name == guess:
            return a.Ref(value, (a.Lag(r, -1), *x.index[1:]))
        return x

    every = [replace(x, expr=n.transform(x.expr, before_it)) for x in turning]
    eq.body += [*outside, a.Seq(r, (*every, *map(at_turn, last)), small)]
    end = a.Let(eq.own(f"{array.name}_found"), letters,
                a.Ref(value, (a.Last(r), *map(a.Ix, letters))))  # fmt: skip
    eq.let(end)
    return end


def apart(
    inside: list[a.Statement], changing: set[str], r: str
) -> tuple[list[a.Statement], list[a.Let], Callable[[a.Let], a.Let]]:
    """What reads nothing that changes; the equations of a turn; what makes one read the former."""
    turning = set(changing)

    def change(x: n.Node) -> n.Node:
        if isinstance(x, a.Ref) and x.name in turning:
            return a.Ref(x.name, (a.Ix(r), *x.index))
        return x

    outside: list[a.Statement] = []
    lets: list[a.Let] = []
    for s in inside:
        e = n.transform(s.expr, change) if isinstance(s, a.Let) else n.ZERO
        if isinstance(s, a.Let) and r in a.free(e):
            turning.add(s.name)
            lets.append(a.Let(s.name, (r, *s.letters), e, s.structure))
        else:
            outside.append(s)
    known = {s.name for s in outside if isinstance(s, a.Let)}

    def placed(x: n.Node) -> n.Node:
        if isinstance(x, a.Ref) and x.name in known and x.index[:1] == (a.Ix(r),):
            return a.Ref(x.name, x.index[1:])
        return x

    return outside, lets, lambda s: replace(s, expr=n.transform(s.expr, placed))


def within(domain: str, before: n.Node, new: n.Node) -> n.Node:
    """The new value, or halfway to the end of its domain that it is not inside of."""
    low, high = (x.strip() for x in domain[1:-1].split(",")) if domain != REAL else ("-oo", "oo")
    half = n.Const(Fraction(1, 2))
    for end, sign in ((low, ">"), (high, "<")):
        if not end.endswith("oo"):
            at = n.Const(Fraction(end))
            new = n.Select(n.Compare(sign, new, at), new, n.mul(half, n.add(before, at)))
    return new


def _step(name: str, slope: a.Let, bend: a.Let, value: str, r: str) -> a.Let:
    """g/h, or the size of x uphill."""
    at = tuple(map(a.Ix, (r, *slope.letters)))
    g, h = a.Ref(slope.name, at), a.Ref(bend.name, at)
    size = n.Call("abs", (a.Ref(value, (a.Lag(r, -1), *at[1:])),))
    uphill = n.Select(n.Compare(">", g, n.ZERO), n.neg(size), size)
    expr = n.Select(n.Compare("<", h, n.ZERO), n.div(g, h), uphill)
    return a.Let(name, (r, *slope.letters), expr)


def _moved(name: str, step: str, array: Array, letters: tuple[str, ...], r: str) -> a.Let:
    """x less the step, inside of its domain."""
    own = tuple(map(a.Ix, letters))
    before = a.Ref(name, (a.Lag(r, -1), *own))
    new = within(array.domain, before, n.Sub(before, a.Ref(step, (a.Ix(r), *own))))
    return a.Let(name, (r, *letters), new, init=a.Ref(array.name, own))


def _rests(name: str, step: str, value: str, letters: tuple[str, ...], r: str) -> a.Let:
    """Whether no element moves."""
    at = tuple(map(a.Ix, (r, *letters)))
    size = n.div(n.Call("abs", (a.Ref(step, at),)),
                 n.add(n.ONE, n.Call("abs", (a.Ref(value, at),))))  # fmt: skip
    most = a.Red("max", letters, size) if letters else size
    return a.Let(name, (r,), n.Compare("<", most, n.Const(RESTS)))
