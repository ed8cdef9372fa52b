"""One step of every elementwise recipe against fifty digits.

The rule is evaluated by mpmath at fifty digits, on the very floats that the class is given
(a probe point θ as `draw` returned it) and on its hyperparameters as the doubles they are.
An error is counted in ulps of the larger of the result and its terms: in m − α u⁺/d the terms
are m and the quotient, and a sum of states and inputs within a factor (u⁺ = β₁u + (1 − β₁)g)
is as large as its largest term, since a cancellation of what was given is nobody's error.

Two numbers come out.  Where what is added is at most a quarter of what is kept (`kept`), as in
training, a float32 result is within 2 ulp of the exact one.  Elsewhere, as in a first step
from zero, it has the roundings of the step itself, one for each operation: those are `fresh`.

An average of gradients that are zero falls by a factor in each step and would stay among the
denormal numbers, with which processors are slow.  Numba files store 0 for a denormal number in
states that only stand in numerators (momentum, adam, vadam, ivon: u); NumPy files keep it.
A step then differs by at most 2⁻¹²⁶ (float32) or 2⁻¹⁰²² (float64) times what u is multiplied
by: α/(h + δ) for one.  What divides, such as a precision, is never made 0.

The compiler may estimate 1/√x in float32 and improve the estimate by a step of Newton's, within
a rounding more.  Processors estimate differently, so that where a root divides (θ in ivon, vadam
and vprop) float32 results may differ in the last bit from one kind of machine to another; and for
x = 0 or ∞, where there is no posterior, the result is NaN instead of ∞ or 0.

Long doubles find the worst of many elements, fifty digits measure it.

    python tests/emit/test_accuracy.py     rewrite docs/accuracy.md
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from blrgen import derive
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from tests.shipped import recipes

Case = tuple[str, int, dict[str, float], dict[str, np.ndarray]]
SIZE = 3000
KEPT = {np.float32: 2.0, np.float64: 3.0}  # ulps: the goal, and what was found
FRESH = 8.0  # the roundings of the longest rule; not within the goal
DIGITS = 50
NEAR_ONE = {"beta1": 1 - 1e-7, "beta2": 1 - 1e-9, "gamma": 1 - 1e-7, "beta": 1e-9, "rho": 1e-7}
_FUNCTIONS = {"tanh": "tanh", "sign": "sign", "Abs": "fabs"}


def value(x: Any, env: dict[str, Any], number: Any) -> Any:
    """x with the numbers of `env`, in the arithmetic of `number`."""
    if x.is_Symbol:
        return env[x.name]
    if x.is_Rational:
        return number(int(x.p)) / number(int(x.q))
    if x.is_infinite:
        return number("inf") if x > 0 else -number("inf")
    first, *rest = [value(a, env, number) for a in x.args]
    if x.is_Pow:
        half, whole = x.exp == sp.Rational(1, 2), x.exp.is_Integer
        root = mpmath.sqrt if isinstance(first, mpmath.mpf) else np.sqrt
        return root(first) if half else first ** (int(x.exp) if whole else rest[0])
    exact = isinstance(first, mpmath.mpf)
    if not (x.is_Add or x.is_Mul or rest):
        name = _FUNCTIONS[type(x).__name__]
        return getattr(mpmath if exact else np, name)(first)
    pick = {"Max": max if exact else np.maximum, "Min": min if exact else np.minimum}
    for a in rest:
        if x.is_Add or x.is_Mul:
            first = first + a if x.is_Add else first * a
        else:
            first = pick[type(x).__name__](first, a)
    return first


def largest(x: Any, env: dict[str, Any], sizes: dict[str, Any], number: Any) -> Any:
    """The size of x: of a sum its largest term, of a product the product of the sizes."""
    parts = [a for a in x.args if not a.is_number]
    if x.is_Symbol:
        return sizes.get(x.name, abs(env[x.name]))
    own = abs(value(x, env, number))
    if x.is_Mul or (x.is_Add and len(parts) == len(x.args)):
        found = [largest(a, env, sizes, number) for a in x.args]
        total = found[0]
        for a in found[1:]:
            total = total * a if x.is_Mul else _larger(total, a)
        return _larger(total, own)
    if isinstance(x, sp.Max | sp.Min):  # a clip; what is clipped is not at its end
        found = [largest(a, env, sizes, number) for a in x.args]
        finite = [np.where(np.isfinite(np.float64(a)), a, own) for a in found]
        total = own
        for a in finite:
            total = _larger(total, a if number is np.longdouble else number(a.item()))
        return total
    if x.is_Pow and x.exp.is_Integer and x.exp > 0:
        return largest(x.base, env, sizes, number) ** int(x.exp)
    return own


def _larger(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, mpmath.mpf) else np.maximum(a, b)


def cases(rule: Any, dtype: Any) -> Iterator[Case]:
    """(name, t, hyperparameters, states and inputs): random ones and far ones."""
    rng = np.random.default_rng(5)

    def spread(low: float, high: float) -> np.ndarray:
        return rng.choice([-1, 1], SIZE) * 10.0 ** rng.uniform(low, high, SIZE)

    hyper = {q.name for q in rule.of("hyper")}
    near = {k: v for k, v in NEAR_ONE.items() if k in hyper}
    free = {k: 0.0 for k in ("delta", "c") if k in hyper and rule[k].default != sp.oo}
    given = [
        ("random", 7, {}, (0, 0), (-1, 0.5), (-2, 0)), ("t = 1", 1, {}, (0, 0), (-1, 0.5), None),
        ("tiny g", 100, {}, (-15, -5), (-3, 0), (-15, -5)),
        ("large g", 100, {}, (2, 4), (-3, 3), (2, 4)),
        ("t = 10⁶", 10**6, {}, (-2, 2), (-2, 2), (-3, 1)),
        ("m = 0", 5, {}, (-2, 2), None, (-3, 1)),
        *([("β near 1", 3, near, (-2, 2), (-2, 1), (-3, 1))] if near else []),
        *([("δ = 0", 2, free, (-2, 2), (-2, 1), (-3, 1))] if free else []),
    ]  # fmt: skip
    main = rule.of("state")[0].name
    for name, t, chosen, scale, start, scales in given:
        g = rng.standard_normal(SIZE) * np.abs(spread(*scale))
        arrays = {main: np.zeros(SIZE) if start is None else spread(*start)}
        for q in rule.of("state")[1:]:
            signed = q.name in ("u", "lam_prev")
            plain = np.abs(spread(*(scales or (-2, 0))))
            arrays[q.name] = g * rng.random(SIZE) if signed else plain
        for q in rule.of("input"):
            arrays[q.name] = g if "g" not in arrays or q.name == "g" else np.abs(g)
        for q in rule.of("draw"):
            arrays[q.name] = rng.standard_normal(SIZE)
        for x in arrays:
            if x.startswith("lam"):  # the natural parameter of a sign: ±8 is certain enough
                arrays[x] = np.clip(arrays[x], -8, 8)
        yield name, t, chosen, {k: v.astype(dtype) for k, v in arrays.items()}


def stepped(
    rule: Any, made: Any, case: Case
) -> tuple[dict[str, np.ndarray], np.ndarray | None, dict[str, float]]:
    """What the class makes of a case: its states, where it probed, its hyperparameters."""
    _, t, chosen, arrays = case
    main, *others = [q.name for q in rule.of("state")]
    params = arrays[main].copy()
    opt = made(params, **chosen)
    opt.t = t - 1
    for x in others:
        getattr(opt, x)[0][:] = arrays[x]
    noise = {q.name: arrays[q.name] for q in rule.of("draw")}
    theta = np.copy(opt.draw(**noise)) if hasattr(opt, "draw") else None
    used = theta if "theta" in getattr(opt, "_pending", {}) else None
    opt.step(*(arrays[q.name].copy() for q in rule.of("input")))
    after = {f"{x}_next": np.copy(getattr(opt, x)[0]) for x in others} | {f"{main}_next": params}
    if theta is not None:
        after["theta"] = theta
    return after, used, {q.name: float(getattr(opt, q.name)) for q in rule.of("hyper")}


def reference(
    rule: Any, env: dict[str, Any], theta: Any, number: Any
) -> Iterator[tuple[str, Any, Any, Any]]:
    """(name, exact value, size, what is kept of the old value) of each assignment."""
    sizes: dict[str, Any] = {}
    for a in rule.assignments:
        env[a.name] = value(a.expr, env, number)
        sizes[a.name] = largest(a.expr, env, sizes, number)
        state = sp.Symbol(a.name.removesuffix("_next"))
        own = next((s for s in a.expr.free_symbols if s.name == state.name), state)
        kept = value(sp.expand(a.expr).coeff(own, 1), env, number) if own.name in env else 0
        yield a.name, env[a.name], sizes[a.name], kept * env.get(own.name, number(0))
        if a.name == "theta" and theta is not None:
            _probed(a.expr, env, theta, number)


def _probed(at: Any, env: dict[str, Any], theta: Any, number: Any) -> None:
    """From here on the probe is what it became; where it is affine in noise, so is the noise."""
    env["theta"] = theta
    sizes = [s for s in at.free_symbols if s.name == "eps"]
    if sizes and not at.has(sp.tanh):
        zero = env["eps"] * 0
        start = value(at, env | {"eps": zero}, number)
        env["eps"] = (theta - start) / (value(at, env | {"eps": zero + 1}, number) - start)


def ulps(found: Any, exact: Any, size: Any, dtype: Any) -> float:
    """The distance in units in the last place of a number of this size."""
    info = np.finfo(dtype)
    power = max(int(mpmath.floor(mpmath.log(size, 2))), info.minexp) if size else info.minexp
    return float(abs(mpmath.mpf(float(found)) - exact) / mpmath.mpf(2) ** (power - info.nmant))


@cache
def worst(recipe: str, target: str, dtype: Any) -> dict[tuple[str, str], tuple[float, str]]:
    """(result, kept or fresh) → the largest error and the case it is in."""
    rule = derive(recipe).rule
    made = compile_class(emit(derive(recipe), target))
    found: dict[tuple[str, str], tuple[float, str]] = {}
    for case in cases(rule, dtype):
        with np.errstate(all="ignore"):
            after, theta, hyper = stepped(rule, made, case)
            places = _suspects(rule, case, after, theta, hyper, dtype)
        for name, group, i in places:
            with mpmath.workdps(DIGITS):
                env = {k: mpmath.mpf(float(v[i])) for k, v in case[3].items()}
                env |= {k: mpmath.mpf(v) for k, v in hyper.items()} | {"t": mpmath.mpf(case[1])}
                at = None if theta is None else mpmath.mpf(float(theta[i]))
                wanted = {n: (x, s) for n, x, s, _ in reference(rule, env, at, mpmath.mpf)}[name]
                error = ulps(after[name][i], *wanted, dtype)
            if error >= found.get((name, group), (0.0, ""))[0]:
                found[name, group] = error, case[0]
    return found


def _suspects(
    rule: Any, case: Case, after: dict[str, Any], theta: Any, hyper: dict[str, float], dtype: Any
) -> list[tuple[str, str, int]]:
    """Where long doubles see the largest error of each result, of either group."""
    number = np.longdouble
    env: dict[str, Any] = {k: v.astype(number) for k, v in case[3].items()}
    env |= {k: number(v) for k, v in hyper.items()} | {"t": number(case[1])}
    at = None if theta is None else theta.astype(number)
    out = []
    for name, exact, size, kept in reference(rule, env, at, number):
        if name not in after:
            continue
        fits = (size < np.finfo(dtype).max) & (size > np.finfo(dtype).tiny)
        error = np.where(fits, abs(after[name] - exact) / size, -1)
        calm = abs(exact - kept) <= abs(kept) / 4
        for group, mask in (("kept", calm), ("fresh", ~calm)):
            inside = np.where(mask & fits, error, -1)
            if inside.max() >= 0:
                out.append((name, group, int(np.argmax(inside))))
    return out


@pytest.mark.sweep(16)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize("recipe", recipes(matrices=False))
def test_a_step_is_as_exact_as_its_dtype(recipe: str, target: str, dtype: Any) -> None:
    found = worst(recipe, target, dtype)
    assert any(group == "kept" for _, group in found)
    for (name, group), (error, case) in found.items():
        assert error <= (KEPT[dtype] if group == "kept" else FRESH), (name, group, case, error)


def test_a_wrong_digit_is_seen() -> None:
    """The same comparison with β₂ off by one part in a million."""
    source = emit(derive("adam"), "numpy")
    wrong = source.replace("s_next = beta2 * s", "s_next = beta2 * (s + s / 10**6)")
    assert wrong != source
    made = compile_class(wrong)
    rule = derive("adam").rule
    case = next(cases(rule, np.float64))
    after, theta, hyper = stepped(rule, made, case)
    (i,) = [i for n, g, i in _suspects(rule, case, after, theta, hyper, np.float64)
            if (n, g) == ("s_next", "kept")]  # fmt: skip
    with mpmath.workdps(DIGITS):
        env = {k: mpmath.mpf(float(v[i])) for k, v in case[3].items()}
        env |= {k: mpmath.mpf(v) for k, v in hyper.items()} | {"t": mpmath.mpf(case[1])}
        wanted = {n: (x, s) for n, x, s, _ in reference(rule, env, None, mpmath.mpf)}["s_next"]
        assert ulps(after["s_next"][i], *wanted, np.float64) > 1e6


def page() -> str:
    """docs/accuracy.md: the worst of all results of a recipe."""
    rows = []
    for recipe in recipes(matrices=False):
        cells = []
        for dtype in (np.float32, np.float64):
            for group in ("kept", "fresh"):
                both = [*worst(recipe, "numba", dtype).items()]
                both += worst(recipe, "numpy", dtype).items()
                errors = [x for (_, g), x in both if g == group]
                error, case = max(errors, default=(0.0, "–"))
                cells.append(f"{error:.1f}" + (f" ({case})" if group == "fresh" else ""))
        rows.append(f"| {recipe} | {' | '.join(cells)} |")
    text = (__doc__ or "").partition("\n\n")[2].partition("    python")[0].strip()
    head = "| recipe | float32 kept | float32 fresh | float64 kept | float64 fresh |\n"
    head += "|---|---|---|---|---|"
    return f"# Accuracy of emitted steps\n\n{text}\n\n{head}\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    (Path(__file__).parents[2] / "docs" / "accuracy.md").write_text(page(), encoding="utf-8")
