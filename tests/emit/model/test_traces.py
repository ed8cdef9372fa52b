"""Emitted classes, from a model's text on, against algorithms written by hand."""

from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_targets import as_python
from tests.reference.models import em, exact, mean_field

MODELS = Path(__file__).parents[3] / "models"
STEPS = 10
R = np.random.default_rng(11)
LINE = np.concatenate([R.normal(-2, 1, 20), R.normal(3, 0.5, 25)])
PLANE = np.concatenate([R.normal(-1, 1, (20, 2)), R.normal(2, 0.7, (25, 2))])
COUNTS = np.concatenate([R.poisson(2, 20), R.poisson(9, 15)]).astype(float)
WIDE = R.normal(size=(40, 2)) @ R.normal(size=(2, 4)) + R.normal(size=(40, 4)) * 0.3 + 1


@cache
def cls(name: str, algorithm: str, source: str = "", target: str = "numpy"):
    """The class of a shipped model, or of a text."""
    model = read_model(source or (MODELS / f"{name}.model").read_text(), name)
    made = lower(derive_model(model, algorithm))
    if target == "loops":  # of the Numba file, which is not compiled
        return as_python(text(made, "numba"))[made.name]
    return compile_class(text(made, target))


def held_against(model, wanted):
    """Ten steps: each objective, and what is known after the last."""
    found = model.run(steps=STEPS, tol=0.0)
    values, states = zip(*islice(wanted, STEPS + 1), strict=True)
    np.testing.assert_allclose(found["trace"], values, rtol=1e-8)
    assert min(np.diff(found["trace"])) > -1e-9 * abs(values[-1])
    for name, value in states[-1].items():
        compare(model.posterior(name), value)


def compare(found, wanted):
    if not isinstance(wanted, dict):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)
        return
    for parameter, value in wanted.items():
        np.testing.assert_allclose(found[parameter], value, rtol=1e-8, atol=1e-10)


def test_evidence_of_conjugate_models():
    x = (LINE > 0).astype(float)
    model = cls("beta-bernoulli", "conjugate")(x=x)
    np.testing.assert_allclose(model.objective(), exact.beta_bernoulli(x), rtol=1e-12)
    rows, trials = R.multinomial(7, [0.2, 0.5, 0.3], size=9).astype(float), np.full(9, 7.0)
    model = cls("dirichlet-multinomial", "conjugate")(x=rows, n=trials, alpha=[0.5, 1.0, 2.0])
    wanted = exact.dirichlet_multinomial(rows, trials, np.array([0.5, 1.0, 2.0]))
    np.testing.assert_allclose(model.objective(), wanted, rtol=1e-12)
    model = cls("normal-gamma", "conjugate")(x=LINE)
    value, kappa, a, b = exact.normal_gamma(LINE)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-12)
    compare(model.posterior("mu,tau"), {"kappa": kappa, "a": a, "b": b})
    V0 = np.array([[1.0, 0.2], [0.2, 0.7]])
    model = cls("normal-wishart", "conjugate")(x=PLANE, V0=V0, nu0=3.5)
    np.testing.assert_allclose(model.objective(), exact.normal_wishart(PLANE, V0, 3.5), rtol=1e-11)


@pytest.mark.parametrize("missing", [False, True])
def test_a_state_space_is_one_large_gaussian(missing):
    y, u = R.normal(size=(6, 2)), R.normal(size=(6, 1))
    if missing:
        y[2], y[4, 1] = np.nan, np.nan
    known = {
        "F": np.array([[0.9, 0.2], [0.0, 0.7]]), "B": R.normal(size=(2, 1)),
        "H": R.normal(size=(2, 2)), "Q": np.array([[0.5, 0.1], [0.1, 0.3]]),
        "R": np.diag([0.4, 0.6]), "m1": np.array([0.2, -0.1]), "S1": 1.3 * np.eye(2),
    }  # fmt: skip
    model = cls("state-space", "conjugate")(y=y, u=u, **known)
    value, m, V, lag = exact.state_space(y, u, **known)
    np.testing.assert_allclose(model.objective(), value, rtol=1e-11)
    compare(model.posterior("x"), {"m": m, "S": np.linalg.inv(V)})
    np.testing.assert_allclose(model.pairs("x"), lag, atol=1e-12)


def test_em_of_a_gaussian_mixture():
    start = {"pi": [0.4, 0.6], "mu": [[-1.0, 0.0], [1.0, 1.0]], "S": np.stack([np.eye(2)] * 2)}
    model = cls("gaussian-mixture-full-em", "em")(x=PLANE, K=2, start=start)
    held_against(model, em.mixture(PLANE, *(np.asarray(v) for v in start.values())))


def test_em_of_counts():
    start = {"pi": [0.4, 0.6], "rate": [1.0, 5.0]}
    model = cls("poisson-mixture-em", "em")(x=COUNTS, K=2, start=start)
    held_against(model, em.poisson_mixture(COUNTS, *map(np.array, start.values())))


def test_online_em_is_em_where_a_step_has_all_rows_at_rate_one():
    start = {"pi": [0.4, 0.6], "rate": [1.0, 5.0]}
    model = cls("poisson-mixture-em", "online-em")(x=COUNTS, K=2, start=start, delay=0.0)
    wanted = em.poisson_mixture(COUNTS, *map(np.array, start.values()))
    np.testing.assert_allclose(model.objective(), next(wanted)[0])
    model.step(np.arange(len(COUNTS)))
    compare(model.posterior("rate"), next(wanted)[1]["rate"])
    before = model.objective()
    assert model.run(steps=30, batch=7, tol=0.0)["trace"][-1] > before


def test_em_of_a_hidden_markov_chain():
    start = {"pi": [0.4, 0.6], "P": [[0.7, 0.3], [0.2, 0.8]], "mu": [-1.0, 2.0], "v": [1.0, 2.0]}
    model = cls("hmm-gaussian-em", "em")(x=LINE, K=2, start=start)
    held_against(model, em.hidden_markov(LINE, *map(np.array, start.values())))


def test_em_of_gammas_whose_shapes_have_no_closed_form():
    x = np.concatenate([R.gamma(2.0, 0.5, 20), R.gamma(9.0, 1.0, 20)])
    start = {"pi": [0.5, 0.5], "a": [1.0, 4.0], "b": [1.0, 0.5]}
    model = cls("gamma-mixture", "em")(x=x, K=2, start=start)
    held_against(model, em.gamma_mixture(x, *map(np.array, start.values())))


def test_em_of_factor_analysis():
    start = {"W": R.normal(size=(4, 2)), "mu": np.zeros(4), "psi": np.ones(4)}
    model = cls("factor-analysis-em", "em")(x=WIDE, q=2, start=start)
    held_against(model, em.factors(WIDE, *start.values()))


NORMAL = """
plate n in N
mu   ~ gaussian(0, 10)
tau  ~ gamma(1, 1)
x[n] ~ gaussian(mu, 1/tau)   observed
"""


def test_mean_field_of_a_mean_and_a_precision():
    model = cls("normal", "vmp", NORMAL)(x=LINE, start={"mu": {"m": 0.1, "v": 2.0}})
    held_against(model, mean_field.mean_and_precision(LINE, 0.1, 2.0))


def test_mean_field_of_counts():
    q = {"rate": {"a": [2.0, 9.0], "b": [1.5, 1.0]}, "pi": {"alpha": [3.0, 4.0]}}
    model = cls("poisson-mixture", "vmp")(x=COUNTS, K=2, start=q)
    a, b = map(np.array, q["rate"].values())
    held_against(model, mean_field.poisson_mixture(COUNTS, a, b, np.array([3.0, 4.0])))


def test_a_step_of_topics():
    lengths = R.integers(2, 6, 7)
    words = R.integers(0, 5, lengths.sum())
    counts = R.integers(1, 4, lengths.sum()).astype(float)
    lam = R.gamma(5.0, size=(2, 5))
    model = cls("lda", "svi")(w=words, c=counts, L=lengths, alpha=np.full(2, 0.3),
                              eta=np.full(5, 0.2), start={"phi": {"alpha": lam}})  # fmt: skip
    rows = np.array([5, 0, 3])
    model.step(rows)
    ends = np.cumsum(lengths)
    spans = [slice(ends[d] - lengths[d], ends[d]) for d in rows]
    documents = [list(zip(words[x], counts[x], strict=True)) for x in spans]
    wanted = mean_field.topics(documents, lam, 0.3, 0.2, 2.0**-0.7, 7 / 3)
    np.testing.assert_allclose(model.posterior("phi")["alpha"], wanted, rtol=1e-8)


def test_log_p_of_new_rows():
    from scipy.special import logsumexp
    from scipy.stats import multivariate_normal, t

    start = {"pi": [0.4, 0.6], "mu": [[-1.0, 0.0], [1.0, 1.0]], "S": np.stack([np.eye(2)] * 2)}
    rows = np.array([[0.0, 1.0], [2.0, 2.0], [-1.0, -1.0]])
    model = cls("gaussian-mixture-full-em", "em")(x=PLANE, K=2, start=start)
    parts = [np.log(p) + multivariate_normal(m, s).logpdf(rows)
             for p, m, s in zip(*start.values(), strict=True)]  # fmt: skip
    np.testing.assert_allclose(model.log_predictive(x=rows), logsumexp(parts, axis=0))
    model = cls("normal-gamma", "conjugate")(x=LINE)
    q = model.posterior("mu,tau")
    wide = np.sqrt(q["b"] * (q["kappa"] + 1) / q["a"] / q["kappa"])
    new = np.array([0.0, 1.0, 5.0])
    np.testing.assert_allclose(model.log_predictive(x=new), t(2 * q["a"], q["m"], wide).logpdf(new))
    model = cls("normal-wishart", "conjugate")(x=PLANE, V0=np.eye(2), nu0=3.5)
    both = exact.normal_wishart(np.concatenate([PLANE, rows[:1]]), np.eye(2), 3.5)
    wanted = both - exact.normal_wishart(PLANE, np.eye(2), 3.5)
    np.testing.assert_allclose(model.log_predictive(x=rows[:1]), [wanted], rtol=1e-9)


def test_a_chain_by_all_its_paths():
    from itertools import product

    from scipy.special import logsumexp
    from scipy.stats import norm

    x = np.array([-1.0, -2.0, 3.0, 2.5, -1.2, 2.2])
    pi, P, mu = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([-1.0, 2.0])
    start = {"pi": pi, "P": P, "mu": mu, "v": [1.0, 2.0]}
    model = cls("hmm-gaussian-em", "em")(x=x, K=2, start=start)
    paths = np.array([*product(range(2), repeat=6)])
    own = norm(mu, np.sqrt([1.0, 2.0])).logpdf(x[:, None])
    joint = np.log(pi)[paths[:, 0]] + np.log(P)[paths[:, :-1], paths[:, 1:]].sum(1)
    joint = joint + own[np.arange(6), paths].sum(1)
    np.testing.assert_allclose(model.objective(), logsumexp(joint))
    np.testing.assert_array_equal(model.path("z"), paths[joint.argmax()])
    weight = np.exp(joint - logsumexp(joint))
    one = np.eye(2)[paths]
    wanted = np.einsum("p,pti,ptj->tij", weight, one[:, :-1], one[:, 1:])
    np.testing.assert_allclose(model.pairs("z"), wanted, atol=1e-14)


def test_chains_in_rows_are_chains_by_themselves():
    lengths, K = [4, 1, 9], 2
    x = LINE[:14]
    start = {"pi": [0.6, 0.4], "P": [[0.7, 0.3], [0.2, 0.8]], "mu": [-1.0, 2.0], "v": [1.0, 2.0]}
    many = cls("hmm-gaussian-many-em", "em")(x=x, T=lengths, K=K, start=start)
    each = [cls("hmm-gaussian-em", "em")(x=y, K=K, start=start)
            for y in np.split(x, np.cumsum(lengths)[:-1])]  # fmt: skip
    np.testing.assert_allclose(many.objective(), sum(m.objective() for m in each))
    z = np.concatenate([m.posterior("z")["p"] for m in each])
    np.testing.assert_allclose(many.posterior("z")["p"], z, atol=1e-12)
    trace = many.run(steps=10, tol=0.0)["trace"]
    assert min(np.diff(trace)) > -1e-9


def test_a_run_goes_on_to_the_same_bits():
    model = cls("gaussian-mixture-full-em", "em")(x=PLANE, K=2, seed=4)
    model.run(steps=3, tol=0.0)
    saved = model.state_dict()
    first = model.run(steps=4, tol=0.0)["trace"]
    other = cls("gaussian-mixture-full-em", "em")(x=PLANE, K=2, seed=9)
    other.load_state_dict(saved)
    assert other.run(steps=4, tol=0.0)["trace"] == first
    with pytest.raises(ValueError, match="saved mu"):
        other.load_state_dict({**saved, "state": {**saved["state"], "mu": np.zeros((3, 2))}})
    assert other.state["mu"].shape == (2, 2)


def test_what_is_wrong_is_refused():
    made = cls("gaussian-mixture-full-em", "em")
    bad = PLANE.copy()
    bad[3, 1] = np.nan
    for data, words in (
        ({"x": bad, "K": 2}, "not finite"),
        ({"x": PLANE[:, 0], "K": 2}, "has shape"),
        ({"x": PLANE, "K": 0}, "no size"),
        ({"x": PLANE, "K": 2, "start": {"my": 1}}, "no start of 'my'"),
        ({"x": PLANE, "K": 2, "start": {"pi": [0.5, 0.7]}}, "simplex"),
    ):
        with pytest.raises(ValueError, match=words):
            made(**data)


@pytest.mark.parametrize("case", ["one row", "all equal", "fewer rows than components"])
def test_a_run_survives(case):
    x = {"one row": PLANE[:1], "all equal": np.ones((6, 2)),
         "fewer rows than components": PLANE[:2]}[case]  # fmt: skip
    model = cls("gaussian-mixture-full", "vmp")(x=x, K=3, V0=np.eye(2), nu0=3.0)
    run = model.run(steps=20, tol=0.0)
    assert np.isfinite(run["trace"]).all() and min(np.diff(run["trace"])) > -1e-9
    free = cls("gaussian-mixture-full-em", "em")(x=x, K=3)
    assert free.run(steps=50)["reason"] in ("unbounded", "converged", "steps")
    assert all(np.isfinite(v).all() for v in free.state.values())
