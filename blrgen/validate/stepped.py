"""An emitted class on numbers: compiled, built inside its domain, and stepped.

What is proved is proved of the text.  Whether Python and Numba take the text at all is found by
running it: for each dtype of the file one object draws where the rule draws, steps twice, is
asked for its posterior, a sample and its state.  Nothing is compared here; what a guard refuses
in words is what it should be where numbers leave a domain.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from blrgen.core import Derivation
from blrgen.decide.proof import Proof
from blrgen.validate.misfit import missing

SIZES = {"d": 3, "n": 4, "p": 2, "K": 3}
REFUSALS = ("nothing has been changed", "precision is not positive")  # what guards say


def unsteppable(source: str, d: Derivation) -> list[tuple[str, Proof]]:
    """A row for a file that was not compiled or does not step; none for one that does."""
    from blrgen.emit.compile import compile_class
    from blrgen.program.lower import lower

    try:
        cls, program = compile_class(source), lower(d.rule)
        module = sys.modules[cls.__module__]
        sizes = SIZES | dict(getattr(module, "SIZES", {}))
        for dtype in getattr(module, "DTYPES", (np.float64,)):
            run(cls, program, dtype, sizes)
    except Exception as error:  # whatever the file does, it is not proved
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return missing(("the file",), f"it was compiled and stepped, and ended with {words}")
    return []


def run(cls: Any, program: Any, dtype: Any = np.float64, sizes: Mapping[str, int] = SIZES) -> str:
    """Two steps of an object; what a guard said where it refused one, else ""."""
    rng = np.random.default_rng(0)
    opt = cls(start(program, sizes).astype(dtype), **hypers(program))
    given = {k: v if np.ndim(v) == 0 else v.astype(dtype) for k, v in
             inputs(program, rng, sizes).items()}  # fmt: skip
    with np.errstate(all="ignore"):
        try:
            for _ in range(2):
                _one(opt, program, given, rng)
            opt.state_dict()
            if hasattr(opt, "posterior"):
                opt.posterior()
            if hasattr(opt, "sample"):
                opt.sample(rng)
        except ValueError as error:
            if not any(words in str(error) for words in REFUSALS):
                raise
            return str(error)
    return ""


def _one(opt: Any, program: Any, given: Mapping[str, Any], rng: np.random.Generator) -> None:
    """A step of two draws where inputs are gathered, then one of a single draw."""
    if hasattr(opt, "observe"):
        for _ in range(2):
            opt.draw(rng)
            opt.observe(**given)
        opt.step()
    if hasattr(opt, "draw"):
        opt.draw(rng) if program.of("draw") else opt.draw()
    opt.step(**given)


def start(program: Any, sizes: Mapping[str, int] = SIZES) -> Any:
    """Parameters where the rule lets them start, or near 0."""
    from blrgen.program import nodes as n

    main = program.parameter
    shape = shape_of(main, sizes)
    if main.type.is_symmetric:
        return (-1.0 if main.domain.startswith("-") else 1.0) * 2 * np.eye(shape[0])
    first = float(main.init.value) if isinstance(main.init, n.Const) else 0.0
    return np.full(shape, first) + (0.01 * np.arange(np.prod(shape)).reshape(shape))


def shape_of(v: Any, sizes: Mapping[str, int] = SIZES) -> tuple[int, ...]:
    """The lengths of a quantity's axes."""
    return tuple(int(x) if x.isdigit() else sizes.get(x, 3) for x in v.type.shape)


def hypers(program: Any) -> dict[str, Any]:
    """Values of what has no default."""
    return {v.name: 2.0 for v in program.of("hyper") if v.default is None and not v.type.shape}


def inputs(
    program: Any, rng: np.random.Generator, sizes: Mapping[str, int] = SIZES
) -> dict[str, Any]:
    """Small inputs; what is symmetric is definite."""
    found: dict[str, Any] = {}
    for v in program.of("input", "data"):
        shape = shape_of(v, sizes)
        value = 0.05 * rng.standard_normal(shape)
        if v.type.is_symmetric:
            value = value + value.T + np.eye(shape[0])
        elif v.name in ("h", "H") or v.kind == "data":
            value = 1 + np.abs(value)
        found[v.name] = value if shape else float(value)
    return found
