"""A target in one place: loops in plain Python, on lists or on whatever has an index.

It is one printer of the tree.  Its files hold the class that NumPy's have, around kernels that
know of no array but by its entries.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from blrgen import derive
from blrgen.emit import emit
from blrgen.emit.assemble import assemble
from blrgen.emit.compile import compile_class
from blrgen.emit.elementwise import ElementwiseWriter
from blrgen.emit.kernels import Kernel
from blrgen.emit.plan import plan
from blrgen.emit.text import call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree import numpy
from blrgen.emit.tree.printer import Expressions, Lines, arguments, unpacked
from blrgen.emit.tree.rules import arrayed, compiled
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.inspect import ATOM
from blrgen.program.lower import lower
from blrgen.program.program import ELEMENTWISE
from blrgen.read.recipe import read_recipes

OWN = {"maximum": "max", "minimum": "min", "abs": "abs", "max": "max", "min": "min"}


class Plain(Expressions):
    """Numbers are Python's: they have no type to be given, and may be as small as they are."""

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        """The functions of `math`; what files hold has the names that they hold it under."""
        name = node.name.removeprefix("_")
        if name == "flushed":
            return self.at(node.args[0], ATOM), ATOM
        if name in OWN:
            return self.call(OWN[name], *map(self, node.args))
        if name == "pow" or (name != node.name and not hasattr(math, name)):
            return super().print_Call(node)
        return self.call(f"{use('math')}.{name}", *map(self, node.args))

    def print_Real(self, node: t.Real) -> tuple[str, int]:
        return self.at(node.arg, ATOM), ATOM

    def print_Length(self, node: t.Length) -> tuple[str, int]:
        return f"len({node.array})", ATOM


def function(f: t.Function) -> str:
    """One function, on whatever has an index."""
    head = call(f"def {f.name}(", arguments(f), f") -> {f.result}:")
    rows = [head, f'    """{f.summary}"""', *unpacked(f), *Lines(Plain()).body(f.body, 4)]
    return "\n".join([*rows, *([f"    return {', '.join(f.returns)}"] if f.returns else [])])


def write(k: Kernel) -> str:
    """A kernel."""
    return "\n\n\n".join(map(function, compiled(k)))


def recipes() -> list[str]:
    """Those whose state has no matrix."""
    return [x for x in sorted(read_recipes()) if lower(derive(x).rule).kind == ELEMENTWISE]


def steps(source: str, name: str) -> list[Any]:
    """The states after each of a few steps of a class, with draws where it has some."""
    rule, rng = derive(name).rule, np.random.default_rng(3)
    params = rng.standard_normal(6) / 4
    opt, found = compile_class(source)(params), []
    for _ in range(4):
        if rule.of("draw"):
            opt.draw(rng)
        inputs = [np.abs(rng.standard_normal(6)) for _ in (*rule.of("input"), *rule.of("data"))]
        opt.step(*inputs)
        found.append([np.copy(getattr(opt, q.name)) for q in rule.of("state")])
    return found


@pytest.mark.parametrize("name", recipes())
def test_a_class_with_plain_loops_steps_as_numpys_does(name: str) -> None:
    derivation = derive(name)
    source = assemble(derivation, None, "numpy", write)
    for one, other in zip(steps(source, name), steps(emit(derivation, "numpy"), name), strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("name", recipes())
def test_kernels_run_on_lists(name: str) -> None:
    """A step of lists of floats is what NumPy computes with whole arrays."""
    rng = np.random.default_rng(4)
    made = ElementwiseWriter(derive(name), plan(lower(derive(name).rule)), write)
    k = made.phase_kernels()["single"]
    (f,) = compiled(k)
    columns = [rng.random(5) for _ in k.arrays]
    lists = [list(map(float, x)) for x in columns]
    values = tuple(float(x) for x in 0.5 + rng.random(len(k.scalars)) / 4)
    for text, data in ((function(f), lists), (numpy.function(arrayed(k)), columns)):
        space: dict[str, Any] = {"math": math, "np": np, "Array": Any, "Numbers": Any}
        exec(text, space)
        before = [list(x) for x in data]
        space["_step"](*data, *([values] if values else []))
        assert [list(x) for x in data] != before
    assert all(isinstance(x, float) for row in lists for x in row)
    np.testing.assert_allclose(lists, columns, rtol=1e-13)
