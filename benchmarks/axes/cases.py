"""What is measured: a table of programs, sizes, the kernel by hand and the goal of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.axes.kernels import (
    bernoulli_mixture,
    chain,
    documents,
    elementwise,
    factor,
    line_mixture,
    logistic,
    mixture,
    mixture_parameters,
    newton,
    states,
    written,
)

LOOPS = 1.05  # time of the program ÷ time of the kernel
ALGEBRA = 1.15  # where there is linear algebra


@dataclass(frozen=True)
class Case:
    """One line of the table.

    `known` are axes whose size the program knows; `written` asks for every entry as a number of
    its own; `staged`: as classes have it, where the call says how long short axes are; `more` is
    what a kernel is given behind the problem.
    """

    program: str
    sizes: dict[str, int]
    kernel: Callable[..., Any]
    goal: float = LOOPS
    known: dict[str, int] = field(default_factory=dict)
    written: bool = False
    staged: bool = False
    threads: int = 1
    quick: bool = False
    more: dict[str, float] = field(default_factory=dict)

    @property
    def title(self) -> str:
        sizes = " ".join(f"{k}={v:g}" for k, v in self.sizes.items())
        form = "written out" if self.written else f"known {','.join(self.known)}"
        found = ", sizes by the call" if self.staged else ""
        return f"{self.program} {sizes}" + (f", {form}" if self.known else found)


def elementwise_cases() -> list[Case]:
    """Rules that memory limits."""
    e = elementwise
    return [
        Case("adam", {"n": 1000}, e.adam, quick=True),
        Case("adam", {"n": 10**5}, e.adam),
        Case("adam", {"n": 10**6}, e.adam),
        Case("adam", {"n": 10**6}, e.adam_threads, threads=2),
        Case("rmsprop", {"n": 10**5}, e.rmsprop),
        Case("momentum", {"n": 10**5}, e.momentum),
    ]


def mixture_cases() -> list[Case]:
    """Responsibilities and their sums in one pass over rows."""
    m, b, o = mixture, bernoulli_mixture, line_mixture
    return [
        Case("mixture", {"N": 20_000, "d": 8, "K": 8}, m.mixture, quick=True),
        Case("mixture", {"N": 20_000, "d": 8, "K": 8}, m.mixture, known={"d": 8, "K": 8}),
        Case("mixture", {"N": 20_000, "d": 2, "K": 3}, m.mixture),
        Case("mixture", {"N": 5_000, "d": 20, "K": 5}, m.mixture),
        Case("mixture", {"N": 100_000, "d": 8, "K": 8}, m.mixture_threads, threads=2),
        Case(
            "mixture_parameters", {"d": 8, "K": 8}, mixture_parameters.mixture_parameters, ALGEBRA
        ),
        Case("line_mixture", {"N": 20_000, "K": 3}, o.line_mixture, quick=True),
        Case("line_mixture", {"N": 20_000, "K": 8}, o.line_mixture),
        Case("line_mixture", {"N": 5_000, "K": 50}, o.line_mixture),
        Case("line_mixture", {"N": 200_000, "K": 8}, o.line_mixture_threads, threads=2),
        Case("bernoulli_mixture", {"N": 20_000, "d": 16, "K": 8}, b.bernoulli_mixture),
        Case(
            "bernoulli_mixture",
            {"N": 100_000, "d": 16, "K": 8},
            b.bernoulli_mixture_threads,
            threads=2,
        ),
    ]


def logistic_cases() -> list[Case]:
    """Sums over rows of a design."""
    f = logistic
    return [
        Case("logistic", {"N": 20_000, "d": 10}, f.logistic, quick=True),
        Case("logistic", {"N": 5_000, "d": 100}, f.logistic),
        Case("logistic", {"N": 1_000, "d": 1000}, f.logistic),
        Case("logistic", {"N": 200_000, "d": 10}, f.logistic_threads, threads=2),
        Case("logistic_hessian", {"N": 20_000, "d": 8}, f.logistic_hessian, quick=True),
        Case("logistic_hessian", {"N": 10_000, "d": 20}, f.logistic_hessian),
        Case("logistic_hessian", {"N": 1_000, "d": 100}, f.logistic_hessian),
        Case("logistic_hessian", {"N": 100_000, "d": 20}, f.logistic_hessian_threads, threads=2),
        Case("logistic_rows", {"N": 20_000, "d": 10, "b": 1_000}, f.logistic_rows),
        Case("effects", {"N": 20_000, "d": 10, "V": 100}, f.effects),
        Case("newton", {"d": 5}, newton.newton, ALGEBRA, quick=True),
        Case("newton", {"d": 20}, newton.newton, ALGEBRA),
        Case("newton", {"d": 100}, newton.newton, ALGEBRA),
    ]


def chain_cases() -> list[Case]:
    """Recurrences over time."""
    c, s = chain, states
    small = {"n": 4, "o": 2}
    steps, larger = {"T": 2000, "n": 4, "m": 2}, {"T": 500, "n": 12, "m": 6}
    three, four = {"T": 5000, "K": 3}, {"T": 5000, "K": 4}
    return [
        Case("forward_backward", three, c.fixed(3), known={"K": 3}, written=True),
        Case("forward_backward", four, c.fixed(4), known={"K": 4}, written=True),
        Case("forward_backward", {"T": 5000, "K": 3}, c.fixed(3), known={"K": 3}, quick=True),
        Case("forward_backward", {"T": 5000, "K": 4}, c.fixed(4), known={"K": 4}),
        Case("forward_backward", {"T": 5000, "K": 8}, c.fixed(8), known={"K": 8}),
        Case("forward_backward", {"T": 5000, "K": 3}, c.forward_backward),
        Case("forward_backward", {"T": 5000, "K": 8}, c.forward_backward),
        Case("forward_backward", {"T": 2000, "K": 32}, c.forward_backward),
        Case("poisson_chain", {"T": 5000, "K": 3}, c.fixed_poisson(3), known={"K": 3}),
        Case("poisson_chain", {"T": 5000, "K": 8}, c.poisson_chain),
        Case("kalman", steps, written.kalman, ALGEBRA, known=small, written=True, quick=True),
        Case("kalman", steps, s.fixed_kalman(4, 2), ALGEBRA, known=small),
        Case("kalman", steps, s.kalman, ALGEBRA),
        Case("kalman", steps, s.kalman, ALGEBRA, staged=True),
        Case("kalman", larger, s.kalman, ALGEBRA),
        Case("smoother", steps, s.fixed_smoother(4, 2), ALGEBRA, known=small, written=True),
        Case("smoother", steps, s.fixed_smoother(4, 2), ALGEBRA, known=small),
        Case("smoother", steps, s.smoother, ALGEBRA),
        Case("smoother", steps, s.smoother, ALGEBRA, staged=True),
        Case("smoother", larger, s.smoother, ALGEBRA),
    ]


def other_cases() -> list[Case]:
    """Ragged documents, and factor analysis."""
    sizes, rounds = {"D": 60, "V": 5000, "K": 20, "L": 150}, {"R": 20}
    many = {**sizes, "D": 600}
    d, more = documents, {"rounds": 20, "tol": 0.0}
    return [
        Case("documents", sizes, d.documents, known=rounds, more=more, quick=True),
        Case("documents", {**sizes, "K": 8}, d.documents, known={**rounds, "K": 8}, more=more),
        Case("documents", many, d.documents_threads, known=rounds, more=more, threads=2),
        Case("factor", {"d": 50, "q": 5}, factor.factor, ALGEBRA, quick=True),
        Case("factor", {"d": 50, "q": 5}, factor.factor, ALGEBRA, known={"q": 5}),
    ]


def cases() -> list[Case]:
    """The whole table."""
    return [
        *elementwise_cases(),
        *mixture_cases(),
        *logistic_cases(),
        *chain_cases(),
        *other_cases(),
    ]
