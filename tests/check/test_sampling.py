"""A sampler that follows another law is refuted; one that follows the density is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

from blrgen.check.context import Context
from blrgen.check.finding import Wrong
from blrgen.check.stages import sampling
from blrgen.geometry.integrate.draws import draw
from blrgen.read.declaration import load
from blrgen.read.family import family_of
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
