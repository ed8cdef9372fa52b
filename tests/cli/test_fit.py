"""`fit` and `generate` on models: answers, exit codes, what is refused."""

import json

import numpy as np
import pytest

from blrgen.cli.main import main

X = [-1.2, 0.3, 0.8, 2.1, -0.4, 1.9]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "D.json"
    path.write_text(json.dumps({"x": X}))
    return str(path)


def fitted(capsys, *words):
    code = main(["fit", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_an_exact_step(capsys, data):
    code, found = fitted(capsys, "normal-gamma.model", "--conjugate", "--data", data)
    assert code == 0
    assert [*found] == [
        "schema", "model", "algorithm", "steps", "converged", "reason", "objective", "trace",
        "posterior", "points", "notes",
    ]  # fmt: skip
    assert found["schema"] == "blrgen.fit/1" and len(found["trace"]) == found["steps"] + 1
    q = found["posterior"]["mu,tau"]
    assert q["family"] == "normal-gamma"
    np.testing.assert_allclose([q["kappa"], q["a"]], [1 + len(X), 1 + len(X) / 2])


def test_steps_alone_are_exactly_that_many(capsys, data):
    words = ("poisson-mixture-em.model", "--em", "--set", "x=[1,2,0,9,8]", "--set", "K=2")
    code, found = fitted(capsys, *words, "--steps", "4")
    assert code == 0 and found["steps"] == 4 and found["reason"] == "steps"
    assert min(np.diff(found["trace"])) >= -1e-9
    code, found = fitted(capsys, *words, "--steps", "1", "--tol", "1e-12")
    assert code == 3 and not found["converged"]
    code, found = fitted(capsys, *words, "--tol", "1e-9")
    assert code == 0 and found["converged"]


def test_a_start_and_what_is_saved(capsys, data, tmp_path):
    start, saved = tmp_path / "S.json", tmp_path / "q.npz"
    start.write_text(json.dumps({"pi": [0.5, 0.5], "rate": [1, 6]}))
    code, found = fitted(
        capsys, "poisson-mixture-em.model", "--em", "--set", "x=[1,2,0,9,8]", "--set", "K=2",
        "--start", str(start), "--steps", "0", "--save", str(saved),
    )  # fmt: skip
    assert code == 0 and found["points"] == {"pi": [0.5, 0.5], "rate": [1.0, 6.0]}
    kept = np.load(saved)
    assert set(kept) == {"pi", "rate", "z.p"} and kept["z.p"].shape == (5, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["normal-gamma.model"], "exactly one algorithm"),
        (["normal-gamma.model", "--em", "--vmp"], "exactly one algorithm"),
        (["normal-gamma.model", "--conjugate"], "x is missing"),
        (["normal-gamma.model", "--em", "--set", "x=[1]"], "nothing to maximise"),
        (["normal-gamma.model", "--conjugate", "--set", "x=[1]", "--steps", "two"], "whole number"),
        (["normal-gamma.model", "--conjugate", "--set", "x=[1]", "--tol", "nan"], "from 0 on"),
        (["normal-gamma.model", "--conjugate", "--set", "x=[1]", "--tol", "-1"], "from 0 on"),
        (["normal-gamma.model", "--conjugate", "--set", "x=[1]", "--batch", "2"], "some rows"),
        (["normal-gamma.model", "--svi", "--set", "x=[1]", "--batch", "0"], "from 1 on"),
        (["normal-gamma.model", "--svi", "--set", "x=[1]", "--forgetting", "-2"], "from 0 on"),
        (["normal-gamma.model", "--conjugate", "--set", "x=[1e300]"], "no finite value"),
    ],
)
def test_mistakes_are_said(capsys, words, said):
    assert main(["fit", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_file_of_a_model(capsys, tmp_path):
    path = tmp_path / "mixture.py"
    words = ["generate", "poisson-mixture-em.model", "--em", "--target", "numpy"]
    assert main([*words, "-o", str(path)]) == 0
    space: dict = {}
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), space)
    assert space["__all__"] == ["PoissonMixtureEm"]
    found = space["PoissonMixtureEm"](x=[1.0, 2, 0, 9, 8], K=2).run(steps=5, tol=0.0)
    assert found["steps"] == 5
    assert main(["generate", "adam", "--em"]) == 2
    assert "an algorithm of a model" in capsys.readouterr().err


def test_lengths_of_rows_may_be_said_in_words(capsys, tmp_path):
    path = tmp_path / "rows.model"
    path.write_text("plate g in G\nplate n in N[g]\nparam b in (0, oo)\n"
                    "rate[g] ~ gamma(2, b)\nx[g,n] ~ poisson(rate[g])   observed\n")  # fmt: skip
    code, found = fitted(capsys, str(path), "--em", "--set", "x=[0,3,5]", "--set", "N=[1,2]")
    assert code == 0
    np.testing.assert_allclose(np.diff(found["posterior"]["rate"]["b"]), 1)


def test_draws_are_summed_up_and_saved(capsys, data, tmp_path):
    path = tmp_path / "draws.npz"
    words = ("normal-gamma.model", "--gibbs", "--data", data, "--seed", "2")
    code, found = fitted(capsys, *words, "--steps", "50", "--save", str(path))
    assert code == 0
    assert (found["steps"], found["converged"], found["reason"]) == (50, False, "steps")
    assert len(found["trace"]) == 51
    assert found["points"] == {}
    assert set(found["posterior"]["mu,tau"]) == {"mean", "sd"}
    kept = np.load(path)
    np.testing.assert_allclose(kept["mu"].mean(), found["posterior"]["mu,tau"]["mean"]["mu"])
    np.testing.assert_allclose(kept["tau"].std(), found["posterior"]["mu,tau"]["sd"]["tau"])
    again = fitted(capsys, *words, "--steps", "50")[1]
    assert again["trace"] == found["trace"]


def test_draws_begin_with_values(capsys, data, tmp_path):
    start = tmp_path / "start.json"
    start.write_text(json.dumps({"mu,tau": {"mu": 3.0, "tau": 0.5}}))
    code, found = fitted(capsys, "normal-gamma.model", "--gibbs", "--data", data,
                         "--start", str(start), "--steps", "0")  # fmt: skip
    assert (code, found["steps"], len(found["trace"])) == (0, 0, 1)
    assert found["posterior"]["mu,tau"]["mean"] == {"mu": 3.0, "tau": 0.5}


def test_a_floor_is_held_and_said(capsys, tmp_path):
    words = ("gaussian-mixture-diag-em.model", "--em", "--set", "x=[[0,1],[0,1],[3,2],[4,3]]",
             "--set", "K=2", "--steps", "20")  # fmt: skip
    assert fitted(capsys, *words)[1]["reason"] == "unbounded"
    code, found = fitted(capsys, *words, "--floor", "v=0.1")
    assert code == 0
    assert found["reason"] == "steps"
    assert np.min(found["points"]["v"]) >= 0.1
    assert ("floor", "v") in {(x["kind"], x["node"]) for x in found["notes"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["normal-gamma.model", "--gibbs", "--set", "x=[1]", "--tol", "1e-3"], "--tol"),
        (["normal-gamma.model", "--conjugate", "--set", "x=[1]", "--inner", "3"], "--inner"),
        (["lda.model", "--svi", "--inner", "0"], "--inner"),
        (["poisson-mixture-em.model", "--em", "--set", "x=[1,2]", "--set", "K=1", "--floor",
          "rat=1"], "rate"),
        (["poisson-mixture-em.model", "--em", "--set", "x=[1,2]", "--set", "K=1", "--floor",
          "rate"], "NAME=VALUE"),
        (["poisson-mixture-em.model", "--em", "--set", "x=[1,2]", "--set", "K=1", "--floor",
          "rate=-1"], "floor of rate"),
        (["gamma-poisson.model", "--gibbs", "--set", "x=[1.5]", "--set", "e=[1]"], "cannot come"),
    ],
)  # fmt: skip
def test_more_mistakes_are_said(capsys, words, said):
    assert main(["fit", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_start_of_a_mixture_has_the_shapes_of_its_parameters(capsys, tmp_path):
    """Given arrays stay what they are; of another shape they are refused with their axes."""
    start = tmp_path / "S.json"
    words = ("--family", "mixture:gaussian-diag", "--loss", "theta1**2 + theta2**2",
             "--components", "3", "--start", str(start), "--steps", "0")  # fmt: skip
    m = [[0.0, 1.0], [2.0, -1.0], [-3.0, 0.5]]
    start.write_text(json.dumps({"theta": {"m": m}}))
    code, found = fitted(capsys, *words)
    assert code == 0 and found["posterior"]["theta"]["m"] == m
    start.write_text(json.dumps({"theta": {"m": np.transpose(m).tolist()}}))
    assert main(["fit", *words]) != 0
    assert "m has shape (2, 3)" in capsys.readouterr().err


def of_mixture(capsys, family, loss, *words):
    code, found = fitted(capsys, "--family", f"mixture:{family}", f"--loss={loss}", *words)
    assert code == 0
    return found


def test_known_constants_and_numbers_of_a_loss_are_set(capsys):
    """E[e^-loss] sums over 0 … n: log Σ C(n, x) 3ˣ = n log 4; n is said where it is a default."""
    loss = "-log(binomial(n, x)) - a*x"
    words = ("--set", f"a={np.log(3)}", "--tol", "1e-12")
    for more, n in (((), 2), (("--set", "n=4"), 4)):
        found = of_mixture(capsys, "binomial", loss, *words, *more)
        assert found["objective"] == pytest.approx(n * np.log(4), rel=1e-9)
        np.testing.assert_allclose(found["posterior"]["x"]["p"], [0.75], rtol=1e-4)
        (note,) = [x["text"] for x in found["notes"] if x["kind"] == "constant"]
        assert note.startswith(f"n = {n};")


@pytest.mark.parametrize(
    ("said", "why"), [("n=2.5", "whole"), ("n=0", "1"), ("n=[1,2]", "one number"), ("n=-3", "1")]
)
def test_a_constant_is_in_its_domain(capsys, said, why):
    words = ("--family", "mixture:binomial", "--loss", "x", "--set", said)
    assert main(["fit", *words]) != 0
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("family", "said", "how"),
    [("pareto", "mm=2", "did you mean 'm'"), ("poisson", "n=2", "leave it out")],
)
def test_what_nothing_reads_is_not_set(capsys, family, said, how):
    words = ("--family", f"mixture:{family}", "--loss", "3*log(1 + x)", "--set", said)
    assert main(["fit", *words]) != 0
    err = capsys.readouterr().err
    assert f"nothing reads {said.partition('=')[0]}" in err and how in err
