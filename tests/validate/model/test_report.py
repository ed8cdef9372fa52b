"""What `verify FILE.model` proves, what it only compares, and that mistakes are found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from blrgen.algebra.indexed.build import scaled
from blrgen.cli.main import main
from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import Options, derive_model
from blrgen.validate.model.blocks import prove_blocks
from blrgen.validate.model.report import run, verify_model
from blrgen.validate.model.stationary import prove_points, prove_updates

MODELS = Path(__file__).parents[3] / "models"
PROVED = [
    ("gaussian-mixture-full-em", "em"), ("gaussian-mixture-full", "vmp"), ("lda", "svi"),
    ("hmm-gaussian-many-em", "em"), ("normal-wishart", "conjugate"), ("factor-analysis", "vmp"),
    ("local-linear-trend", "em"), ("student-t-regression", "vmp"), ("inverse-wishart", "vmp"),
]  # fmt: skip
RUN = [("gamma-mixture", "em", "a"), ("gamma-mixture", "online-em", "a")]  # Newton steps
EXACT = [
    ("gaussian-mixture-full-em", "em"), ("hmm-poisson-em", "em"), ("lda", "vmp"),
    ("gaussian-mixture-tied", "vmp"), ("factor-analysis-em", "em"),
    ("beta-bernoulli", "conjugate"), ("hmm-gaussian-many-em", "em"),
    ("normal-wishart", "conjugate"), ("lda", "svi"), ("poisson-mixture-em", "online-em"),
    ("poisson-mixture", "cvi"),
]  # fmt: skip


def derivation(name: str, flag: str):
    return derive_model(read_model((MODELS / f"{name}.model").read_text(), name), flag)


def levels(proofs) -> set[str]:
    return {p.level for _, p in proofs}


@pytest.mark.parametrize(("name", "flag"), PROVED)
def test_blocks_and_updates_are_proved(name, flag):
    d = derivation(name, flag)
    found = (*prove_blocks(d), *prove_updates(d), *prove_points(d))
    assert found and levels(found) == {"identity"}, found


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("rounds", "level"), [(1, "random-exact"), (3, "numeric"), (20, "numeric")]
)
def test_rounds_over_local_blocks_are_as_many_as_were_asked_for(rounds, level):
    model = read_model((MODELS / "lda.model").read_text(), "lda")
    report = verify_model(derive_model(model, "svi", Options(inner=rounds)), targets=("numpy",))
    assert report.level == level, report.parts[-1]
    other = derive_model(model, "svi", Options(inner=4))
    proofs = run(other, lower(other), text(lower(derivation("lda", "svi")), "numpy"), "lda")
    assert "refuted" in levels(proofs), proofs


@pytest.mark.parametrize(("name", "flag", "point"), RUN)
def test_what_newton_steps_find_is_equal_in_numbers_and_no_more(name, flag, point):
    report = verify_model(derivation(name, flag), targets=("numpy",))
    (title, verdict) = report.parts[-1]
    assert title == "emitted numpy class = derived updates"
    assert {n for n, p in verdict.proofs if p.level != "random-exact"} == {point}
    assert dict(verdict.proofs)[point].level == "numeric", verdict.proofs
    assert report.level == "numeric" and report.exit_code == 3 and report.notes


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("name", "flag"), EXACT)
def test_classes_are_proved_on_towers_of_prime_fields(name, flag):
    report = verify_model(derivation(name, flag), targets=("numpy",))
    (title, verdict) = report.parts[-1]
    assert title == "emitted numpy class = derived updates"
    assert levels(verdict.proofs) == {"random-exact"}, verdict.proofs
    assert report.exit_code == 0 and all(p.bound and p.sizes for _, p in verdict.proofs)


def with_part(d, k, change):
    """The derivation with the first part of its k-th update changed."""
    u = d.updates[k]
    first, *more = u.block.parts
    block = replace(u.block, parts=(change(first), *more))
    updates = (*d.updates[:k], replace(u, block=block), *d.updates[k + 1 :])
    return replace(d, updates=updates)


def test_a_wrong_coefficient_is_refuted():
    d = derivation("gaussian-mixture-full", "vmp")
    wrong = with_part(d, 1, lambda p: replace(p, coefficient=scaled(p.coefficient, 2)))
    assert dict(prove_blocks(wrong))["mu,L"].level == "refuted"


def test_a_wrong_expectation_is_not_called_proved():
    d = derivation("gaussian-mixture-full", "vmp")
    wrong = with_part(d, 1, lambda p: replace(p, expected=scaled(p.expected, 2)))
    assert dict(prove_updates(wrong))["mu,L"].level == "not compared"


def test_a_wrong_point_is_not_called_proved():
    d = derivation("gaussian-mixture-full-em", "em")
    (e,) = d.points[0].equations
    changed = replace(d.points[0], equations=(replace(e, value=scaled(e.value, 2)),))
    wrong = replace(d, points=(changed, *d.points[1:]))
    assert dict(prove_points(wrong))[e.target].level == "not compared"


def test_a_wrong_class_is_refuted():
    d = derivation("normal-gamma", "conjugate")
    program = lower(d)
    source = text(program, "numpy")
    assert levels(run(d, program, source, "")) == {"random-exact"}
    old, new = "_loggamma(", "(-1.0) * _loggamma("
    body, support = source.split("# --- Support functions", 1)
    assert old in body
    wrong = body.replace(old, new) + "# --- Support functions" + support
    assert levels(run(d, program, wrong, "")) == {"refuted"}


def test_the_command_says_level_and_exit_code(capsys, tmp_path):
    assert main(["verify", "normal-normal.model", "--conjugate", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["level"], found["exit_code"]) == (
        "blrgen.verdict/1",
        "random-exact",
        0,
    )
    parts = {s["part"]: s["level"] for s in found["states"]}
    assert parts["the log joint = its blocks, multiplied back"] == "identity"
    broken = tmp_path / "broken.model"
    broken.write_text("x ~ gaussian(mu, 1)   observed\n")
    assert main(["verify", str(broken), "--em"]) == 2
    assert "mu" in capsys.readouterr().err
    assert main(["verify", "normal-normal.model"]) == 2


def test_local_labels_are_settled_before_they_are_compared():
    """Labels of documents and of words: their shares always have the same sum."""
    source = """
plate d in D
plate n in N
plate k in K
plate c in C
rho ~ dirichlet(ones(C))
pi[c] ~ dirichlet(ones(K))
s[d] ~ categorical(rho)
mu[k] ~ gaussian(0, 10)
z[d,n] ~ categorical(pi[s[d]])
x[d,n] ~ gaussian(mu[z[d,n]], 1) observed
"""
    d = derive_model(read_model(source, "m"), "svi")
    proofs = run(d, lower(d), text(lower(d), "numpy"), "labels of labels")
    assert not levels(proofs) & {"refuted", "not compared"}


def level_of(name: str, flag: str, *changes: tuple[str, str]) -> str:
    """What is said of a class of which some words are others."""
    d = derivation(name, flag)
    program = lower(d)
    source = text(program, "numpy")
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new, 1)
    proofs = run(d, program, source, "a step")
    return min((p.level for _, p in proofs), key=("refuted", "not compared", "numeric").index)


def test_point_masses_are_compared_and_mistakes_beside_them_are_found():
    for name in ("zero-inflated-poisson", "hurdle-poisson"):
        assert level_of(name, "vmp") == "numeric"
        assert level_of(name, "vmp", ("z_q_1 == inf, z_q_bare", "z_q_1 == inf, zero")) == "refuted"
        assert (
            level_of(name, "vmp", ("x == zero, zero, -inf", "x == zero, zero, zero")) == "refuted"
        )


def test_a_class_that_ends_in_what_is_no_number_is_refuted():
    wrong = ("rate_q_2 = -b0 -", "rate_q_2 = -b0 +")
    assert level_of("zero-inflated-poisson", "vmp", wrong) == "refuted"


@pytest.mark.parametrize("flag", ["ncvmp", "cvi"])
def test_a_whole_step_is_compared_where_only_a_part_of_it_is_taken(flag):
    assert level_of("logistic-regression", flag) == "numeric"
    wrong = ("f1_first = f1_slope - ", "f1_first = f1_slope + ")
    assert level_of("logistic-regression", flag, wrong) == "refuted"
    steep = ("f1_second = half *", "f1_second = one *")
    assert level_of("logistic-regression", flag, steep) == "refuted"


ROWS = """
plate s in S
plate t in T[s]
tau ~ gamma(1, 1)
x[s,1] ~ gaussian(0, 1)
x[s,t] ~ gaussian(x[s,t-1], 1/tau)
y[s,t] ~ gaussian(x[s,t], 1) observed
"""


def test_chains_in_rows_of_different_lengths_are_multiplied_back():
    d = derive_model(read_model(ROWS, "rows"), "vmp")
    assert levels((*prove_blocks(d), *prove_updates(d))) == {"identity"}
    update = next(u for u in d.updates if u.block.name == "x")
    for k, part in enumerate(update.block.parts):
        other = replace(part, coefficient=scaled(part.coefficient, 2))
        parts = (*update.block.parts[:k], other, *update.block.parts[k + 1 :])
        wrong = replace(update, block=replace(update.block, parts=parts))
        changed = replace(d, updates=tuple(wrong if u is update else u for u in d.updates))
        assert dict(prove_blocks(changed))["x"].level == "refuted"
