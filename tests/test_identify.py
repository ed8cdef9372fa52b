"""Which algorithm a derivation is: the paper's rows, near misses, and look-alikes told apart."""

from __future__ import annotations

import pytest

from blrgen.api import derive
from blrgen.identify import Identification, identify


def named(what: str, *flags: str, loss: str = "") -> Identification:
    return identify(derive(what, flags, loss=loss))


ROWS = [
    ("gradient-descent", "gaussian-fixed", ["delta"]),
    ("gradient-descent", "gaussian-diag", ["delta", "fixed-scale"]),
    ("sgd", "gaussian-fixed", ["delta", "stochastic"]),
    ("sgd", "gaussian-diag", ["fixed-scale", "delta", "stochastic"]),
    ("momentum", "gaussian-fixed", ["delta", "stochastic", "momentum"]),
    ("newton", "gaussian-full", ["rho=1", "delta"]),
    ("online-newton", "gaussian-full", ["delta"]),
    ("von", "gaussian-full", []),
    ("von-diag", "gaussian-diag", []),
    ("rmsprop", "gaussian-diag",
     ["delta", "stochastic", "hessian=squared-gradient", "separate-rates", "square-root"]),
    ("adam", "gaussian-diag",
     ["delta", "stochastic", "hessian=squared-gradient", "slow-scale", "momentum", "square-root",
      "bias-correction", "separate-rates"]),
    ("ogn", "gaussian-diag", ["delta", "stochastic", "hessian=gauss-newton"]),
    ("vogn", "gaussian-diag", ["stochastic", "hessian=gauss-newton"]),
    ("iblr", "gaussian-full", ["retraction"]),
    ("laplace", "gaussian-full", ["rho=1", "delta", "fixed-point"]),
    ("ste", "bernoulli-sign",
     ["relax", "straight-through", "delta", "no-shrinkage", "tau=0", "stochastic"]),
    ("bayesbinn", "bernoulli-sign", ["relax", "prior=total", "stochastic"]),
    ("bernoulli-exact", "bernoulli-sign", []),
    ("natural-gradient", "gaussian", ["coordinates=working"]),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "family", "flags"), ROWS)
def test_rows_of_the_paper_by_flags(wanted: str, family: str, flags: list[str]) -> None:
    """Reached by flags, in another order than the recipe's where one is possible."""
    found = named(family, *flags)
    assert wanted in [m.name for m in found.matches], str(found)
    assert not next(m for m in found.matches if m.name == wanted).note
    assert all(m.level in ("identity", "random-exact") for m in found.matches)


@pytest.mark.parametrize("recipe", ["adam", "ivon", "vadam", "bayesbinn-stale"])
def test_a_recipe_is_itself_first(recipe: str) -> None:
    found = identify(derive(recipe))
    assert found.matches[0].name == recipe
    assert not found.nearest


def test_the_map_of_names_is_shown() -> None:
    found = named("gaussian-diag", "delta", "stochastic", "hessian=squared-gradient",
                  "square-root", "separate-rates", "rename=s:q")  # fmt: skip
    (match,) = [m for m in found.matches if m.name == "rmsprop"]
    assert ("s", "q") in match.states
    assert "s = q" in match.line()


def test_a_renamed_mean_is_still_the_mean() -> None:
    assert named("gaussian-diag", "delta", "stochastic", "hessian=gauss-newton", "rename=m:q"
                 ).matches[0].name == "ogn"  # fmt: skip


@pytest.mark.parametrize(
    ("family", "flags", "wrong"),
    [
        ("gaussian-full", ["precision=old"], "von"),
        ("gaussian-diag", ["precision=old"], "von-diag"),
        ("gaussian-full", ["precision=old"], "iblr"),
        ("gaussian-full", ["retraction", "precision=new"], "iblr"),
        ("gaussian-diag", ["delta", "stochastic", "hessian=squared-gradient", "square-root",
                           "separate-rates", "slow-scale", "momentum"], "adam"),
        ("gaussian-diag", ["delta", "stochastic", "hessian=squared-gradient", "separate-rates"],
         "rmsprop"),
        ("gaussian-diag", ["stochastic", "hessian=squared-gradient", "square-root",
                           "separate-rates"], "rmsprop"),
        ("gaussian-diag", ["stochastic", "hessian=gauss-newton"], "ogn"),
        ("gaussian-diag", ["delta", "stochastic", "hessian=gauss-newton"], "vogn"),
        ("gaussian", [], "natural-gradient"),
        ("bernoulli-sign", ["relax", "stochastic", "prior=total", "stale-mean"], "bayesbinn"),
        ("bernoulli-sign", ["relax", "stochastic", "prior=total"], "bayesbinn-stale"),
        ("gaussian-full", ["delta"], "von"),
        ("gaussian-full", [], "online-newton"),
        ("gaussian-full", ["delta", "rho=1"], "laplace"),
    ],
)  # fmt: skip
def test_look_alikes_are_told_apart(family: str, flags: list[str], wrong: str) -> None:
    assert wrong not in [m.name for m in named(family, *flags).matches]


def test_adam_without_momentum_or_correction_is_rmsprop_by_name() -> None:
    """A hyperparameter at a special value is a different algorithm only if that is said."""
    found = named("gaussian-diag", "delta", "stochastic", "hessian=squared-gradient",
                  "square-root", "separate-rates")  # fmt: skip
    assert found.matches[0].name == "rmsprop"


@pytest.mark.parametrize(
    ("flags", "name", "add", "drop"),
    [
        (["delta", "stochastic", "hessian=squared-gradient", "square-root", "separate-rates",
          "slow-scale", "momentum"], "adam", ("--bias-correction",), ()),
        (["delta", "stochastic", "hessian=squared-gradient", "square-root"], "rmsprop",
         ("--separate-rates", "--slow-scale"), ()),
        (["stochastic", "hessian=gauss-newton", "retraction"], "vogn", (), ("--retraction",)),
    ],
)  # fmt: skip
def test_near_misses(
    flags: list[str], name: str, add: tuple[str, ...], drop: tuple[str, ...]
) -> None:
    found = named("gaussian-diag", *flags)
    assert not found.matches
    assert (name, add, drop) in found.nearest
    changes = [f"{word} {' '.join(x)}" for word, x in (("add", add), ("drop", drop)) if x]
    assert f"  {name}: {'; '.join(changes)}" in str(found).splitlines()
    text = str(found)
    assert "none of the known algorithms" in text
    for word in (*add, *drop):
        assert word in text


def test_precision_old_names_von_as_nearest() -> None:
    found = named("gaussian-full", "precision=old")
    assert not found.matches
    assert ("von", (), ("--precision old",)) in found.nearest


def test_full_gradients_are_said() -> None:
    """Adam on full gradients is Adam, with a note."""
    found = named("gaussian-diag", "delta", "hessian=squared-gradient", "square-root",
                  "separate-rates", "slow-scale", "momentum", "bias-correction")  # fmt: skip
    (match,) = [m for m in found.matches if m.name == "adam"]
    assert "full gradients" in match.note


def test_a_concrete_loss_is_recognised() -> None:
    loss = "0.5*dot(y - X*theta, y - X*theta) + 0.5*delta*dot(theta, theta)"
    found = named("gaussian-full", "delta", "rho=1", loss=loss)
    assert "ridge" in [m.name for m in found.matches]
