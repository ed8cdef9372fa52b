"""Sites: what is no statistic, by which route its expectation is found, what is refused."""

import pytest

from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import Options, derive_model
from blrgen.show.model_derivation import derivation_json
from blrgen.show.model_page import derivation_text
from blrgen.text.indexed import written

ROWS = "plate n in N\nconst x[n] in R^2\nw ~ gaussian-full(zeros(2), eye(2))\n"
SHAPE = "plate n in N\na ~ gamma(2, 1)\nb ~ gamma(1, 1)\nx[n] ~ gamma(a, b) observed\n"


def derived(text: str, algorithm: str = "ncvmp", **options):
    return derive_model(read_model(text, "m"), algorithm, Options(**options))


def refusal(text: str, algorithm: str = "ncvmp", **options):
    with pytest.raises(ModelError) as caught:
        derived(text, algorithm, **options)
    (mistake,) = caught.value.mistakes
    assert mistake.kind == "not-applicable"
    return mistake


def test_a_site_is_a_function_of_one_predictor():
    (site,) = derived(ROWS + "y[n] ~ bernoulli(eta = dot(w, x[n])) observed\n").sites
    assert written(site.value) == "log(1 + exp(sum(i, w[i]*x[n,i])))"
    assert written(site.function) == "log(1 + exp(u1))"
    assert (site.route, site.places[0].axis, site.child) == ("quadrature", "N", "y")
    assert "no closed form" in site.because


@pytest.mark.parametrize(
    ("likelihood", "average"),
    [
        ("y[n] ~ poisson(exp(dot(w, x[n]))) observed", "exp(u1_m + u1_v/2)"),
        (
            "v ~ gaussian(0, 1)\ny[n] ~ gaussian(dot(w, x[n]) + v**2, 1) observed",
            "6*u1_m**2*u1_v + u1_m**4 + 3*u1_v**2",
        ),
    ],
)
def test_what_is_closed_is_not_integrated(likelihood, average):
    sites = derived(ROWS + likelihood + "\n").sites
    assert {s.route for s in sites} == {"closed form"}
    assert average in {written(s.average) for s in sites if s.average is not None}


def test_a_known_label_goes_into_the_predictor():
    """One site a row: not one for each of K groups."""
    text = ROWS + "plate k in K\nconst g[n] in labels(K)\nb[k] ~ gaussian(0, 1)\n"
    d = derived(text + "y[n] ~ bernoulli(eta = dot(w, x[n]) + b[g[n]]) observed\n")
    (site,) = d.sites
    assert [i.axis for i in site.places] == ["N"] and set(site.nodes) == {"w", "b"}
    assert all(u.block.proved and u.rate for u in d.updates)


def test_a_latent_label_weighs_its_sites():
    text = ROWS.replace("w ~", "w[k] ~").replace("\nconst", "\nplate k in K\nconst", 1)
    text += "z[n] ~ categorical(ones(K)/K)\ny[n] ~ bernoulli(eta = dot(w[z[n]], x[n])) observed\n"
    d = derived(text)
    (site,) = d.sites
    assert sorted(i.axis for i in site.places) == ["K", "N"]
    by_name = {u.block.name: u for u in d.updates}
    assert not by_name["z"].rate and site.expected.name in {
        x for p in by_name["z"].block.parts for x in p.expected.symbols()
    }


def test_refusals_point_to_what_applies():
    for algorithm in ("vmp", "gibbs", "svi"):
        found = refusal(ROWS + "y[n] ~ bernoulli(eta = dot(w, x[n])) observed\n", algorithm)
        assert found.instead.startswith("--ncvmp")
    two = refusal("plate n in N\nu ~ gaussian(0, 1)\nv ~ gaussian(0, 1)\n"
                  "y[n] ~ poisson(exp(u) + exp(v)) observed\n")  # fmt: skip
    assert "more than one linear predictor" in two.why
    assert not refusal("plate n in N\nu ~ gaussian(0, 1)\nv ~ gaussian(0, 1)\n"
                       "y[n] ~ poisson(exp(u) + exp(v)) observed\n", "vmp").instead  # fmt: skip
    point = refusal("plate n in N\nparam c in R\nu ~ gaussian(0, 1)\n"
                    "y[n] ~ bernoulli(eta = u + c) observed\n")  # fmt: skip
    assert "is a point" in point.why


def test_a_family_chosen_for_q():
    (update, _) = derived(SHAPE, q=(("b", "gamma"),)).updates
    assert update.block.family == "gamma"
    d = derived(SHAPE, q=(("a", "log-normal"),))
    assert {u.block.name: u.block.family for u in d.updates}["a"] == "log-normal"
    assert all(u.block.proved for u in d.updates)
    assert "is on" in refusal(SHAPE, q=(("a", "gaussian"),)).why
    assert "no latent" in refusal(SHAPE, q=(("c", "gamma"),)).text
    assert "unknown family" in refusal(SHAPE, q=(("a", "gama"),)).why


def test_derivations_say_routes_in_text_and_json():
    d = derived(SHAPE)
    page = derivation_text(d, columns=88)
    assert "f₁, no statistic of a" in page and "halved where the objective falls" in page
    data = derivation_json(d)
    (found,) = data["expectations"]
    assert (found["of"], found["route"], found["nodes"]) == ("lgamma(a)", "quadrature", ["a"])
    assert {b["nodes"][0]: b["rate"] for b in data["blocks"]}["b"] == "1"


def test_a_conjugate_model_is_mean_field():
    d = derived("plate n in N\nm ~ gaussian(0, 1)\nx[n] ~ gaussian(m, 1) observed\n")
    assert not d.sites and not any(u.rate for u in d.updates)
