"""Texts drawn by seed with every flag: a class that is right, or a refusal with its reason."""

import pytest

from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import read_model
from tests.emit.model.drawn_checks import FLAGS, trouble, verified
from tests.emit.model.drawn_models import drawn_text

SEEDS = range(120)


@pytest.mark.sweep(60)
@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_flag_has_a_class_that_is_right_or_a_reason(seed, flag):
    source = drawn_text(seed)
    try:
        read_model(source, "drawn")
    except ModelError as error:  # a text that leaves something unseen has a reason too
        assert all(m.why for m in error.mistakes)
        return
    found = trouble(source, flag)
    assert not found or found[0].startswith("refused: "), source + "\n".join(found)


RAGGED = "plate n in N\nplate i in L[n]\n"
TEXTS = {
    "two latents of each element, one of them in the state": """
u[n,i] ~ gaussian(1, 2)
m[n,i] ~ gaussian(u[n,i], 1)
y[n,i] ~ gaussian(m[n,i], 1)   observed
""",
    "two chains": """
x[n,1] ~ gaussian(1, 2)
x[n,i] ~ gaussian(x[n,i-1], 1)
u[n,1] ~ gaussian(1, 2)
u[n,i] ~ gaussian(u[n,i-1], 1)
v[n,i] ~ gaussian(u[n,i], 1)   observed
y[n,i] ~ gaussian(x[n,i], 1)   observed
""",
    "a variance that is known of each row": """
const c[n] in (0, oo)
m ~ gaussian(0, 1)
y[n,i] ~ gaussian(m, c[n])   observed
""",
    "labels of rows, where elements are flat": """
plate k in K
m[k] ~ gaussian(0, 1)
w ~ dirichlet(ones(K))
z[n] ~ categorical(w)
y[n,i] ~ gaussian(m[z[n]], 1)   observed
""",
    "numbers that are neither shares nor Gaussian": """
u[n,i] ~ gamma(1, 2)
y[n,i] ~ poisson(u[n,i])   observed
""",
    "two ragged plates under one": """
plate j in M[n]
u[n,i] ~ gaussian(1, 2)
x[n,j] ~ gaussian(0, 1)
y[n,i] ~ gaussian(u[n,i], 1)   observed
v[n,j] ~ gaussian(x[n,j], 1)   observed
""",
}


@pytest.mark.parametrize("flag", ["vmp", "gibbs"])
@pytest.mark.parametrize("name", TEXTS)
def test_rows_of_different_lengths(name, flag):
    assert trouble(RAGGED + TEXTS[name], flag) == []


@pytest.mark.parametrize(
    "plates", ["plate n in N\nplate j in 3\n", "plate n in 3\nplate j in L[n]\n"]
)
def test_a_plate_of_a_number_of_places_is_verified(plates):
    source = plates + "m[n] ~ gaussian(0, 1)\ny[n,j] ~ gaussian(m[n], 1)   observed\n"
    assert verified(source, "vmp") == []


def test_counts_of_another_sum_are_verified():
    source = "plate n in N\np ~ dirichlet(ones(3))\ny[n] ~ multinomial(p, 2)   observed\n"
    assert verified(source, "conjugate") == []


def test_steps_over_some_rows_do_not_find_what_each_row_has():
    source = "plate n in N\nparam w[n] in R\ny[n] ~ gaussian(w[n], 1)   observed\n"
    (refusal,) = trouble(source, "online-em")
    assert "--online-em does not apply to w" in refusal
    assert trouble(source, "em") == []


FLAT = {
    "labels of two plates": """
plate n in N
plate j in T
plate k in K
P[k] ~ dirichlet(ones(V))
pi ~ dirichlet(ones(K))
z[n,j] ~ categorical(pi)
y[n,j] ~ categorical(P[z[n,j]])   observed
""",
    "ragged behind another plate": """
plate n in N
plate i in L[n]
plate j in J
u[j,n,i] ~ gaussian(1, 2)
y[j,n,i] ~ gaussian(u[j,n,i], 1)   observed
""",
    "one place alone is divided by": """
plate n in N
plate k in 2
param s[k] in (0, oo)
x[1] ~ gaussian(1, s[1])
x[n] ~ gaussian(x[n-1], s[1] + 3)
y[n] ~ gaussian(x[n], sqrt(s[1]))   observed
""",
    "a shape that nothing moves": """
plate n in N
const c in (0, oo)
s ~ gamma(3, c)
r ~ beta(1, 1)
y[n] ~ poisson(s/s)   observed
x[n] ~ bernoulli(r)   observed
""",
}


@pytest.mark.parametrize("name", FLAT)
def test_loops_read_what_arrays_do(name):
    assert trouble(FLAT[name], "vmp") == []


CHAINS = """
plate n in N
plate j in 3
plate k in K
pi ~ dirichlet(ones(K))
P[k] ~ dirichlet(ones(K))
z[n,1] ~ categorical(pi)
z[n,j] ~ categorical(P[z[n,j-1]])
r[k] ~ beta(3, 1)
y[n,j] ~ geometric(r[z[n,j]])   observed
"""
APART = """
plate n in N
plate k in 2
pi ~ dirichlet(ones(2))
z[n] ~ categorical(pi)
r[k] ~ beta(3, 1)
u[n] ~ gamma(1, 1)
w[n] ~ gamma(1, 1)
m[k] ~ gaussian(3, 2)
x[n] ~ bernoulli(r[z[n]])   observed
y[n] ~ gaussian(m[z[n]], 1/u[n])   observed
v[n] ~ poisson(w[n])   observed
"""


BESIDE = """
plate n in N
plate i in L[n]
m[n] ~ gaussian(0, 1)
g ~ gaussian(0, 1)
x[n,1] ~ gaussian(1, 2)
x[n,i] ~ gaussian(x[n,i-1], 1)
v[n,i] ~ gaussian(g, 1)   observed
u[n,i] ~ gaussian(m[n], 1)   observed
y[n,i] ~ gaussian(x[n,i], 1)   observed
"""


@pytest.mark.parametrize(
    "source", [CHAINS, APART, BESIDE], ids=["first of a chain", "blocks apart", "a chain apart"]
)
def test_steps_over_some_rows(source):
    assert trouble(source, "svi") == []


def test_a_chain_that_rounds_would_change_is_refused():
    source = BESIDE.replace("y[n,i] ~ gaussian(x[n,i], 1)", "y[n,i] ~ gaussian(x[n,i] + m[n], 1)")
    (refusal,) = trouble(source, "svi")
    assert "a chain in rounds with other blocks of its rows" in refusal


def test_a_number_beyond_doubles_is_refused_where_it_is_made():
    source = "plate n in N\nm ~ gaussian(1e200, 1)\nx[n] ~ gaussian(m, 1)   observed\n"
    (refusal, *_) = trouble(source, "vmp")
    assert "is made of a number beyond double precision" in refusal


def test_new_rows_have_no_density_where_each_has_a_point():
    source = """
plate n in N
r ~ beta(1, 1)
param w[n] in R
y[n] ~ gaussian(w[n], 1)   observed
x[n] ~ bernoulli(r)   observed
"""
    assert trouble(source, "em") == []


@pytest.mark.parametrize("name", ["two latents of each element, one of them in the state",
                                  "two ragged plates under one"])  # fmt: skip
def test_what_a_state_holds_of_ragged_rows_is_compared(name):
    assert verified(RAGGED + TEXTS[name], "vmp") == []


def test_points_of_ragged_rows_do_not_move_with_their_data():
    """Each would have an amount of its own, which is the data themselves."""
    source = """
param w[n,i] in R
r ~ beta(1, 1)
y[n,i] ~ gaussian(w[n,i], 1)   observed
x[n,i] ~ bernoulli(r)   observed
"""
    assert verified(RAGGED + source, "vmp") == []


def test_of_a_point_that_stays_nothing_is_claimed():
    """One row each says nothing of a matrix: the class notes it, and that is no refutation."""
    source = """
plate n in N
param L[n] in SPD(d)
r ~ beta(1, 1)
y[n] ~ gaussian-full(zeros(d), L[n])   observed
x[n] ~ bernoulli(r)   observed
"""
    found = verified(source, "vmp")
    assert found and not [x for x in found if "refuted" in x]
