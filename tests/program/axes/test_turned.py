"""Symmetric matrices along their rows."""

from __future__ import annotations

import pytest

from blrgen.program.axes.text import program, text
from blrgen.program.axes.turned import turned


@pytest.mark.parametrize(
    "body, wanted",
    [
        ("y[i,l] = sum(j, F[i,j] * P[j,l])", "sum(j, F[i,j] * P[l,j])"),
        ("y[i,l] = sum(j, F[i,j] * P[l,j])", "sum(j, F[i,j] * P[l,j])"),
        ("y[i,l] = sum(j, P[i,j] * F[j,l])", "sum(j, P[i,j] * F[j,l])"),
        ("y[l] = sum(j, P[j,j] * F[j,l])", "sum(j, P[j,j] * F[j,l])"),
        ("y = sum((i,j), P[i,j])", "sum((i,j), P[i,j])"),
        ("y[i,j] = P[j,i] * F[i,j]", "P[j,i] * F[i,j]"),
    ],
)
def test_the_letter_of_the_sum_is_last(body: str, wanted: str) -> None:
    made = turned(program("i,j,l:d", "F[d,d], P[d,d] sym", body, "y"))
    assert text(made.lets[0].expr) == wanted
