"""What is called proved has been compiled and stepped, or the verdict says that it was not."""

from __future__ import annotations

import pytest

from blrgen.approximate.tools.road import derive
from blrgen.emit import emit
from blrgen.validate.stepped import unsteppable


@pytest.mark.parametrize("name", ["adam", "newton", "vogn", "ridge", "ste", "bernoulli-exact"])
def test_what_is_emitted_steps(name: str) -> None:
    d = derive(name)
    assert unsteppable(emit(d, "numpy"), d) == []


def test_a_file_for_known_sizes_steps_at_those() -> None:
    d = derive("von")
    assert unsteppable(emit(d, "numba", sizes={"d": 2}), d) == []


def test_a_name_that_a_kernel_lacks_is_told() -> None:
    d = derive("adam")
    source = emit(d, "numba").replace("_one_minus_power(", "_one_minus_powers(", 1)
    [(what, proof)] = unsteppable(source, d)
    assert what == "the file"
    assert proof.level == "not compared"
    assert "_one_minus_powers" in proof.detail
