"""What a step needs beyond the data: nothing of the size rows × labels × coordinates."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.emit.model.kernels import TARGETS
from blrgen.emit.tree import nodes as t
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model

MODELS = Path(__file__).parents[3] / "models"
MEGABYTE = 1 << 20
R = np.random.default_rng(3)
N, K, D = 20_000, 5, 8


def program(name: str, algorithm: str):
    return lower(derive_model(read_model((MODELS / f"{name}.model").read_text(), name), algorithm))


def peak(name: str, algorithm: str, *rows, **data) -> int:
    """The most memory that a step has at once, of a class that is there."""
    model = compile_class(text(program(name, algorithm), "numpy"))(**data)
    model.step(*rows)
    tracemalloc.start()
    model.step(*rows)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("gaussian-mixture-full-em", "em"), ("gaussian-mixture-tied-em", "em"),
     ("gaussian-mixture-diag-em", "em"), ("gaussian-mixture-diag", "vmp")],
)  # fmt: skip
def test_mixtures_keep_rows_times_labels_at_most(name, algorithm):
    x = R.normal(size=(N, D)) + R.integers(0, 3, N)[:, None]
    assert peak(name, algorithm, x=x, K=K) <= 8 * N * K + MEGABYTE


def test_a_mixture_of_bernoullis_too():
    x = (R.random((N, D)) < 0.4) * 1.0
    assert peak("bernoulli-mixture", "vmp", x=x, K=K) <= 8 * N * K + MEGABYTE


def test_a_chain_keeps_places_times_states():
    """Less than half of one array of places × states × states."""
    labels = 24
    x = R.poisson(5, N // 4).astype(float)
    assert peak("hmm-poisson-em", "em", x=x, K=labels) < 8 * x.size * labels * labels // 2


def test_topics_keep_nothing_of_documents_and_words():
    documents, words, topics, length = 100, 50, 30, 200  # with priors that are soon met
    found = peak(
        "lda", "svi", np.arange(documents),
        w=R.integers(0, words, documents * length), c=np.ones(documents * length),
        L=np.full(documents, length), alpha=np.full(topics, 5.0), eta=np.full(words, 5.0),
    )  # fmt: skip
    assert found < 8 * documents * length * topics // 4


def test_loops_make_no_array_of_rows_times_labels_times_coordinates():
    """Nor, of a mixture, one of rows times labels."""
    (*stages, caller) = TARGETS["numba"].make(
        program("gaussian-mixture-full-em", "em").sweep.program, "_sweep"
    )
    made = [s for f in (*stages, caller) for s in t.statements(f.body) if isinstance(s, t.Make)]
    assert made
    assert all(t.name("N") not in s.shape for s in made)


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("factor-analysis-em", "em"), ("ppca", "em"), ("factor-analysis", "vmp")],
)  # fmt: skip
def test_a_step_that_needs_sums_of_data_does_not_see_rows(name, algorithm):
    x = R.normal(size=(N, D))
    assert "x" not in {q.name for q in program(name, algorithm).sweep.program.given}
    assert peak(name, algorithm, x=x, q=3) < 8 * N
