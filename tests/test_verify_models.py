"""The cases of `make verify-models`, and what is told of one."""

from __future__ import annotations

from tests.verify_models import FLAGS, PARTS, Case, Outcome, cases, outcome, told


def test_every_model_is_put_to_every_flag_and_part() -> None:
    found = list(cases())
    assert len(set(found)) == len(found)
    assert {c.flag for c in found} == set(FLAGS) and {c.part for c in found} == set(PARTS)


def test_what_is_proved_numeric_or_refused() -> None:
    assert outcome(Case("beta-bernoulli", "conjugate", "derivation")).level == "identity"
    assert outcome(Case("beta-bernoulli", "em", "numpy")).level == "refused"
    assert outcome(Case("beta-bernoulli", "svi", "numpy")).level == "random-exact"
    newton = outcome(Case("gamma-mixture", "em", "numpy"))
    assert newton.level == "numeric" and "a: " in newton.why
    assert told("x", Outcome("failed", "why", 2.0)).startswith("failed           2.0 s  x  why")
