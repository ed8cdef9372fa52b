"""Any sequence of requests ends in a consistent derivation or in a message, never otherwise."""

from __future__ import annotations

from itertools import permutations

import pytest
import sympy as sp
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from blrgen.api import derive
from blrgen.approximate.tools.base import registry
from blrgen.core import Derivation
from blrgen.decide.equal import equal
from blrgen.errors import UserError
from blrgen.rule.expand import domains_of, expanded
from blrgen.validate.changes import prove_changes
from tests.sweeps import examples

FAMILIES = ("gaussian", "gaussian-diag", "gaussian-fixed", "gaussian-full", "bernoulli-sign")
VALUES = {
    "rho": ("1", "1/2"), "tau": ("0", "1/2"), "rename": ("s:h", "m:q", "u:w", "S:P", "v:w"),
}  # fmt: skip
REQUESTS = sorted(
    flag if a.options is None else f"{flag}={option}"
    for flag, a in registry().items()
    for option in ([""] if a.options is None else VALUES.get(flag, a.options))
)


def check(d: Derivation) -> None:
    """Names declared, in order; hyperparameters used; first values inside their domains."""
    rule = d.rule
    names = {q.name for q in rule.quantities}
    known = {q.name for q in rule.of("state", "input", "data", "draw", "hyper", "counter")} | {"t"}
    states = {q.name for q in rule.of("state")}
    assert len(names) == len(rule.quantities), "a name is declared twice"
    if not d.geometry.ring.elementwise:
        known |= {"d"}
    seen: set[str] = set()
    for a in rule.assignments:
        free = {s.name for s in a.expr.free_symbols}
        assert free <= known, f"{a.name} = {a.expr} uses {sorted(free - known)}"
        assert a.name not in seen, f"{a.name} is assigned twice"
        seen.add(a.name)
        known.add(a.name)
        base = a.name.removesuffix("_next")
        assert base in states or a.name in names, f"{a.name} is not declared"
    assert {f"{s}_next" for s in states} <= seen
    used = {s.name for a in rule.assignments for s in a.expr.free_symbols}
    used |= {s.name for q in rule.of("state") for s in sp.sympify(q.init).free_symbols}
    used |= {s.name for _, x in rule.posterior for s in x.free_symbols}
    for q in rule.of("hyper", "input"):
        assert q.name in used, f"{q.name} is not used"
    for _, x in rule.posterior:
        assert {s.name for s in x.free_symbols} <= names
    for q in rule.of("state"):
        init = sp.sympify(q.init)
        assert {s.name for s in init.free_symbols} <= names
        if init.is_number and q.domain.startswith("("):
            assert q.domain not in ("(0, oo)",) or init > 0, f"{q.name} starts at {init}"
    for q in rule.of("draw"):
        if q.rank == "vector":
            assert str(sp.sympify(dict(rule.posterior)["mean"])) in q.distribution
    for place in ("(m)", "mean m"):
        for q in rule.of("input"):
            assert place not in q.text + q.meaning or "m" in names, q
    for proof in prove_changes(d):
        assert proof.level != "refuted", proof


@examples(60, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(FAMILIES), st.lists(st.sampled_from(REQUESTS), max_size=7))
@example("bernoulli-sign", ["relax", "stochastic", "momentum"])
@example("gaussian-full", ["stochastic", "prior=apart", "ess"])
@example("gaussian-diag", ["stochastic", "momentum", "prior=apart", "ess", "slow-scale"])
@example("gaussian-diag", ["delta", "momentum", "rename=s:h", "slow-scale", "bias-correction"])
@example("gaussian-diag", ["stochastic", "hessian=reparam", "fixed-scale", "momentum"])
@example("gaussian-diag", ["delta", "retraction", "slow-scale", "momentum"])
@example("gaussian-diag", ["delta", "momentum", "precision=old", "slow-scale"])
@example("bernoulli-sign", ["no-shrinkage", "relax", "stochastic"])
@example("gaussian", ["delta", "rename=m:q"])
@example("gaussian", ["square-root", "fixed-point"])
@example("gaussian", ["coordinates=working", "precision=new"])
@example("gaussian-full", ["momentum", "rename=S:P", "prior=apart", "ess"])
@example("gaussian-full", ["rename=S:P", "hessian=reparam"])
@example("gaussian", ["stochastic", "hessian=reparam", "ess", "prior=total", "fixed-scale"])
def test_random_sequences(family: str, requests: list[str]) -> None:
    kept: list[str] = []
    for request in requests:  # a refused request is left out, and the rest goes on
        try:
            d = derive(family, [*kept, request])
        except UserError as error:
            assert error.what
            assert error.why or error.how
            continue
        kept.append(request)
        check(d)


ADAM = (
    "square-root", "separate-rates", "slow-scale", "momentum", "bias-correction",
)  # fmt: skip


def same(d: Derivation, other: Derivation) -> bool:
    left, right = expanded(d.rule), expanded(other.rule)
    domains = domains_of(other.rule)
    return left.keys() == right.keys() and all(
        equal(left[k], right[k], domains).level != "refuted" for k in left
    )


@pytest.mark.sweep(6)
@pytest.mark.parametrize("order", list(permutations(ADAM))[::6])
def test_orders_that_give_adam(order: tuple[str, ...]) -> None:
    """Wherever an order of Adam's last five is accepted, it is Adam (first values included)."""
    adam = derive("adam")
    try:
        d = derive("gaussian-diag", ["delta", "stochastic", "hessian=squared-gradient", *order])
    except UserError as refused:
        assert "bias-correction" in refused.what  # only: no average starts at zero yet
        assert order.index("bias-correction") < min(
            order.index("square-root"), order.index("momentum")
        )
        return
    assert same(d, adam), order
    assert [(q.name, q.init) for q in d.rule.of("state")] == [
        (q.name, q.init) for q in adam.rule.of("state")
    ]


def test_a_refusal_says_what_came_before() -> None:
    with pytest.raises(UserError) as refused:
        derive("gaussian-diag", ["delta", "rho=1", "separate-rates"])
    assert "after: blrgen derive gaussian-diag --delta --rho 1" in str(refused.value)
