"""A sampler that follows another law is refuted; one that follows the density is not."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import sympy as sp

from blrgen.check.context import Context
from blrgen.check.finding import Wrong
from blrgen.check.stages import sampling
from blrgen.emit import sampler as emitted
from blrgen.emit import support
from blrgen.geometry.integrate.primitive import draw, draws_of
from blrgen.read.declaration import load
from blrgen.read.family import family_of, source_of
from blrgen.read.starter import starter


def context(folder: Path) -> Context:
    path = folder / "mine.toml"
    path.write_text(starter("mine", "mine.toml"))
    source = load(path, str(path))
    return Context(source, family_of(source))


def with_sampler(folder: Path, sampler: sp.Expr | None) -> Context:
    found = context(folder)
    integral = replace(found.geometry.integral, sampler=sampler)
    vars(found)["geometry"] = replace(found.geometry, integral=integral)
    return found


def rate(found: Context) -> sp.Expr:
    return -found.family.natural[0].symbol


def test_right_samplers(tmp_path: Path) -> None:
    right = context(tmp_path)
    for sampler in (draw("gamma", sp.S.One) / rate(right), -sp.log(draw("uniform")) / rate(right)):
        level, text = sampling.run(with_sampler(tmp_path, sampler))
        assert level == "numeric"
        assert "KS" in text


def test_without_a_sampler_the_distribution_function_is_inverted(tmp_path: Path) -> None:
    _, text = sampling.run(with_sampler(tmp_path, None))
    assert "inverted" in text


@pytest.mark.sweep(4)
@pytest.mark.parametrize("mistake", ["rate for scale", "shape", "sign", "shift", "no number"])
def test_wrong_samplers(tmp_path: Path, mistake: str) -> None:
    r = rate(context(tmp_path))
    one = draw("gamma", sp.S.One)
    wrong = {
        "rate for scale": one * r, "shape": draw("gamma", sp.Rational(5, 4)) / r, "sign": -one / r,
        "shift": one / r + sp.Rational(1, 10), "no number": sp.log(-one),
    }[mistake]  # fmt: skip
    with pytest.raises(Wrong):
        sampling.run(with_sampler(tmp_path, wrong))


# vectors, matrices, several variables ----------------------------------------------------
SIMPLEX = """name = "mine"
title = "Mine"
variable = "x"
support = "simplex in R^2"
statistics = ["log(x)"]
base_measure = "1/prod(x)"
[natural]
eta = "(0, oo)^2"
"""
SPHERE = """name = "mine"
title = "Mine"
variable = "x"
support = "sphere in R^2"
statistics = ["x"]
[natural]
eta = "R^2"
"""
COUNTS = """name = "mine"
title = "Mine"
variable = "x"
support = "counts summing to 5"
statistics = ["head(x)"]
base_measure = "1/prod(factorial(x))"
[natural]
eta = "R^(K-1)"
"""


@lru_cache
def of_text(text: str) -> Context:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mine.toml"
        path.write_text(text)
        source = load(path, str(path))
        return Context(source, family_of(source))


@lru_cache
def shipped(name: str) -> Context:
    source = source_of(name)
    return Context(source, family_of(source))


def mutated(context: Context, change: Callable[[sp.Expr], sp.Expr]) -> Context:
    """The same with its samplers changed."""
    made = copy(context)
    integral = context.geometry.integral
    new = replace(
        integral,
        sampler=None if integral.sampler is None else change(integral.sampler),
        one_by_one=tuple((x, change(s)) for x, s in integral.one_by_one),
    )
    vars(made)["geometry"] = replace(context.geometry, integral=new)
    return made


def parameters(kind: str, change: Callable[..., tuple[sp.Expr, ...]]) -> Any:
    """Other parameters in the draws of a kind."""

    def of(e: sp.Expr) -> sp.Expr:
        found = [d for d in draws_of(e) if d.kind == kind]
        return e.xreplace({d: d.func(*d.args[:2], *change(*d.parameters)) for d in found})

    return of


HALF = sp.Rational(1, 2)
WRONG = {
    "Bartlett with other degrees of freedom": (
        "wishart", parameters("wishart", lambda a, b: (a + HALF, b))),
    "Wishart: scale for rate": ("wishart", parameters("wishart", lambda a, b: (a, b**-1))),
    "Wishart for its inverse": ("inverse-wishart", lambda e: e**-1),
    "Gaussian: covariance for precision": (
        "gaussian-full", parameters("gaussian", lambda b, p: (b, p**-1))),
    "Gaussian: mean for P times mean": (
        "gaussian-full", parameters("gaussian", lambda b, p: (p * b, p))),
    "matrix normal: rows by their covariance": (
        "matrix-normal", parameters("matrixgaussian", lambda m, q, p: (m, q**-1, p))),
    "normal-gamma: rate and scale": (
        "normal-gamma", lambda e: parameters("gamma", lambda a: (a,))(e) * 2),
    "normal-gamma: shape": ("normal-gamma", parameters("gamma", lambda a: (a + HALF,))),
    "Dirichlet: powers": (SIMPLEX, parameters("dirichlet", lambda a: (a + HALF,))),
    "sphere: half the concentration": (SPHERE, parameters("sphere", lambda a: (a / 2,))),
    "sphere: the other side": (SPHERE, parameters("sphere", lambda a: (-a,))),
    "counts: one draw more": (COUNTS, parameters("multinomial", lambda n, a, b: (n + 1, a, b))),
    "counts: half the logits": (COUNTS, parameters("multinomial", lambda n, a, b: (n, a / 2, b))),
}  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.parametrize("mistake", WRONG)
def test_wrong_samplers_of_vectors_and_matrices(mistake: str) -> None:
    what, change = WRONG[mistake]
    context = of_text(what) if "\n" in what else shipped(what)
    with pytest.raises(Wrong):
        sampling.run(mutated(context, change))


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    "what", ["wishart", "inverse-wishart", "gaussian-full", "normal-gamma", SIMPLEX, SPHERE, COUNTS]
)
def test_right_samplers_of_vectors_and_matrices(what: str) -> None:
    context = of_text(what) if "\n" in what else shipped(what)
    level, text = sampling.run(mutated(context, lambda e: e))
    assert level == "numeric"
    assert "standard errors" in text


BROKEN = {
    "Dirichlet without normalising": (SIMPLEX, "x / x.sum(axis=-1, keepdims=True)", "x"),
    "gamma variates that are too small": (SIMPLEX, "exponent / power", "exponent"),
    "sphere: a wrong constant": (SPHERE, "level = k * (", "level = 0.5 * k * ("),
    "sphere: never refused": (SPHERE, "taken = level >=", "taken = level >= -np.inf +"),
    "sphere: not of length one": (SPHERE, "np.sqrt(t * (2 - t))", "np.sqrt(t)"),
    "Bartlett: rows for columns": ("wishart", "- np.arange(d) / 2", ""),
    "Bartlett: below the diagonal": ("wishart", " / np.sqrt(2)", ""),
    "inverse of the factor forgotten": ("gaussian-full", "np.linalg.solve(root, b) + z", "b + z"),
    "counts: shuffled": (COUNTS, "np.broadcast_to(order, counts.shape)",
                         "np.broadcast_to(order[..., ::-1], counts.shape)"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", BROKEN)
def test_mistakes_in_the_emitted_functions(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    what, old, new = BROKEN[mistake]
    changed = []

    def support_of(*given: Any) -> Any:
        found = support.support_of(*given)
        changed.extend(t for t in found.texts if old in t)
        return replace(found, texts=tuple(t.replace(old, new) for t in found.texts))

    context = of_text(what) if "\n" in what else shipped(what)
    monkeypatch.setattr(emitted, "support_of", support_of)
    with pytest.raises(Wrong):
        sampling.run(context)
    assert changed
