"""Random expressions over the table: what is read of them is what NumPy computes."""

from __future__ import annotations

import ast
from random import Random
from typing import Any

import numpy as np
import pytest
from at_numbers import NAMES, in_numbers, machine, numbers, point

from blrgen.validate.reading.expressions import value
from blrgen.validate.reading.interpret import in_doubles
from blrgen.validate.reading.signals import NeedsSizes, PythonRaises, Refused
from blrgen.validate.reading.values import Array, Cond, Num, Whole

LEAVES = (
    "x", "y", "X", "S", "rho", "(2)", "(0.5)", "(-1)", "len(x)", "X.T", "True", "np.arange(3)",
    "np.eye(3)", "np.zeros(3)", "np.array([1, 2, 3])", "np.array([0.5, 1, 2])", "(x > 0.5)",
    "(X > 0)", "np.full(3, 2)", "np.zeros_like(np.arange(3))", "x[0]", "X[1]", "X[:, 0]",
    "np.arange(3)[1]",
)  # fmt: skip
ONE = (
    "-{0}", "abs({0})", "np.sqrt(np.abs({0}))", "np.square({0})", "np.sum({0})",
    "np.sum({0}, axis=0)", "np.mean({0})", "{0}.T", "{0}.ravel()", "np.diag({0})", "np.tril({0})",
    "np.flip({0})", "np.cumsum({0})", "{0}[::-1]", "{0}[1:]", "{0}[-1]", "{0}[..., None]",
    "{0}.reshape(-1)", "{0}.copy()", "{0}.astype(float)", "np.array([{0}, {0}])",
    "np.stack([{0}, {0}])", "np.concatenate([{0}, {0}])", "np.broadcast_to({0}, (3, 3))",
    "np.sign({0})", "np.tanh({0})", "~{0}", "not {0}", "float({0})", "np.all({0})", "np.any({0})",
    "np.trace({0})", "np.linalg.norm({0})", "np.linalg.det({0})", "np.zeros_like({0})",
    "np.full({0}.shape, {0})", "sum({0})", "max({0}, {0})", "np.heaviside({0}, 0.5)",
    "{0}.sum(axis=-1)", "{0}.mean(axis=0, keepdims=True)", "np.clip({0}, 0, 1)",
    "[a for a in {0}][1]", "np.array([a * 2 for a in {0}])", "(lambda a: a + {0})({0})",
)  # fmt: skip
TWO = (
    "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "{0} ** {1}", "{0} // {1}", "{0} @ {1}",
    "np.maximum({0}, {1})", "np.where({0} > {1}, {0}, {1})", "({0} < {1}) * {0}",
    "({0} < {1}) * 1.0", "np.dot({0}, {1})", "np.outer({0}, {1})", "np.linalg.solve({0}, {1})",
    "np.stack([{0}, {1}])", "np.add({0}, {1})", "np.power({0}, {1})", "np.hypot({0}, {1})",
    "np.einsum('i,i->i', {0}, {1})", "np.einsum('ij,j->i', {0}, {1})", "({0} if {1} else {0})",
    "[a + b for a, b in zip({0}, {1})][0]", "max({0}, {1})", "np.array([{0}, {1}])", "{0} >= {1}",
    "[c := np.empty(3), np.copyto(c, {0}), np.add({0}, {1}, out=c)][2]",
    "[c := 1 * {0}, np.multiply(c, {1}, out=c), c][2]", "np.full({0}.shape, {1})",
)  # fmt: skip
MANY = 900


def made(random: Random, depth: int) -> str:
    """A random expression."""
    if depth == 0 or random.random() < 0.15:
        return random.choice(LEAVES)
    if random.random() < 0.5:
        return f"({random.choice(ONE).format(made(random, depth - 1))})"
    return f"({random.choice(TWO).format(made(random, depth - 1), made(random, depth - 1))})"


def read(text: str) -> Any:
    """Its value as it is read, and in numbers; None where it is refused."""
    mc, scope = machine()
    mc.oracle = lambda c: bool(in_doubles([c], point())[c.index])
    try:
        found = value(mc, scope, ast.parse(text, mode="eval").body)
    except (Refused, NeedsSizes, PythonRaises):
        return None
    if not isinstance(found, Num | Cond | Whole | Array):
        return None
    return found, np.asarray(in_numbers(mc, found), dtype=float)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_what_is_read_is_what_numpy_computes(seed: int) -> None:
    random = Random(seed)
    compared = 0
    for _ in range(MANY):
        text = made(random, random.choice((1, 2, 2, 3)))
        found = read(text)
        if found is None:
            continue
        try:
            with np.errstate(all="ignore"):
                real = eval(text, {**NAMES, **numbers()})
        except (ValueError, np.linalg.LinAlgError):  # what is not defined, or a power of wholes
            continue
        kind, got = found
        wanted = np.asarray(real, dtype=float)
        assert got.shape == wanted.shape, text
        finite = np.isfinite(wanted)
        np.testing.assert_array_equal(np.isfinite(got), finite, err_msg=text)
        np.testing.assert_allclose(got[finite], wanted[finite], rtol=1e-9, atol=1e-9, err_msg=text)
        whole = np.asarray(real).dtype.kind in "ib"
        if isinstance(kind, Array):
            assert not whole or kind.kind in "ib", text
        elif isinstance(kind, Num):
            assert not whole or kind.integral, text
        compared += 1
    assert compared > MANY / 4
