"""Right models: those that ship and unusual ones, what is read of them, and their text again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blrgen.read.model.find import examine_file, find_model, list_models, title_of
from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import examine, read_model
from blrgen.read.model.spell import lines
from blrgen.read.model.values import (
    All,
    Argument,
    Chain,
    Choose,
    Draw,
    Label,
    Letter,
    Literal,
    MatrixProduct,
    Number,
    Point,
    Power,
    Product,
    Ref,
    Size,
    Statement,
)
from tests.read.model.right import RIGHT
from tests.sweeps import examples

N, K = Size("N"), Size("K")


@pytest.mark.parametrize("name", list_models())
def test_what_ships_is_right(name: str) -> None:
    _, model, mistakes, findings = examine_file(f"{name}.model")
    assert mistakes == () and findings == ()
    assert model is not None and model.name == name
    assert len(title_of(name)) > 10


@pytest.mark.parametrize("name", RIGHT)
def test_unusual_ones_are_right(name: str) -> None:
    model, mistakes, findings = examine(RIGHT[name])
    assert mistakes == () and findings == ()
    assert model is not None


@pytest.mark.parametrize("name", [*RIGHT, *list_models()])
def test_what_is_printed_reads_as_the_same_model(name: str) -> None:
    text = RIGHT.get(name) or find_model(f"{name}.model").read_text(encoding="utf-8")
    model = read_model(text)
    again = read_model("\n".join(line for _, line in lines(model)))
    # a family is read once a process, from its file; SymPy's symbols in it are compared by name
    assert replace(again, families=()) == replace(model, families=())
    assert [n for n, _ in again.families] == [n for n, _ in model.families]


def test_the_mixture_of_the_example() -> None:
    model = read_model("""
plate n in N
plate k in K
const alpha in (0, oo)^K
pi     ~ dirichlet(alpha)
mu[k]  ~ gaussian(0, 100)
z[n]   ~ categorical(pi)
x[n]   ~ gaussian(mu[z[n]], 1/2)   observed
""")
    assert model.sizes == ("N", "K")
    assert [(n.name, n.kind, n.letters, n.shapes) for n in model.nodes] == [
        ("pi", "latent", (), ((K,),)),
        ("mu", "latent", ("k",), ((),)),
        ("z", "latent", ("n",), ((K,),)),
        ("x", "observed", ("n",), ((),)),
    ]
    z = Label(Ref("z", (Letter("n"),), (K,)))
    assert model.node("x").statements == (
        Statement(
            (Letter("n"),),
            Draw(
                "gaussian",
                (Argument("m", Ref("mu", (z,))), Argument("v", Number(Fraction(1, 2)))),
            ),
        ),
    )
    (pi,) = model.node("pi").draws
    assert pi.sizes == (("K", K),)
    assert model.node("x").place.line == 8


def test_a_chain_begins_behind_its_first_elements() -> None:
    node = read_model(RIGHT["ar2"]).node("x")
    assert node.chain == Chain("t", 0, (1, 2), 2)
    assert [(s.indices, s.first) for s in node.statements] == [
        ((Literal(1),), 1), ((Literal(2),), 1), ((Letter("t"),), 3),
    ]  # fmt: skip


def test_an_element_of_its_own_is_taken_out_of_the_others() -> None:
    node = read_model(RIGHT["own element"]).node("x")
    general = node.statements[1]
    assert (general.first, general.without) == (2, (7,))


def test_a_ragged_plate_knows_its_outer_ones() -> None:
    model = read_model(RIGHT["nested"])
    assert model.plate("c").outer == ("a", "b")
    assert model.plate("c").size == Size("C", 0, "b")
    assert model.node("w").letters == ("a", "b", "c")


def test_counts_of_a_plate() -> None:
    model = read_model(find_model("lda.model").read_text(encoding="utf-8"))
    assert model.plate("i").times == Ref("c", (Letter("d"), Letter("i")))


def test_a_matrix_times_a_vector() -> None:
    model = read_model(find_model("ppca.model").read_text(encoding="utf-8"))
    (draw,) = model.node("x").draws
    product = draw["m"].terms[0]
    d, q = Size("d"), Size("q")
    assert product == MatrixProduct(Ref("W", (), (d, q)), Ref("h", (Letter("n"),), (q,)), (d,))


def test_a_quotient_is_a_product_with_a_power() -> None:
    model = read_model("plate n in N\ntau ~ gamma(1, 1)\nx[n] ~ gaussian(0, 2/tau) observed")
    (draw,) = model.node("x").draws
    inverse = Power(Ref("tau"), Number(Fraction(-1)))
    assert draw["v"] == Product((Number(Fraction(2)), inverse))


def test_all_elements_of_a_plate_are_a_vector() -> None:
    model = read_model(find_model("linear-regression-ard.model").read_text(encoding="utf-8"))
    (draw,) = model.node("w").draws
    (vector,) = draw["S"].args
    assert vector == Ref("alpha", (All(),), (Size("p"),))


def test_a_bernoulli_chooses_between_two() -> None:
    model = read_model(find_model("zero-inflated-poisson.model").read_text(encoding="utf-8"))
    made = model.node("x").statements[0].made
    assert isinstance(made, Choose) and made.label.binary
    assert made.branches[0] == Point(Number(Fraction(0)))


def test_several_variables_are_one_node() -> None:
    model = read_model(find_model("normal-gamma.model").read_text(encoding="utf-8"))
    assert model.node("tau") is model.node("mu")
    assert model.node("mu").name == "mu,tau"
    assert [d.text for d in model.node("mu").domains] == ["(-oo, oo)", "(0, oo)"]


def test_natural_parameters_by_keyword() -> None:
    (draw,) = read_model(RIGHT["natural"]).node("y").draws
    assert [(a.name, a.role) for a in draw.arguments] == [("eta", "natural")]


def test_fixed_constants_stand_behind_the_working_ones() -> None:
    text = "plate n in N\nr ~ beta(1, 1)\nx[n] ~ binomial(r, 7) observed"
    (draw,) = read_model(text).node("x").draws
    assert [(a.name, a.role) for a in draw.arguments] == [("p", "working"), ("n", "fixed")]


def test_micro_and_mu_are_one_letter() -> None:
    assert read_model("\u00b5 ~ gaussian(0, 1)\nx ~ gaussian(\u03bc, 1) observed").node("\u03bc")


OWN = """
name = "lifetime"
variable = "x"
support = "(0, oo)"
statistics = ["x"]
[natural]
eta = "(-oo, 0)"
[working]
rate = { domain = "(0, oo)", natural = "-eta" }
"""


def test_a_family_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "lifetime.toml").write_text(OWN)
    file = tmp_path / "own.model"
    text = 'family life-time = "lifetime.toml"\nplate n in N\nr ~ gamma(1, 1)\n'
    file.write_text(text + "x[n] ~ life-time(r) observed\n")
    _, model, mistakes, _ = examine_file(str(file))
    assert mistakes == () and model is not None
    assert model.family("life-time").name == "lifetime"


def test_a_broken_family_of_ones_own_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "lifetime.toml").write_text(OWN.replace('["x"]', '["y"]'))
    file = tmp_path / "own.model"
    file.write_text('family f = "lifetime.toml"\nplate n in N\nx[n] ~ f(1) observed\n')
    _, _, mistakes, _ = examine_file(str(file))
    (mistake,) = mistakes
    assert (mistake.kind, mistake.line, mistake.column) == ("unknown-family", 1, 8)
    assert "lifetime.toml:5" in mistake.why


def test_a_file_here_comes_before_one_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_model("lda.model").parent.name == "models"
    Path("lda.model").write_text("x ~ gaussian(0, 1) observed")
    assert find_model("lda.model") == Path("lda.model")


def test_the_error_of_a_model_has_all_mistakes() -> None:
    with pytest.raises(ModelError) as error:
        read_model("x ~ gaussian(a, 1) observed\ny ~ gaussian(b, 1) observed", path="m.model")
    said = error.value.render()
    assert "m.model:1:14" in said and "m.model:2:14" in said


def test_the_order_of_the_text_does_not_matter_to_what_is_read() -> None:
    text = RIGHT["order free"].strip().split("\n")
    forward, backward = (read_model("\n".join(t)) for t in (text, text[::-1]))
    assert set(forward.nodes) == set(backward.nodes)
    assert [n.name for n in forward.nodes] == ["x", "z", "s", "a", "mu", "pi"]


NUMBERS = st.sampled_from(["a", "b", "2", "0.5", "3/7", "K", "dot(v, v)", "v[1]", "trace(A)"])
VECTORS = st.sampled_from(["v", "ones(K)", "A*v", "exp(v)", "A[:,1]"])
MATRICES = st.sampled_from(["A", "eye(K)", "outer(v, v)", "inv(A)", "transpose(A)"])


def joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Sums, products, quotients, powers and signs of parts of one shape."""
    two = st.tuples(parts, st.sampled_from([" + ", " - ", "*", "/"]), parts)
    return st.one_of(
        two.map("".join),
        parts.map(lambda e: f"({e})"),
        parts.map(lambda e: f"-{e}" if not e.startswith("-") else e),
        st.tuples(parts, st.sampled_from(["2", "(-1)", "(1/2)", "a"])).map(
            lambda p: f"({p[0]})**{p[1]}"
        ),
    )


@examples(40)
@given(
    st.recursive(NUMBERS, joined, max_leaves=8),
    st.recursive(VECTORS, joined, max_leaves=5),
    st.lists(MATRICES, min_size=1, max_size=4).map("*".join),
)
def test_printed_expressions_read_as_themselves(number: str, vector: str, matrix: str) -> None:
    text = (
        "const a in (0, oo)\nconst b in (0, oo)\nconst v in (0, oo)^K\nconst A in SPD(K)\n"
        f"s = {number}\nf = {vector}\nM = {matrix}\ng = {matrix}*({vector})\n"
        "x ~ gaussian(s + a + b + sum(f) + trace(M) + sum(g) + sum(v) + trace(A), 1) observed"
    )
    said, mistakes, _ = examine(text)
    if said is None:  # a square root of a negative number, or a quotient by zero
        assert {m.kind for m in mistakes} <= {"domain"}
        return
    again = read_model("\n".join(line for _, line in lines(said)))
    assert again.nodes == said.nodes
