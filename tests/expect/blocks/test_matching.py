"""The traps of division: names, ranges, order of expectations, labels, chains of two nodes."""

from __future__ import annotations

import pytest

from blrgen.algebra.indexed.normal import Outside
from blrgen.expect.blocks.block import block_of
from blrgen.expect.factors.joint import log_joint
from blrgen.expect.factors.names import table_of
from blrgen.read.model.reader import read_model
from blrgen.text.indexed import written


def block(text: str, *names: str):
    model = read_model(text, "m")
    nodes = [model.node(n) for n in names]
    return block_of(table_of(model), log_joint(model), nodes)


def coefficients(b) -> dict[str, str]:
    return {written(p.statistic.value): written(p.coefficient) for p in b.parts}


def test_weights_called_pi_are_not_the_number():
    b = block(
        """
plate n in N
plate k in K
pi ~ dirichlet(ones(K))
m ~ gaussian(0, 1)
z[n] ~ categorical(pi)
x[n] ~ gaussian(m, 1)   observed
y[n] ~ bernoulli(1/3)   observed
w[n] ~ gaussian(g[z[n]], 1)   observed
g[k] ~ gaussian(0, 1)
""",
        "z",
    )
    assert "log(pi[k])" in coefficients(b)["z[n,k]"]


def test_a_chain_with_two_starts_begins_at_its_third_element():
    text = """
plate t in T
x[1] ~ gaussian(0, 1)
x[2] ~ gaussian(0, 1)
x[t] ~ gaussian(x[t-1] + x[t-2], 1)
y[t] ~ gaussian(x[t], 1)   observed
"""
    b = block(text, "x")
    assert (b.kind, b.axis, b.lag) == ("banded", "T", 2)
    try:
        joint = log_joint(read_model(text, "m"))
    except Outside:
        pytest.fail("a lag was read before the start")
    assert joint[2].total.terms


def test_two_chains_in_one_block_keep_their_lags_apart():
    b = block(
        """
plate t in T
l[1] ~ gaussian(0, 10)
l[t] ~ gaussian(l[t-1], 1)
s[1] ~ gaussian(0, 10)
s[2] ~ gaussian(0, 10)
s[t] ~ gaussian(-s[t-1] - s[t-2], 1)
y[t] ~ gaussian(l[t] + s[t], 1)   observed
""",
        "l",
        "s",
    )
    assert (b.kind, b.lag, b.proved) == ("banded", 2, True)
    found = coefficients(b)
    assert found["l[t]*l[t-1]" if "l[t]*l[t-1]" in found else "l[t-1]*l[t]"] == "[1 < t]"
    assert found["l[t]*s[t]"] == "-1"
    assert len(found) == 8  # four statistics, l·l, s·s twice, l·s


def test_the_same_label_in_two_arguments_is_one_letter():
    b = block(
        """
plate n in N
plate k in K
m[k] ~ gaussian(0, 1)
t[k] ~ gamma(1, 1)
z[n] ~ categorical(ones(K)/K)
x[n] ~ gaussian(m[z[n]], 1/t[z[n]])   observed
""",
        "z",
    )
    assert "sum(" not in coefficients(b)["z[n,k]"]


def test_a_coupled_plate_is_one_dense_gaussian():
    b = block(
        """
plate n in N
plate j in d
const X[n] in R^d
w[j] ~ gaussian(0, 1)
y[n] ~ gaussian(dot(w[:], X[n]), 1)   observed
""",
        "w",
    )
    assert (b.kind, b.axis) == ("dense", "d")


def test_a_parent_of_a_plate_couples_all_of_it():
    b = block(
        """
plate n in N
m ~ gaussian(0, 10)
b[n] ~ gaussian(m, 1)
y[n] ~ gaussian(b[n], 1)   observed
""",
        "m",
        "b",
    )
    assert (b.kind, b.axis, b.proved) == ("dense", "N", True)


def test_counts_on_a_plate_are_divided_out_of_its_labels():
    b = block(
        """
plate d in D
plate i in W[d] times c[d,i]
plate k in K
const c[d,i] in (0, oo)
phi[k] ~ dirichlet(ones(V))
theta[d] ~ dirichlet(ones(K))
z[d,i] ~ categorical(theta[d])
w[d,i] ~ categorical(phi[z[d,i]])   observed
""",
        "z",
    )
    assert written(b.measure) == "c[d,i]"
    assert "c[" not in coefficients(b)["z[d,i,k]"]


def test_what_is_no_statistic_is_told_with_its_statement():
    b = block(
        """
plate n in N
h ~ gaussian(0, 1)
y[n] ~ gaussian(0, exp(h))   observed
""",
        "h",
    )
    (rest,) = b.remainder
    assert not b.conjugate and not b.proved
    assert (rest.child, rest.place.line) == ("y", 4)
    assert written(rest.value) == "-sum(i, y[i]**2*exp(-h)/2)"


def test_a_chain_with_a_mean_of_its_own_is_no_band():
    for static, moving in (("a", "x"), ("z", "x")):
        b = block(
            f"""
plate t in T
{static} ~ gaussian(0, 10)
{moving}[1] ~ gaussian({static}, 1)
{moving}[t] ~ gaussian({moving}[t-1] + {static}, 1)
y[t] ~ gaussian({moving}[t], 1)   observed
""",
            static,
            moving,
        )
        assert (b.kind, b.axis, b.proved) == ("dense", "T", True)


def test_a_ragged_chain_is_not_divided_by_what_exists():
    b = block(
        """
plate s in S
plate t in T[s]
x[s,1] ~ gaussian(0, 1)
x[s,t] ~ gaussian(x[s,t-1], 1)
y[s,t] ~ gaussian(x[s,t], 1)   observed
""",
        "x",
    )
    found = coefficients(b)
    assert all("/exists" not in c for c in found.values())
    assert "exists:T[s,t+1]" in found["x[s,t]**2"]  # the next one pulls only where there is one
    assert found["x[s,t]"] == "y[s,t]"
    assert written(b.measure) == "1"  # a chain is one whole
