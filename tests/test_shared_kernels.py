"""Files that say the same share what Numba compiles of them, and files that do not do not."""

from __future__ import annotations

from blrgen.emit.compile import load
from tests.shared_kernels import uncompiled, unshared

FILE = """from numba import njit
__all__ = ["Thing"]
TWICE = {twice}


@njit(cache=True)
def _inner(x):
    return TWICE * x


@njit(cache=True)
def _outer(x):
    return _inner(x) + 1


@njit(cache=True)
def _other(x):
    return {other}


class Thing:
    def at(self, x):
        return _outer(x)
"""


def test_what_is_written_alike_down_to_the_last_is_one_function() -> None:
    first = load(FILE.format(twice=2, other="x"))
    second = load(FILE.format(twice=2, other="x - 1"))
    third = load(FILE.format(twice=3, other="x"))
    assert first._outer is second._outer and first._other is not second._other
    assert first._outer is not third._outer and first._other is third._other
    assert (first._outer(5), second._outer(5), third._outer(5)) == (11, 11, 16)
    assert (first._other(5), second._other(5), third._other(5)) == (5, 4, 5)
    with unshared():
        alone = load(FILE.format(twice=2, other="x - 2"))
    assert alone._outer is not first._outer and alone._outer(5) == 11


def test_what_is_not_compiled_is_plain_python() -> None:
    made = uncompiled(FILE.format(twice=4, other="x"))
    assert made().at(1) == 5
    assert made().at(1j) == 1 + 4j  # of whatever it is given


def test_functions_of_no_module_are_compiled_as_they_are() -> None:
    load(FILE.format(twice=2, other="x"))
    space: dict[str, object] = {}
    exec("from numba import njit\n@njit(error_model='numpy')\ndef f(x): return x + 1\n", space)
    assert space["f"](1) == 2  # type: ignore[operator]
