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
