"""First states."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.runtime.starts import _drawn_start


@pytest.mark.parametrize("domain", ["R", "SPD", "simplex", "(0, oo)", "(0, 1)", "integers R"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_its_arrays_are_its_own_and_lie_as_those_of_later_steps(domain: str, dtype: type) -> None:
    nodes = {"a": {"": ("a", ("K", 2, 2), domain)}}
    (found,) = _drawn_start(nodes, {"K": 3}, dtype, np.random.default_rng(0)).values()
    assert found.shape == (3, 2, 2) and found.dtype == dtype
    assert found.flags.writeable and found.flags.c_contiguous and found.base is None
