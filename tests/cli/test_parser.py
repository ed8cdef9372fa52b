"""Flags keep their order, values may look like flags, nothing is abbreviated."""

from __future__ import annotations

import pytest

from blrgen.approximate import registry
from blrgen.cli.parser import OneOf, Parser
from blrgen.cli.what import add_what
from blrgen.errors import UserError

pytestmark = pytest.mark.core


@pytest.fixture
def parser():
    made = Parser("blrgen test", "A test.")
    add_what(made)
    made.add_argument("--format", action=OneOf, values=("text", "json"), default="text")
    made.add_argument("-o", "--output", default="-")
    return made


def test_every_approximation_is_a_flag_and_in_the_list(parser, invoke):
    assert "blrgen list approximations" in parser.format_help()
    listed = {line.split()[0] for line in invoke("list", "approximations").out.splitlines()}
    for name, info in registry().items():
        assert f"--{info.flag}" in parser._option_string_actions
        assert name in listed


@pytest.mark.parametrize(
    "words",
    [
        ["--delta", "--stochastic", "--rho", "1"],
        ["--rho", "1", "--delta", "--stochastic"],
        ["--stochastic", "--rho=1", "--delta"],
    ],
)
@pytest.mark.parametrize("position", [0, -1])
def test_the_order_given_is_the_order_kept(parser, words, position):
    line = ["gaussian-diag", *words] if position == 0 else [*words, "gaussian-diag"]
    options = parser.read(line)
    given = " ".join(words).replace("--rho 1", "--rho=1").split()
    assert options.approximations == [w.removeprefix("--") for w in given]
    assert options.what == "gaussian-diag"


def test_a_second_reading_starts_afresh(parser):
    parser.read(["x", "--delta"])
    assert parser.read(["x"]).approximations == []


@pytest.mark.parametrize("loss", ["-theta**2", "--x", "-1", "", "a=b", "theta\n"])
def test_values_may_begin_with_a_dash(parser, loss):
    assert parser.read(["x", "--loss", loss]).loss == loss
    assert parser.read([f"--loss={loss}", "x"]).loss == loss


def test_no_abbreviations(parser):
    with pytest.raises(UserError, match="'--delta'"):
        parser.read(["x", "--delt"])


def test_a_double_dash_ends_the_flags(parser):
    assert parser.read(["--", "--odd-name.toml"]).what == "--odd-name.toml"


def test_a_flag_takes_no_value_it_does_not_know(parser):
    with pytest.raises(UserError, match="delta"):
        parser.read(["x", "--delta=3"])
