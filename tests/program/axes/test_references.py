"""The references themselves, against definitions that need no algorithm."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import digamma, expit
from scipy.stats import multivariate_normal, poisson

from tests.program.axes import problems, references


def gradient(f, x, h=1e-6):
    """Central differences."""
    steps = h * np.eye(x.size)
    return np.array([(f(x + s) - f(x - s)) / (2 * h) for s in steps])


def test_mixture_is_the_sum_over_components():
    given = problems.mixture(N=7, d=3, K=4)
    x, mu, P, lc = given.values()
    covariance = np.linalg.inv(P.swapaxes(1, 2) @ P)
    normal = 0.5 * (3 * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1])
    joint = np.array(
        [
            np.exp(lc[k] + normal[k]) * multivariate_normal(mu[k], covariance[k]).pdf(x)
            for k in range(4)
        ]
    )
    found = references.mixture(**given)
    r = joint / joint.sum(axis=0)
    assert_allclose(found["L"], np.log(joint.sum(axis=0)).sum(), rtol=1e-12)
    assert_allclose(found["nk"], r.sum(axis=1), rtol=1e-12)
    assert_allclose(found["s2"][2], (r[2, :, None] * x).T @ x, rtol=1e-12)
    assert_allclose(found["s1"][1], r[1] @ x, rtol=1e-12)


def test_an_em_step_of_a_mixture_raises_the_likelihood_until_it_stands_still():
    given = problems.mixture(N=60, d=2, K=2)
    found = references.mixture(**given)
    values = []
    for _ in range(200):
        sums = {k: found[k] for k in ("nk", "s1", "s2")}
        found = references.mixture(given["x"], **references.mixture_parameters(**sums, reg=0.0))
        values.append(found["L"])
    assert (np.diff(values) >= -1e-9).all()
    assert values[-1] > values[0] and values[-1] - values[-2] < 1e-3 * (values[1] - values[0])


def test_mixture_parameters_factor_the_weighted_covariance():
    rng = np.random.default_rng(3)
    x, r = rng.normal(size=(50, 3)), rng.random((50, 2))
    sums = {
        "nk": r.sum(axis=0),
        "s1": r.T @ x,
        "s2": np.array([(r[:, k, None] * x).T @ x for k in range(2)]),
    }
    found = references.mixture_parameters(**sums, reg=0.25)
    for k in range(2):
        S = np.cov(x.T, aweights=r[:, k], bias=True) + 0.25 * np.eye(3)
        assert_allclose(found["P"][k] @ S @ found["P"][k].T, np.eye(3), atol=1e-12)
        log_normal = multivariate_normal(np.zeros(3), S).logpdf(np.zeros(3))
        assert_allclose(found["lc"][k], log_normal + np.log(r[:, k].sum() / r.sum()), rtol=1e-12)


def test_line_mixture_is_a_mixture_in_one_dimension():
    given = problems.line_mixture(N=9, K=3)
    found = references.line_mixture(**given)
    P = np.sqrt(given["tau"])[:, None, None]
    same = references.mixture(given["x"][:, None], given["mu"][:, None], P, given["lc"])
    for name in ("nk", "s1", "s2", "L"):
        assert_allclose(found[name], same[name].reshape(found[name].shape), rtol=1e-12)


def test_bernoulli_mixture_is_the_sum_over_components():
    given = problems.bernoulli_mixture(N=6, d=4, K=3)
    x, W, c = given.values()
    p = expit(W)
    cells = np.where(x[:, None, :] == 1, p, 1 - p).prod(axis=2)
    joint = np.exp(c) / (1 - p).prod(axis=1) * cells
    r = joint / joint.sum(axis=1, keepdims=True)
    found = references.bernoulli_mixture(**given)
    assert_allclose(found["L"], np.log(joint.sum(axis=1)).sum(), rtol=1e-12)
    assert_allclose(found["nk"], r.sum(axis=0), rtol=1e-12)
    assert_allclose(found["s1"], r.T @ x, rtol=1e-12)


def test_logistic_is_minus_the_log_likelihood_and_its_differences():
    given = problems.logistic(N=20, d=3)
    X, y, w = given.values()
    found = references.logistic_hessian(**given)

    def loss(w):
        return -np.log(np.where(y == 1, expit(X @ w), expit(-X @ w))).sum()

    assert_allclose(found["f"], loss(w), rtol=1e-12)
    assert_allclose(found["g"], gradient(loss, w), rtol=1e-7)
    slope = gradient(lambda w: references.logistic(X, y, w)["g"], w)
    assert_allclose(found["H"], slope, rtol=1e-7, atol=1e-8)
    by_row = [references.logistic(X[[n]], y[[n]], w)["g"] for n in range(20)]
    assert_allclose(found["q"], np.square(by_row).sum(axis=0), rtol=1e-12)


def test_effects_are_weights_of_one_hot_columns():
    given = problems.effects(N=12, d=2, V=3)
    X, y, lab, w, u = given.values()
    wide = np.hstack([X, np.eye(3)[lab]])
    same = references.logistic(wide, y, np.concatenate([w, u]))
    found = references.effects(X, y, lab, w, u)
    assert_allclose(found["f"], same["f"], rtol=1e-12)
    assert_allclose(np.concatenate([found["gw"], found["gu"]]), same["g"], rtol=1e-12)


def test_forward_backward_is_the_sum_over_all_paths():
    given = problems.forward_backward(T=5, K=3)
    pi, A, B = given.values()
    total, ga, xi = 0.0, np.zeros((5, 3)), np.zeros((3, 3))
    for path in itertools.product(range(3), repeat=5):
        p = pi[path[0]] * np.prod([A[i, j] for i, j in itertools.pairwise(path)])
        p *= np.prod(B[range(5), path])
        total += p
        ga[range(5), path] += p
        for step in itertools.pairwise(path):
            xi[step] += p
    found = references.forward_backward(**given)
    assert_allclose(found["L"], np.log(total), rtol=1e-12)
    assert_allclose(found["ga"], ga / total, rtol=1e-12)
    assert_allclose(found["xi"], xi / total, rtol=1e-12)


def test_poisson_chain_weighs_counts_by_their_probability():
    given = problems.poisson_chain(T=6, K=2)
    x, rate = given["x"], given["rate"]
    B = poisson(rate).pmf(x[:, None])
    same = references.forward_backward(given["pi"], given["A"], B)
    found = references.poisson_chain(**given)
    factorials = (poisson(1.0).logpmf(x) + 1).sum()  # −Σ log x!
    assert_allclose(found["L"] + factorials, same["L"], rtol=1e-12)
    assert_allclose(found["sx"], same["ga"].T @ x, rtol=1e-12)
    assert_allclose(found["n"], same["ga"].sum(axis=0), rtol=1e-12)


def joint(F, H, Q, R, y, m0, P0):
    """Mean and covariance of all states and all observations together."""
    T, n, m = len(y), len(m0), len(R)
    powers = [np.linalg.matrix_power(F, k) for k in range(T)]
    lower = np.block(
        [[powers[t - s] if s <= t else np.zeros((n, n)) for s in range(T)] for t in range(T)]
    )
    shocks = np.kron(np.eye(T), Q)
    shocks[:n, :n] = P0
    states, rows = lower @ shocks @ lower.T, np.kron(np.eye(T), H)
    mean = np.concatenate([p @ m0 for p in powers])
    seen = rows @ states @ rows.T + np.kron(np.eye(T), R)
    return mean, states, rows, seen, (T, n, m)


def test_kalman_and_smoother_are_conditionals_of_the_joint_gaussian():
    given = problems.kalman(T=5, n=3, m=2)
    mean, states, rows, seen, (T, n, m) = joint(**given)
    v = given["y"].ravel() - rows @ mean
    found = references.smoother(**given)
    gain = states @ rows.T @ np.linalg.inv(seen)
    after = states - gain @ rows @ states
    assert_allclose(found["L"], multivariate_normal(np.zeros(T * m), seen).logpdf(v), rtol=1e-12)
    assert_allclose(found["ms"].ravel(), mean + gain @ v, rtol=1e-11)
    for t in range(T):
        block = slice(t * n, (t + 1) * n)
        assert_allclose(found["Ps"][t], after[block, block], rtol=1e-11, atol=1e-13)
    assert_allclose(references.kalman(**given)["m"][-1], found["ms"][-1], rtol=1e-12)
    assert_allclose(references.kalman(**given)["P"], found["Ps"][-1], rtol=1e-12)
    assert_allclose(references.kalman(**given)["L"], found["L"], rtol=1e-12)


def test_documents_stand_where_the_bound_on_the_evidence_is_stationary():
    given = problems.documents(D=2, V=6, K=3, L=20)
    found = references.documents(**given, rounds=4000)
    ptr, word, count, eb = (given[k] for k in ("ptr", "word", "count", "eb"))
    for d in range(2):
        g = found["gam"][d]
        theta = np.exp(digamma(g) - digamma(g.sum()))
        phi = eb[word[ptr[d] : ptr[d + 1]]] * theta
        phi /= phi.sum(axis=1, keepdims=True)
        assert_allclose(g, given["alpha"] + count[ptr[d] : ptr[d + 1]] @ phi, rtol=1e-9)
    by_word = np.bincount(word, count, minlength=6)
    assert_allclose(found["ss"].sum(axis=1), by_word, rtol=1e-12, atol=1e-12)


def test_documents_stop_when_little_changes():
    given = problems.documents(D=4, V=9, K=3, L=20)
    long = references.documents(**given, rounds=500, tol=1e-3)
    counted = [references.documents(**given, rounds=r)["gam"] for r in range(1, 60)]
    for d in range(4):
        change = [np.abs(b[d] - a[d]).mean() for a, b in itertools.pairwise(counted)]
        first = next(i for i, c in enumerate(change) if c < 1e-3)
        assert_allclose(long["gam"][d], counted[first + 1][d], rtol=1e-13)


def test_factor_raises_the_likelihood_until_it_stands_still():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 5)) + rng.normal(size=(40, 5))
    S, values = X.T @ X, []
    now = {"W": rng.normal(size=(5, 2)), "psi": np.ones(5)}
    for _ in range(300):
        sigma = now["W"] @ now["W"].T + np.diag(now["psi"])
        values.append(multivariate_normal(np.zeros(5), sigma).logpdf(X).sum())
        now = {k.removesuffix("_next"): v for k, v in references.factor(S, **now, N=40.0).items()}
    assert (np.diff(values) >= -1e-9).all() and values[-1] - values[-2] < 1e-2
    assert_allclose(np.diag(now["W"] @ now["W"].T) + now["psi"], np.diag(S) / 40, rtol=1e-2)


def test_newton_ends_a_quadratic_in_one_step():
    given = problems.newton(d=4)
    w, H, g = given["w"], given["H"], given["g"]
    step = references.newton(g, H, w)["w_next"] - w
    assert_allclose(g + H @ step, 0, atol=1e-12)


def test_elementwise_rules_from_their_start():
    g = np.array([-2.0, 0.5, 3.0])
    zero = np.zeros(3)
    first = references.adam(zero, zero, zero, g, 1.0, 0.1, 0.9, 0.999, 0.0)
    assert_allclose(first["m_next"], -0.1 * np.sign(g), rtol=1e-12)
    first = references.rmsprop(zero, zero, g, 0.1, 0.25, 0.0)
    assert_allclose(first["m_next"], -0.2 * np.sign(g), rtol=1e-12)
    first = references.momentum(zero, zero, g, 0.1, 0.75)
    assert_allclose(first["m_next"], -0.025 * g, rtol=1e-12)
