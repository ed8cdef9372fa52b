"""Translation validation of what the emitter writes, without the committed files."""

from __future__ import annotations

import numpy as np
import pytest

import blrgen
from blrgen.approximate.tools.road import derive
from blrgen.core import Derivation
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.validate.emitted import verify_emitted

NAMES = ("adam", "vogn", "bayesbinn-stale", "iblr", "ridge", "momentum")


@pytest.fixture(scope="module")
def derived() -> dict[str, Derivation]:
    return {n: blrgen.derive(n) for n in NAMES}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("name", NAMES)
def test_emitted_source_is_the_rule(name: str, target: str, derived: dict[str, Derivation]) -> None:
    verdict = verify_emitted(
        emit(derived[name], target=target, dtype="float32"), derived[name].rule
    )
    assert verdict.proved, verdict


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("name", "right", "wrong"), [
    ("adam", "one_minus_beta2 = 1 - self.beta2", "one_minus_beta2 = 1 - self.beta1"),
    ("adam", "u[i] = _flushed(u_next)", "u[i] = _flushed(u[i])"),
    ("adam", "self.t += 1", "self.t += 2"),
    ("adam", "self.beta1, self.beta2, one", "self.beta2, self.beta2, one"),
    ("adam", "u[here], s[here]", "s[here], s[here]"),
    ("adam", "here = slice(part * stretch,", "here = slice(0,"),
    ("adam", "(self.m, self.u, self.s, g)", "(self.m, self.u, self.u, g)"),
    ("adam", "serial(*arrays, *typed)", "serial(*arrays[:1], *arrays[2:], arrays[1], *typed)"),
    ("adam", "threaded(stretch, *typed, *arrays)", "pass"),
    ("adam", "tuple(map(dtype.type, numbers))", "tuple(map(dtype.type, numbers[::-1]))"),
    ("vogn", "zip(theta, self.m,", "zip(theta, self.s,"),
    ("iblr", "- rho * _solve(S_factor, g)", '- rho * _solve(_cholesky("S", S_next), g)'),
    ("iblr", "H_minus_S = H - S", "H_minus_S = H + S"),
    ("iblr", "_solve_upper(factor, _solve_lower(factor, b))",
     "_solve_lower(factor, _solve_lower(factor, b))"),
])  # fmt: skip
def test_a_change_is_refuted(
    name: str, right: str, wrong: str, derived: dict[str, Derivation]
) -> None:
    source = emit(derived[name], target="numba" if name == "adam" else "numpy", dtype="float64")
    assert right in source, source
    verdict = verify_emitted(source.replace(right, wrong, 1), derived[name].rule)
    assert verdict.exit_code == 1


@pytest.mark.parametrize(
    ("name", "right", "wrong", "altered"),
    [
        ("iblr", "else np.concatenate(views)", "else views[0]", "_vector"),
        ("iblr", "array[...] = vector[start", "array[...] = -vector[start", "_scattered"),
        ("adam", "abs(x) < np.finfo", "abs(x) <= np.finfo", "_flushed"),
    ],
)
def test_a_function_is_taken_at_its_meaning_only_if_it_has_the_text(
    name: str, right: str, wrong: str, altered: str
) -> None:
    """The syntax tree is that of the runtime, whose functions are tested there."""
    d = blrgen.derive(name)
    source = emit(d, target="numba")
    assert right in source
    assert verify_emitted(source.replace("# ---", "#"), d.rule).proved
    verdict = verify_emitted(source.replace(right, wrong, 1), d.rule)
    assert verdict.exit_code == 3 and altered in verdict.not_compared


def test_the_rule_of_another_is_refuted(derived: dict[str, Derivation]) -> None:
    source = emit(blrgen.derive("bayesbinn-stale"), target="numpy", dtype="float64")
    assert verify_emitted(source, derived["bayesbinn-stale"].rule).proved
    other = emit(blrgen.derive("vadam"), target="numpy", dtype="float64")
    changed = other.replace("1 - self.beta1", "1 - self.beta2")
    assert changed != other
    assert verify_emitted(changed, blrgen.derive("vadam").rule).exit_code == 1


def test_a_source_that_does_not_run_is_no_proof(derived: dict[str, Derivation]) -> None:
    source = emit(derived["momentum"], target="numpy", dtype="float64")
    broken = source.replace("self.t += 1", "self.tt += 1")
    assert broken != source
    verdict = verify_emitted(broken, derived["momentum"].rule)
    assert verdict.exit_code == 3 and "nothing was compared" in verdict.notes[0]
    assert verdict.level == "not compared" and verdict.not_compared == ("m", "u")


def test_factors_inside_what_is_factored_next_are_found() -> None:
    """S⁺ holds ZᵀZ with Z = L⁻¹(H − S), and the mean moves by S⁺⁻¹g."""
    d = blrgen.derive("gaussian-full", ["retraction", "precision=new"])
    for target in ("numba", "numpy"):
        source = emit(d, target=target)
        assert "half.T @ half" in source or "_gram(half)" in source
        assert verify_emitted(source, d.rule).proved


def test_a_claim_that_does_not_run_leaves_the_others(derived: dict[str, Derivation]) -> None:
    source = emit(derived["vogn"], target="numpy", dtype="float64")
    broken = source.replace(
        "def observe(", "def observe(self, *_):\n        raise KeyError\n\n    def seen(", 1
    )
    verdict = verify_emitted(broken, derived["vogn"].rule)
    assert verdict.exit_code == 3 and verdict.not_compared == ("two draws",)
    assert verdict["m"].proved and verdict["s"].proved


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_a_number_that_several_draws_add_to(target: str) -> None:
    """The estimate is one number of a whole vector: a sum over its components."""
    d = derive("gaussian-isotropic", ["hessian=reparam"])
    source = emit(d, target=target)
    verdict = verify_emitted(source, d.rule)
    assert verdict.proved and verdict["v, two draws"].level == "random-exact"
    made = compile_class(source)(np.array([0.3, -0.2, 1.0]))
    m, v, rho = np.array(made.m[0]), made.v, made.rho
    rng = np.random.default_rng(0)
    seen = []
    for g in ([0.1, -0.4, 0.9], [-1.0, 0.3, 0.2]):
        theta = np.array(made.draw(rng))
        made.observe(np.array(g))
        seen.append((np.sum((theta - m) * g) / v / 3, np.array(g)))
    made.step()
    h_hat, g_mean = (sum(x) / 2 for x in zip(*seen, strict=True))
    v_next = v / (1 + h_hat * rho * v - rho)
    np.testing.assert_allclose(made.v, v_next, rtol=1e-12)
    np.testing.assert_allclose(made.m[0], m - rho * v_next * g_mean, rtol=1e-12)
    wrong = source.replace('self._sums["h_hat_sum"] / self._draws', 'self._sums["h_hat_sum"]')
    assert wrong != source and not verify_emitted(wrong, d.rule).proved
