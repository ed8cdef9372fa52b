"""What somebody who does not know the language writes, and what is said to do instead."""

import pytest

from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import read_model

HEAD = "plate n in N\nplate k in K\nmu[k] ~ gaussian(0, 1)\n"


@pytest.mark.parametrize(
    ("text", "place", "instead"),
    [
        (HEAD + "x[n] ~ gaussian(mu[z[n]], 1) observed\n", (4, 20), "z[n] ~ categorical(…)"),
        (HEAD + "z[n] ~ categorical([0.5, 0.5])\nx[n] ~ gaussian(mu[z[n]], 1) observed\n", (4, 20),
         "const p in R^K"),
        ("plate n in N\nconst X[n] in R^p\nw ~ gaussian-full(zeros(p), eye(p))\n"
         "y[n] ~ gaussian(w*X[n], 1) observed\n", (4, 17), "dot(a, b)"),
        ("plate n in N\np ~ beta(1, 1)\nx[n] ~ binomial(10, p) observed\n", (3, 17),
         "binomial takes (p, n)"),
        ("plate n in N\nplate k in K\ntheta[n,k] ~ gaussian(0,1)\n"
         "x[n,k] ~ gaussian(theta[k,n], 1) observed\n", (4, 25), "theta[n, k]"),
    ],
)  # fmt: skip
def test_what_is_meant_is_said(text, place, instead):
    with pytest.raises(ModelError) as found:
        read_model(text, "strange")
    first = found.value.mistakes[0]
    assert (first.line, first.column) == place and instead in first.instead
