"""A family's functions as programs: the mean is the slope of A, and charts undo each other."""

import numpy as np
import pytest

from blrgen.geometry import geometry_of
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.model.family import family_program, negated
from blrgen.read.family import read_family

S = np.array([[2.0, 0.3], [0.3, 1.0]])
M = np.array([0.4, -0.2])
POINTS = {
    "gaussian": {"m": 0.3, "v": 1.7},
    "gamma": {"a": 2.3, "b": 0.7},
    "inverse-gamma": {"a": 2.3, "b": 0.7},
    "beta": {"a": 2.3, "b": 0.7},
    "poisson": {"lam": 1.2},
    "dirichlet": {"alpha": np.array([0.5, 2.0, 1.3])},
    "gaussian-full": {"m": M, "S": S},
    "normal-gamma": {"m": 0.3, "kappa": 2.0, "a": 2.3, "b": 0.7},
    "wishart": {"V": S, "n": 4.5},
    "normal-wishart": {"m": M, "kappa": 2.0, "V": S, "n": 4.5},
}


def run(geometry, kind, given):
    """One of the functions at numbers, its results in order."""
    program = family_program(geometry, kind)
    check(program)
    sizes = {"d": 2} if any(x.size == "d" for x in program.letters) else {}
    found = interpret(program, {k: v for k, v in given.items()
                                if k in {q.name for q in program.given}}, sizes)  # fmt: skip
    return [found[x] for x in program.outs]


@pytest.mark.parametrize("name", POINTS)
def test_a_family(name):
    g = geometry_of(read_family(name))
    point = dict(zip(map(str, g.working), POINTS[name].values(), strict=True))
    natural = dict(zip(map(str, g.natural), run(g, "natural", point), strict=True))
    for back, value in zip(run(g, "working", natural), point.values(), strict=True):
        np.testing.assert_allclose(back, value, rtol=1e-12)
    means = run(g, "mean", natural)
    turned = set(map(str, negated(g)))
    step = 1e-5
    for (x, value), mean in zip(natural.items(), means, strict=True):
        for direction in directions(np.asarray(value)):
            ends = [run(g, "partition", {**natural, x: value + k * step * direction})[0]
                    for k in (1, -1)]  # fmt: skip
            slope = (ends[0] - ends[1]) / (2 * step)
            wanted = np.sum(mean * direction) * (-1 if x in turned else 1)
            np.testing.assert_allclose(slope, wanted, rtol=1e-7, atol=1e-8)


def directions(value):
    """Each entry by itself; of a matrix each with its mirror image."""
    for index in np.ndindex(value.shape):
        e = np.zeros(value.shape)
        e[index] = 1.0
        yield e + e.T if value.ndim == 2 else e
