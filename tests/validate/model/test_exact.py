"""Emitted classes on towers of prime fields: right ones are proved, wrong ones never."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from blrgen.decide.towers import NoMeaning, choosing
from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from blrgen.validate.model import exact
from blrgen.validate.model.covered import Seen, at_numbers, left_out, parsed, shortened
from blrgen.validate.model.data import drawn, sizes_of
from blrgen.validate.model.exact import prove
from blrgen.validate.mutate import mutants

MODELS = Path(__file__).parents[3] / "models"


def emitted(name: str, flag: str, target: str):
    d = derive_model(read_model((MODELS / f"{name}.model").read_text(), name), flag)
    program = lower(d)
    return d, program, text(program, target)


def proved(d, program, source: str) -> bool:
    """Whether everything is; what does not run on these numbers is not."""
    try:
        return all(p.proved for _, p in prove(d, program, source))
    except (NoMeaning, UnboundLocalError):
        return False


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("name", "flag"), [("poisson-mixture", "vmp"), ("hmm-poisson-em", "em"), ("ridge", "vmp")]
)
def test_a_compiled_class_is_proved_with_its_blocks_chunks_and_loops_four_at_a_time(name, flag):
    proofs = prove(*emitted(name, flag, "numba"))
    assert proofs and all(p.level == "random-exact" for _, p in proofs), proofs


def changed(source: str, old: str, new: str) -> str:
    """The class and its kernels changed, support functions as they are."""
    body, line, support = source.partition("# --- Support functions")
    assert old in body, old
    return body.replace(old, new, 1) + line + support


WRONG = [  # model, flag, target, text, what stands there instead
    ("poisson-mixture-em", "em", "numpy", "np.log(lse_total)", "np.log(lse_top)"),
    ("poisson-mixture-em", "em", "numpy", "np.sum(z_mean, axis=0)", "np.sum(z_mean, axis=1)[:2]"),
    ("linear-regression", "vmp", "numpy", "half * ", "one * "),
    ("hmm-poisson-em", "em", "numba", "[i_lo:i_hi]", "[0 : i_hi - i_lo]"),  # rows of another chunk
    ("poisson-mixture", "vmp", "numba", "[n_lo:n_hi]", "[0 : n_hi - n_lo]"),
    ("poisson-mixture", "svi", "numpy", "(one - rho) * pi_alpha", "(one - rho * rho) * pi_alpha"),
    ("poisson-mixture", "svi", "numpy", "a0 + scale * ", "a0 + scale * scale * "),
    ("lda", "svi", "numpy", "theta_mean_before = theta_mean", "theta_mean_before = alpha"),
    ("factor-analysis-em", "online-em", "numpy", "real(N) * scale", "real(N)"),
    # right for what is positive: numbers of a field have no sign, and one way alone was run
    (
        "poisson-mixture-em",
        "em",
        "numpy",
        "np.sum(z_mean, axis=0)",
        "np.where(np.sum(z_mean, axis=0) > 0, np.sum(z_mean, axis=0), one)",
    ),
    ("linear-regression", "vmp", "numpy", "half * ", "(half if half > 0 else one) * "),
]


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("lda", "svi"), ("factor-analysis-em", "online-em"), ("ridge", "svi"),
        ("local-linear-trend", "em"), ("local-linear-trend", "vmp"), ("state-space", "filter"),
    ],
)  # fmt: skip
def test_steps_over_some_rows_stacked_chains_and_filters_are_proved(name, flag):
    proofs = prove(*emitted(name, flag, "numpy"))
    assert proofs and all(p.level == "random-exact" for _, p in proofs), proofs


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("name", "flag", "target", "old", "new"), WRONG)
def test_a_wrong_class_is_not_proved(name, flag, target, old, new):
    d, program, source = emitted(name, flag, target)
    assert not proved(d, program, changed(source, old, new))


SAME = ("np.min", "2 * ", "negated", "lse_highest", "_kept")  # equal but for overflow, or not read


@pytest.mark.sweep(8)
@pytest.mark.parametrize("part", range(4))
def test_mutants_of_a_step_are_not_proved(part):
    d, program, source = emitted("gamma-poisson", "conjugate", "numpy")
    survivors = []
    found = mutants(source, lambda n: n.startswith("_posterior"), 25)
    assert len(found) > 15
    for m in found[part::4]:
        if proved(d, program, m.source):
            survivors.append(f"{m.kind} {m.line}: {m.before} -> {m.after}")
    assert not [x for x in survivors if not any(y in x for y in SAME)], survivors


def test_lines_that_were_never_run_are_told():
    _, _, source = emitted("poisson-mixture", "vmp", "numba")
    lines = {n for n, x in enumerate(source.splitlines(), 1) if "lse_total" in x}
    assert lines
    everything = set(range(1, source.count("\n") + 2))
    assert left_out(source, Seen(everything)) == []
    missed = left_out(source, Seen(everything - lines))
    assert missed and all("lse_total" in x for x in missed)


@pytest.mark.parametrize(
    ("line", "asks"),
    [("x == one", True), ("one != x", True), ("x == 0.5", True), ("x == real(-2)", True),
     ("x == -one", True), ("x == zero", False), ("x == -inf", False), ("x != x", False),
     ("x > one", False)],
)  # fmt: skip
def test_what_is_asked_of_one_number_is_told(line, asks):
    text = f"def _f(x):\n    one = real(1)\n    zero = real(0)\n    return {line}\n"
    assert at_numbers(text) == ([4] if asks else [])


def test_what_is_done_at_one_number_alone_is_not_proved():
    d, program, source = emitted("poisson-mixture", "vmp", "numpy")
    line = "    a0 = zero if a0 == one else a0\n"
    other = source.replace("    objective = ", f"{line}    objective = ", 1)
    found = dict(prove(d, program, other))
    assert found["all numbers"].level == "not compared"


def test_blocks_are_shortened_and_nothing_else():
    assert [shortened(n) for n in (256, 255, 1024, 4096, 64)] == [2, 1, 2, 2, 2]
    assert [shortened(n) for n in (0, 1, 2, 4, 16, 100, 63 * 3, 2**19)] == [
        0, 1, 2, 4, 16, 100, 189, 2**19
    ]  # fmt: skip
    tree = parsed("for n in range(0, n_hi, 256):\n    x = 3\n", short=True)
    assert "range(0, n_hi, 2)" in __import__("ast").unparse(tree)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_where_wide_sizes_have_too_few_rows_each_is_wide_in_a_longer_chain(target):
    d, program, source = emitted("state-space-em", "em", target)
    wide = exact.Small(4, 2, (2, 1), (3,))

    def found(small):
        trial = exact.Trial(source, drawn(d.model, program, small=small), Random(1), True, Seen())
        with choosing(lambda: True), np.errstate(all="ignore"):
            return exact.lucky(d, program, trial)

    with pytest.raises(exact.Singular):  # numba writes NaN where numpy divides by zero
        found(wide)
    others = exact.instead(d.model, wide)
    assert [(x.chain, x.others) for x in others] == [(5, (3, 2)), (4, (2, 3))]
    for small in others:
        assert len(run := found(small)) == 8 and not any(wrong for _, wrong in run.values()), run


REGRESSIONS = """
plate t in T
plate k in K
const X[t] in R^p
param P[k] in simplex(K)
param w[k] in R^p
z[1] ~ categorical(ones(K)/K)
z[t] ~ categorical(P[z[t-1]])
y[t] ~ gaussian(dot(w[z[t]], X[t]), 1) observed
"""


def test_where_paths_are_gone_through_labels_are_many_in_a_short_chain_or_few_in_a_longer_one():
    model = read_model(REGRESSIONS, "regressions")
    others = exact.instead(model, exact.WIDE)
    sizes = [sizes_of(model, x)[0] for x in others]
    assert sizes == [{"T": 7, "K": 2, "p": 5}, {"T": 4, "K": 5, "p": 2}]


def test_more_rows_where_nothing_is_a_chain():
    for name in ("factor-analysis-em", "poisson-mixture"):
        model = emitted(name, "em" if name.endswith("em") else "vmp", "numpy")[0].model
        (more,) = exact.instead(model, exact.WIDE)
        assert (more.rows, more.chain, more.others) == (15, 3, (5,))


SWITCHED = """
plate t in T
plate k in 2
P[k] ~ dirichlet(ones(2))
q[k] ~ gamma(1, 1)
s[1] ~ categorical(ones(2)/2)
s[t] ~ categorical(P[s[t-1]])
x[1] ~ gaussian(0, 1)
x[t] ~ gaussian(x[t-1], 1/q[s[t]])
y[t] ~ gaussian(x[t], 0.5) observed
"""


def test_a_chain_of_labels_behind_the_first_block_is_compared_by_what_is_kept_of_it():
    d = derive_model(read_model(SWITCHED, "switched"), "vmp")
    program = lower(d)
    source = text(program, "numpy")

    def wrong(source: str) -> set[str]:
        sizes = exact.Small(3, 3, (2, 1), (2,))
        trial = exact.Trial(source, drawn(d.model, program, small=sizes), Random(1), False, Seen())
        with choosing(lambda: True), np.errstate(all="ignore"):
            return {name for name, (_, why) in exact.lucky(d, program, trial).items() if why}

    assert wrong(source) == set()
    assert "    s_q_evidence = " in source
    other = source.replace("    s_q_evidence = ", "    s_q_evidence = 2 * ", 1)
    assert "s" in wrong(other)


BITS = """
plate n in N
plate k in K
plate d in D
pi ~ dirichlet(ones(K))
p[k,d] ~ beta(1, 1)
y[n] ~ categorical(pi) observed
x[n,d] ~ bernoulli(p[y[n],d]) observed or missing
"""
POSITIVE = """
plate n in N
plate k in K
pi ~ dirichlet(ones(K))
b[k] ~ gamma(1, 1)
z[n] ~ categorical(pi)
x[n] ~ gamma(3, b[z[n]]) observed or missing
"""


@pytest.mark.parametrize(
    ("source", "mask"), [(BITS, ", y), x_seen.T)"), (POSITIVE, "x_seen[:, None] * ")]
)
def test_missing_values_are_proved_with_their_mask(source, mask):
    d = derive_model(read_model(source, "missing"), "vmp")
    program = lower(d)
    right = text(program, "numpy")
    assert proved(d, program, right)
    assert not proved(d, program, changed(right, mask, mask.replace("x_seen", "(x_seen + 1)")))
