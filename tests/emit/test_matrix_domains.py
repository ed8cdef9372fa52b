"""Matrix steps that stay inside: halved step sizes, retraction, what refuses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blrgen.api import derive
from blrgen.emit.compile import compile_class
from blrgen.errors import NotApplicable
from blrgen.validate.emitted import verify_emitted

KNOWN = """
name = "wishart-known-n"
title = "Wishart with known degrees of freedom"
variable = "X"
support = "SPD"
statistics = ["X"]
base_measure = "exp((n - d - 1)/2*logdet(X))"
[natural]
eta = { domain = "-SPD", working = "-B" }
[working]
B = "SPD"
[fixed]
n = "(d - 1, oo)"
"""
SCALE = KNOWN.replace("-B", "-inv(V)/2").replace('B = "SPD"', 'V = "SPD"')
NATURAL = """
name = "inverse-wishart-natural"
title = "Inverse Wishart in natural parameters"
variable = "X"
support = "SPD"
statistics = ["logdet(X)", "inv(X)"]
[natural]
eta1 = "(-oo, -d)"
eta2 = "-SPD"
"""
MOVED = """
name = "wishart-moved"
title = "Wishart with a base measure exp(-k tr X)"
variable = "X"
support = "SPD"
statistics = ["logdet(X)", "X"]
base_measure = "exp(-k*trace(X))"
[natural]
eta1 = { domain = "(-1, oo)", working = "a - (d + 1)/2" }
eta2 = { domain = "-SPD", working = "-C" }
[working]
a = "((d - 1)/2, oo)"
C = "SPD"
[fixed]
k = "(0, oo)"
"""
BOTH = """
name = "matrix-normal-known"
title = "Matrix normal with both covariances known"
variable = "X"
support = "R^(n,p)"
statistics = ["X"]
base_measure = "exp(-trace(transpose(X)*inv(U)*X*inv(W))/2)"
[natural]
eta = { domain = "R^(n,p)", working = "inv(U)*M*inv(W)" }
[working]
M = "R^(n,p)"
[fixed]
U = "SPD(n)"
W = "SPD(p)"
"""
THREE = """
name = "wishart-three"
title = "Wishart in three dimensions"
variable = "X"
support = "SPD(3)"
statistics = ["logdet(X)", "X"]
[natural]
eta1 = { domain = "(-1, oo)", working = "(n - 4)/2" }
eta2 = { domain = "-SPD(3)", working = "-inv(V)/2" }
[working]
V = "SPD(3)"
n = "(2, oo)"
"""
NUMBER = """
name = "wishart-known-scale"
title = "Wishart with known scale"
variable = "X"
support = "SPD"
statistics = ["logdet(X)"]
base_measure = "exp(-trace(inv(V)*X)/2)"
[natural]
eta = { domain = "(-1, oo)", working = "(n - d - 1)/2" }
[working]
n = "(d - 1, oo)"
[fixed]
V = "SPD"
"""


def derived(text: str, folder: Path, *flags: str) -> Any:
    path = folder / "f.toml"
    path.write_text(text)
    return derive(str(path), flags)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("text", [KNOWN, SCALE, NATURAL, MOVED, BOTH, THREE, NUMBER])
def test_families_nobody_ships(text: str, tmp_path: Path) -> None:
    """Derived, emitted and proved from the file alone."""
    d = derived(text, tmp_path)
    source = d.source("numpy")
    assert verify_emitted(source, d.rule).proved
    cls = compile_class(source)
    size = 3
    params = {"M": np.zeros((3, 2)), "eta1": -np.eye(3), "n": np.array([3.0, 7.0])}
    first = next(
        (q for q in d.rule.of("state") if q.rank in ("symmetric", "matrix")), d.rule.of("state")[0]
    )
    start = params.get(first.name, -np.eye(size) if "-SPD" in first.domain else np.eye(size))
    opt = cls(start, rho=0.1, **({"d": 3} if first.name == "n" else {}))
    before = start.copy()
    inputs = {"scalar": 0.01, "matrix": np.full((3, 2), 0.01), "symmetric": 0.01 * np.eye(3)}
    opt.step(*[inputs.get(q.rank, np.full(2, 0.01)) for q in d.rule.of("input")])
    assert opt.t == 1
    assert np.isfinite(start).all() and not np.array_equal(before, start)


def test_one_step_of_a_known_number_of_degrees(tmp_path: Path) -> None:
    """E_q[X] = n/2 B⁻¹: F⁻¹r = (2/n)BrB, and ∇_μE_q[log h] = (n − d − 1)/n B."""
    opt = compile_class(derived(KNOWN, tmp_path).source("numpy"))(2 * np.eye(2), n=5.0, rho=0.5)
    r = np.array([[0.3, 0.1], [0.1, -0.2]])
    opt.step(r)
    wanted = (1 - 0.5 + 0.5 * 2 / 5) * 2 * np.eye(2) + 0.5 * 2 / 5 * 4 * r
    np.testing.assert_allclose(opt.params, wanted, rtol=1e-13)
    with pytest.raises(ValueError, match="n leaves its domain"):
        compile_class(derived(KNOWN, tmp_path).source("numpy"))(np.eye(3), n=1.5).step(np.eye(3))


@pytest.mark.parametrize("name", ["wishart", "inverse-wishart", "gaussian-full"])
def test_halving_takes_what_is_refused_without_it(name: str) -> None:
    plain, halving = (
        compile_class(derive(name, f).source("numpy")) for f in ((), ("backtracking",))
    )
    rng = np.random.default_rng(2)
    for dtype in (np.float64, np.float32):
        first = np.zeros(3, dtype) if name == "gaussian-full" else np.eye(3, dtype=dtype)
        opt = halving(first.copy(), rho=1.0)
        refused = 0
        for _ in range(30):
            A = rng.standard_normal((3, 3)) * 10.0 ** rng.integers(-2, 3)
            one: Any = rng.standard_normal(3) if name == "gaussian-full" else rng.standard_normal()
            inputs = [one.astype(dtype) if isinstance(one, np.ndarray) else one]
            inputs.append((A + A.T).astype(dtype))
            other = plain(first.copy(), rho=1.0)
            other.load_state_dict({**opt.state_dict(), "hyperparameters": {"rho": 1.0}})
            try:
                other.step(*inputs)
            except ValueError:
                refused += 1
            opt.step(*inputs)
            scale = opt.S if name == "gaussian-full" else opt.params
            np.linalg.cholesky(scale)
            assert scale.dtype == dtype
            scale[:] = np.eye(3) + 0.1 * scale / np.abs(scale).max()  # steps of some size follow
        assert refused > 3


def test_nothing_that_is_not_finite_is_halved_into_a_step() -> None:
    opt = compile_class(derive("wishart", ["backtracking"]).source("numpy"))(np.eye(2))
    for bad in (np.nan, np.inf):
        with np.errstate(all="ignore"), pytest.raises(ValueError, match="nothing has been changed"):
            opt.step(bad, np.eye(2))
    np.testing.assert_array_equal(opt.params, np.eye(2))


def test_halving_is_proved_and_changes_are_seen() -> None:
    d = derive("wishart", ["backtracking"])
    source = d.source("numpy")
    verdict = verify_emitted(source, d.rule)
    assert verdict.proved
    assert "V, refused once" in dict(verdict.proofs)
    assert "halved" in str(d)
    for before, after in (("/ 2**halvings", "/ 3**halvings"), ("rho = self.rho /", "rho = 2 /")):
        changed = source.replace(before, after, 1)
        assert changed != source
        assert verify_emitted(changed, d.rule, locate=False).level == "refuted"


@pytest.mark.parametrize(
    ("name", "flags", "why"),
    [
        ("wishart", ["retraction"], "not affine in V"),
        ("inverse-wishart", ["retraction"], "for nu the second-order term does not keep"),
        ("matrix-normal", ["retraction"], "not affine in M"),
        ("gaussian-full", ["momentum", "backtracking"], "moves m"),
        ("gaussian-full", ["backtracking", "momentum"], "would still move m"),
        ("gaussian-full", ["backtracking", "rho=1"], "no longer be in the rule"),
        ("wishart", ["backtracking", "backtracking"], "already halved"),
    ],
)
def test_refusals(name: str, flags: list[str], why: str) -> None:
    with pytest.raises(NotApplicable, match=why):
        derive(name, flags)


def test_a_retracted_matrix_stays_definite(tmp_path: Path) -> None:
    d = derived(KNOWN, tmp_path, "retraction")
    source = d.source("numpy")
    assert verify_emitted(source, d.rule).proved
    opt = compile_class(source)(np.eye(3), rho=1.0, n=4.0)
    rng = np.random.default_rng(5)
    for _ in range(40):
        A = rng.standard_normal((3, 3)) * 10.0 ** rng.integers(-2, 3)
        step = -opt.params + 0.5 * opt.params @ (A + A.T) @ opt.params  # and n = d + 1: log h = 0
        wanted = opt.params + step + 0.5 * step @ np.linalg.inv(opt.params) @ step
        opt.step(A + A.T)
        np.testing.assert_allclose(opt.params, wanted, rtol=1e-8, atol=1e-10 * np.abs(wanted).max())
        opt.params[:] = np.eye(3) + 0.1 * opt.params / np.abs(opt.params).max()


JOINT = """
name = "normal-wishart-natural"
title = "Normal-Wishart in natural parameters"
variable = ["x", "L"]
support = ["R^d", "SPD"]
statistics = ["L*x", "dot(x, L*x)", "logdet(L)", "L"]
[natural]
eta1 = "R^d"
eta2 = "(-oo, 0)"
eta3 = "(-1/2, oo)"
eta4 = "-SPD + outer(eta1, eta1)/(4*eta2)"
"""


def test_natural_parameters_take_the_step_of_working_ones(tmp_path: Path) -> None:
    """The same λ⁺ by two files; the moved domain of η₄ is looked at as it is declared."""
    rng = np.random.default_rng(0)
    m, kappa, n, A = rng.standard_normal(3), 1.4, 4.5, rng.standard_normal((3, 3))
    V = A @ A.T + np.eye(3)
    one = compile_class(derive("normal-wishart").source("numpy"))(m.copy())
    one.kappa, one.V, one.n = kappa, V.copy(), n
    two = compile_class(derived(JOINT, tmp_path).source("numpy"))(kappa * m)
    two.eta2, two.eta3 = -kappa / 2, (n - 3) / 2
    two.eta4 = -np.linalg.inv(V) / 2 - kappa * np.outer(m, m) / 2
    B = rng.standard_normal((3, 3))
    inputs = 0.1 * rng.standard_normal(3), 0.05, -0.1, 0.1 * (B + B.T)
    for opt in (one, two):
        opt.step(*inputs)
    np.testing.assert_allclose(two.params, one.kappa * one.params, rtol=1e-12)
    np.testing.assert_allclose([two.eta2, two.eta3], [-one.kappa / 2, (one.n - 3) / 2], rtol=1e-12)
    scale = -np.linalg.inv(one.V) / 2 - one.kappa * np.outer(one.params, one.params) / 2
    np.testing.assert_allclose(two.eta4, scale, rtol=1e-11, atol=1e-12)
    with pytest.raises(ValueError, match="the next eta4 is not positive definite"):
        two.step(*inputs[:3], -100 * np.eye(3))
