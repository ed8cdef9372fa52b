"""What is one block, what is refused and with which term, what each algorithm chooses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import ALGORITHMS, Options, derive_model
from blrgen.show.model_derivation import derivation_json
from blrgen.show.model_page import derivation_text
from blrgen.text.indexed import written

MODELS = Path(__file__).parents[3] / "models"
SHIPPED = sorted(p.stem for p in MODELS.glob("*.model"))
APART = """
plate n in N
mu ~ gaussian(1, 1/(3*tau))
tau ~ gamma(2, 3)
x[n] ~ gaussian(mu, 1/tau)   observed
"""
LOGISTIC = """
plate n in N
const X[n] in R^d
w ~ gaussian-full(zeros(d), eye(d))
y[n] ~ bernoulli(eta = dot(w, X[n]))   observed
"""


def shipped(name: str):
    return read_model((MODELS / f"{name}.model").read_text(), name)


def refusal(text: str, algorithm: str, options: Options | None = None):
    with pytest.raises(ModelError) as caught:
        derive_model(read_model(text, "m"), algorithm, options)
    (mistake,) = caught.value.mistakes
    assert mistake.kind == "not-applicable"
    return mistake


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_model_has_an_algorithm_with_proved_blocks(name):
    model = shipped(name)
    made = []
    for algorithm in ("conjugate", "em", "vmp"):
        try:
            made.append(derive_model(model, algorithm))
        except ModelError as e:
            assert all(m.kind == "not-applicable" and m.why for m in e.mistakes)
    if not made:
        d = derive_model(model, "ncvmp")
        assert d.sites and all(u.block.proved for u in d.updates)
        assert not all(e.conjugate for e in d.edges)
    for d in made:
        assert all(u.block.proved and u.block.conjugate for u in d.updates)
        assert all(e.conjugate for e in d.edges)


def test_blocks_are_visited_in_reverse_order_of_their_statements_or_as_said():
    model = shipped("gaussian-mixture-full")
    assert derive_model(model, "vmp").schedule == ("z", "mu,L", "pi")
    said = Options(schedule=("z", "pi", "mu,L"))
    assert derive_model(model, "vmp", said).schedule == ("z", "pi", "mu,L")


def test_a_schedule_that_leaves_out_a_block_or_names_none_is_refused():
    assert "leaves out" in refusal(APART, "vmp", Options(schedule=("mu",))).text
    assert "no block" in refusal(APART, "vmp", Options(schedule=("mu", "nu"))).text


def test_nodes_are_joined_in_a_declared_family_over_both():
    model = read_model(APART, "m")
    assert derive_model(model, "vmp").schedule == ("tau", "mu")
    (update,) = derive_model(model, "vmp", Options(joined=(("mu", "tau"),))).updates
    assert update.block.family == "normal-gamma" and update.block.nodes == ("mu", "tau")
    assert derive_model(model, "conjugate").updates[0].block.family == "normal-gamma"


def test_the_term_that_breaks_an_edge_is_printed():
    m = refusal(LOGISTIC, "vmp")
    assert m.node == "y" and (m.line, m.column) == (5, 1)
    assert "w -> y" in m.why and "log(1 + exp(sum(i, X[n,i]*w[i])))" in m.why


def test_the_family_that_would_hold_the_remainder_is_named():
    text = "plate n in N\ns ~ gamma(2, 1)\nx[n] ~ gaussian(0, s)   observed\n"
    assert "generalized-inverse-gaussian" in refusal(text, "vmp").why


def test_an_exact_block_of_two_names_the_term_that_joins_them():
    m = refusal((MODELS / "linear-regression.model").read_text(), "conjugate")
    assert "tau" in m.why and "w[" in m.why
    assert "--vmp" in m.instead
    assert derive_model(shipped("linear-regression"), "vmp").updates


def test_points_need_em_and_em_needs_points():
    assert "--em" in refusal((MODELS / "ppca.model").read_text(), "conjugate").instead
    assert "--point" in refusal(APART, "em").instead
    d = derive_model(read_model(APART, "m"), "em", Options(point=("mu", "tau")))
    assert {n for u in d.points for n in u.names} == {"mu", "tau"} and not d.updates


def test_the_mode_of_a_prior_is_in_the_variable_as_written():
    """Gamma(3, 2) alone has its mode at (3 − 1)/2: the base measure counts."""
    text = "plate n in N\nr ~ gamma(3, 2)\ny[n] ~ poisson(r)   observed\n"
    d = derive_model(read_model(text, "m"), "em", Options(point=("r",)))
    (update,) = d.points
    (equation,) = update.equations
    assert written(equation.value) in ("2/(2 + N) + sum(i, y[i]/(2 + N))",)


def test_a_discrete_point_is_refused():
    text = (MODELS / "bernoulli-mixture-em.model").read_text()
    assert "discrete" in refusal(text, "em", Options(point=("z",))).why


def test_svi_marks_local_and_global_blocks():
    d = derive_model(shipped("lda"), "svi")
    assert d.batch == "D" and d.rate == "rho_t"
    assert [(u.block.name, u.local, u.scaled) for u in d.updates] == [
        ("z", True, ""), ("theta", True, ""), ("phi", False, "D")
    ]  # fmt: skip


def test_a_chain_is_no_minibatch():
    text = (MODELS / "hmm-gaussian.model").read_text()
    assert "chain" in refusal(text, "svi").why


def test_gibbs_draws_from_the_same_conditionals_and_needs_priors():
    d = derive_model(shipped("linear-regression"), "gibbs")
    v = derive_model(shipped("linear-regression"), "vmp")
    assert [p.coefficient for u in d.updates for p in u.block.parts] == [
        p.coefficient for u in v.updates for p in u.block.parts
    ]
    assert [c.name for c in d.choices] == ["draw"]
    assert "prior" in refusal((MODELS / "ppca.model").read_text(), "gibbs").why


def test_filter_needs_a_chain_and_nothing_else_unknown():
    level = """
plate t in T
x[1] ~ gaussian(0, 10)
x[t] ~ gaussian(x[t-1], 2)
y[t] ~ gaussian(x[t], 1)   observed
"""
    (update,) = derive_model(read_model(level, "m"), "filter").updates
    assert (update.block.kind, update.block.lag) == ("banded", 1)
    assert "param" not in refusal(level, "em").text
    assert refusal(APART, "filter").text == "--filter needs a chain"
    assert refusal((MODELS / "hmm-gaussian.model").read_text(), "filter").node == "pi"


def test_every_choice_has_a_reason_a_condition_and_a_source():
    for algorithm in ALGORITHMS:
        for name in SHIPPED[::4]:
            try:
                d = derive_model(shipped(name), algorithm)
            except ModelError:
                continue
            assert all(c.reason and c.condition and c.source for c in d.choices)


def test_the_json_has_the_keys_of_the_contract():
    page = derivation_json(derive_model(shipped("gaussian-mixture-full"), "vmp"))
    assert page["schema"] == "blrgen.model-derivation/1"
    for key in ("model", "algorithm", "plates", "constants", "data", "nodes", "edges", "blocks",
                "schedule", "objective", "steps"):  # fmt: skip
        assert key in page
    assert page["blocks"][0]["nodes"] == ["z"] and page["blocks"][0]["family"] == "categorical"
    assert all(e["conjugate"] and not e["term"] for e in page["edges"])
    assert {"id", "title", "equation", "latex", "because", "space", "approximation"} == set(
        page["steps"][0]
    )


def test_online_em_reads_as_averages_of_expected_statistics():
    page = derivation_json(derive_model(shipped("gaussian-mixture-full-em"), "online-em"))
    said = [s["equation"] for s in page["steps"] if s["id"].startswith("statistic-")]
    assert said == [
        "s1[i1] = sum(n, E[z[n,i1]])",
        "s2[i1,i2] = sum(n, E[z[n,i1]]*x[n,i2])",
        "s3[i1,i2,i3] = sum(n, E[z[n,i1]]*x[n,i2]*x[n,i3])",
    ]
    assert ["mu[k,i]", "s2[k,i]/s1[k]"] in [u for b in page["blocks"] for u in b["update"]]


def test_the_text_reads_like_the_paper():
    text = derivation_text(derive_model(shipped("lda"), "svi"))
    assert "c_di w_dij z_dik log φₖⱼ" in text
    assert "ρₜ" in text and "D/M" in text
    assert "𝔼[log θ_dk]" in text


@pytest.mark.rest  # of whole texts tests/cli asks it, in every run
def test_texts_do_not_depend_on_the_hash_seed():
    code = (
        "from tests.rule.model.test_derive import shipped;"
        "from blrgen.rule.model.derive import derive_model;"
        "from blrgen.show.model_page import derivation_text;"
        "[print(derivation_text(derive_model(shipped(n), a))) for n, a in"
        " (('factor-analysis-em', 'em'), ('state-space-em', 'em'), ('gaussian-mixture-tied',"
        " 'vmp'))]"
    )
    seen = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True,
                       env={**os.environ, "PYTHONHASHSEED": s}).stdout
        for s in ("0", "1", "2")
    }  # fmt: skip
    assert len(seen) == 1 and b"found as points" in seen.pop()


@pytest.mark.parametrize("prior", ["poisson(3)", "exponential(1)", "binomial(1/2, 4)"])
def test_pairs_of_what_is_no_gaussian_are_no_gaussian(prior):
    m = refusal(
        f"plate n in N\nplate k in K\nconst X[n,k] in R\nw[k] ~ {prior}\n"
        "y[n] ~ gaussian(sum(w[:]*X[n,:]), 1)   observed\n",
        "vmp",
    )
    assert "coupled by w[k']*w[k]" in m.why


def test_a_matrix_of_each_label_is_found_row_by_row():
    """Though its covariance is known, and need not be cancelled for that."""
    model = read_model(
        "plate t in T\nplate k in K\nparam F[k] in R^(p,p)\nconst g[t] in labels(K)\n"
        "const Q in SPD(p)\nx[1] ~ gaussian-full(zeros(p), eye(p))\n"
        "x[t] ~ gaussian-full(F[g[t]]*x[t-1], inv(Q))\ny[t] ~ gaussian-full(x[t], eye(p)) observed",
        "m",
    )
    (update,) = derive_model(model, "em").points
    assert update.system is not None
    assert len(update.system.unknowns[0].places) - len(update.system.shared) == 1


def test_nodes_that_nothing_joins_are_no_block():
    text = """
plate n in N
s ~ gamma(1, 1)
r ~ gamma(1, 1)
x[n] ~ poisson(s)   observed
y[n] ~ poisson(r)   observed
"""
    for algorithm in ("vmp", "gibbs", "ncvmp"):
        found = refusal(text, algorithm, Options(joined=(("s", "r"),)))
        assert found.text == "--block s,r joins nothing"


def test_what_is_a_point_by_an_option_is_not_said_to_have_no_prior():
    for algorithm in ("gibbs", "conjugate"):
        found = refusal(APART, algorithm, Options(point=("mu",)))
        assert "by --point" in found.why and "leave --point out" in found.instead
