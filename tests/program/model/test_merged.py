"""Equal equations are one, and are read under its name inside of recurrences too."""

import numpy as np

from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.text import program
from blrgen.program.model.merged import merged


def test_recurrences_read_what_stayed() -> None:
    made = program(
        "t:T, i,j:d",
        "x[T], c[d]",
        """
        one[i,j] = [i == j]
        same[i,j] = [i == j]
        for t:
            s[t,i] = init(0), sum(j, same[i,j] * s[t-1,j]) + x[t] * c[i]
        f[i] = sum(t, s[t,i]) + sum(j, one[i,j] * c[j])
        """,
        "f",
    )
    after = merged(made)
    check(after)
    assert "same" not in {s.name for s in after.lets}
    given = {"x": np.arange(4.0), "c": np.array([1.0, -2.0])}
    np.testing.assert_allclose(interpret(after, given)["f"], interpret(made, given)["f"])
