"""E[g(j)] of a binomial j as an emitted function: a loop over weights from the mode outwards."""

from __future__ import annotations

from blrgen.emit.averages import RealElement
from blrgen.emit.special.helper import JITTED, QUIET
from blrgen.emit.templates import fill
from blrgen.emit.uses import use
from blrgen.program.density import BinomialMean
from blrgen.program.inspect import SIGN


def texts(means: tuple[BinomialMean, ...], target: str) -> list[str]:
    """One function each."""
    return [_text(m, target) for m in means]


def _text(m: BinomialMean, target: str) -> str:
    printer = RealElement({"j": "j"})
    use("njit" if target == "numba" else "np")
    return fill(
        "special/binomial_mean.py.jinja",
        decorator=JITTED if target == "numba" else QUIET,
        name=f"_{m.name}",
        arguments=", ".join(f"{x}: float" for x in ("p", "n", *m.parameters)),
        said=m.said,
        total="mean",
        value=printer(m.of),
        bracketed=printer.at(m.of, SIGN),
    )
