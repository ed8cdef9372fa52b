"""Data against models: shapes, sizes, labels, missing values, supports and domains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blrgen.errors import UserError
from blrgen.read.model.data import check_data
from blrgen.read.model.find import read_file
from blrgen.read.model.given import given_data
from blrgen.read.model.layout import extents
from blrgen.read.model.reader import read_model

NAN = float("nan")
LDA = {"L": [2, 3], "c": [1, 2, 1, 1, 1], "w": [0, 1, 2, 3, 3], "alpha": [1, 1], "eta": [1] * 4}
RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("lda.model", LDA),
    ("lda.model", LDA | {"w": np.eye(4)[[0, 1, 2, 3, 3]]}),
    ("gamma-poisson.model", {"x": [0, 3], "e": [1, 0.5]}),
    ("gaussian-mixture-full.model", {"x": np.zeros((5, 2)), "K": 3}),
    ("hmm-categorical.model", {"x": [0, 1, 2], "K": 2, "V": 3}),
    ("zero-inflated-poisson.model", {"x": [0, 4, 7], "e": [1, 1, 1]}),
    ("hurdle-poisson.model", {"x": [0, 4, 7]}),
    ("dirichlet-multinomial.model", {"x": [[1, 2, 0], [3, 0, 1]], "n": [3, 4]}),
    ("hmm-gaussian-many-em.model", {"x": [1.0, 2, 3, 4, 5], "T": [2, 3], "K": 2}),
    ("local-linear-trend.model", {"y": [1.0, NAN, 3.0]}),
    ("beta-bernoulli.model", {"x": np.array([True, False])}),
]
WRONG: list[tuple[str, dict[str, Any], list[tuple[str, int, str, str]]]] = [
    ("lda.model", LDA | {"w": [0, 1, 2, 3, 4]}, [("support", 12, "w", "w[4] = 4")]),
    ("lda.model", LDA | {"w": [0, 1, 2, 3]}, [("data", 12, "w", "4 elements along L")]),
    ("lda.model", LDA | {"c": [1, 2, 1, 1, 0]}, [("domain", 8, "c", "c[4] = 0")]),
    ("lda.model", LDA | {"c": [1, 2, 1, 1, 1.5]}, [("domain", 8, "c", "c[4] = 1.5")]),
    ("lda.model", {k: v for k, v in LDA.items() if k != "L"}, [("data", 0, "L", "lengths L")]),
    ("lda.model", LDA | {"theta": [1]}, [("data", 0, "theta", "no 'theta'")]),
    ("gamma-poisson.model", {"x": [0, -3], "e": [1, 1]}, [("support", 7, "x", "x[1] = -3")]),
    ("gamma-poisson.model", {"x": [0, 1.5], "e": [1, 1]}, [("support", 7, "x", "x[1] = 1.5")]),
    ("gamma-poisson.model", {"x": [0, NAN], "e": [1, 1]}, [("data", 7, "x", "x[1] is missing")]),
    ("gamma-poisson.model", {"x": [0, 1], "e": [1, 0]}, [("domain", 5, "e", "e[1] = 0")]),
    ("gamma-poisson.model", {"x": [0, 1, 2], "e": [1, 1]}, [("data", 7, "x", "3 along N")]),
    ("gamma-poisson.model", {"x": [[0, 1]], "e": [1, 1]}, [("data", 7, "x", "shape: (1, 2)")]),
    ("gamma-poisson.model", {"e": [1, 1]}, [("data", 7, "x", "x is missing")]),
    ("gamma-poisson.model", {"x": ["a", "b"], "e": [1, 1]}, [("data", 7, "x", "numbers")]),
    ("local-linear-trend.model", {"y": [1.0, float("inf")]}, [("data", 12, "y", "infinite")]),
    (
        "gaussian-mixture-full.model",
        {"x": np.zeros((5, 2)), "K": 3, "V0": [[1, 2], [2, 1]]},
        [("domain", 7, "V0", "V0 = [1, 2, 2, 1]")],
    ),
    (
        "gaussian-mixture-full.model",
        {"x": np.zeros((5, 2)), "K": 3, "V0": [[1, 2], [0, 1]]},
        [("domain", 7, "V0", "V0 = [1, 2, 0, 1]")],
    ),
    (
        "gaussian-mixture-full.model",
        {"x": np.zeros((5, 2)), "K": 3, "nu0": 1},
        [("domain", 8, "nu0", "nu0 = 1")],
    ),
    ("gaussian-mixture-full.model", {"x": np.zeros((5, 2))}, [("data", 0, "K", "the size K")]),
    ("gaussian-mixture-full.model", {"x": np.zeros((5, 2)), "K": 0}, [("data", 0, "K", "whole")]),
    ("hmm-categorical.model", {"x": [0, 3], "K": 2, "V": 3}, [("support", 12, "x", "x[1] = 3")]),
    (
        "hmm-categorical.model",
        {"x": [[1, 0], [1, 1]], "K": 2},
        [("support", 12, "x", "x[1] = [1, 1]")],
    ),
    ("hurdle-poisson.model", {"x": [0, 1.5]}, [("support", 6, "x", "x[1] = 1.5")]),
    (
        "dirichlet-multinomial.model",
        {"x": [[1, 2, 0], [3, 1, 1]], "n": [3, 4]},
        [("support", 6, "x", "x[1] = [3, 1, 1]")],
    ),
    ("beta-bernoulli.model", {"x": [0, 2]}, [("support", 6, "x", "x[1] = 2")]),
    (
        "hmm-gaussian-many-em.model",
        {"x": [1.0, 2, 3, 4], "T": [2, 3], "K": 2},
        [("data", 11, "x", "4 elements along T")],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), RIGHT)
def test_right_data(name: str, given: dict[str, Any]) -> None:
    assert check_data(read_file(name), given)[0] == ()


@pytest.mark.parametrize(("name", "given", "wanted"), WRONG)
def test_wrong_data(
    name: str, given: dict[str, Any], wanted: list[tuple[str, int, str, str]]
) -> None:
    mistakes, _ = check_data(read_file(name), given)
    assert [(m.kind, m.line, m.node) for m in mistakes] == [w[:3] for w in wanted]
    for mistake, (*_, words) in zip(mistakes, wanted, strict=True):
        assert words in mistake.text


def test_an_empty_array_is_no_data() -> None:
    (mistake,), _ = check_data(read_file("beta-bernoulli.model"), {"x": []})
    assert mistake.kind == "data" and "no elements along N" in mistake.text


def test_probabilities_in_single_precision_sum_to_one() -> None:
    text = "plate n in N\nx[n] ~ dirichlet(2*ones(K)) observed"
    rows = np.random.default_rng(1).dirichlet(np.ones(7), 50).astype(np.float32)
    assert check_data(read_model(text), {"x": rows})[0] == ()
    assert check_data(read_model(text), {"x": rows * np.float32(1.001)})[0] != ()


def test_the_callers_arrays_are_not_changed() -> None:
    given = {"x": np.array([0.0, NAN, -1.0]), "e": np.ones(3)}
    before = {k: v.copy() for k, v in given.items()}
    mistakes, _ = check_data(read_file("gamma-poisson.model"), given)
    assert [m.kind for m in mistakes] == ["data", "support"]
    assert all(np.array_equal(given[k], before[k], equal_nan=True) for k in given)


def test_sizes_that_data_say_close_what_the_text_left_open() -> None:
    text = "plate n in N\nL ~ wishart(eye(p), 3)\nx[n] ~ gaussian-full(zeros(p), L) observed"
    model = read_model(text)
    assert check_data(model, {"x": np.zeros((4, 3))})[0] == ()
    (mistake,), _ = check_data(model, {"x": np.zeros((4, 4))})
    assert (mistake.kind, mistake.line, mistake.column) == ("improper", 2, 21)


def test_a_ragged_plate_is_one_axis() -> None:
    model = read_model(
        "plate a in A\nplate b in B[a]\nplate k in K\n"
        "x[k,a,b] ~ gaussian-full(zeros(p), eye(p)) observed"
    )
    assert [str(e) for e in extents(model, ("k", "a", "b"), model.node("x").shapes[0])] == [
        "K", "Σ B", "p",
    ]  # fmt: skip


def test_files(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(json.dumps({"a": [1, None], "b": 2}))
    (tmp_path / "x.csv").write_text("first,second\n1,2\n3,\n")
    (tmp_path / "v.csv").write_text("1\n2\n")
    np.save(tmp_path / "y.npy", np.arange(3))
    np.savez(tmp_path / "z.npz", u=np.eye(2))
    found = given_data(
        [str(tmp_path / "d.json"), f"x={tmp_path}/x.csv", f"v={tmp_path}/v.csv",
         f"y={tmp_path}/y.npy", str(tmp_path / "z.npz")],
        ["m=0", "s=[1, 2]"],
    )  # fmt: skip
    assert np.array_equal(found["a"], [1, NAN], equal_nan=True) and found["b"] == 2
    assert np.array_equal(found["x"], [[1, 2], [3, NAN]], equal_nan=True)
    assert found["v"].tolist() == [1, 2] and found["y"].tolist() == [0, 1, 2]
    assert found["u"].tolist() == [[1, 0], [0, 1]]
    assert found["m"] == 0 and found["s"].tolist() == [1, 2]


BROKEN = {
    "d.json": b'{"x": [1,', "list.json": b"[1, 2]", "bytes.json": b"\xff\xfe", "a.npz": b"nothing",
    "deep.json": b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "long.json": b'{"x": ' + b"9" * 10_000 + b"}",
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(UserError):
        given_data([str(tmp_path / name)], [])


@pytest.mark.parametrize("said", ["missing.json", "x=missing.csv", "x=file.txt", "array.npy"])
def test_files_that_are_none(said: str) -> None:
    with pytest.raises(UserError):
        given_data([said], [])


@pytest.mark.parametrize("setting", ["a", "=3", "a=x", "1=2"])
def test_settings_that_are_none(setting: str) -> None:
    with pytest.raises(UserError):
        given_data([], [setting])


def test_a_name_given_twice() -> None:
    with pytest.raises(UserError, match="twice"):
        given_data([], ["a=1", "a=2"])


@pytest.mark.parametrize(
    ("value", "why"), [('{"x": ["a"]}', '"a"'), ('{"x": [[1], [1, 2]]}', "different lengths")]
)
def test_what_is_no_array_is_a_mistake_of_the_data(tmp_path: Path, value: str, why: str) -> None:
    (tmp_path / "d.json").write_text(value)
    given = given_data([str(tmp_path / "d.json")], [])
    (mistake,), _ = check_data(read_file("beta-bernoulli.model"), given)
    assert mistake.kind == "data" and why in mistake.why
