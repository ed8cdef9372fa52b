"""The kernels of rules as trees: what is stored where, sums that keep their digits, extremes."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from blrgen import derive
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree import numba, numpy
from blrgen.emit.tree.careful import Careful
from blrgen.emit.tree.fitting import fitted
from blrgen.emit.tree.memory import Context, Memory
from blrgen.emit.tree.printer import Expressions, Lines
from blrgen.emit.tree.rules import arrayed, compiled, looped
from blrgen.emit.tree.stores import stored
from blrgen.program import nodes as n
from blrgen.program.axes.again import again
from blrgen.program.axes.anf import anf
from blrgen.program.axes.schedule import schedule
from blrgen.program.axes.scratch import storage
from blrgen.program.axes.text import program
from blrgen.program.kernels import Kernel, adding, kernel
from blrgen.program.lower import Reader
from blrgen.program.plan import plan
from blrgen.program.program import Program, Variable
from blrgen.program.types import ENTRIES, SCALAR
from blrgen.program.ways import Ways
from blrgen.runtime import elementary, numbers
from tests.program.small import of_trees

D = ENTRIES
x, y, r = n.Ref("x"), n.Ref("y"), n.Ref("r")
X, Y = (t.Entry(name, (t.name("i"),)) for name in "xy")


def made(*body: tuple[str, n.Node], writes: str = "", **more: Any) -> Kernel:
    """A kernel of two states and a hyperparameter."""
    pairs = tuple((w.split("=")[0].strip(), w.split("=")[1].strip()) for w in writes.split(","))
    variables = (
        Variable("x", "state", D),
        Variable("y", "state", D),
        Variable("r", "hyper", SCALAR),
    )
    p = of_trees(Program(variables), body, pairs)
    return kernel("_step", "Do it.", more.pop("change", lambda q: q)(p), ("x", "y"), **more)


def lines(f: t.Function) -> list[str]:
    """The body of the loop."""
    (loop,) = (s for s in f.body if isinstance(s, t.For))
    return Lines(Expressions()).body(loop.body, 0)


def test_a_value_that_nothing_else_reads_goes_to_its_array() -> None:
    k = made(("x_next", n.Mul((r, x))), ("y_next", n.add(y, n.Ref("x_next"))),
             writes="x = x_next, y = y_next")  # fmt: skip
    assert lines(looped(k)) == ["x_next = r * x[i]", "x[i] = x_next", "y[i] += x_next"]


def test_a_value_that_reads_what_is_overwritten_before_is_made_in_time() -> None:
    k = made(("x_next", n.Mul((r, x))), ("y_next", x), writes="x = x_next, y = y_next")
    assert lines(looped(k)) == ["y_next = x[i]", "x[i] = r * x[i]", "y[i] = y_next"]
    whole = Lines(numpy.Arrays()).body(arrayed(k).body, 0)
    assert whole == ["y_next = np.copy(x)", "x[:] = r * x", "y[:] = y_next"]


def test_outputs_are_arrays_that_are_there() -> None:
    k = made(("x", n.Mul((r, y))), writes="x = x", is_output=True)
    assert lines(looped(k)) == ["x[i] = r * y[i]"]
    assert Lines(numpy.Arrays()).body(arrayed(k).body, 0) == ["x[:] = r * y"]


def test_what_is_added_to_an_array_is_added_in_its_place() -> None:
    k = made(("z", n.Mul((r, y))), writes="x = z", change=adding)
    assert lines(looped(k)) == ["x[i] += r * y[i]"]
    assert Lines(numpy.Arrays()).body(arrayed(k).body, 0) == ["x[:] += r * y"]


def test_arrays_that_fade_hold_no_denormal_numbers() -> None:
    body = (t.Assign(X, n.Mul((r, X))), t.Assign(Y, n.Mul((r, Y))))
    assert stored(body, ("y",)) == (body[0], t.Assign(Y, n.Call("_flushed", (body[1].value,))))


def test_a_line_that_is_too_long_is_broken() -> None:
    terms = [n.Call("exp", (n.Mul((n.Const.of(k + 1), X)),)) for k in range(12)]
    loop = t.For("i", t.Whole(0), t.Length("x"), (t.Assign(t.name("z"), n.Add(tuple(terms))),))
    (found,) = fitted((loop,), Expressions(), {"x", "z"})
    assert isinstance(found, t.For) and len(found.body) > 1
    assert all(len(row) <= 100 for row in Lines(Expressions()).body((found,), 4))


@pytest.mark.parametrize(
    ("limit", "text"), [("r", "max(x[i], r)"), ("y", "np.maximum(x[i], y[i])")]
)
def test_a_nan_is_the_larger_one(limit: str, text: str) -> None:
    """Python's max keeps a first argument that is no number, and nothing but an element may be."""
    k = made(("x_next", n.Call("max", (n.Ref(limit), x) if limit == "r" else (x, y))),
             writes="x = x_next")  # fmt: skip
    assert lines(looped(k)) == [f"x[i] = {text}"]


def loops(p: Any) -> list[t.Statement]:
    """The program's loops."""
    order = schedule(again(anf(p)), "i")
    memory = Memory(order, storage(order))
    return Careful(order, memory, ()).nodes(list(order.body), 0, Context(), False)


def run(p: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The loops of a program as plain Python."""
    rows = Lines(Expressions()).body(tuple(loops(p)), 0)
    known = {"_added": numbers._added, "_exp_added": numbers._exp_added, "_exp": elementary._exp}
    space = {
        **known,
        "np": np,
        "math": SimpleNamespace(inf=np.float64(np.inf)),
        "d": len(given["x"]),
        **given,
    }
    exec("\n".join(rows), space)
    return space


def test_a_sum_keeps_what_its_rounding_loses() -> None:
    p = program("i:d", "x[d]", "s = sum(i, x[i])", "s")
    values = [1.0, 1e100, 1.0, -1e100] * 10
    assert run(p, {"x": values, "s": np.zeros(())})["s"] == 20.0 != sum(values)


def test_a_sum_of_exponentials_takes_one_pass() -> None:
    p = program("i:d", "x[d], y", "l = lse(i, x[i], y)", "l")
    values, more = np.array([700.0, 1.0, 710.0, -np.inf]), 709.0
    found = run(p, {"x": values, "y": more, "l": np.zeros(())})
    assert found["l"] == pytest.approx(np.logaddexp.reduce([*values, more]), rel=1e-15)
    assert sum(isinstance(s, t.For) for s in loops(p)) == 1


def test_a_kernel_says_how_it_is_compiled() -> None:
    k = made(("x_next", n.Mul((r, x))), writes="x = x_next")
    head, signature = numba.function(looped(k)).split("\n")[:2]
    assert head == '@njit(cache=True, fastmath=FASTMATH, error_model="numpy")'
    assert signature == "def _step(x: Array, numbers: Numbers) -> None:"
    assert numpy.function(arrayed(k)).startswith("def _step(x: Array, numbers: Numbers) -> None:")


@pytest.mark.parametrize("name", ["adam", "ivon", "dirichlet", "multinomial", "von-mises-fisher"])
def test_functions_declare_what_they_need(name: str) -> None:
    """Every function that the text calls is in the tree."""
    rule = derive(name)
    for k in Ways(rule, plan(Reader(rule.rule))).entry_points().values():
        for f in compiled(k):
            called = set(re.findall(r"\b(_\w+)\(", numba.function(f))) - {f.name}
            assert called == {*t.support((f,))}
