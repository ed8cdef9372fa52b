"""A target in one place: loops and classes in plain Python, on lists; its files import no NumPy.

It is a printer of the tree of functions and a table of words; its classes call what is in `lists`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from blrgen import derive
from blrgen.emit import emit
from blrgen.emit.assemble import assemble
from blrgen.emit.compile import compile_class
from blrgen.emit.optimizer.target import Target
from blrgen.emit.printers import ScalarPrinter
from blrgen.emit.support import Import, Support
from blrgen.emit.text import call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree import numpy
from blrgen.emit.tree.printer import Expressions, Lines, arguments, unpacked
from blrgen.emit.tree.rules import arrayed, compiled
from blrgen.emit.tree.spelling import Printed, Spelling
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.inspect import ATOM
from blrgen.program.kernels import Kernel
from blrgen.program.lower import Reader
from blrgen.program.plan import plan
from blrgen.program.ways import Ways
from tests.shipped import recipes

OWN = {"maximum": "max", "minimum": "min", "abs": "abs", "max": "max", "min": "min"}


class Plain(Expressions):
    """Numbers are Python's: they have no type to be given, and may be as small as they are."""

    def print_Call(self, node: n.Call) -> tuple[str, int]:
        """The functions of `math`; what files hold has the names that they hold it under."""
        name = node.name.removeprefix("_")
        if name == "flushed":
            return self.at(node.args[0], ATOM), ATOM
        if name == "sign":
            return f"float(({self(node.args[0])} > 0) - ({self(node.args[0])} < 0))", ATOM
        if name in OWN:
            return self.call(OWN[name], *map(self, node.args))
        if name == "pow" or (name != node.name and not hasattr(math, name)):
            return super().print_Call(node)
        return self.call(f"{use('math')}.{name}", *map(self, node.args))

    def is_plain(self, node: n.Call) -> bool:
        return False  # `math` has other names

    def print_Real(self, node: t.Real) -> tuple[str, int]:
        return self.at(node.arg, ATOM), ATOM

    def print_Length(self, node: t.Length) -> tuple[str, int]:
        return f"len({node.array})", ATOM


def function(f: t.Function) -> str:
    """One function, on whatever has an index."""
    head = call(f"def {f.name}(", arguments(f), f") -> {f.result}:")
    rows = [head, f'    """{f.summary}"""', *unpacked(f), *Lines(Plain()).body(f.body, 4)]
    return "\n".join([*rows, *Lines(Plain()).returned(f.returns, 4)])


WORDS = {
    "zeros": "[0.0] * len({0})", "filled": "[{1}] * len({0})", "zeros_like": "[0.0] * len({0})",
    "empty": "[0.0] * len({0})", "all": "[{1}] * len({0})", "copy": "{0}[:]", "as_array": "{0}",
    "flat": "_listed({0}.params)", "like": "{0}", "type": "float",
    "count_false": "{0}.count(False)",
    "unknown": "any(y != y for y in {0})",
    "picked": "[{4} if {0}.random() < u else {3} for u in {2}]",
}  # fmt: skip
FIRST = [-0.5, -0.25, 0.0, 0.125, 0.25, 0.5]
TYPES = """Array: TypeAlias = list[float]
Arrays: TypeAlias = Array | list[Array]
{numbers}"""


def arrays(names: Mapping[str, str], over: tuple[str, ...]) -> Printed:
    """Formulas element by element."""
    printer = ScalarPrinter({k: k if k in over else text for k, text in names.items()})
    rows = [names[k] for k in over]
    every = "".join(rows) if len(rows) == 1 else f"zip({', '.join(rows)}, strict=True)"
    ends = f" for {', '.join(over)} in {every}]"
    return lambda e: f"[{printer(e)}{ends}" if over else printer(e)


def support(name: str, uses: Iterable[str], noise: str) -> Support:
    """All of `lists`, as it is."""
    source = (Path(__file__).parent / "lists.py").read_text(encoding="utf-8")
    known, end = {"TypeAlias": Import("typing", "TypeAlias")}, 0
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module, end = getattr(node, "module", None), node.end_lineno or 0
            found = {x.name: Import(module or x.name, x.name, not module) for x in node.names}
            known |= found if module != "__future__" else {}
    body = "\n".join(source.split("\n")[end:]).strip("\n")
    return Support((), (body,), frozenset({*uses, *known}), known)


def write(k: Kernel) -> str:
    """A kernel."""
    return "\n\n\n".join(map(function, compiled(k)))


SPELLING = Spelling(WORDS, arrays, "Random")
PLAIN = Target("plain", write, function, SPELLING, support, types=TYPES, every=("TypeAlias",))


def drive(opt: Any, name: str, as_list: bool) -> list[Any]:
    """The states after each of a few steps, with the same noise and inputs for every target."""
    rule, rng, found = derive(name).rule, np.random.default_rng(3), list[Any]()
    for _ in range(4):
        noise = {q.name: rng.standard_normal(6) for q in rule.of("draw")}
        given = [np.abs(rng.standard_normal(6)) for _ in (*rule.of("input"), *rule.of("data"))]
        if hasattr(opt, "draw"):
            opt.draw(**{k: x.tolist() if as_list else x for k, x in noise.items()})
        opt.step(*(x.tolist() if as_list else x for x in given))
        found.append([np.ravel(getattr(opt, q.name)) for q in rule.of("state")])
    return found


@pytest.fixture(scope="module", params=recipes(matrices=False))
def made(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A recipe and its file for lists."""
    return request.param, assemble(derive(request.param), None, PLAIN)


@pytest.mark.sweep(8)
def test_a_class_over_lists_steps_as_numpys_does(made: tuple[str, str]) -> None:
    name, source = made
    assert "numpy" not in source and "np." not in source
    one = drive(compile_class(source)(FIRST[:]), name, True)
    other = drive(compile_class(emit(derive(name), "numpy"))(np.array(FIRST)), name, False)
    for row, wanted in zip(one, other, strict=True):
        for x, y in zip(row, wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-300)


@pytest.mark.sweep(8)
def test_it_resumes_and_refuses(made: tuple[str, str]) -> None:
    name, source = made
    cls = compile_class(source)
    one, other = cls(FIRST[:]), cls(FIRST[:])
    drive(one, name, True)
    other.load_state_dict(one.state_dict())
    assert drive(one, name, True)[-1][0].tolist() == drive(other, name, True)[-1][0].tolist()
    before = other.state_dict()
    with pytest.raises(ValueError, match="another rule"):
        other.load_state_dict({"t": 0})
    assert other.state_dict() == before
    if hasattr(cls, "sample"):
        one, same, third = (other.sample(Random(k)) for k in (1, 1, 2))
        assert one == same != third and len(one) == 6
        assert all(isinstance(x, float) for x in other.posterior()[1])


@pytest.mark.parametrize("name", recipes(matrices=False))
def test_kernels_run_on_lists(name: str) -> None:
    """A step of lists of floats is what NumPy computes with whole arrays."""
    rng = np.random.default_rng(4)
    k = Ways(derive(name), plan(Reader(derive(name).rule))).entry_points()["single"]
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
