"""Shared by the tests of the show stage: derivations made once, the golden-file option."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from blrgen.core import Derivation


@cache
def _derived(what: str) -> Derivation:
    from blrgen.api import derive

    return derive(what)


@pytest.fixture(scope="session")
def derived() -> Callable[[str], Derivation]:
    """The derivation of a family or recipe, made once."""
    return _derived
