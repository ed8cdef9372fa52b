"""Reading by its parts: lengths, ranks, branches, definedness, the run, refusals."""

from __future__ import annotations

import ast
import textwrap
from functools import cache
from random import Random

import pytest

import blrgen
from blrgen.core import Rule
from blrgen.decide.proof import NOT_COMPARED, Verdict
from blrgen.validate.reading import run as real
from blrgen.validate.reading.field import P, Pair, drawn
from blrgen.validate.reading.machine import Bounds
from blrgen.validate.reading.values import Mark
from blrgen.validate.reading.verdict import Reading
from blrgen.validate.verify_file import verify_source


@cache
def rule(name: str) -> Rule:
    return blrgen.derive(name).rule


def check(text: str, name: str = "sgd", *, run: bool = True) -> Verdict:
    return verify_source(textwrap.dedent(text).lstrip("\n"), rule(name), path="mine.py", run=run)


def test_a_refusal_names_the_file_the_line_and_the_construct() -> None:
    verdict = check("""
        import numpy as np
        def step(m, g, rho):
            return m - rho * np.sum(g, initial=0.0)
        """)
    assert verdict["m"].detail == "mine.py:3: keyword initial= of np.sum has no meaning here"
    assert (verdict["m"].line, verdict["m"].construct) == (3, "keyword initial= of np.sum")
    assert verdict.notes[0] == "line 3: return m - rho * np.sum(g, initial=0.0)"
    assert "docs/verify.md" in verdict.notes[1] and verdict.exit_code == 3


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("return m - rho * g", "for every length, ranks 1 and 2, for single numbers"),
        ("m -= rho * g", "for every length, ranks 1 and 2"),
        ("m[:3] -= rho * g[:3]; m[3:] -= rho * g[3:]", "at lengths 1…6 for rank 1"),
        ("for i in range(len(m)): m[i] -= rho * g[i]", "for every length, ranks 1 and 2"),
    ],
)
def test_what_was_proved_is_said(text: str, note: str) -> None:
    verdict = check(f"def step(m, g, rho):\n    {text}\n")
    assert verdict.proved and note in verdict.notes[0], verdict


def test_lengths_reach_beyond_constants() -> None:
    wrong = "def step(m, g, rho):\n    return m - rho * g if len(m) < {} else m\n"
    for n in (2, 7, 21, 40):
        assert check(wrong.format(n)).level == "refuted", n
    assert check(wrong.format(60)).level == NOT_COMPARED


def test_bounds_of_lengths() -> None:
    bounds = Bounds()
    assert bounds.largest(5) == 5
    bounds.meets(Mark("length", 3, 4), 5)  # n ≤ 3 · 5 + 3 + 4 where the value is at most 5
    assert bounds.largest(5) == 24
    bounds.repeats(4)
    bounds.repeats(6)
    assert bounds.largest(5) == 22 + 3 * 12 + 2


def test_all_states_are_compared() -> None:
    text = "def step(u, g, gamma):\n    return gamma * u + g\n"
    verdict = verify_source(text, rule("momentum"))
    assert verdict["u"].proved and verdict.not_compared == ("m",) and verdict.exit_code == 3
    newton = "import numpy as np\ndef step(m, g, H):\n    return m - np.linalg.solve(H, g)\n"
    verdict = verify_source(newton, rule("newton"))
    assert verdict.proved and verdict.left_out == ("S",)


@pytest.mark.parametrize(
    ("text", "recipe", "level"),
    [
        ("return m - rho * np.sqrt(g) ** 2", "sgd", "refuted"),
        ("return m - rho * g * g / g", "sgd", "refuted"),
        ("return m - rho * np.tanh(np.arctanh(g))", "sgd", "refuted"),
        ("return m - rho * np.exp(np.log(rho)) * g / rho", "sgd", "refuted"),  # ρ may be 0
        ("return m - np.exp(np.log(1 + rho)) * rho * g / (1 + rho)", "sgd", "identity"),
        ("return m - rho * np.where(g != 0, g * g / np.where(g != 0, g, 1), 0)", "sgd", "identity"),
    ],
)
def test_where_the_rule_is_defined_the_code_is(text: str, recipe: str, level: str) -> None:
    verdict = check(f"import numpy as np\ndef step(m, g, rho):\n    {text}\n", recipe)
    assert verdict.level == level, verdict


def test_branches_are_proved_under_their_conditions() -> None:
    right = "def step(m, g, rho):\n    return m - g if rho == 1 else m - rho * g\n"
    assert check(right).proved
    assert check(right.replace("rho == 1", "rho == 0.5")).level == "refuted"
    raised = "def step(m, g, rho):\n    assert rho {} 1\n    return m - rho * g\n"
    assert check(raised.format("<=")).proved
    assert check(raised.format("<")).level == "refuted"


def test_what_is_proved_is_also_run() -> None:
    """A run that gives something else than what was read takes the proof back."""
    source = "def step(m, g, rho):\n    return m - rho * g\n"
    reading = Reading(source, ast.parse(source), rule("sgd"), "step", {}, "mine.py")
    verdict = reading.verdict()
    assert real.tested(verdict, reading).proved
    reading.source = source.replace("- rho", "- 1.0001 * rho")
    taken = real.tested(verdict, reading)
    assert taken.level == NOT_COMPARED and "the run gives something else" in taken["m"].detail
    assert "that is a defect of blrgen" in taken["m"].detail


def test_doubles_must_be_near_the_rule() -> None:
    """What algebra cancels and doubles do not is said with both numbers."""
    verdict = check("def step(m, g, rho):\n    return m - rho * ((g + 1e20) - 1e20)\n")
    assert verdict.exit_code == 3 and "in float64 m is" in verdict["m"].detail
    near = check("def step(m, g, rho):\n    return m - rho * ((g + 10) - 10)\n")
    assert near.proved


def test_a_narrow_type_is_held_to_its_own_rounding() -> None:
    verdict = check("""
        import numpy as np
        def step(m, g, rho):
            return m - (rho * g).astype(np.float32)
        """)
    assert verdict.proved and any("float32" in n for n in verdict.notes)


@pytest.mark.parametrize(
    ("name", "value", "said"), [("SECONDS", -1.0, "s"), ("GIGABYTES", -1.0, "GB")]
)
def test_a_reading_has_an_end(
    monkeypatch: pytest.MonkeyPatch, name: str, value: float, said: str
) -> None:
    monkeypatch.setattr(f"blrgen.validate.reading.limits.{name}", value)
    monkeypatch.setattr("blrgen.validate.reading.limits.EVERY", 0.001)
    source = "def step(m, g, rho):\n    x = m\n" + "    x = x * rho + g\n" * 3000 + "    return x\n"
    verdict = check(source)
    assert verdict.exit_code == 3 and f"takes more than -1 {said}" in verdict["m"].detail


@pytest.mark.parametrize(
    "source",
    [
        "def step(m, g, rho):\n    return m - rho * g" + " + 0" * 60_000 + "\n",
        "def step(m, g, rho):\n    return m - rho * " + "-" * 150_000 + "g\n",
        "def step(m, g, rho):\n" + "    a = m\n" * 100_000 + "    return m - rho * g\n",
        "def step(m, g, rho):\n    return m - rho * g * " + "9" * 4_000 + "\n",
        "def step(m, g, rho):\n    return m - rho * g * 0x" + "f" * 100_000 + "\n",
        "A0 = (1, 2)\n"
        + "".join(f"A{k + 1} = (A{k}, A{k})\n" for k in range(60))
        + "def step(m, g, rho):\n    return m - rho * g\n",
    ],
)
def test_what_is_too_large_is_not_compared(source: str) -> None:
    verdict = check(source)
    assert verdict.exit_code == 3 and "has no meaning here" in verdict["m"].detail


def test_the_rows_of_data_are_their_own() -> None:
    """A step that takes data to be square is wrong, whatever the rule calls their sizes."""
    verdict = check(
        """
        import numpy as np
        def step(m, S, X, y, delta):
            S = X.T @ X + delta * np.eye(len(y))
            return np.linalg.solve(S, X.T @ y), S
        """,
        "ridge",
    )
    assert verdict.exit_code == 3


def test_a_run_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blrgen.validate.reading.run.TIMEOUT", 1)
    source = "def step(m, g, rho):\n    return m - rho * g\n"
    reading = Reading(source, ast.parse(source), rule("sgd"), "step", {}, "mine.py")
    verdict = reading.verdict()
    reading.source = "def step(m, g, rho):\n    while True: pass\n"
    assert "ran for more than" in real.tested(verdict, reading)["m"].detail


def test_files_do_not_change_each_other() -> None:
    check("import numpy as np\nnp.sqrt = np.abs\ndef step(m, g, rho):\n    return m\n")
    text = "import numpy as np\ndef step(m, g, rho):\n    return m - rho * np.sqrt(g**2)\n"
    assert check(text).level == "refuted"


def test_the_field_has_roots() -> None:
    random = Random(1)
    for _ in range(20):
        x, y = drawn(random), drawn(random)
        assert x.root() ** 2 == x
        assert (x / y) * y == x and x * x.inverse() == 1
    i = Pair(0, 1)
    assert i * i == -1 and pow(2, P - 1, P) == 1


def test_where_doubles_end_is_remarked() -> None:
    """1 − tanh² is 0 in doubles from |λ| ≈ 20: no mistake of the code, and said."""
    text = """
        import numpy as np
        def step(lam, g, eps, rho, tau, lam0):
            theta = np.tanh((lam + eps) / tau)
            s = (1 - theta**2) / (tau * (1 - np.tanh(lam) ** 2))
            return (1 - rho) * lam - rho * (s * g - lam0)
        """
    verdict = check(text, "bayesbinn")
    assert verdict.proved and any("no number in float64 at lam = 40" in n for n in verdict.notes)


def test_the_line_is_found_with_rows_of_data() -> None:
    """Data have as many rows as the arrays at which the code was refuted."""
    verdict = check(
        """
        import numpy as np
        def step(m, S, X, y, delta):
            Z = X - X.mean(axis=0)
            A = Z.T @ Z + delta * np.eye(len(m))
            return np.linalg.solve(A, X.T @ y), A
        """,
        "ridge",
    )
    assert verdict.level == "refuted" and verdict.line == 3


def test_code_for_arrays_may_raise_on_numbers() -> None:
    verdict = check("""
        def step(m, g, rho):
            if rho == 0:
                return m.copy()
            return m - rho * g
        """)
    assert verdict.proved
    assert any("single numbers" in n and "not compared" in n for n in verdict.notes)
    raises = check("""
        import math
        def step(m, g, rho):
            if rho == 0:
                raise ValueError("no step")
            return m - math.fabs(rho) * g
        """)
    assert raises.level == "refuted"


def test_what_asks_for_numba_is_run_compiled() -> None:
    verdict = check("""
        import numpy as np
        from numba import njit
        @njit
        def step(m, g, rho):
            return np.subtract(m, np.einsum("i,i->i", g, np.full(len(g), rho)))
        """)
    assert verdict.level == NOT_COMPARED and "Numba does not compile it" in verdict["m"].detail
    taken = check("""
        from numba import njit
        @njit(cache=True)
        def step(m, g, rho):
            for i in range(m.shape[0]):
                m[i] -= rho * g[i]
            return m
        """)
    assert taken.proved
