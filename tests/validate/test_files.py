"""Step functions as people write them, right and subtly wrong."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from prove_rules import ADAM, IBLR, IVON, OGN, VON_FULL

from blrgen.core import Rule
from blrgen.decide.proof import Verdict
from blrgen.errors import UserError
from blrgen.validate.verify_file import verify_file, verify_source

pytestmark = pytest.mark.core

REFERENCE = Path(__file__).parents[1] / "reference"


def check(text: str, rule: Rule, **mapping: str) -> Verdict:
    return verify_source(textwrap.dedent(text).lstrip("\n"), rule, mapping=mapping)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("adam", ADAM), ("ogn", OGN), ("ivon", IVON), ("von", VON_FULL), ("iblr", IBLR)],
)
def test_references_agree(name: str, rule: Rule) -> None:
    verdict = verify_file(REFERENCE / f"{name}.py", rule)
    assert verdict.level == "identity" and verdict.exit_code == 0, verdict


RIGHT = {
    "in place": (ADAM, """
        import numpy as np
        def step(m, u, s, g, t, alpha=1e-3, beta1=0.9, beta2=0.999, c=1e-8):
            u *= beta1
            u += (1 - beta1) * g
            s[:] = beta2 * s + (1 - beta2) * g * g
            root = np.sqrt(1 - beta2 ** t)
            m -= alpha * root / (1 - beta1 ** t) * u / (np.sqrt(s) + c * root)
        """),
    "out=": (ADAM, """
        import numpy as np
        def step(m, u, s, g, t, alpha, beta1, beta2, c):
            scratch = np.empty_like(m)
            np.multiply(u, beta1, out=u)
            np.multiply(g, 1 - beta1, out=scratch)
            np.add(u, scratch, out=u)
            np.square(g, out=scratch)
            s += (1 - beta2) * (scratch - s)
            np.sqrt(s / (1 - beta2**t), out=scratch)
            scratch += c
            m[...] = m - np.divide(alpha / (1 - beta1**t) * u, scratch)
            return m, u, s
        """),
    "a loop": (OGN, """
        def step(m, s, g, h, rho, delta):
            for i in range(len(m)):
                s[i] += rho * (h[i] + delta - s[i])
                m[i] -= rho * g[i] / s[i]
        """),
    "numba": (OGN, """
        import numpy as np
        from numba import njit, prange
        @njit(parallel=True, fastmath={"contract"})
        def kernel(m, s, g, h, rho, delta):
            for i in prange(m.size):
                new = (np.float32(1.0) - rho) * s[i] + rho * (h[i] + delta)
                s[i] = new
                m[i] -= rho * g[i] / new
        def step(m, s, g, h, rho, delta):
            kernel(m, s, g, h, rho, delta)
        """),
    "math": (OGN, """
        import math
        def step(m, s, g, h, rho, delta):
            s = (1 - rho) * s + rho * (h + delta)
            root = math.sqrt(s)
            return m - rho * g / (root * root), s
        """),
    "a dictionary": (OGN, """
        def step(m, s, g, h, rho, delta):
            new = s + rho * (h + delta - s)
            return {"s": new, "m": m - rho * g / new}
        """),
    "checks that the domains decide": (OGN, """
        import numpy as np
        def step(m, s, g, h, rho, delta):
            if not 0 < rho < 1:
                raise ValueError("rho")
            if np.any(s < 0) or not np.all(np.isfinite(g)):
                raise ValueError("s")
            s = (1 - rho) * s + rho * (h + delta)
            return m - rho * g / s, s
        """),
    "where for clip": (IVON, """
        import numpy as np
        def step(m, u, h, g, eps, t, alpha, beta1, beta2, delta, N, h0, c):
            est = np.sqrt(N * (h + delta)) * eps * g
            u = beta1 * u + (1 - beta1) * g
            h = beta2 * h + (1 - beta2) * est + 0.5 * (1 - beta2)**2 * (h - est)**2 / (h + delta)
            step = (u / (1 - beta1**t) + delta * m) / (h + delta)
            step = np.where(step > c, c, np.where(step < -c, -c, step))
            return m - alpha * (h0 + delta) * step, u, h
        """),
    "the inverse": (VON_FULL, """
        import numpy as np
        def step(m, S, g, H, rho):
            S = S - rho * (S - H)
            return m - rho * np.linalg.inv(S) @ g, S
        """),
    "Cholesky": (VON_FULL, """
        import numpy as np
        from scipy import linalg
        def step(m, S, g, H, rho):
            S *= 1 - rho
            S += rho * H
            L = np.linalg.cholesky(S)
            y = linalg.solve_triangular(L, g, lower=True)
            m -= rho * linalg.solve_triangular(L.T, y, lower=False)
        """),
    "posv": (VON_FULL, """
        import numpy as np
        from scipy.linalg.lapack import dposv
        def step(m, S, g, H, rho):
            S_next = (1 - rho) * S + rho * H
            factor, x, info = dposv(S_next, g)
            return m - rho * x, S_next
        """),
    "a column": (VON_FULL, """
        import numpy as np
        def step(m, S, g, H, rho):
            S_next = (1 - rho) * S + rho * H
            return (m[:, None] - rho * np.linalg.solve(S_next, g.reshape(-1, 1))).ravel(), S_next
        """),
}  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", RIGHT)
def test_right_ones_are_proved(name: str) -> None:
    rule, text = RIGHT[name]
    verdict = check(text, rule)
    exact = name in ("Cholesky", "posv", "a column")
    assert verdict.level == ("random-exact" if exact else "identity"), verdict


def test_a_loop_over_matrix_entries_is_exact_at_random() -> None:
    verdict = check("""
        import numpy as np
        def step(m, S, g, H, rho):
            for i in range(len(m)):
                for j in range(len(m)):
                    S[i, j] = (1 - rho) * S[i, j] + rho * H[i, j]
            m -= rho * np.linalg.solve(S, g)
        """, VON_FULL)  # fmt: skip
    assert verdict.level == "random-exact" and "2^127" in verdict["m"].bound


_ADAM = (REFERENCE / "adam.py").read_text(encoding="utf-8")
_OGN = (REFERENCE / "ogn.py").read_text(encoding="utf-8")
_IBLR = (REFERENCE / "iblr.py").read_text(encoding="utf-8")
WRONG = [
    (_ADAM, ADAM, "s_next / (1 - beta2**t)", "s / (1 - beta2**t)"),
    (_ADAM, ADAM, "u_hat = u_next / (1 - beta1**t)", "u_hat = u_next / (1 - beta1**(t - 1))"),
    (_ADAM, ADAM, "u_hat = u_next / (1 - beta1**t)", "u_hat = u_next / (1 - beta2**t)"),
    (_ADAM, ADAM, "(np.sqrt(s_hat) + c)", "np.sqrt(s_hat + c)"),
    (_ADAM, ADAM, "(1 - beta2) * g**2", "(1 - beta2) * g"),
    (_ADAM, ADAM, "(1 - beta2) * g**2", "(1 - beta1) * g**2"),
    (_ADAM, ADAM, "m_next = m - alpha", "m_next = m + alpha"),
    (_ADAM, ADAM, "return m_next, u_next, s_next", "return u_next, m_next, s_next"),
    (_ADAM, ADAM, "beta1 * u + (1 - beta1) * g", "beta1 * u + (0.999999999 - beta1) * g"),
    (_OGN, OGN, "rho * g / s_next", "rho * g / s"),
    (_IBLR, IBLR, "rho**2 / 2", "rho**2 / 3"),
    (_IBLR, IBLR, "np.linalg.solve(S, g)", "np.linalg.solve(S_next, g)"),
    (_IBLR, IBLR, "S + rho * G", "S + rho * G + 1e-6"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "rule", "right", "wrong"), WRONG, ids=[w[3] for w in WRONG])
def test_wrong_ones_are_refuted_at_their_line(
    source: str, rule: Rule, right: str, wrong: str
) -> None:
    assert source.count(right) == 1
    line = source[: source.index(right)].count("\n") + 1
    verdict = verify_source(source.replace(right, wrong), rule)
    assert verdict.exit_code == 1
    assert verdict.refutation is not None and verdict.refutation.point
    assert verdict.line == line, (verdict.line, verdict.source, verdict.repair)


def test_cross_talk_between_elements_is_refuted() -> None:
    verdict = check("""
        import numpy as np
        def step(m, s, g, h, rho, delta):
            s = (1 - rho) * s + rho * (h + delta)
            return m - rho * g / s.mean(), s
        """, OGN)  # fmt: skip
    assert verdict["m"].level == "refuted" and verdict["s"].proved and verdict.line == 4


def test_a_number_added_to_a_matrix_is_not_a_multiple_of_the_identity() -> None:
    text = """
        import numpy as np
        def step(m, S, g, H, rho):
            S_next = (1 - rho) * S + rho * H {extra}
            return m - rho * np.linalg.solve((1 - rho) * S + rho * H, g), S_next
        """
    assert check(text.format(extra=""), VON_FULL).proved
    assert (
        check(text.format(extra="+ rho - rho * np.eye(len(m))"), VON_FULL)["S"].level == "refuted"
    )
    assert check(
        text.format(extra="+ rho * np.eye(len(m)) - rho * np.eye(m.size)"), VON_FULL
    ).proved


BRANCH = """
    def step(m, s, g, h, rho, delta):
        s = s + rho * (h + delta - s)
        if {condition}:
            m = m - rho * g / s
        else:
            m = m {sign} rho * g / s
        return m, s
    """


def test_branches_are_followed_both_ways() -> None:
    assert check(BRANCH.format(condition="m[0] > 0", sign="-"), OGN).proved
    assert check(BRANCH.format(condition="m[0] > 0", sign="+"), OGN).exit_code == 1


def test_conditions_that_the_domains_decide_are_no_branches() -> None:
    assert check(BRANCH.format(condition="rho < 1", sign="+"), OGN).proved


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("condition", "code"), [
    ("t == 1", 1), ("t <= 1", 1), ("t > 1", 1), ("t != 3", 1),  # t counts from 1: it can be 1
    ("t >= 1", 0), ("0 < t", 0), ("beta1 < 1", 0),
])  # fmt: skip
def test_ends_that_belong_to_a_domain_are_not_forgotten(condition: str, code: int) -> None:
    source = _ADAM.replace("    u_next", f"    g = g * 1 if {condition} else g * 2\n    u_next", 1)
    if condition in ("t == 1", "t <= 1"):
        source = _ADAM.replace("    u_next", f"    g = 2 * g if {condition} else g\n    u_next", 1)
    assert verify_source(source, ADAM).exit_code == code


def test_jumps_at_one_point_are_seen() -> None:
    source = _ADAM.replace("    u_next", "    g = np.where(t == 1, 2 * g, g)\n    u_next", 1)
    assert verify_source(source, ADAM).exit_code == 1
    source = _ADAM.replace("    u_next", "    g = np.where(g == 0, 1, g)\n    u_next", 1)
    assert not verify_source(source, ADAM)["u"].proved


def test_endless_loops_are_stopped() -> None:
    text = "def step(m, s, g, h, rho, delta):\n    while True:\n        pass\n"
    verdict = verify_source(text, OGN)
    assert verdict.exit_code == 3 and "2: a loop of more than" in verdict["m"].detail


@pytest.mark.parametrize("text", [
    "import os\ndef step(m, s, g, h, rho, delta):\n    os.remove('x')\n",
    "def step(m, s, g, h, rho, delta):\n    open('x', 'w')\n",
    "def step(m, s, g, h, rho, delta):\n    ().__class__.__bases__\n",
    "def step(m, s, g, h, rho, delta):\n    getattr((), '__class__')\n",
    "def step(m, s, g, h, rho, delta):\n    __import__('os')\n",
    "def step(m, s, g, h, rho, delta):\n    eval('1')\n",
    "def step(m, s, g, h, rho, delta):\n    m.tofile('x')\n",
    "from . import other\ndef step(m, s, g, h, rho, delta):\n    return m, s\n",
])  # fmt: skip
def test_what_is_not_in_the_table_is_not_compared(text: str) -> None:
    verdict = verify_source(text, OGN)
    assert verdict.level == "not compared" and "has no meaning here" in verdict["m"].detail


def test_arguments_by_another_name() -> None:
    text = """
        def step(theta, s, g, h, lr, delta):
            s = (1 - lr) * s + lr * (h + delta)
            return theta - lr * g / s, s
        """
    with pytest.raises(UserError) as error:
        check(text, OGN)
    assert "--map theta=OURS" in error.value.how
    assert check(text, OGN, theta="m", lr="rho").proved
    with pytest.raises(UserError, match="no argument 'teta'"):
        check(text, OGN, teta="m", lr="rho")
    with pytest.raises(UserError, match="rule has no 'roh'") as error:
        check(text, OGN, theta="m", lr="roh")
    assert "rho" in error.value.how


def test_an_argument_left_out_is_said() -> None:
    verdict = check("""
        def step(m, s, g, h, rho):
            s = (1 - rho) * s + rho * h
            return m - rho * g / s, s
        """, OGN)  # fmt: skip
    assert verdict.exit_code == 1 and any("takes no delta" in n for n in verdict.notes)


def test_a_state_left_out_is_no_proof_where_the_rule_reads_it() -> None:
    verdict = check("def step(s, h, rho, delta):\n    return s + rho * (h + delta - s)\n", OGN)
    assert verdict["s"].proved and verdict.not_compared == ("m",) and verdict.exit_code == 3


@pytest.mark.parametrize(("text", "message"), [
    ("def step(m, s, g, h, rho, delta:\n", "not Python"),
    ("def stop(m):\n    pass\n", "no function 'step'"),
    ("def step(m, s, g, h, rho, delta):\n    pass\n", "changes none"),
    ("def step(m, s, g, h, rho, delta):\n    return m, s, g\n", "3 values for 2 states"),
    ("def step(m, s, g, h, rho, delta):\n    return {'x': m}\n", "none of the states"),
    ("def step(rho, delta):\n    return rho\n", "none of the rule's states"),
])  # fmt: skip
def test_mistakes_are_explained(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        verify_source(text, OGN)


def test_literals_are_exact() -> None:
    """0.1 + 0.2 is 0.3 here: a literal means the number that is written."""
    assert check("""
        def step(m, s, g, h, rho, delta):
            s = (1 - rho) * s + rho * (h + delta)
            return m - (0.1 + 0.2) * rho * g / (0.3 * s) * (3 / 3) + 1 / 3 - 2 / 6, s
        """, OGN).level == "identity"  # fmt: skip
