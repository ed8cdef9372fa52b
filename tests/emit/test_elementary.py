"""The compiled elementary functions: all floats, no calls, no other dtype, many at once."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from blrgen.emit.special import elementary, helper
from blrgen.emit.special.checked import exact, points
from blrgen.emit.support import alone

NAMES = tuple(elementary.FUNCTIONS)
LOOP = """
@njit(fastmath={"contract", "nsz", "arcp", "afn"}, error_model="numpy")
def loop(out, x):
    for i in range(x.size):
"""


@pytest.fixture(scope="module")
def loops() -> dict[Any, Any]:
    """One compiled loop over all functions, a dtype."""
    body = "".join(f"        out[{k}][i] = {n}(x[i])\n" for k, n in enumerate(NAMES))
    made: dict[str, Any] = {}
    exec(alone("numba", NAMES).replace("cache=True, ", "") + LOOP + body, made)
    return made["loop"]


def run(loop: Any, x: Any) -> dict[str, Any]:
    out = tuple(np.empty_like(x) for _ in NAMES)
    loop(out, x)
    return dict(zip(NAMES, out, strict=True))


def wanted(name: str, x: Any) -> Any:
    """NumPy's value, of more digits where it has them."""
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)
        if name == "_sigmoid":
            return 1 / (1 + np.exp(-wide))
        return getattr(np, name[1:].replace("atanh", "arctanh"))(wide)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_right_to_two_roundings(loops: Any, dtype: Any) -> None:
    eps = float(np.finfo(dtype).eps)
    for name in NAMES:
        known: Any = helper(name)
        xs = np.array([p[0] for p in points(known, dtype)], dtype)
        for x, value in zip(xs, run(loops, xs)[name], strict=True):
            with mp.workdps(60):
                true = exact(known, (float(x),))
                if np.finfo(dtype).tiny < abs(true) < np.finfo(dtype).max:
                    assert abs(float(value) - true) <= 2 * eps * abs(true), (name, x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_float_gives_what_numpy_says(loops: Any, dtype: Any) -> None:
    """Random bits: all binades, both signs, subnormal numbers, NaN; and the middle of the line."""
    rng, whole = np.random.default_rng(3), np.int32 if dtype == np.float32 else np.int64
    bits = rng.integers(np.iinfo(whole).min, np.iinfo(whole).max, 20000, dtype=whole)
    edges = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1], dtype)
    middle = [rng.normal(size=5000), rng.uniform(-1, 1, 5000), rng.uniform(-750, 750, 5000)]
    x = np.concatenate([bits.view(dtype), *(m.astype(dtype) for m in middle), edges])
    found, info = run(loops, x), np.finfo(dtype)
    for name in NAMES:
        true = wanted(name, x)
        with np.errstate(all="ignore"):
            rounded = true.astype(dtype)
            off = np.abs(found[name] - true) / np.maximum(np.abs(true), info.tiny) / info.eps
        number = np.isfinite(rounded)
        assert off[number].max() <= 2, (name, x[number][off[number].argmax()])
        assert np.array_equal(found[name][~number], rounded[~number], equal_nan=True), name
        assert found[name][-7:-5].tobytes() == rounded[-7:-5].tobytes(), name  # ±0


@pytest.mark.parametrize(("dtype", "other"), [(np.float32, "double"), (np.float64, "float")])
def test_loops_do_many_at_once_in_one_dtype(loops: Any, dtype: Any, other: str) -> None:
    run(loops, np.ones(4, dtype))
    width = np.dtype(dtype).itemsize * 8
    (text,) = (
        text for s, text in loops.inspect_llvm().items() if f"float{width}" in str(s)
    )  # fmt: skip
    body = text[text.index("define ") :]
    own = {"double": "float", "float": "double"}[other]
    assert re.search(rf"fdiv [a-z ]*<\d+ x {own}>", body)
    assert not re.findall(rf"= f(?:add|sub|mul|div)[^\n]* {other} ", body)
    library = r"@(?:llvm\.)?(?:exp|expm1|log|log1p|tanh|sinh|cosh|atanh)f?\b"
    assert not re.findall(library, body)


def test_helpers_become_part_of_the_loop() -> None:
    """A long one too, with loops of its own: nothing is called, many are done at once."""
    name = "_trigamma_rest_fall"
    text = alone("numba", [name]).replace("cache=True, ", "")
    made: dict[str, Any] = {}
    exec(text + LOOP + f"        out[i] = {name}(x[i], x[i])\n", made)
    x = np.linspace(0.5, 3, 40, dtype=np.float32)
    made["loop"](np.empty_like(x), x)
    (body,) = made["loop"].inspect_llvm().values()
    assert re.search(r"fdiv [a-z ]*<\d+ x float>", body)
    assert not re.search(rf"call [^\n]*{name[1:]}", body)


def test_a_changed_cast_is_noticed() -> None:
    from blrgen.emit.special.checked import checks

    whole = alone("numba", ["_tanh"])
    assert all(c.passed for c in checks(whole))
    for old, new in (("types.float64", "types.int64"), ("bitcast", "sitofp")):
        assert old in whole
        assert not any(c.passed for c in checks(whole.replace(old, new)))
