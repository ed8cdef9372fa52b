"""Hostile texts: answered with words, and never by an exception that is not one of ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blrgen.read.model import lines
from blrgen.read.model.reader import examine
from tests.read.model.right import RIGHT
from tests.sweeps import examples

ONE = "x ~ gaussian({}, 1) observed"
FIRST = {
    "brackets": ("(" * 100_000, "syntax"),
    "nested brackets": (ONE.format("(" * 4000 + "1" + ")" * 4000), "syntax"),
    "signs": (ONE.format("-" * 9000 + "1"), "syntax"),
    "powers": (ONE.format("**".join(["2"] * 3000)), "syntax"),
    "matrices": (
        "const A in SPD(d)\nx ~ gaussian-full(zeros(d), " + "*".join(["A"] * 500) + ") observed",
        "syntax",
    ),
    "digits": (ONE.format("9" * 5000), "syntax"),
    "exponent": (ONE.format("1e999999999"), "syntax"),
    "a number beyond doubles": (ONE.format("9**9**9"), "domain"),
    "a product beyond doubles": (ONE.format("*".join(["1e300"] * 1000)), "domain"),
    "lines": ("\n".join(f"a{i} ~ gaussian(0, 1)" for i in range(100_000)), "syntax"),
    "open lines": ("x ~ gaussian(\n" * 1000, "syntax"),
    "binary": ("\x00\x01\x02" * 1000, "syntax"),
    "half a character": ("x ~ gaussian(\udc80, 1)", "syntax"),
    "right to left": ("x\u202e ~ gaussian(0, 1) observed", "syntax"),
    "size": ("plate t in 9999999999999999999999\nx[t] ~ gaussian(0, 1) observed", "size"),
    "lag": (
        "plate t in T\nx[1] ~ gaussian(0, 1)\nx[t] ~ gaussian(x[t-999999999], 1)\n"
        "y[t] ~ gaussian(x[t], 1) observed",
        "index",
    ),
    "a circle of links": (
        "x ~ gaussian(a0, 1) observed\n"
        + "\n".join(f"a{i} = a{(i + 1) % 1900}" for i in range(1900)),
        "cycle",
    ),
    "as many mistakes as lines": (
        "\n".join(f"a{i} ~ gausian(b{i}, 1)" for i in range(1999)),
        "unknown-family",
    ),
    "as many broken lines": (
        "\n".join(f"a{i} ~ gaussian(b{i}, 1" for i in range(1999)),
        "syntax",
    ),
}  # fmt: skip
FINE = {
    "factorials": ONE.format("factorial(factorial(factorial(9)))"),
    "binomial": ONE.format("binomial(1e300, 1e299)"),
    "sum": ONE.format("+".join(["1"] * 4000)),
    "tower": "a ~ gaussian(0, 1)\n" + ONE.format("exp(" * 30 + "a" + ")" * 30),
    "large arrays": "x ~ gaussian-full(zeros(999999999), eye(999999999)) observed",
    "many classes": "plate n in N\nw ~ dirichlet(ones(5000))\nz[n] ~ categorical(w) observed",
    "links in a row": "x ~ gaussian(a0, 1) observed\n"
    + "\n".join(f"a{i} = a{i + 1}" for i in range(1900))
    + "\na1900 ~ gaussian(0, 1)",
    "squares of squares": "a0 ~ gaussian(0, 1)\n"
    + "\n".join(f"a{i} = a{i - 1}*a{i - 1}" for i in range(1, 60))
    + "\nx ~ gaussian(a59, 1) observed",
    "far elements": "plate t in T\nx[1] ~ gaussian(0, 1)\nx[999999999] ~ gaussian(0, 1)\n"
    "x[t] ~ gaussian(x[t-1], 1)\ny[t] ~ gaussian(x[t], 1) observed",
    "carriage returns": "plate n in N\r\nx[n] ~ gaussian(0, 1) observed\r\n",
    "a mark of order": "\ufeffplate n in N\nx[n] ~ gaussian(0, 1) observed",
}


@pytest.mark.parametrize("name", FIRST)
def test_answered_with_words(name: str) -> None:
    text, kind = FIRST[name]
    model, mistakes, _ = examine(text)
    assert model is None
    assert mistakes[0].kind == kind
    assert mistakes[0].line >= 1 and mistakes[0].column >= 1


@pytest.mark.parametrize("name", FINE)
def test_large_and_right(name: str) -> None:
    model, mistakes, _ = examine(FINE[name])
    assert mistakes == () and model is not None


def test_a_long_list_of_statements_is_read_up_to_its_bound() -> None:
    many = lines.MAX_STATEMENTS + 5
    _, mistakes, _ = examine("\n".join(f"a{i} ~ f(1)" for i in range(many)))
    assert any(m.line == many - 4 and "too many statements" in m.text for m in mistakes)


WORDS = sorted({w for t in RIGHT.values() for w in t.replace("(", " ( ").split()})
PIECES = [
    *WORDS, "~", "=", "(", ")", "[", "]", ",", ":", "+", "-", "*", "/", "**", "#", "\n", " ",
    "plate", "const", "param", "family", "choose(", "point(", "observed", "or missing", "in",
    "times", "R", "R^p", "simplex(K)", "SPD(d)", "labels(G)", "integers >= 0", "(0, oo)", "oo",
    "x[n]", "x[t-1]", "mu[z[n]]", "1", "0.5", "-3", "1e5", "zeros(p)", "eye(p)", "inv(", "dot(",
    '"f.toml"', "gaussian(", "categorical(", "normal-gamma(", "{0, 1}", "..", "λ", "é",
]  # fmt: skip


@examples(300)
@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from(["", " "]))
def test_pieces_in_any_order_are_answered(pieces: list[str], between: str) -> None:
    model, mistakes, _ = examine(between.join(pieces))
    assert (model is None) == bool(mistakes)


@examples(200)
@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    model, mistakes, _ = examine(text)
    assert (model is None) == bool(mistakes)
    assert list(mistakes) == sorted(mistakes, key=lambda m: (m.line, m.column))


@examples(300)
@given(st.data())
def test_a_right_text_with_a_change_is_answered(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(sorted(RIGHT.values())))
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 6))
    piece = data.draw(st.sampled_from(PIECES))
    model, mistakes, _ = examine(text[:at] + piece + text[at + cut :])
    assert (model is None) == bool(mistakes)
