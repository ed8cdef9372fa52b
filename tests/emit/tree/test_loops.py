"""The loops of a program, in every order of its letters, give what the program means.

They run as plain Python, from outs that are full of nines.
"""

from typing import Any

import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.blocks import COLUMNS, ROWS
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from tests.emit.tree.running import SMALL, near, orders, plain
from tests.program.axes.programs import PROGRAMS, fixed
from tests.program.axes.test_programs import CASES, Case, problem


def variants(p: a.Program, values: dict[str, Any], most: int) -> None:
    """All orders, by rows and by blocks."""
    wanted = interpret(p, values)
    for by in (None, *orders(p, most)):
        for blocks in ("", COLUMNS, ROWS, None):
            near(plain(scheduled(p, by, blocks), values), wanted)


@pytest.mark.parametrize("name", SMALL)
def test_every_order_of_small_programs(name: str) -> None:
    variants(*SMALL[name], most=1000)


WRITTEN = [c for c in CASES if set(c.known) - {"R"} and c.name != "documents"]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("case", WRITTEN, ids=str)
def test_known_sizes_written_out(case: Case) -> None:
    made, values = fixed(PROGRAMS[case.name], case.known), problem(case)[0]
    wanted = interpret(made, values)
    plan = scheduled(made, written=frozenset(case.known.values()))
    near(interpret(plan.program, values), wanted)
    near(plain(plan, values), wanted)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_order_of_whole_algorithms(case: Case) -> None:
    variants(fixed(PROGRAMS[case.name], case.known), problem(case)[0], most=6)
