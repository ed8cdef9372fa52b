"""The emitted draw of a full-covariance candidate has the law N(mean, P⁻¹).

`draw` factors a matrix M and returns mean + κL⁻ᵀε with a number κ.  It is run over a prime
field with the factorisation replaced by a random triangular L: Lᵀ(θ − mean) must be κε,
and M must be κ²P with the rule's P at that point.  Then, where LLᵀ = M, the covariance is
Cov θ = κ²L⁻ᵀL⁻¹ = κ²M⁻¹ = P⁻¹.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.words import collect_words
from blrgen.core import Rule
from blrgen.decide.field import Mod
from blrgen.decide.modular import P
from blrgen.decide.proof import Proof
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.run import Program

Expr = Any
CLAIM = "theta is drawn from N(mean, precision⁻¹)"


class Square(Mod):
    """A number that was made as a square, so that its root is known."""

    __slots__ = ("root",)

    def __init__(self, root: Mod) -> None:
        super().__init__((root * root).v)
        self.root = root


def law_proofs(source: str, rule: Rule) -> list[tuple[str, Proof]]:
    """One claim for the law of a vector draw, at d = 1…6."""
    known = dict(rule.posterior)
    drawn = [q for q in rule.of("draw") if q.rank == "vector"]
    if not drawn or "precision" not in known:
        return []
    random = Random(11)
    for d in range(1, 7):
        wrong = _wrong_at(d, source, rule, known, random)
        if wrong:
            return [("theta", Proof("refuted", CLAIM, f"{wrong} at d = {d}"))]
    bound = "(20/2^127) at each size d = 1…6"
    return [("theta", Proof("random-exact", CLAIM, "for random triangular factors", bound=bound))]


def _wrong_at(d: int, source: str, rule: Rule, known: dict[str, Expr], random: Random) -> str:
    """What is wrong at a random point of size d; nothing when all holds."""
    values = {q.name: _value(q.rank, d, random) for q in rule.quantities}
    noise = _entries((d,), random)
    rows = _entries((d, d), random)
    lower = array([[rows[i, j] if j <= i else Mod(0) for j in range(d)] for i in range(d)])
    asked: list[Any] = []
    theta = _drawn(source, rule, values, noise, lower, asked)
    mean = _affine(known["mean"], values, d)
    if not asked:  # a multiple of the identity needs no factor: L = I, M = 1
        lower = array([[Mod(int(i == j)) for j in range(d)] for i in range(d)])
        asked = [lower]
    carried = np.asarray(lower.T @ (theta - mean)).reshape(-1)
    kappa = carried[0] / noise[0]
    if not _same(carried, np.asarray(noise).reshape(-1) * kappa):
        return "the noise enters wrongly"
    wanted = _affine(known["precision"], values, d) * (kappa * kappa)
    if len(asked) != 1 or not _same(asked[0], wanted):
        return "another matrix than the precision is factored"
    return ""


def _drawn(
    source: str, rule: Rule, values: dict[str, Any], noise: Any, lower: Any, asked: list[Any]
) -> Any:
    """What the emitted class's `draw` returns over the field, factors being given."""
    program = Program(source, {})
    cls: Any = program.function(_class_name(source))
    mean = values[rule.of("state")[0].name]

    def factor(name: str, matrix: Any) -> Any:
        asked.append(matrix)
        return lower.copy()

    program.names["_cholesky"] = factor
    program.names["_vector"] = lambda name, x, *_: x
    program.names["_set"] = lambda opt, name, value, _: opt.__dict__.update({name: value})
    program.names["_split"] = lambda x, params: x
    opt = cls.__new__(cls)
    for q in rule.of("state", "hyper")[1:]:  # the first is the parameters
        setattr(opt, q.name, values[q.name])
    opt.params, opt._pending, opt.check_finite = mean, {}, False
    for name, method in (
        ("_check_hyperparameters", lambda self: None),
        (rule.of("state")[0].name, property(lambda self: mean)),
    ):
        setattr(cls, name, method)
    return program.call(opt.draw, eps=noise)


def _class_name(source: str) -> str:
    from blrgen.validate.outline import class_name

    return class_name(source)


def _value(rank: str, d: int, random: Random) -> Any:
    if rank == "symmetric":
        half = _entries((d, d), random)
        return half + half.T
    if rank in ("vector", "matrix"):
        return _entries((d,) if rank == "vector" else (d, d), random)
    return Square(Mod(random.randrange(1, P)))


def _entries(shape: tuple[int, ...], random: Random) -> Any:
    return array([Mod(random.randrange(P)) for _ in range(int(np.prod(shape)))]).reshape(shape)


def _affine(e: Expr, values: dict[str, Any], d: int) -> Any:
    """Σ coefficient·symbol, a bare scalar being that multiple of the identity."""
    total: Any = 0
    for word, coefficient in collect_words(sp.expand(e)).items():
        number = _scalar(coefficient, values)
        if not word:
            eye = [[number if i == j else Mod(0) for j in range(d)] for i in range(d)]
            total = total + array(eye)
        else:
            (symbol,) = word
            total = total + values[symbol.name] * number
    return total


def _scalar(e: Expr, values: dict[str, Any]) -> Mod:
    """A polynomial in hyperparameters over the field."""
    total = Mod(0)
    for term in sp.Add.make_args(sp.expand(e)):
        product = Mod(1)
        for base, power in term.as_powers_dict().items():
            number = base.is_Rational
            x = Mod(int(base.p)) / Mod(int(base.q)) if number else values[base.name]
            for _ in range(abs(int(power))):
                product = product * x if power > 0 else product / x
        total = total + product
    return total


def _same(a: Any, b: Any) -> bool:
    gap = np.asarray(a - b).reshape(-1)
    return all(x == Mod(0) for x in gap)
