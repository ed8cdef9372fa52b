"""The closed forms under [check]: each against the density, the derived form, and far out.

A claim is refuted by a point at which the density has another value, or at which it is no
number in double precision although its value is one.  What is not refuted is compared
with the derived form symbolically.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mpmath

from blrgen.check import claims_at_sizes
from blrgen.check.claimed import derived, measured
from blrgen.check.context import Context
from blrgen.check.double import in_double
from blrgen.check.finding import NOT_CHECKED, Finding, NotChecked, Wrong, digits
from blrgen.check.points import Point, far_out
from blrgen.check.stages.entropy_gradient import well_conditioned
from blrgen.check.stages.parametrisations import _exact
from blrgen.errors import InternalError, UserError
from blrgen.geometry.tabulated import NotIntegrated, number
from blrgen.read.claims import Claim, read_claims
from blrgen.value.evaluate import Undefined, evaluate

NAME = "claims"
NEEDS: tuple[str, ...] = ()
_LARGEST = mpmath.mpf(10) ** 300


def run(context: Context) -> Iterator[Finding]:
    """A line for every claim; none when there is no [check]."""
    if "check" not in context.source.table:
        return
    from blrgen.geometry.inverse import mean_symbols

    for claim in read_claims(context.source, context.family, mean_symbols(context.geometry)):
        yield _line(context, claim)


def _line(context: Context, claim: Claim) -> Finding:
    name = f"claim {claim.name}"
    try:
        level, text = _checked(context, claim)
    except Wrong as wrong:
        return wrong.finding(name)
    except NotChecked as reason:
        return Finding(name, True, f"not checked: {reason}", NOT_CHECKED)
    except (UserError, InternalError) as error:
        return Finding(name, False, str(error), "refuted")
    return Finding(name, True, f"{level}: {claim.text} {text}", level)


def _checked(context: Context, claim: Claim) -> tuple[str, str]:
    count = _against_density(context, claim)
    level = _against_derived(context, claim)
    _in_double(context, claim)
    if level in ("identity", "random-exact"):
        return level, "equals the derived form"
    if not count:
        raise NotChecked("neither a closed form nor a number to compare with")
    kind = "what is derived" if claims_at_sizes.applies(context) else "the density"
    return "numeric", f"agrees with {kind} at {count} points"


def _against_density(context: Context, claim: Claim) -> int:
    """At how many points it agrees with the density's own numbers; 0 where there are none."""
    if claims_at_sizes.applies(context):
        return claims_at_sizes.compare(context, claim)
    try:
        tables = context.tables
    except (NotChecked, NotIntegrated):
        return 0
    count = 0
    for point, table in tables:
        if claim.key == "entropy_gradient" and not well_conditioned(table):
            continue
        there = _there(context, claim, point, table)
        context.compare(claim.text, claim.expr, measured(claim, table), there)
        count += 1
    return count


def _there(context: Context, claim: Claim, point: Point, table: Any) -> Point:
    """The point in the names that the claim may use, without those it does not."""
    from blrgen.geometry.inverse import mean_symbols

    values = dict(point)
    if claim.key == "inverse_mean":
        symbols = mean_symbols(context.geometry)
        values |= {s: _exact(m) for s, m in zip(symbols, table.means, strict=True)}
    elif claim.expr.free_symbols - set(values):
        values |= in_working(context, point)
    used = {k: v for k, v in values.items() if k in claim.expr.free_symbols}
    return used or values


def in_working(context: Context, point: Point) -> Point:
    """The working parameters of a natural point, as rationals."""
    back = context.geometry.working_of_natural
    found = {}
    for p in context.family.working:
        if p.symbol not in back:
            raise NotChecked("the charts are refuted")
        value = context.value(back[p.symbol], point, f"the chart of {p.name}", mpmath.mpf(0))
        found[p.symbol] = _exact(value)
    return found


def _against_derived(context: Context, claim: Claim) -> str:
    """The level at which the claim equals the derived form, or numeric."""
    from blrgen.decide.equal import equal

    try:
        should = derived(context, claim)
    except NotChecked:
        return "numeric"
    family, geometry = context.family, context.geometry
    left = claim.expr
    parameters = [*family.fixed, *family.natural]
    if left.free_symbols & {p.symbol for p in family.working}:
        left, should = geometry.to_working(left), geometry.to_working(should)
        parameters = [*family.fixed, *family.working]
    domains = {
        p.symbol: p.domain.text.split("^")[0] for p in parameters if p.domain.kind == "interval"
    }
    proof = equal(left, should, domains, claim=claim.name)
    if proof.level == "refuted":
        raise Wrong(claim.text, dict(proof.point), str(proof.left), str(proof.right))
    return proof.level


def _in_double(context: Context, claim: Claim) -> None:
    """Far out the formula as typed must still be a number, where its value is one."""
    if claim.key == "inverse_mean" or not context.family.elementwise:
        return
    for point in far_out(context.family):
        values = dict(point)
        if claim.expr.free_symbols - set(values):
            values |= in_working(context, point)
        with mpmath.workdps(400):
            try:
                should = evaluate(claim.expr, {k: number(v) for k, v in values.items()})
            except Undefined:
                continue
        if isinstance(should, mpmath.mpc) or abs(should) > _LARGEST:
            continue
        found = in_double(claim.expr, {k: float(v) for k, v in values.items()})
        if not math.isfinite(found):
            used = {k: v for k, v in values.items() if k in claim.expr.free_symbols}
            raise Wrong(
                f"{claim.text} in double precision", used, str(found), digits(should),
                "the formula is right and overflows: write it with log1p, expm1, tanh or a shift",
            )  # fmt: skip
