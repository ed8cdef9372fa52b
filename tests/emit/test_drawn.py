"""Draws by the emitted function: laws, shapes, seeds, extremes, names, classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy import stats

import blrgen
from blrgen.emit.drawn import Rows
from blrgen.errors import InternalError
from blrgen.read.family import list_families

SIZE = 4000
P = 1e-5
rng = np.random.default_rng


def file(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", list_families())
def test_every_family_has_a_sampler(name: str) -> None:
    """Its source stands alone, and needs the parameters that it names."""
    draw = blrgen.sampler(name)
    assert "import blrgen" not in draw.source
    assert draw.parameters
    compile(draw.source, name, "exec")


def test_dirichlet() -> None:
    alpha = np.array([0.4, 1.0, 3.0])
    x = blrgen.sampler("dirichlet")(rng(1), SIZE, alpha=alpha)
    assert x.shape == (SIZE, 3)
    for k in range(3):
        law = stats.beta(alpha[k], alpha.sum() - alpha[k])
        assert stats.kstest(x[:, k], law.cdf).pvalue > P


def test_categorical_and_multinomial() -> None:
    eta = np.array([0.7, -1.0])
    p = np.exp(np.append(eta, 0)) / np.exp(np.append(eta, 0)).sum()
    one = blrgen.sampler("categorical")(rng(2), SIZE, eta=eta)
    assert stats.chisquare(one.sum(axis=0), p * SIZE).pvalue > P
    many = blrgen.sampler("multinomial")(rng(2), SIZE, eta=eta, n=7)
    assert (many.sum(axis=1) == 7).all()
    for k in range(3):
        seen = np.bincount(many[:, k].astype(int), minlength=8)
        wanted = stats.binom(7, p[k]).pmf(np.arange(8)) * SIZE
        kept = wanted > 5
        scaled = wanted[kept] * seen[kept].sum() / wanted[kept].sum()
        assert stats.chisquare(seen[kept], scaled).pvalue > P


@pytest.mark.parametrize("kappa", [0.0, 0.5, 30.0, 1e6])
@pytest.mark.parametrize("d", [2, 3, 40])
def test_sphere(d: int, kappa: float) -> None:
    """The cosine to the mean direction has density ∝ (1 − t²)^((d−3)/2) exp(κt)."""
    mean = np.full(d, 1 / np.sqrt(d))
    x = blrgen.sampler("von-mises-fisher")(rng(3), SIZE, eta=kappa * mean)
    assert np.abs((x**2).sum(axis=1) - 1).max() < 1e-14
    fall = kappa + 1 if kappa else 1.0
    grid = np.linspace(1e-9, min(2.0, 60 * d / fall), 400_001)  # 1 − t
    log = (d - 3) / 2 * np.log(np.maximum(grid * (2 - grid), 1e-300)) - kappa * grid
    if d == 2:  # the ends: by the angle instead
        angle = np.arctan2(x[:, 1], x[:, 0]) - np.pi / 4
        turned = (angle + np.pi) % (2 * np.pi) - np.pi
        law = stats.vonmises(kappa).cdf if kappa else stats.uniform(-np.pi, 2 * np.pi).cdf
        if kappa < 1e5:
            assert stats.kstest(turned, law).pvalue > P
        else:
            assert stats.kstest(turned * np.sqrt(kappa), "norm").pvalue > P
        return
    weight = np.exp(log - log.max())
    below = np.concatenate([[0], np.cumsum((weight[1:] + weight[:-1]) / 2)])
    away = ((x - mean) ** 2).sum(axis=1) / 2
    assert stats.kstest(away, lambda v: np.interp(v, grid, below / below[-1])).pvalue > P
    across = x - (x @ mean)[:, None] * mean  # no direction beside the mean is preferred
    score = np.abs(across.mean(axis=0)) / (across.std(axis=0) / np.sqrt(SIZE))
    assert score.max() < 5.5


def test_wishart_and_inverse() -> None:
    """aᵀXa/aᵀVa is χ² with n degrees, |X|/|V| a product of χ²s; those of X⁻¹ likewise."""
    v = np.array([[2.0, 0.6], [0.6, 0.5]])
    x = blrgen.sampler("wishart")(rng(4), SIZE, V=v, n=3.4)
    a = np.array([1.0, -2.0])
    assert stats.kstest(np.einsum("i,nij,j->n", a, x, a) / (a @ v @ a), "chi2", (3.4,)).pvalue > P
    both = stats.chi2(3.4).rvs(SIZE, random_state=1) * stats.chi2(2.4).rvs(SIZE, random_state=2)
    assert stats.ks_2samp(np.linalg.det(x) / np.linalg.det(v), both).pvalue > P
    y = np.linalg.inv(blrgen.sampler("inverse-wishart")(rng(5), SIZE, Psi=v, nu=3.4))
    w = np.linalg.inv(v)
    assert stats.kstest(np.einsum("i,nij,j->n", a, y, a) / (a @ w @ a), "chi2", (3.4,)).pvalue > P


def test_matrix_normal() -> None:
    m, s, u = np.arange(6.0).reshape(2, 3), np.diag([1.0, 4.0, 9.0]), np.array([[2, 1], [1, 3.0]])
    s[0, 1] = s[1, 0] = 0.5
    x = blrgen.sampler("matrix-normal")(rng(6), SIZE, M=m, S=s, U=u) - m
    z = np.linalg.solve(np.linalg.cholesky(u), x) @ np.linalg.cholesky(s)
    assert stats.kstest(z.ravel(), "norm").pvalue > P
    flat = z.reshape(SIZE, 6)
    assert np.abs(flat.T @ flat / SIZE - np.eye(6)).max() < 5.5 / np.sqrt(SIZE / 2)


def test_joint_variables_in_the_order_of_the_declaration() -> None:
    x, tau = blrgen.sampler("normal-gamma")(rng(7), (SIZE,), m=1.0, kappa=2.0, a=1.5, b=0.7)
    assert stats.kstest(tau, stats.gamma(1.5, scale=1 / 0.7).cdf).pvalue > P
    law = stats.t(3.0, loc=1.0, scale=np.sqrt(0.7 / (1.5 * 2)))
    assert stats.kstest(x, law.cdf).pvalue > P
    x, big = blrgen.sampler("normal-wishart")(
        rng(8), SIZE, m=[0.0, 1.0], kappa=2.0, V=np.eye(2), n=4.0
    )
    assert x.shape == (SIZE, 2)
    assert big.shape == (SIZE, 2, 2)
    root = np.swapaxes(np.linalg.cholesky(2.0 * big), -1, -2)
    z = np.einsum("nij,nj->ni", root, x - [0.0, 1.0])
    assert stats.kstest(z.ravel(), "norm").pvalue > P


def test_products_draw_each_factor(tmp_path: Path) -> None:
    path = file(tmp_path, 'name = "both"\ntitle = "Both"\nproduct = ["gamma", "beta"]\n')
    draw = blrgen.sampler(path)
    x, y = draw(rng(9), SIZE, a_1=2.0, b_1=3.0, a_2=0.5, b_2=4.0)
    assert stats.kstest(x, stats.gamma(2, scale=1 / 3).cdf).pvalue > P
    assert stats.kstest(y, stats.beta(0.5, 4).cdf).pvalue > P
    assert abs(stats.spearmanr(x, y).statistic) < 5 / np.sqrt(SIZE)


ODD: dict[str, tuple[str, dict[str, float], Any]] = {
    "asymmetric Laplace": (
        'support = "(-oo, oo)"\nstatistics = ["x", "abs(x)"]\n[natural]\n'
        'eta1 = "(-oo, oo)"\neta2 = "(-oo, -abs(eta1))"\n',
        {"eta1": 0.6, "eta2": -1.1},
        lambda x: np.where(x < 0, np.exp(1.7 * np.minimum(x, 0)) * 0.5 / 2.2,
                           1 - np.exp(-0.5 * np.maximum(x, 0)) * 1.7 / 2.2),
    ),
    "on an interval": (
        'support = "(-2, 5)"\nstatistics = ["x"]\n[natural]\neta = "(-oo, oo)"\n',
        {"eta": -0.8},
        lambda x: np.expm1(-0.8 * (x + 2)) / np.expm1(-0.8 * 7),
    ),
    "mixture": (
        'support = "(0, oo)"\nstatistics = ["x"]\nbase_measure = "1 + x"\n'
        '[natural]\neta = "(-oo, 0)"\n',
        {"eta": -2.0},
        lambda x: (2 * stats.gamma(1, scale=0.5).cdf(x) + stats.gamma(2, scale=0.5).cdf(x)) / 3,
    ),
    "two humps": (
        'support = "(0, 2*pi)"\nstatistics = ["cos(2*x)"]\n[natural]\neta = "(-oo, oo)"\n',
        {"eta": -1.5},
        lambda x: stats.vonmises(1.5).cdf(2 * x - np.pi) / 2,
    ),
    "generalized inverse Gaussian": (
        'support = "(0, oo)"\nstatistics = ["log(x)", "x", "1/x"]\nbase_measure = "1/x"\n'
        '[natural]\neta1 = "(-oo, oo)"\neta2 = "(-oo, 0)"\neta3 = "(-oo, 0)"\n',
        {"eta1": -0.7, "eta2": -1.5, "eta3": -0.2},
        stats.geninvgauss(-0.7, 2 * np.sqrt(0.3), scale=np.sqrt(0.2 / 1.5)).cdf,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_families(name: str, tmp_path: Path) -> None:
    text, parameters, law = ODD[name]
    path = file(tmp_path, f'name = "mine"\ntitle = "Mine"\nvariable = "x"\n{text}')
    x = blrgen.sampler(path)(rng(10), SIZE, **parameters)
    assert stats.kstest(x, law).pvalue > P


def test_geometric_on_a_stretch(tmp_path: Path) -> None:
    text = 'support = "integers 0..9"\nstatistics = ["x"]\n[natural]\neta = "(-oo, oo)"\n'
    path = file(tmp_path, f'name = "mine"\ntitle = "Mine"\nvariable = "x"\n{text}')
    draw = blrgen.sampler(path)
    for eta in (0.0, -0.4, 900.0):
        seen = np.bincount(draw(rng(11), SIZE, eta=eta).astype(int), minlength=10)
        wanted = np.exp(eta * (np.arange(10) - 9 * (eta > 0)))
        wanted = SIZE * wanted / wanted.sum()
        kept = wanted > 5
        assert seen[~kept].sum() < 40
        scaled = wanted[kept] * seen[kept].sum() / wanted[kept].sum()
        assert kept.sum() == 1 or stats.chisquare(seen[kept], scaled).pvalue > P


EXTREME: list[tuple[str, dict[str, Any]]] = [
    ("gamma", {"a": 1e-6, "b": 1.0}), ("gamma", {"a": 1e14, "b": 1e-3}),
    ("beta", {"a": 1e-6, "b": 1e-6}), ("beta", {"a": 1e12, "b": 1e-8}),
    ("inverse-gamma", {"a": 1e-6, "b": 1.0}), ("chi", {"k": 1e-6}),
    ("weibull", {"scale": 1.0, "k": 1e-3}), ("pareto", {"a": 1e-6, "m": 1.0}),
    ("log-normal", {"m": 0.0, "v": 1e6}),
    ("von-mises", {"eta1": 1e8, "eta2": 0.0}), ("von-mises", {"eta1": -1e8, "eta2": 1e-3}),
    ("von-mises", {"eta1": 0.0, "eta2": 0.0}),
    ("inverse-gaussian", {"m": 1e8, "s": 1e-8}), ("inverse-gaussian", {"m": 1e200, "s": 1e-100}),
    ("generalized-inverse-gaussian", {"p": 0.0, "a": 1e-8, "b": 1e-8}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameters"), EXTREME)
def test_extremes_are_finite_and_inside(name: str, parameters: dict[str, float]) -> None:
    """What rounds to an end that does not belong to the support is the number beside it."""
    x = blrgen.sampler(name)(rng(12), 500, **parameters)
    support = blrgen.family(name).family.support
    assert np.isfinite(x).all()
    ends = [e.subs({s: parameters[s.name] for s in e.free_symbols})
            for e in (support.lower, support.upper)]  # fmt: skip
    low, high = map(float, ends)
    assert ((x >= low) if not support.lower_open else (x > low)).all()
    assert (x < high).all()


def test_extremes_of_counts_and_vectors() -> None:
    mean = 1e12
    x = blrgen.sampler("poisson")(rng(13), SIZE, rate=mean)
    assert stats.kstest((x - mean) / np.sqrt(mean), "norm").pvalue > P
    assert np.isfinite(blrgen.sampler("poisson")(rng(13), 9, rate=1e30)).all()
    assert np.isfinite(blrgen.sampler("negative-binomial")(rng(13), 9, p=1e-30, r=1e3)).all()
    y = blrgen.sampler("dirichlet")(rng(14), 2000, alpha=np.full(3, 1e-6))
    assert (y > 0).all()
    assert np.abs(y.sum(axis=1) - 1).max() < 1e-15
    assert stats.chisquare((y > 0.5).sum(axis=0)).pvalue > P
    z = blrgen.sampler("multinomial")(rng(15), 5, eta=[800.0, -800.0], n=10**12)
    assert (z == [10**12, 0, 0]).all()


def test_shapes_and_seeds() -> None:
    draw = blrgen.sampler("gamma")
    assert draw(rng(0), a=1.0, b=1.0).shape == ()
    assert draw(rng(0), (2, 3), a=1.0, b=1.0).shape == (2, 3)
    assert draw(rng(0), 5, a=np.ones((4, 1)), b=np.ones(3)).shape == (5, 4, 3)
    one, two = (draw(rng(1), 5, a=2.0, b=3.0) for _ in range(2))
    assert np.array_equal(one, two)
    natural = draw(rng(1), 5, eta1=2.0, eta2=-3.0)
    assert natural == pytest.approx(one, rel=1e-14)
    whole = blrgen.sampler("wishart")
    assert whole(rng(0), V=np.eye(3), n=4.0).shape == (3, 3)
    assert whole(rng(0), (2, 5), V=np.eye(3), n=4.0).shape == (2, 5, 3, 3)


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("gamma", {"a": -1.0, "b": 1.0}, "a is outside its domain"),
        ("gamma", {"a": np.nan, "b": 1.0}, "a is not finite"),
        ("gamma", {"a": "two", "b": 1.0}, "a is no number"),
        ("gamma", {"a": 1.0}, "the parameters of 'gamma' are a, b"),
        ("wishart", {"V": -np.eye(2), "n": 4.0}, "V is not positive definite"),
        ("wishart", {"V": np.array([[1, 0.5], [0, 1]]), "n": 4.0}, "V is not symmetric"),
        ("wishart", {"V": np.eye(3), "n": 1.5}, "n is outside its domain"),
        ("wishart", {"V": 2.0, "n": 4.0}, "V is one matrix"),
        ("dirichlet", {"alpha": [1.0, 0.0]}, "alpha is outside its domain"),
        ("dirichlet", {"alpha": 1.0}, "alpha is one vector"),
        ("multinomial", {"eta": [1.0], "n": 2.5}, "n is not whole"),
        ("normal-wishart", {"m": np.zeros(3), "kappa": 1.0, "V": np.eye(2), "n": 4.0},
         "V has 2 entries where there are 3"),
    ],
)  # fmt: skip
def test_parameters_outside_are_refused(name: str, parameters: Any, said: str) -> None:
    with pytest.raises(blrgen.UserError, match=said):
        blrgen.sampler(name)(rng(0), 3, **parameters)


def test_parameters_may_have_the_names_of_arguments(tmp_path: Path) -> None:
    text = (
        'name = "mine"\ntitle = "Mine"\nvariable = "rng"\nsupport = "(0, oo)"\n'
        'statistics = ["log(rng)", "rng"]\nbase_measure = "1/rng"\n[natural]\n'
        'eta1 = "(0, oo)"\neta2 = "(-oo, 0)"\n[working]\n'
        'shape = { domain = "(0, oo)", natural = "eta1" }\n'
        'size = { domain = "(0, oo)", natural = "-eta2" }\n'
    )
    x = blrgen.sampler(file(tmp_path, text))(rng(1), 5, shape=2.0, size=3.0)
    assert np.array_equal(x, blrgen.sampler("gamma")(rng(1), 5, a=2.0, b=3.0))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize(
    ("name", "params", "parameters"),
    [
        ("dirichlet", np.array([1.0, 2.0, 0.5]), {"alpha": [1.0, 2.0, 0.5]}),
        ("wishart", np.eye(2), {"V": np.eye(2), "n": 2.0}),
        ("normal-gamma", np.zeros(3), {"m": np.zeros(3), "kappa": 1.0, "a": 1.0, "b": 1.0}),
    ],
)
def test_classes_draw_by_the_same_lines(
    name: str, params: Any, parameters: dict[str, Any], target: str
) -> None:
    made = blrgen.derive(name).compile(target)(params.copy())
    for key in ("kappa", "a", "b"):
        if isinstance(getattr(made, key, None), list):
            parameters[key] = getattr(made, key)[0]
    if name == "wishart":
        parameters["n"] = made.n
    ours = made.sample(rng(3))
    wanted = blrgen.sampler(name)(rng(3), **parameters)
    assert np.array_equal(np.asarray(ours), np.asarray(wanted))


def test_a_class_has_the_inverse_that_its_draws_need(tmp_path: Path) -> None:
    """Of a product: one of its factors is drawn by its distribution function."""
    factors = 'product = ["zero-truncated-poisson", "beta"]\n'
    path = file(tmp_path, f'name = "both"\ntitle = "Both"\n{factors}')
    made = blrgen.derive(path).compile("numpy")(np.full(3, 1.5))
    parameters = {x: getattr(made, x)[0] for x in ("rate_1", "a_2", "b_2")}
    wanted = blrgen.sampler(path)(rng(3), **parameters)
    assert np.array_equal(np.asarray(made.sample(rng(3))), np.asarray(wanted))


class Given:
    """A generator whose uniform numbers are known."""

    def __init__(self, u: np.ndarray) -> None:
        self.u = u

    def random(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.u.reshape(shape)


@pytest.mark.parametrize("p", [-0.7, 2.0, 30.0])
def test_the_inverse_of_a_distribution_function(p: float) -> None:
    """Right in its tails as well."""
    u = np.array([1e-9, 1e-6, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999, 1 - 1e-6])
    a, b = 3.0, 0.4
    x = blrgen.sampler("generalized-inverse-gaussian")(Given(u), len(u), p=p, a=a, b=b)
    law = stats.geninvgauss(p, np.sqrt(a * b), scale=np.sqrt(b / a))
    assert np.abs(law.cdf(x) / u - 1).max() < 1e-3
    assert np.abs(law.sf(x) / (1 - u) - 1).max() < 1e-3
    assert np.abs(law.cdf(x) - u).max() < 1e-5


def test_whole_numbers_far_out_and_with_a_heavy_tail(tmp_path: Path) -> None:
    natural = '[natural]\neta1 = "(-oo, oo)"\neta2 = "(-oo, 0)"\n'
    text = f'support = "integers >= 0"\nstatistics = ["x", "log(factorial(x))"]\n{natural}'
    head = 'name = "mine"\ntitle = "Mine"\nvariable = "x"\n'
    draw = blrgen.sampler(file(tmp_path, head + text))
    u = (np.arange(500) + 0.5) / 500
    for mean in (0.3, 40.0, 1e4, 1e6):  # Poisson's law
        x = draw(Given(u), len(u), eta1=np.log(mean), eta2=-1.0)
        law = stats.poisson(mean)
        slack = 1e-6
        assert (law.cdf(x) >= u - slack).all()
        assert (law.cdf(x - 1) <= u + slack).all()
    text = 'support = "integers >= 1"\nstatistics = ["log(x)"]\n[natural]\neta = "(-oo, -1)"\n'
    x = blrgen.sampler(file(tmp_path, head + text))(Given(u), len(u), eta=-1.6)
    law = stats.zipf(1.6)
    near = x < 1e5
    assert (law.cdf(x[near]) >= u[near] - 1e-4).all()
    assert (law.cdf(x[near] - 1) <= u[near] + 1e-4).all()


def test_a_number_where_a_matrix_is_wanted() -> None:
    """Of one size it is that times I; of rows and columns so much everywhere, squares too."""
    rows, d = Rows("shape", names={"d": "d"}), sp.Symbol("d", integer=True, positive=True)
    assert rows.array(sp.S.Zero, d, d) == "np.full((d, d), 0)"
    assert rows.array(sp.S.Zero, d, sp.S.One) == "np.full((d, 1), 0)"
    assert rows.array(sp.S(2), d) == "2 * np.eye(d)"
    with pytest.raises(InternalError, match="no size"):
        rows.array(sp.S(2))
