"""Whether the expectations of a concrete loss exist that a rule asks for, or estimates by a draw.

They are looked at by `expect.exists`: of a real variable, and of vectors where the loss sees one
inner product ⟨x, θ⟩ of a normal θ, which is normal itself.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient
from blrgen.algebra.components import total
from blrgen.algebra.partial import partial, without_jumps
from blrgen.algebra.ranks import trace
from blrgen.algebra.ring import Elementwise
from blrgen.core import Derivation, Probe
from blrgen.expect.exists import Finding, Line, NoExpectation, line_of, look, normal_line
from blrgen.geometry.integrate import exponent_of
from blrgen.geometry.near_ends import shown
from blrgen.text.expression import unicode

Expr = Any
_LEFT = ("q", "score", "weighted", "implicit")


def check_finite(d: Derivation, found: dict[Expr, Expr], loss: Expr) -> str:
    """Refuse a loss whose expectation is infinite; else what is to be said, or nothing.

    `found` are the probes that have a value; one at q that has none stays an expectation.
    """
    asked = [
        p for p in d.facts.probes
        if p.name in d.rule and not p.stand_in
        and (p.at == "theta" or (p.at in _LEFT and p.symbol not in found))
    ]  # fmt: skip
    line_and_loss = _line(d, loss) if asked else None
    if line_and_loss is None:
        return ""
    line, f = line_and_loss
    said = ""
    for name, part in _parts(asked, f, line):
        seen = look(part, line)
        if seen.infinite is not None and seen.always:
            raise _refusal(d, name, seen, line)
        said = said or _words(name, seen)
    return said


def _parts(asked: list[Probe], f: Expr, line: Line) -> list[tuple[str, Expr]]:
    """The loss, and the derivatives that are asked for: at a pole of one the loss may be finite."""
    parts = [("the loss", f)]
    orders = {p.order for p in asked if p.at in ("q", "theta", "weighted") and p.order}
    for k in sorted(orders) if not line.whole else ():
        slope = without_jumps(partial(f, line.variable, k))
        slope = slope.replace(sp.DiracDelta, lambda *_: sp.S.Zero)  # beside the corner
        parts.append((f"the loss's {'first' if k == 1 else 'second'} derivative", slope))
    return parts


def _refusal(d: Derivation, name: str, seen: Finding, line: Line) -> NoExpectation:
    assert seen.infinite is not None
    what = "any member" if seen.infinite.everywhere else "every member"
    place = f"as {line.name or unicode(d.family.variable)} goes to {unicode(seen.infinite.at)}"
    return NoExpectation(
        f"the expectation of {name} does not exist for {what} of {d.family.name}",
        where="--loss",
        why=f"at {shown(seen.infinite.point)} it is infinite: it outgrows the density {place}",
        how="a loss that grows more slowly there",
    )


def _words(name: str, seen: Finding) -> str:
    if seen.infinite is not None:
        return f"the expectation of {name} is infinite for some values, such as " + shown(
            seen.infinite.point
        )
    return "" if seen.told else f"whether the expectation of {name} is finite was not found out"


def _line(d: Derivation, loss: Expr) -> tuple[Line, Expr] | None:
    """The line, and the loss on it; None where it is not of one real variable."""
    geometry, family = d.geometry, d.family
    if family.factors or family.joint:
        return None
    if geometry.integral.quadratic is not None and not isinstance(geometry.ring, Elementwise):
        return _of_normal_vector(loss, family.variable)
    if not family.elementwise:
        return None
    line = line_of(family, exponent_of(family, geometry.ring))
    return None if line is None else (line, loss)


def _of_normal_vector(loss: Expr, theta: Expr) -> tuple[Line, Expr] | None:
    """Of ⟨x, θ⟩, which is normal; or of one component, where the loss is a sum over them."""
    holders = {t for t in loss.atoms(trace, total) if t.has(theta)}
    if len(holders) != 1:
        return None
    (holder,) = holders
    u = sp.Dummy("u", real=True)
    plain = loss.xreplace({holder: u})
    if plain.has(theta):
        return None
    if not _slope(holder, theta).has(theta):
        return normal_line(u, f"u = {unicode(holder)}"), plain
    if isinstance(holder, total) and not sp.diff(plain, u).has(u):
        return normal_line(theta), holder.args[0]
    return None


def _slope(holder: Expr, theta: Expr) -> Expr:
    """What must not depend on θ where the holder is linear in it."""
    return partial(holder.args[0], theta) if isinstance(holder, total) else gradient(holder, theta)
