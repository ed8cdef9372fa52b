"""Reports of proofs and verdicts."""

from __future__ import annotations

import re

import pytest

from blrgen.decide.proof import LEVELS, Proof, Verdict
from blrgen.show import render_proof
from blrgen.show.proof import MEANING

pytestmark = pytest.mark.core

REFUTED = Proof(
    "refuted",
    "m_next is that of the rule",
    point=(("m", "1/3"), ("alpha", "1/10")),
    left="0.12345678",
    right="0.12345999",
)


def test_every_level_says_what_it_is_worth():
    assert set(MEANING) == set(LEVELS)
    for level in LEVELS:
        assert render_proof(Proof(level, "x")).startswith(MEANING[level])
    assert "not a proof" in MEANING["numeric"]


def test_what_was_not_compared_is_in_the_headline():
    proved, unknown = Proof("identity", "m_next"), Proof("not compared", "s_next", "no room")
    assert render_proof(Verdict(())).startswith("nothing was compared")
    assert not Verdict(()).proved
    assert render_proof(Verdict((("s", unknown),))) == "nothing was compared: no room\n"
    both = render_proof(Verdict((("m", proved), ("s", unknown), ("u", unknown))))
    assert both.startswith("not a proof: s and u were not compared; the rest is proved: ")
    numbers = render_proof(Verdict((("m", Proof("numeric", "m_next")), ("s", unknown))))
    assert numbers.startswith("not a proof: s was not compared; the rest is equal in numbers")
    left = render_proof(Verdict((("m", proved),), left_out=("s",)))
    assert left.splitlines()[0] == MEANING["identity"] + "; s was not compared"


def test_a_refutation_shows_point_values_and_line():
    verdict = Verdict(
        (("u", Proof("identity", "u")), ("m", REFUTED)),
        path="my_adam.py",
        line=12,
        source="    m = m - lr*u/(np.sqrt(v) + eps)\n",
        repair="m = m - lr*u/(np.sqrt(v/(1 - b2**t)) + eps)",
        notes=("the argument foo is not used",),
    )
    assert render_proof(verdict) == (
        "refuted: the two sides differ\n"
        "file   my_adam.py\n"
        "\n"
        "state  level     how\n"
        "─────  ────────  ────────────────\n"
        "u      identity\n"
        "m      refuted\n"
        "\n"
        "at the point\n"
        "  m = 1/3        alpha = 1/10\n"
        "  this gives      0.12345678\n"
        "  the rule gives  0.12345999\n"
        "\n"
        "the first difference is at line 12\n"
        "  - m = m - lr*u/(np.sqrt(v) + eps)\n"
        "  + m = m - lr*u/(np.sqrt(v/(1 - b2**t)) + eps)\n"
        "\n"
        "note   the argument foo is not used\n"
    )


def test_colour_marks_the_digits_that_differ():
    plain, coloured = render_proof(REFUTED), render_proof(REFUTED, colour=True)
    assert "\033" not in plain
    assert "0.12345\033[31m678\033[0m" in coloured
    assert re.sub(r"\033\[\d+m", "", coloured) == plain


@pytest.mark.parametrize("columns", [40, 60, 88])
def test_the_bound_and_the_claim_are_told(columns):
    proof = Proof("random-exact", "S_next equals " * 6, "Schwartz and Zippel", bound="2^-100")
    text = render_proof(proof, columns=columns)
    assert "bound  2^-100" in text
    assert "how    Schwartz and Zippel" in text
    assert max(map(len, text.splitlines()[1:])) <= columns


def test_source_text_cannot_reach_the_terminal_as_control():
    verdict = Verdict((("m", REFUTED),), line=1, source="m = 1 # \033[2J")
    assert "\033" not in render_proof(verdict)


def test_claims_that_are_sentences_are_listed():
    claim = "u_next is the next value of u = -(sqrt(s) + c)*(m - m_prev)/alpha"
    text = render_proof(Verdict(((claim, Proof("identity", claim, "zero in normal form")),)))
    assert text.splitlines()[2:] == [claim, "  identity: zero in normal form"]
