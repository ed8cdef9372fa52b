"""Sums over integers where equal steps do not see the weight: heavy tails, one-sided laws.

Around the peak one by one; beyond, an integral with Gregory's end weights, by the trapezoidal
rule after x − end = exp(π/2 sinh w).  No number where the terms change irregularly, or where
the numbers of the type end before the tail does.
"""

from __future__ import annotations

from collections.abc import Callable

from blrgen.emit.templates import fill

BLOCK = 352  # integers one by one
BEFORE = 128  # of them before the peak
NEAR = 96  # fewer than this between the first integer and the block: the block starts there
SCALE = 128.0  # of the tails
FINENESS, CELLS = 128, 1384  # steps in w, from −4 to 6.8: x to e^708
# 1 − cᵢ, where Σ_{x≥N} f = ∫_N f + Σ cᵢ f(N + i) to the eighth difference
ENDS = (
    "(0.2948680004409171, 1.5258793540564375, 0.2569766865079365, 1.798907352292769,\n"
    "            0.4119144069664903, 1.2789608134920636, 0.9231368496472663, 1.00935653659612)"
)


def place(name: str, first: int | None, where: str, decorator: str, real: str) -> str:
    """The points and their weights."""
    if first is None:
        below = f"    return start - real({SCALE}) * np.exp(real(v)), c + real(np.log({SCALE}))"
    else:  # between the first integers and the block; nothing where there is no such place
        below = (
            f"    gap = {where}(inside, start - low - real(63), real(1))\n"
            "    t = low + real(63) + gap / (real(1) + np.exp(real(-v)))\n"
            "    c = c + np.log(gap) - real(2) * real(np.logaddexp(0.0, v))\n"
            f"    return t, {where}(inside, c, real(-np.inf))"
        )
    return fill(
        "special/place.py.jinja",
        name=name,
        block=str(BLOCK),
        ends=ENDS,
        where=where,
        fineness=str(FINENESS),
        scale=str(SCALE),
        below=below,
        decorator=decorator,
        real=real,
    )


def blind(name: str, p: str, any_: str) -> list[str]:
    """Where equal steps do not see the weight.

    They are right inside a hill that is wide beside them; not where the weight is a
    few steps wide, and not where the first integer still has some.
    """
    return [
        f"    edge = np.exp(_log_weight_{name}(low_{name}, {p}) - peak)",
        "    blind = (step > real(1)) & ((mass < real(8) * step) | (edge > real(1e-12)))",
        f"    if {any_}:",
    ]


def start(name: str, p: str, first: int | None, where: str) -> list[str]:
    """Where the block begins, and the highest weight."""
    rows = [
        f"at, _ = _bulk_{name}(low_{name}, high_{name}, {p})",
        f"top = np.maximum(peak, _log_weight_{name}(at, {p}))",
        f"lowest = at * real(0) + real({'-np.inf' if first is None else first})",
        f"start = at - real({BEFORE})",
    ]
    if first is not None:
        rows.append(f"start = {where}(start < lowest + real({NEAR}), lowest, start)")
    return [f"        {row}" for row in rows]


def loops(name: str, p: str, first: int | None, inner: Callable[[], list[str]]) -> list[str]:
    """Every point in turn: t and w, then what `inner` says, at a depth of three."""
    rows = [
        f"        for k in range(-(below // every), {BLOCK} + {CELLS} // every):",
        f"            t, c = _place_{name}(k, every, start, lowest)",
        f"            w = np.exp(_log_weight_{name}(t, {p}) - top + c)",
    ]
    rows += [f"    {row}" for row in inner()]
    if first is None:
        return [f"        below = {CELLS}", *rows]
    near = [
        "        for k in range(64):",
        "            t = lowest + real(k)",
        f"            _, c = _place_{name}({BLOCK} - 64 + k, every, lowest, lowest)",
        f"            w = np.exp(_log_weight_{name}(t, {p}) - top + c)",
        "            w = {where}(start > lowest, w, real(0))",
    ]
    near += [f"    {row}" for row in inner()]
    count = f"        below = {CELLS} if np.any(start > lowest) else 0"
    return [count, *rows, "        if below > 0:", *(f"    {row}" for row in near)]


def watched() -> list[str]:
    """What the points say of their own sum: half of them against all, and what is left."""
    return [
        f"            if k < 0 or k >= {BLOCK}:",
        "                twist += w if k % 2 else -w",
        "                rest = {where}((k > 0) & (t < real(np.inf)), w, rest)",
    ]


def unresolved(name: str, p: str, where: str) -> list[str]:
    """No number where the tail does not end, halving changes the sum or terms are irregular."""
    end = f"start + real({BLOCK - 1})"
    rows = [
        "grain = np.spacing(real(1))",
        "bad = (rest > real(64) * grain * far) | (np.abs(twist) > np.sqrt(grain) * far)",
        f"here = np.exp(_log_weight_{name}({end}, {p}) - top)",
        f"back = np.exp(_log_weight_{name}({end} - real(1), {p}) - top)",
        f"half = np.exp(_log_weight_{name}({end} - real(0.5), {p}) - top)",
        "bend = np.abs(real(2) * half - here - back)",
        "bad |= (bend > real(0.01) * half) & (bend > real(1024) * grain * far)",
        f"far = {where}(bad, real(np.nan), far)",
    ]
    return [f"        {row}" for row in rows]
