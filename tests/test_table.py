"""Every recipe is derived, proved equal to the hand-written algorithm, emitted and matched."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace

import pytest

from blrgen import table
from blrgen.api import derive
from blrgen.read.recipe import read_recipes
from blrgen.validate.derivation import prove_against, verify_derivation

RECIPES = sorted(read_recipes())


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", RECIPES)
def test_everything_about_a_recipe_is_proved(name: str) -> None:
    report = verify_derivation(derive(name))
    titles = [title for title, _ in report.parts]
    assert titles[0] == f"derived = {name} as written by hand"
    assert sum(t.startswith("emitted") for t in titles) == 2
    for title, verdict in report.parts:
        assert verdict.proved, (title, verdict)
        assert verdict.proofs, title


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", ["momentum", "adam", "vadam", "ivon"])
def test_momentum_exhibits_its_change_of_state(name: str) -> None:
    report = verify_derivation(derive(name), targets=())
    (changes,) = [v for title, v in report.parts if title == "exact changes of state"]
    claims = [claim for claim, _ in changes.proofs]
    assert any(claim.startswith("u_next is the next value of u = -") or "m_prev" in claim
               for claim in claims)  # fmt: skip
    assert {p.level for _, p in changes.proofs} == {"identity"}


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("adam", "rmsprop"),
        ("ivon", "vadam"),
        ("von", "iblr"),
        ("sgd", "momentum"),
        ("bayesbinn", "bayesbinn-stale"),
        ("online-newton", "newton"),
        ("dropout", "inverted-dropout"),
    ],
)
def test_another_algorithm_is_refuted(name: str, other: str) -> None:
    assert prove_against(derive(name), other).level == "refuted"


def test_old_precision_is_not_the_rule() -> None:
    assert prove_against(derive("von", ["precision=old"]), "von").level == "refuted"
    assert prove_against(derive("von", ["precision=old", "precision=new"]), "von").proved


def test_every_row_of_the_paper_is_there_and_honest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        table,
        "_algorithm",
        lambda name, say: table.Algorithm(name, "f", ("a",), 3, "l", (("numba", "e"),), ()),
    )
    monkeypatch.setattr(
        table,
        "_of_model",
        lambda name, flag, say: table.Algorithm(
            f"{name} {flag}", "f", ("rho = 1",), 3, "l", (("numpy", "e"),), (), of_model=True
        ),
    )
    monkeypatch.setattr(
        table,
        "_of_mixture",
        lambda name, flags, say: table.Algorithm(
            " ".join([name, *flags]), "f", tuple(flags), 3, "l", (("numpy", "e"),), ()
        ),
    )
    rows = table.computed(lambda name: None)
    text = table.as_text(rows)
    data = table.as_data(rows)
    assert [r["title"] for r in data["rows"]] == [r.title for r in rows]
    assert all(bool(r["recipes"]) or r["missing"] for r in data["rows"])
    for row in (
        "Gradient descent", "Newton's method", "Multimodal optimization", "RMSprop/Adam",
        "Stochastic gradient descent", "Dropout", "STE", "Online Gauss-Newton (OGN)",
        "Variational OGN", "BayesBiNN", "Conjugate Bayes", "Laplace's method",
        "Expectation-maximization", "Stochastic VI (SVI)", "VMP", "Non-conjugate VMP",
        "Non-conjugate VI",
    ):  # fmt: skip
        assert row in text
    assert re.findall("(.*): not yet", text) == ["bSAM"]
    assert [r.title for r in rows if r.missing] == ["bSAM"] and rows[-1].beside
    assert (
        "Of the paper's 17 rows 17 derived, 0 proved, 0 emitted and run, 0 matched by a "
        "public package and 0 by what is written by hand alone."
    ) in text
    for name in RECIPES:
        assert re.search(rf"^  {re.escape(name)} ", text, re.M), f"{name} is in no row"
    assert re.search(r"^Expectation-maximization\n  gaussian-mixture-full-em --em .*\n +rho = 1$",
                     text, re.M)  # fmt: skip


def test_matched_differences_are_below_the_limit() -> None:
    for name in ("adam", "ridge", "gradient-descent"):
        found = [gap for _, gap in table._matched(name)[0]]
        assert found
        assert max(found) <= 1e-12


def test_what_is_missing_is_what_is_known_of_the_algorithm() -> None:
    with (table.package_dir() / "algorithms.toml").open("rb") as file:
        known = tomllib.load(file)
    assert [e.needs for e in table.entries() if e.title == "bSAM"] == [known["bsam"]["missing"]]


@pytest.mark.sweep(12)
@pytest.mark.parametrize(
    ("words", "package"),
    [
        (("beta-bernoulli", "--conjugate"), "scipy"),
        (("gaussian-mixture-full-em", "--em"), "sklearn"),
        (("lda", "--svi"), "sklearn"),
        (("factor-analysis", "--vmp"), "bayespy"),
        (("logistic-regression", "--cvi"), "scipy"),
    ],
)
def test_models_are_matched_with_what_packages_gave(words: tuple[str, str], package: str) -> None:
    ((found, gap),), _ = table._matched_model(*words)
    assert found == package and 0 <= gap < 1e-8


def test_what_counts_as_done() -> None:
    def row(*levels: str, matched: bool = True, missing: str = "") -> table.Row:
        emitted = tuple(zip(("numba", "numpy"), levels, strict=False))
        found = (("torch", 0.0),) if matched else ()
        made = table.Algorithm("a", "f", (), 3, "identity", emitted, found)
        return table.Row("s", "t", (made,), missing)

    assert row("numeric", "identity").emitted and row("numeric").proved
    assert not row("numeric").emitted and not row("not compared", "identity").emitted
    assert not row("identity", "identity", missing="x").proved
    assert not row("identity", "identity", matched=False).matched
    hand = table.Algorithm("a", "f", (), 3, "identity", (), (), "by hand", by_hand=True)
    model = table.Algorithm("m", "f", (), 3, "identity", (), (), of_model=True)
    assert table.Row("s", "t", (hand, model)).by_hand and not table.Row("s", "t", (model,)).by_hand
    assert not table.Row("s", "t", (hand, replace(hand, by_hand=False))).by_hand
    shown = table.counted((row("numeric", "identity"), row("numeric", matched=False)))
    assert shown == ("Of the paper's 2 rows 2 derived, 2 proved, 1 emitted and run, 1 matched by "
                     "a public package and 0 by what is written by hand alone.")  # fmt: skip


def models() -> list[tuple[str, str]]:
    with (table.package_dir() / "table.toml").open("rb") as file:
        return [tuple(x) for row in tomllib.load(file)["row"] for x in row.get("models", [])]


NUMERIC = ("--ncvmp", "--cvi")  # sums over nodes


@pytest.mark.sweep(40)
@pytest.mark.parametrize(("name", "flag"), models())
def test_a_model_of_the_table_is_derived_proved_and_run(name: str, flag: str) -> None:
    found = table._of_model(name, flag, lambda what: None, targets=("numpy",))
    assert found.proved in ("identity", "random-exact")
    level = "numeric" if flag in NUMERIC else "random-exact"
    assert dict(found.emitted) == {"numpy": level}
    assert found.lines > 3 and found.approximations


def mixtures() -> list[list[str]]:
    with (table.package_dir() / "table.toml").open("rb") as file:
        return [x for row in tomllib.load(file)["row"] for x in row.get("mixtures", [])]


@pytest.mark.sweep(12)
@pytest.mark.parametrize("words", mixtures(), ids=" ".join)
def test_a_mixture_of_the_table_is_derived_proved_and_run(words: list[str]) -> None:
    name, *flags = words
    found = table._of_mixture(name, flags, lambda what: None)
    assert found.proved in ("identity", "random-exact")
    levels = dict(found.emitted)
    assert levels == ({"numba": "numeric", "numpy": "numeric"} if "delta" in flags else {})
    assert found.lines > 3
