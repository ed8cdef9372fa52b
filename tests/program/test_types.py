"""Types: axes by the names of their sizes, and a structure on the last two."""

from __future__ import annotations

import pytest

from blrgen.program.types import ENTRIES, SCALAR, Type, matrix, symmetric, vector

pytestmark = pytest.mark.core


def test_types_as_text() -> None:
    kinds = (SCALAR, ENTRIES, vector(), matrix("n", "d"), symmetric(), Type(("d", "d"), "lower"))
    wanted = ["number", "[each]", "[d]", "[n, d]", "[d, d] sym", "[d, d] lower"]
    assert list(map(str, kinds)) == wanted
