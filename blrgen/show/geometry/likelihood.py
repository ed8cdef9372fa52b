"""Maximum likelihood as a moment match, and how to sample."""

from __future__ import annotations

from typing import Any

from blrgen.show.geometry.rows import Row, Writer
from blrgen.show.page import Formula, is_matrix

Expr = Any


def likelihood(w: Writer) -> list[Row]:
    """The estimate from the means of the statistics."""
    g = w.geometry
    m = g.likelihood
    working = bool(g.family.working)
    found = m.working if working else m.natural
    formulas: list[Formula] = []
    if found is not None:
        names = g.working if working else g.natural
        formulas += [w.equal(x.name, e, matrix=is_matrix(x))
                     for x, e in zip(names, found, strict=True)]  # fmt: skip
    else:
        formulas += [w.equal(t.name, e, matrix=w.square(k)) for k, (e, t) in enumerate(m.equations)]
    because = "the mean parameters are the means of the statistics over the sample, "
    because += "t̄ = (1/n) ∑ T(xᵢ); the log-likelihood is concave in λ. "
    because += "Covariance of the estimate: F⁻¹/n in its chart, for large n"
    if found is None:
        because += ". No closed form: solved as the mean parameters are"
    return [Row("Maximum likelihood", tuple(formulas), because, "working" if working else
                "natural", "numeric" if found is None else "derived")]  # fmt: skip


def sampling(w: Writer) -> list[Row]:
    """A draw of the variable from primitive draws, where the integration rule has one."""
    g = w.geometry
    sampler: Expr = getattr(g.integral, "sampler", None)
    if sampler is None:
        return []
    formula = w.equal(g.family.variable.name, sampler)
    return [Row("Sampling", (formula,), "from primitive draws: the substitution that solved the "
                "integral", "sample", "derived")]  # fmt: skip
