"""Two factors that are 0 where a recurrence begins: one of them is enough."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.program.axes.begun import begun
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.text import program

R = np.random.default_rng(4)
BODY = """
    for t:
        within[t] = first(0), 1
        level[t] = first(1), level[t-1] * a
        late[t] = first(0), level[t-1]
    s = sum(t, {})
"""


def of(product: str, letters: str = "t:T, p:T"):
    return program(letters, "x[T], a", BODY.format(product), "s")


def read(made) -> set[str]:
    return set(made.lets[-1].expr.names)


@pytest.mark.parametrize(
    ("product", "left"),
    [
        ("within[t] * late[t] * x[t]", {"late", "x"}),
        ("within[t] * level[t] * x[t]", {"within", "level", "x"}),
        ("within[t] * x[t]", {"within", "x"}),
        ("within[t] + late[t]", {"within", "late"}),
    ],
)
def test_it_is_left_out_beside_another_alone(product: str, left: set[str]) -> None:
    made = of(product)
    assert read(begun(made)) == left
    given = {"x": R.normal(size=5), "a": 0.7}
    assert np.isclose(interpret(begun(made), given)["s"], interpret(made, given)["s"], rtol=1e-13)


def test_not_beside_one_at_another_place() -> None:
    made = program("t:T, p:T", "x[T], a",
                   BODY.format("within[t]") + "    m = sum((t,p), within[t] * late[p])\n",
                   "s, m")  # fmt: skip
    assert read(begun(made)) == {"within", "late"}


def test_not_beside_one_that_goes_the_other_way() -> None:
    made = program(
        "t:T, u:T down", "x[T]",
        """
        for t:
            within[t] = first(0), 1
        for u:
            b[u] = first(0), b[u+1] + x[u]
        s = sum(t, within[t] * b[t])
        """,
        "s",
    )  # fmt: skip
    assert read(begun(made)) == {"within", "b"}
