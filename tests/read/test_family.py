"""Family files: what is declared is read, what is wrong is told with file and line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from blrgen.algebra.ranks import Mat, SymMat, Vec
from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.read.family import find_family, list_families, read_family
from tests.sweeps import examples

pytestmark = pytest.mark.core

GAMMA = """\
name = "gamma"
title = "Gamma"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "1/x"
log_partition = "loggamma(eta1) - eta1*log(-eta2)"

[natural]
eta1 = "(0, oo)"
eta2 = "(-oo, 0)"

[working]
a = { domain = "(0, oo)", natural = "eta1" }
b = { domain = "(0, oo)", natural = "-eta2" }
"""


@pytest.fixture
def read(tmp_path: Path):
    def write(text: str) -> Family:
        file = tmp_path / "family.toml"
        file.write_text(text, encoding="utf-8")
        return read_family(file)

    return write


def test_the_example_of_the_contract(read) -> None:
    f = read(GAMMA)
    x, eta1, eta2 = f.variable, f.natural[0].symbol, f.natural[1].symbol
    assert (f.name, f.title, f.elementwise) == ("gamma", "Gamma", True)
    assert f.statistics == (sp.log(x), x)
    assert x.is_positive and eta1.is_positive
    assert eta2.is_real and not eta2.is_positive
    assert f.base_measure == 1 / x
    assert f.log_partition == sp.loggamma(eta1) - eta1 * sp.log(-eta2)
    assert [p.chart for p in f.working] == [eta1, -eta2]
    assert [p.chart for p in f.natural] == [None, None]


@pytest.mark.parametrize("name", list_families())
def test_every_family_that_ships(name: str) -> None:
    f = read_family(name)
    assert f.name == name == Path(f.path).stem
    assert len(f.natural) == len(f.statistics)
    assert f == read_family(find_family(name)) == read_family(str(find_family(name)))
    names = [p.name for p in (*f.natural, *f.working, *f.fixed)] + [str(f.variable)]
    assert len(set(names)) == len(names)


def test_ranks_of_a_matrix_family() -> None:
    f = read_family("gaussian-full")
    assert not f.elementwise
    assert type(f.variable) is Vec
    assert [type(p.symbol) for p in f.natural] == [Vec, SymMat]
    (m, s), (lam1, lam2) = f.working, f.natural
    assert lam1.chart == s.symbol * m.symbol
    assert lam2.chart == -s.symbol / 2


def test_rectangular_matrices(read) -> None:
    f = read(
        'name = "f"\nvariable = "Y"\nsupport = "R^(n,p)"\nstatistics = ["Y"]\n'
        'base_measure = "exp(-trace(transpose(Y)*Y)/2)"\n[natural]\nL = "R^(n,p)"\n'
    )
    assert type(f.variable) is Mat and type(f.natural[0].symbol) is Mat


def test_fixed_constants_and_bounds(read) -> None:
    f = read(
        'name = "pareto"\nvariable = "x"\nsupport = "(k, oo)"\nstatistics = ["log(x/k)"]\n'
        'base_measure = "1/k"\n[fixed]\nk = "(0, oo)"\n[natural]\neta1 = "(-oo, -1)"\n'
    )
    k = f.fixed[0].symbol
    assert f.support.lower == k and f.variable.is_positive
    assert f.statistics == (sp.log(f.variable / k),)
    g = read(
        'name = "f"\nvariable = "x"\nsupport = "R^d"\nstatistics = ["x", "x**2"]\n'
        '[natural]\neta1 = "(0, oo)"\neta2 = "(-oo, -eta1)"\n'
    )
    assert g.natural[1].domain.upper == -g.natural[0].symbol


def test_sizes_are_names_in_a_closed_form(read) -> None:
    f = read(
        'name = "f"\nvariable = "v"\nsupport = "R^d"\nstatistics = ["v"]\n'
        'base_measure = "exp(-dot(v, v)/2)"\n'
        'log_partition = "dot(lam, lam)/2 + trace(outer(lam, lam)) - d*log(2*pi)/2"\n'
        "[natural]\n"
        'lam = "R^d"\n'
    )
    assert not f.elementwise
    assert sp.Symbol("d", integer=True, positive=True) in f.log_partition.free_symbols


CHANGES = [
    ('name = "gamma"', 'name = "Gamma Family"', 1, "lowercase"),
    ('name = "gamma"', "name = 3", 1, "must be text"),
    ('name = "gamma"\n', "", 0, "missing key 'name'"),
    ('title = "Gamma"', 'title = "a \\"\\"\\" b"', 2, "copied into emitted files"),
    ('title = "Gamma"', 'titel = "Gamma"', 2, "did you mean 'title'"),
    ('variable = "x"', 'variable = "lambda"', 3, "write lam"),
    ('variable = "x"', 'variable = "__x"', 3, "start with a letter"),
    ('variable = "x"', 'variable = "x\\"\\nimport os"', 3, "ASCII letters"),
    ('variable = "x"', 'variable = "t"', 3, "step counter"),
    ('variable = "x"', 'variable = "exp"', 3, "function"),
    ('variable = "x"', 'variable = "np"', 3, "emitted code"),
    ('variable = "x"', "variable = true", 3, "true or false"),
    ('support = "(0, oo)"', 'support = "(1, 0)"', 4, "empty"),
    ('support = "(0, oo)"', 'support = "reals"', 4, "a support is"),
    ('["log(x)", "x"]', "[]", 5, "needs a statistic"),
    ('["log(x)", "x"]', '"x"', 5, "must be a list"),
    ('["log(x)", "x"]', '["log(x)", 3]', 5, "must be text"),
    ('["log(x)", "x"]', '["log(x)"]', 9, "2 natural parameters for 1 statistic"),
    ('["log(x)", "x"]', '["log(x)", "x", "x**2"]', 9, "2 natural parameters for 3 statistics"),
    ('["log(x)", "x"]', '["log(x)", "2"]', 5, "does not depend on x"),
    ('["log(x)", "x"]', '["log(x)", "x - x"]', 5, "does not depend on x"),
    ('["log(x)", "x"]', '["log(x)", "y"]', 5, "unknown name 'y'"),
    ('["log(x)", "x"]', '["log(x)", "log(2*x)"]', 5, "not minimal"),
    ('["log(x)", "x"]', '["log(x)", "log(-x)"]', 5, "not a real number"),
    ('["log(x)", "x"]', '["x", "x.real"]', 5, "attributes"),
    ('"1/x"', '"1/y"', 6, "unknown name 'y'"),
    ('"1/x"', '"0"', 6, "zero"),
    ('"1/x"', "1", 6, "must be text"),
    ("loggamma(eta1)", "loggamma(eta3)", 7, "'eta1'"),
    ("loggamma(eta1)", "loggamma(x)", 7, "unknown name 'x'"),
    ("loggamma(eta1)", "loggamma(a)", 7, "unknown name 'a'"),
    ('eta1 = "(0, oo)"', 'eta1 = "(0, eta2)"', 10, "uses eta2, which comes after it"),
    ('eta1 = "(0, oo)"', 'eta1 = { domian = "(0, oo)" }', 10, "did you mean 'domain'"),
    ('eta1 = "(0, oo)"', 'eta1 = { working = "a" }', 10, "no domain"),
    ('eta1 = "(0, oo)"', "eta1 = 1", 10, "must be text"),
    ('eta1 = "(0, oo)"', 'rho = "(0, oo)"', 10, "learning rate"),
    ('eta1 = "(0, oo)"', 'x = "(0, oo)"', 10, "already the variable"),
    ('eta1 = "(0, oo)"', '"eta 1" = "(0, oo)"', 10, "ASCII letters"),
    ('eta1 = "(0, oo)"', 'eta_next = "(0, oo)"', 10, "made by the rules"),
    ("a = {", "eta1 = {", 14, "already a natural parameter"),
    ('natural = "eta1"', 'natural = "eta7"', 14, "unknown name 'eta7'"),
    ('natural = "eta1"', 'naturel = "eta1"', 14, "did you mean 'natural'"),
    (', natural = "-eta2"', "", 13, "not tied"),
    ("[working]", "[wroking]", 13, "did you mean 'working'"),
    ("[working]", "[natural]", 13, "TOML"),
    ('title = "Gamma"', "title = Gamma", 2, "not valid TOML"),
    ('title = "Gamma"', 'title = "Gamma', 2, "not valid TOML"),
    ("[natural]", "[natural", 9, "not valid TOML"),
    ('title = "Gamma"', "title = " + "[" * 5000, 0, "nested too deeply"),
    ('title = "Gamma"', "title = " + "9" * 5000, 0, "not valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "line", "word"), CHANGES, ids=lambda v: repr(v)[:24])
def test_mistakes_are_told_with_their_line(read, old: str, new: str, line: int, word: str) -> None:
    assert GAMMA.count(old) >= 1
    with pytest.raises(UserError) as caught:
        read(GAMMA.replace(old, new, 1))
    message = str(caught.value)
    assert word in message, message
    if line:
        assert re.search(rf"family\.toml:{line}\b", message), message


def test_charts_in_either_direction(read) -> None:
    there = GAMMA.replace('eta1 = "(0, oo)"', 'eta1 = { domain = "(0, oo)", working = "a" }')
    there = there.replace('eta2 = "(-oo, 0)"', 'eta2 = { domain = "(-oo, 0)", working = "-b" }')
    both = read(there)
    assert all(p.chart is not None for p in (*both.natural, *both.working))
    only = read(re.sub(r", natural = \"[^\"]*\"", "", there))
    assert all(p.chart is not None for p in only.natural)
    assert all(p.chart is None for p in only.working)
    with pytest.raises(UserError, match="unknown name 'a'"):
        read(there[: there.index("[working]")])


def test_ranks_of_charts_and_statistics_must_agree(read) -> None:
    text = (
        'name = "f"\nvariable = "v"\nsupport = "R^d"\nstatistics = ["v", "outer(v, v)"]\n'
        '[natural]\nlam1 = "R^d"\nlam2 = "-SPD"\n'
        '[working]\nm = {{ domain = "R^d", natural = "{m}" }}\n'
        'S = {{ domain = "SPD", natural = "{S}" }}\n'
    )
    good = text.format(m="-inv(2*lam2)*lam1", S="-2*lam2")
    assert read(good).working[0].chart is not None
    with pytest.raises(UserError, match="m is a vector, its chart lam2 a matrix"):
        read(text.format(m="lam2", S="-2*lam2"))
    with pytest.raises(UserError, match="cannot be multiplied"):
        read(text.format(m="lam1*lam2", S="-2*lam2"))
    with pytest.raises(UserError, match="lam2 is a vector, its statistic outer"):
        read(good.replace('"-SPD"', '"R^d"'))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda p: None, "no such file"),
        (lambda p: p.mkdir(), "is a directory"),
        (lambda p: p.write_bytes(b"\xff\xfe\x00"), "not UTF-8"),
        (lambda p: p.write_text("#" * 300_000), "too large"),
        (lambda p: p.write_text(""), "missing key"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, make, word: str) -> None:
    file = tmp_path / "f.toml"
    make(file)
    with pytest.raises(UserError, match=word):
        read_family(file)


def test_unknown_families() -> None:
    with pytest.raises(UserError, match="did you mean 'gaussian-diag'"):
        read_family("gausian-diag")
    for name in ("", "..", "gaussian\n", "x" * 1000, "../families/gaussian"):
        with pytest.raises(UserError):
            read_family(name)


WORDS = ["name", "title", "variable", "statistics", "natural", "eta1", '"x"', '"(0, oo)"', "log(x)"]
MARKS = ["=", "[", "]", "{", "}", ",", "\n", "#", '"', "'''", "\\", "\x00", "é"]
PIECES = [*WORDS, *MARKS, "1", "true", "1979-05-27", "[natural]", "[[working]]"]


@examples(250)
@given(
    st.integers(0, len(GAMMA)), st.integers(0, 12), st.lists(st.sampled_from(PIECES), max_size=4)
)
def test_broken_files_are_user_errors(
    tmp_path_factory: pytest.TempPathFactory, at: int, cut: int, pieces: list[str]
) -> None:
    """The example with a hole in it and something else in its place."""
    file = tmp_path_factory.getbasetemp() / "fuzz.toml"
    file.write_bytes((GAMMA[:at] + "".join(pieces) + GAMMA[at + cut :]).encode())
    try:
        family = read_family(file)
    except UserError as error:
        assert str(error)
    else:
        assert len(family.natural) == len(family.statistics)


VALUES = st.recursive(
    st.one_of(
        st.text(max_size=12),
        st.integers(),
        st.booleans(),
        st.sampled_from(["x", "(0, oo)", "eta1"]),
    ),
    lambda v: st.one_of(
        st.lists(v, max_size=3),
        st.dictionaries(st.sampled_from(["domain", "a", "eta1"]), v, max_size=2),
    ),
    max_leaves=5,
)


@examples(200)
@given(st.sampled_from(sorted(tomllib.loads(GAMMA))), VALUES)
def test_wrong_types_are_user_errors(key: str, value: object) -> None:
    from blrgen.read.declaration import Source
    from blrgen.read.family import family_of

    table = tomllib.loads(GAMMA) | {key: value}
    try:
        family_of(Source("f.toml", GAMMA, table))
    except UserError as error:
        assert str(error)
