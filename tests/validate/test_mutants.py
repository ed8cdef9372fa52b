"""A few of the mistakes of `make mutants`, by seed; and that they are told from no mistakes."""

from __future__ import annotations

import pytest

from tests.as_numbers import Calls
from tests.mutants import EACH, Fate, count, emitted, judged, mistakes, recipes, row, rule, sources

FEW, SEED = 5, 11


@pytest.mark.sweep(8)
@pytest.mark.parametrize("recipe", recipes())
def test_no_mistake_is_proved(recipe: str) -> None:
    found = list(judged(recipe, mistakes(recipe, FEW, SEED)))
    assert len(found) == FEW
    loud = [f for f in found if f.name in ("wrong proved", "right refuted")]
    assert not loud, "\n".join(map(str, loud))


@pytest.mark.parametrize("recipe", ["adam", "ridge", "bayesbinn"])
def test_no_mistake_in_an_emitted_file_is_proved(recipe: str) -> None:
    found = list(emitted(recipe, 4, SEED))
    assert found and not count(found)["wrong proved"], row(count(found))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("recipe", recipes())
def test_every_recipe_has_enough_mistakes(recipe: str) -> None:
    found = [m.source for m, _ in mistakes(recipe, EACH, 0)]
    assert len(found) == EACH and not set(found) & set(sources(recipe))


SGD = sources("sgd")[0]


@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [
        ("rho * g", "g * rho", False),
        ("rho * g", "rho * g + 0 * m", False),
        ("rho * g", "rho * g if len(np.ravel(m)) < 50 else g", True),
        ("rho * g", "rho * g if np.ndim(m) < 3 else g", True),
        ("rho * g", "np.where(g == 1e9, 0, rho * g)", True),
        ("rho * g", "rho * g * 1.0000001", True),
        ("return out_0", "g *= 2; return out_0", True),
        ("return out_0", "step.n = getattr(step, 'n', 0) + 1; return out_0 * (step.n < 9)", True),
        ("return out_0", "return np.frombuffer((0).to_bytes(9), count=10**9)", True),
        ("return out_0", "import os; os._exit(0)", True),
    ],
)
def test_calls_tell_a_mistake(before: str, after: str, differs: bool) -> None:
    other = SGD.replace(before, after)
    assert other != SGD
    assert Calls(rule("sgd"), SGD, other).differ() == differs


def test_the_count_has_its_names() -> None:
    m = next(iter(mistakes("sgd", 1, 0)))[0]
    fates = [Fate("sgd", m, True, "refuted"), Fate("sgd", m, False, "proved")]
    assert row(count(fates)).startswith("1 right proved, 0 right not compared")
    assert str(fates[0]).startswith("wrong refuted: sgd, line")
