"""Gibbs sampling: the prior is left as it is, exact posteriors are met, runs go on to the bit.

Values from the prior and data given these are a draw of the joint law, and steps given the data
leave it a draw of the joint law.  So what any function of values and data changes by in a step
has mean 0, over independent repetitions, and its standard error is known (Geweke 2004).
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_targets import CASES, MODELS, as_python

REPEATED, STEPS, SURE = 800, 2, 4.5  # standard errors: 1 in 150 000 for each function


@cache
def source(name: str, target: str = "numpy", given: str = "") -> tuple[str, str]:
    """The file of a model's class, and the name of the class."""
    written = given or (MODELS / f"{name}.model").read_text()
    program = lower(derive_model(read_model(written, name), "gibbs"))
    return text(program, target), program.name


def made(name: str, target: str = "numpy", given: str = ""):
    """The class, its functions not compiled."""
    found, called = source(name, target, given)
    return as_python(found)[called]


def dirichlet(r, alpha, shape=()):
    return r.dirichlet(alpha, shape)


def labels(r, p):
    """One label for each row of probabilities."""
    return (r.random(p.shape[:-1])[..., None] >= np.cumsum(p, -1)[..., :-1]).sum(-1)


def mixture(r):
    pi, tau = dirichlet(r, np.ones(2)), r.gamma(3.0, 1 / 2.0, (2, 1))
    mu = r.normal(size=(2, 1)) / np.sqrt(tau)
    z = labels(r, np.broadcast_to(pi, (5, 2)))
    data = {"x": mu[z] + r.normal(size=(5, 1)) / np.sqrt(tau[z])}
    return {"pi": pi, "mu": mu, "tau": tau, "z": z}, {**data, "K": 2}


def full(r):
    root = r.normal(size=(2, 5, 2))
    prec = np.einsum("kni,knj->kij", root, root)  # Wishart(I, 5)
    mu = np.stack([r.multivariate_normal(np.zeros(2), np.linalg.inv(x)) for x in prec])
    pi = dirichlet(r, np.ones(2))
    z = labels(r, np.broadcast_to(pi, (4, 2)))
    x = np.stack([r.multivariate_normal(mu[k], np.linalg.inv(prec[k])) for k in z])
    more = {"K": 2, "V0": np.eye(2), "nu0": 5.0}
    return {"pi": pi, "mu": mu, "L": prec, "z": z}, {"x": x, **more}


def many_chains(r):
    lengths = [3, 1, 2]
    pi, moves = dirichlet(r, np.ones(2)), dirichlet(r, np.ones(2), 2)
    tau = r.gamma(3.0, 1 / 2.0, 2)
    mu = r.normal(size=2) / np.sqrt(tau)
    z = []
    for n in lengths:
        for t in range(n):
            z.append(labels(r, pi if t == 0 else moves[z[-1]]))
    z = np.array(z)
    x = mu[z] + r.normal(size=6) / np.sqrt(tau[z])
    more = {"K": 2, "T": lengths, "a0": 3.0, "b0": 2.0}
    return {"pi": pi, "P": moves, "mu": mu, "tau": tau, "z": z}, {"x": x, **more}


def topics(r):
    """Elements stand for words that happen to be the same: all is drawn until they are."""
    lengths, counts = [2, 1, 3], np.array([1, 2, 1, 1, 3, 1])
    document = np.repeat(np.arange(3), lengths)
    while True:
        phi, theta = dirichlet(r, np.full(3, 0.7), 2), dirichlet(r, np.full(2, 0.8), 3)
        z = [labels(r, np.broadcast_to(theta[d], (c, 2))) for d, c in zip(document, counts,
             strict=True)]  # fmt: skip
        w = [labels(r, phi[k]) for k in z]
        if all((x == x[0]).all() for x in w):
            break
    shares = np.stack([np.bincount(k, minlength=2) / len(k) for k in z])
    more = {"c": counts, "L": lengths, "alpha": np.full(2, 0.8), "eta": np.full(3, 0.7)}
    return {"phi": phi, "theta": theta, "z": shares}, {"w": np.array([x[0] for x in w]), **more}


def space(r):
    f, q, obs = np.array([[0.8, 0.3], [-0.2, 0.7]]), np.diag([0.5, 0.2]), np.diag([0.3, 0.4])
    x = [r.multivariate_normal(np.zeros(2), np.eye(2))]
    u = np.ones((4, 1))
    for t in range(1, 4):
        x.append(r.multivariate_normal(f @ x[-1] + 0.1 * u[t, 0], q))
    x = np.array(x)
    y = np.stack([r.multivariate_normal(v, obs) for v in x])
    y[2, 1] = np.nan  # missing: the whole element is left out
    more = {"F": f, "B": np.full((2, 1), 0.1), "H": np.eye(2), "Q": q, "R": obs, "u": u}
    return {"x": x}, {"y": y, **more}


def zeros(r):
    share, rate = r.beta(1, 1), r.gamma(2.0, 1.0)
    z = (r.random(5) < share) * 1.0
    e = np.array([1.0, 0.5, 2.0, 1.0, 0.3])
    x = np.where(z > 0, r.poisson(e * rate), 0)
    return {"r": share, "rate": rate, "z": z}, {"x": x, "e": e, "a0": 2.0}


def scales(r):
    X = np.array([[1.0, -0.5], [0.3, 1.0], [-1.0, 0.2], [0.5, 0.5]])
    tau, w = r.gamma(3.0, 1 / 2.0), r.normal(size=2)
    u = r.gamma(2.0, 1 / 2.0, 4)
    y = X @ w + r.normal(size=4) / np.sqrt(u * tau)
    more = {"nu": 4.0, "a0": 3.0, "b0": 2.0}
    return {"w": w, "tau": tau, "u": u}, {"X": X, "y": y, **more}


FACTORS = """plate n in N
plate i in d
plate j in q
const a0 in (0, oo) = 3
alpha[j] ~ gamma(a0, 2)
tau[i]   ~ gamma(a0, 2)
W[i]     ~ gaussian-full(zeros(q), diag(alpha[:]))
h[n]     ~ gaussian-full(zeros(q), eye(q))
x[n,i]   ~ gaussian(dot(W[i], h[n]), 1/tau[i])   observed
"""


def factors(r):
    alpha, tau = r.gamma(3.0, 0.5, 2), r.gamma(3.0, 0.5, 3)
    w, h = r.normal(size=(3, 2)) / np.sqrt(alpha), r.normal(size=(4, 2))
    x = h @ w.T + r.normal(size=(4, 3)) / np.sqrt(tau)
    return {"alpha": alpha, "tau": tau, "W": w, "h": h}, {"x": x, "q": 2}


LINE = """plate t in T
tau ~ gamma(3, 2)
x[1] ~ gaussian(0, 1)
x[t] ~ gaussian(0.9*x[t-1], 1/tau)
y[t] ~ gaussian(x[t], 0.5)   observed
"""


def line(r):
    tau = r.gamma(3.0, 0.5)
    x = [r.normal()]
    for _ in range(4):
        x.append(0.9 * x[-1] + r.normal() / np.sqrt(tau))
    return {"tau": tau, "x": np.array(x)}, {"y": x + np.sqrt(0.5) * r.normal(size=5)}


CHOSEN = """plate n in N
const g[n] in labels(G)
plate j in G
mu[j] ~ gaussian(0, 1)
lam ~ gamma(3, 2)
z[n] ~ bernoulli(0.4)
x[n] ~ choose(z[n], gaussian(mu[g[n]], 1), gaussian(5, 1/lam))   observed
"""


def chosen(r):
    g = np.array([0, 1, 1, 0, 2])
    mu, lam, z = r.normal(size=3), r.gamma(3.0, 0.5), (r.random(5) < 0.4) * 1.0
    x = np.where(z > 0, 5 + r.normal(size=5) / np.sqrt(lam), mu[g] + r.normal(size=5))
    return {"mu": mu, "lam": lam, "z": z}, {"x": x, "g": g, "G": 3}


JOINT = {
    "gaussian-mixture-diag": (mixture, {"a0": 3.0, "b0": 2.0, "kappa0": 1.0}, ""),
    "gaussian-mixture-full": (full, {}, ""),
    "hmm-gaussian-many": (many_chains, {}, ""),
    "lda": (topics, {}, ""),
    "state-space": (space, {}, ""),
    "zero-inflated-poisson": (zeros, {}, ""),
    "student-t-regression": (scales, {}, ""),
    "factors": (factors, {}, FACTORS),
    "line": (line, {}, LINE),
    "chosen": (chosen, {}, CHOSEN),
}


def functions(values, data):
    """Entries, their squares, and products of entries with one another and with the data."""
    seen = np.concatenate([np.ravel(np.nan_to_num(v)) for k, v in sorted(data.items())
                           if k in ("x", "y", "w")])  # fmt: skip
    flat = np.concatenate([np.ravel(values[k]).astype(float) for k in sorted(values)])
    ahead = np.roll(flat, 1)
    return np.concatenate([flat, np.tanh(flat) ** 2, flat * ahead / (1 + np.abs(flat * ahead)),
                           np.tanh(np.outer(flat, seen[:3])).ravel()])  # fmt: skip


def changes(cls, forward, more, repeated=REPEATED):
    """What each function changes by in steps, once a repetition."""
    found = []
    for k in range(repeated):
        values, data = forward(np.random.default_rng(k))
        model = cls(**data, **more, start=values, seed=10_000 + k)
        for _ in range(STEPS):
            model.step()
        after = {x: model.draws(x)[-1] for x in values}
        found.append(functions(after, data) - functions(values, data))
    return np.array(found)


def largest(found):
    """The largest mean in standard errors; a function that never changes is none."""
    spread = found.std(axis=0) / np.sqrt(len(found))
    moved = spread > 0
    return np.abs(found.mean(axis=0)[moved] / spread[moved]).max()


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", JOINT)
def test_steps_leave_the_joint_law(name):
    forward, more, given = JOINT[name]
    assert largest(changes(made(name, given=given), forward, more)) < SURE


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("name", "drawn"),
    [("gaussian-mixture-diag", "rng.standard_gamma(a, shape)"),
     ("line", "self.rng.standard_normal(self.state[\"x\"].shape)")],
)  # fmt: skip
def test_a_wrong_draw_is_seen(name, drawn):
    """A spread that is a fifth too large does not leave it."""
    forward, more, given = JOINT[name]
    found, called = source(name, given=given)
    assert drawn in found
    cls = as_python(found.replace(drawn, f"(1.2 * {drawn})"))[called]
    assert largest(changes(cls, forward, more, 3000)) > SURE


DRAWN = sorted({name for name, algorithm in CASES if algorithm != "em"})
SHIPPED = {name: data for (name, _), data in CASES.items() if name in DRAWN}


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", DRAWN)
def test_loops_and_arrays_draw_the_same(name):
    runs = []
    for target in ("numpy", "numba"):
        with np.errstate(all="ignore"):
            model = made(name, target)(**SHIPPED[name], seed=3)
            runs.append((model.run(4)["trace"], model))
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=1e-9)
    for node in (x.node for x in lower_draws(name)):
        one, two = (m.draws(node) for _, m in runs)
        pairs = [(one, two)] if not isinstance(one, dict) else zip(one.values(), two.values(),
                                                                   strict=True)  # fmt: skip
        for a, b in pairs:
            assert len(a) == 4
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def lower_draws(name):
    model = read_model((MODELS / f"{name}.model").read_text(), name)
    return lower(derive_model(model, "gibbs")).draws


@pytest.mark.parametrize("name", ["lda", "hmm-gaussian-many", "state-space", "normal-wishart"])
def test_a_run_goes_on_to_the_bit(name):
    cls, data = made(name), SHIPPED[name]
    one, two = cls(**data, seed=1), cls(**data, seed=2)
    one.run(3)
    two.load_state_dict(one.state_dict())
    first, second = one.run(3), two.run(3)
    assert first["trace"] == second["trace"]
    for x in one.state:
        np.testing.assert_array_equal(one.state[x], two.state[x])
        np.testing.assert_array_equal(one.draws(x), two.draws(x))
        assert len(one.draws(x)) == 6


def test_saved_draws_that_do_not_fit_change_nothing():
    model = made("normal-normal")(**SHIPPED["normal-normal"])
    model.run(2)
    saved = model.state_dict()
    with pytest.raises(ValueError, match="draws"):
        model.load_state_dict({**saved, "draws": {"mu": np.zeros((2, 5))}})
    with pytest.raises(ValueError, match="2 draws of t = 3 steps"):
        model.load_state_dict({**saved, "t": 3})
    assert len(model.draws("mu")) == 2


def test_moments_are_those_of_the_exact_posterior():
    """One conjugate block: draws are independent, so their means err by sd/√S."""
    r, count = np.random.default_rng(2), 4000
    x = r.normal(2.0, 1.5, 12)
    model = made("normal-gamma")(x=x, seed=4)
    exact = lower(derive_model(read_model((MODELS / "normal-gamma.model").read_text(), "n"),
                               "conjugate"))  # fmt: skip
    q = as_python(text(exact, "numpy"))[exact.name](x=x).posterior("mu,tau")
    m, kappa, a, b = (float(q[k]) for k in ("m", "kappa", "a", "b"))
    model.run(count)
    found = model.posterior("mu,tau")
    wanted = {"mu": (m, np.sqrt(b / (kappa * (a - 1)))), "tau": (a / b, np.sqrt(a) / b)}
    for name, (mean, sd) in wanted.items():
        assert abs(found["mean"][name] - mean) < 4 * sd / np.sqrt(count)
        assert abs(found["sd"][name] / sd - 1) < 4 / np.sqrt(count)


def test_paths_have_the_probabilities_of_the_exact_posterior():
    """Labels alone, a chain: their shares among the draws are the smoothed probabilities."""
    written = """plate t in T
plate k in K
const p0 in simplex(K)
const P[k] in simplex(K)
const mu[k] in R
z[1] ~ categorical(p0)
z[t] ~ categorical(P[z[t-1]])
x[t] ~ gaussian(mu[z[t]], 1)   observed
"""
    p0, moves, mu = np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.0, 1.0])
    x = np.array([0.2, 1.1, 0.9, -0.3])
    weights = np.zeros((2,) * 4)
    for path in np.ndindex(*weights.shape):
        steps = [moves[i, j] for i, j in pairwise(path)]
        weights[path] = p0[path[0]] * np.prod(steps)
        weights[path] *= np.exp(-0.5 * np.square(x - mu[list(path)]).sum())
    weights /= weights.sum()
    model = made("path", given=written)(x=x, p0=p0, P=moves, mu=mu, seed=1)
    count = 4000
    model.run(count)
    draws = model.draws("z")
    for path in np.ndindex(*weights.shape):
        share = (draws == np.array(path)).all(axis=1).mean()
        p = weights[path]
        assert abs(share - p) < 4.5 * np.sqrt(p * (1 - p) / count)


def test_start_holds_values():
    data = SHIPPED["gaussian-mixture-full"]
    n = len(data["x"])
    start = {"mu,L": {"mu": np.ones((2, 2)), "L": np.stack([np.eye(2)] * 2)},
             "z": np.eye(2)[np.arange(n) % 2]}  # fmt: skip
    model = made("gaussian-mixture-full")(**data, start=start, seed=0)
    np.testing.assert_array_equal(model.state["mu"], np.ones((2, 2)))
    np.testing.assert_array_equal(model.state["z"], np.arange(n) % 2)
    other = made("gaussian-mixture-full")(**data, start={"mu": np.ones((2, 2))}, seed=0)
    np.testing.assert_array_equal(other.state["mu"], np.ones((2, 2)))
    for wrong in ({"nu": 1}, {"z": np.full(n, 2)}, {"L": -np.stack([np.eye(2)] * 2)},
                  {"mu,L": np.ones(2)}):  # fmt: skip
        with pytest.raises(ValueError):
            made("gaussian-mixture-full")(**data, start=wrong)


def test_what_is_known_of_no_draws():
    model = made("normal-normal")(**SHIPPED["normal-normal"])
    assert model.draws("mu").shape == (0,)
    assert model.posterior("mu") == {"mean": model.state["mu"], "sd": 0}
    with pytest.raises(ValueError, match="no draws"):
        model.sample("mu", np.random.default_rng(0), 3)
    with pytest.raises(ValueError, match="mu"):
        model.draws("sigma")
    model.run(5)
    some = model.sample("mu", np.random.default_rng(0), (2, 3))
    assert some.shape == (2, 3)
    assert np.isin(some, model.draws("mu")).all()


def test_single_precision_stays_single_and_inside():
    written = """plate n in N
p ~ beta(0.001, 0.001)
x[n] ~ bernoulli(p)   observed or missing
"""
    model = made("coin", given=written)(x=np.full(2, np.nan, np.float32), seed=0)
    model.run(200)
    draws = model.draws("p")
    assert draws.dtype == np.float32
    assert ((draws > 0) & (draws < 1)).all()
    assert np.isfinite(model.objective())
