"""Kalman's two forms, equal in a prime field; planted mistakes are refuted."""

from pathlib import Path

import pytest

from blrgen.decide.field import Mod, scale
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from blrgen.validate.model import forms
from tests.emit.model.test_chains import COUPLED, LAGS, MANY, MISSING, SEASON, TREND

MODELS = Path(__file__).parents[3] / "models"
SHIPPED = {"state-space": "conjugate", "state-space-em": "em", "local-linear-trend": "em"}
HEAVY = TREND.replace("gaussian(l[t], v)", "gaussian(exp(v)*l[t], v)")


def proofs(source: str, algorithm: str):
    return dict(forms.prove_forms(derive_model(read_model(source, "m"), algorithm)))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_chains(name):
    (proof,) = proofs((MODELS / f"{name}.model").read_text(), SHIPPED[name]).values()
    assert proof.level == "random-exact" and "T = 1, 2, 3, 5" in proof.bound


@pytest.mark.parametrize(
    ("source", "algorithm"),
    [(LAGS, "conjugate"), (LAGS, "filter"), (TREND, "filter"), (SEASON, "conjugate"),
     (COUPLED, "filter"), (MANY, "conjugate")],
)  # fmt: skip
def test_several_nodes_lags_and_rows(source, algorithm):
    (proof,) = proofs(source, algorithm).values()
    assert proof.level == "random-exact", proof


def test_chains_of_labels_have_no_such_forms():
    assert proofs(MISSING, "conjugate") == {}


def test_what_has_no_value_in_a_field_is_not_compared():
    (proof,) = proofs(HEAVY, "conjugate").values()
    assert proof.level == "not compared" and "exp" in proof.detail


@pytest.mark.parametrize("mistake", ["twice the noise", "the mean is not moved"])
def test_planted_mistakes_are_refuted(mistake, monkeypatch):
    predicted = forms._predicted

    def wrong(own, noise, m, P, n):
        if mistake == "twice the noise":
            return predicted(own, scale(Mod(2), noise), m, P, n)
        level, front = predicted(own, noise, m, P, n)
        return (*([Mod(0)] * n if m else level), *level[n : len(level) * bool(m)]), front

    monkeypatch.setattr(forms, "_predicted", wrong)
    (proof,) = proofs(TREND, "conjugate").values()
    assert proof.level == "refuted"
