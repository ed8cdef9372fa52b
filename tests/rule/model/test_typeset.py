"""Every line of a derivation is there in LaTeX too, with its brackets in pairs."""

import re
from pathlib import Path

import pytest

from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from blrgen.rule.model.lines import lines_of
from blrgen.rule.model.typeset import typeset

ALGORITHMS = (
    "conjugate", "filter", "em", "vmp", "svi", "online-em", "ncvmp", "cvi", "gibbs"
)  # fmt: skip
MODELS = sorted((Path(__file__).parents[3] / "models").glob("*.model"))


@pytest.mark.sweep(16)
@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_every_line_is_typeset(path):
    derived = 0
    for algorithm in ALGORITHMS:
        try:
            d = derive_model(read_model(path.read_text(), path.stem), algorithm)
        except ModelError:
            continue
        derived += 1
        found = typeset(d)
        assert len(found) == len(lines_of(d))
        for text in found:
            assert text
            assert text.count("{") == text.count("}")
            assert len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text))
            assert "_{}" not in text
    assert derived


def test_what_is_typeset():
    model = read_model("""plate n in N
plate k in K
const v in (0, oo)
mu[k] ~ gaussian(0, 1)
z[n] ~ categorical(ones(K)/3)
x[n] ~ gaussian(mu[z[n]], v)   observed
""", "small")  # fmt: skip
    found = typeset(derive_model(model, "vmp"))
    update = r"\sum_{n} \frac{\mathbb{E}\left[{z}_{n,k}\right] \, {x}_{n}}{v}"
    assert rf"{{\lambda_{{1}}}}_{{k}} = {update}" in found
    assert r"{{\mu}_{k}}^{2} : -\tfrac{1}{2} - \sum_{n} \frac{{z}_{n,k}}{2 \, v}" in found


@pytest.mark.parametrize(
    ("eta", "wanted"),
    [
        (
            "eta ~ gaussian-full(zeros(K), eye(K))\ny ~ multinomial(exp(eta)/sum(exp(eta)), n)",
            r"\textstyle\sum_{k_{2}} {s_{1}}_{k,k_{2}} \, \mathbb{E}\left[{u_{1}}_{k_{2}}\right]",
        ),
        (
            "eta[k] ~ gaussian(0, 1)\ny ~ multinomial(exp(eta[:])/sum(exp(eta[:])), n)",
            r"{s_{1}}_{k} \, \mathbb{E}\left[{u_{1}}_{k}\right]",
        ),
    ],
)
def test_a_site_of_several_elements_sums_over_the_others_where_they_are_together(eta, wanted):
    plate = "plate k in K\n" if "[k]" in eta else ""
    model = read_model(f"{plate}const n in integers >= 1\n{eta} observed\n", "shares")
    (line,) = (x for x in typeset(derive_model(model, "ncvmp")) if r"- 2" in x and "partial" in x)
    slope = r"\mathbb{E}\left[\partial_{k} f_{1}\right]"
    assert line == rf"{{r_{{1}}}}_{{k}} = {slope} - 2 {wanted}"
