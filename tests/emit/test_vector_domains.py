"""Vector steps that stay inside: step sizes halved for all components of a vector together."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blrgen.api import derive
from blrgen.emit import emit
from blrgen.errors import NotApplicable
from blrgen.validate.emitted import verify_emitted
from tests.emit.targets import TARGETS, class_of

SHARED = """
name = "shared-rate"
variable = "x"
support = "(0, oo)^d"
statistics = ["log(x)", "sum(x)"]
base_measure = "1/prod(x)"
natural = { a = "(0, oo)^d", b = "(-oo, 0)" }
"""


def made(what: str, target: str, *flags: str) -> Any:
    return class_of(partial(emit, derive(what, flags)), target)


@pytest.mark.parametrize("target", TARGETS)
def test_the_first_halving_that_stays_inside_is_taken(target: str) -> None:
    """The step with ρ/2ᵏ, k the smallest: each component would go with k, none sooner."""
    plain, halving = made("dirichlet", target), made("dirichlet", target, "backtracking")
    rng = np.random.default_rng(4)
    counts = set()
    for dtype in (np.float64, np.float32):
        for _ in range(40):
            alpha = (10 ** rng.uniform(-2, 2, 5)).astype(dtype)
            r1 = (rng.standard_normal(5) * 10.0 ** rng.integers(-3, 3)).astype(dtype)
            halving(after := alpha.copy(), rho=1.0).step(r1)
            for k in range(61):
                other = plain(tried := alpha.copy(), rho=2.0**-k)
                try:
                    other.step(r1)
                except ValueError:
                    continue
                break
            counts.add(k)
            np.testing.assert_array_equal(after, tried)
            assert after.dtype == dtype and (after > 0).all()
    assert len(counts) > 4


@pytest.mark.parametrize("target", TARGETS)
def test_each_vector_has_its_own_halvings(target: str) -> None:
    cls = made("dirichlet", target, "backtracking")
    vectors = [np.array([1.0, 2.0]), np.array([0.5, 3.0, 1.0]), np.array([2.0, 2.0])]
    losses = [np.array([5.0, 5.0]), np.array([0.1, 0.0, 0.0]), np.array([90.0, 1.0])]
    alone = [x.copy() for x in vectors]
    for vector, r1 in zip(alone, losses, strict=True):
        cls(vector, rho=1.0).step(r1)
    cls(vectors, rho=1.0).step(losses)
    for together, own in zip(vectors, alone, strict=True):
        np.testing.assert_array_equal(together, own)


@pytest.mark.parametrize("target", TARGETS)
def test_what_no_step_size_mends_changes_nothing(target: str) -> None:
    cls = made("dirichlet", target, "backtracking")
    opt = cls([x := np.ones(2), y := np.ones(3)], check_finite=False)
    for bad in (np.nan, np.inf):
        with np.errstate(all="ignore"), pytest.raises(ValueError, match="no smaller rho helps"):
            opt.step([np.zeros(2), np.array([0.0, bad, 0.0])])
    assert x.tolist() == [1, 1] and y.tolist() == [1, 1, 1] and opt.t == 0


@pytest.mark.parametrize("target", TARGETS)
def test_a_number_beside_the_vector_goes_back_with_it(target: str, tmp_path: Path) -> None:
    """A trial writes both; the next one starts from both."""
    path = tmp_path / "f.toml"
    path.write_text(SHARED)
    plain, halving = made(str(path), target), made(str(path), target, "backtracking")
    start, inputs = np.array([1.0, 0.5, 3.0]), (np.array([2.0, -1.0, 1.0]), 3.0)
    opt = halving(after := start.copy(), rho=1.0)
    opt.step(*inputs)
    for k in range(61):
        other = plain(tried := start.copy(), rho=2.0**-k)
        try:
            other.step(*inputs)
        except ValueError:
            assert tried.tolist() == start.tolist() and other.b == plain(start).b
            continue
        break
    assert k > 0
    np.testing.assert_array_equal(after, tried)
    assert opt.b == other.b < 0


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_halving_is_proved_and_mistakes_are_seen(target: str, tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(SHARED)
    d = derive(str(path), ["backtracking"])
    source = emit(d, target)
    verdict = verify_emitted(source, d.rule)
    assert verdict.proved and {"a, refused once", "b, refused once"} <= {*dict(verdict.proofs)}
    for before, after in (
        ("/ 2**halvings", "/ 3**halvings"),
        ("self.a[index][:] = before[0][index]", "pass"),
        ("                    self.b = b_before", "                    pass"),
        ("one_minus_rho = 1 - rho", "one_minus_rho = 1 - self.rho"),
    ):
        changed = source.replace(before, after, 1)
        assert changed != source
        assert verify_emitted(changed, d.rule, locate=False).level == "refuted", before


@pytest.mark.parametrize(
    ("name", "flags", "why"),
    [
        ("dirichlet", ["retraction"], "components of x are a vector with one metric"),
        ("dirichlet", ["retraction"], "instead: --backtracking"),
        ("von-mises-fisher", ["retraction"], "no parameter of von-mises-fisher is confined"),
        ("multinomial", ["backtracking"], "no parameter of multinomial has an end"),
        ("dirichlet", ["backtracking", "backtracking"], "already halved"),
        ("dirichlet", ["backtracking", "rho=1"], "no longer be in the rule"),
    ],
)
def test_refusals_are_true_of_vectors(name: str, flags: list[str], why: str) -> None:
    with pytest.raises(NotApplicable, match=why):
        derive(name, flags)
