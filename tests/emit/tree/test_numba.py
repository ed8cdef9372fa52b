"""Files for Numba: what they compute, by how many threads, and in which precision."""

import re
from types import ModuleType
from typing import Any
from uuid import uuid4

import numba
import numpy as np
import pytest

from blrgen.emit.compile import load
from blrgen.emit.tree.functions import functions
from blrgen.emit.tree.numba import text
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from tests.emit.tree.running import arguments, near
from tests.program.axes import problems
from tests.program.axes.programs import PROGRAMS, fixed
from tests.shared_kernels import unshared

ARITHMETIC = re.compile(r"= (fadd|fsub|fmul|fdiv|fcmp)[\w ]* double")


def compiled(name: str, known: dict[str, int], last: str = "") -> tuple[Any, Any, ModuleType]:
    """A program's plan, its function, and the module that has it, with `last` at its end."""
    plan = scheduled(fixed(PROGRAMS[name], known))
    made = functions(plan, "run")
    return plan, made[-1], load(text(made) + last)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("name", "sizes", "known"),
    [
        ("mixture", {"N": 9000, "d": 3, "K": 2}, {}),
        ("logistic", {"N": 9000, "d": 3}, {}),
        ("effects", {"N": 9000, "d": 3, "V": 5}, {}),
        ("documents", {"D": 300, "V": 9, "K": 3, "L": 20}, {"R": 8}),
    ],
)
def test_threads_do_not_change_a_bit(
    name: str, sizes: dict[str, int], known: dict[str, int]
) -> None:
    plan, f, module = compiled(name, known)
    given = getattr(problems, name)(**sizes)
    given |= {"tol": 0.0} if name == "documents" else {}
    found = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        values = arguments(plan, f, given, {})
        module.run(*values.values())
        found.append({x: values[x] for x in plan.program.outs})
    for x, value in found[0].items():
        assert value.tobytes() == found[1][x].tobytes(), x
    wanted = interpret(plan.program, given)
    for x, value in wanted.items():
        np.testing.assert_allclose(found[0][x], value, rtol=1e-10, atol=1e-10 * np.abs(value).max())


@pytest.mark.parametrize(
    ("name", "sizes"), [("mixture", {"N": 40, "d": 3, "K": 2}), ("logistic", {"N": 40, "d": 3})]
)
def test_single_precision_has_no_double_in_it(name: str, sizes: dict[str, int]) -> None:
    with unshared():
        plan, f, module = compiled(name, {}, f"# {uuid4()}\n")
    given = getattr(problems, name)(**sizes)
    single = {k: v.astype(np.float32) if np.ndim(v) else v for k, v in given.items()}
    values = arguments(plan, f, single, {})
    module.run(*values.values())
    for x, value in interpret(plan.program, given).items():
        assert values[x].dtype == np.float32
        np.testing.assert_allclose(values[x], value, rtol=1e-3, atol=1e-4 * np.abs(value).max())
    assert not module.run_rows.stats.cache_hits  # what was kept before has no text to look at
    for code in module.run_rows.inspect_llvm().values():
        assert not ARITHMETIC.search(code)


def test_a_recurrence_compiled() -> None:
    plan, f, module = compiled("smoother", {})
    given = problems.smoother(9, 4, 2)
    values = arguments(plan, f, given, {})
    module.run(*values.values())
    near({x: values[x] for x in plan.program.outs}, interpret(plan.program, given))
