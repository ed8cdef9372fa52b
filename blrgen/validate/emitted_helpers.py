"""The functions an emitted file brings along, by what they are documented to mean.

In a run on symbols a call of `_digamma` is ψ, and `_solve(L, b)` is (L Lᵀ)⁻¹ b for matrices
of any size; what is only looked at is taken to be as it should.  That the text of a helper
computes what it means is another claim: `special` and `solvers`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import sympy as sp

from blrgen.core import Rule
from blrgen.emit.special import helper as special
from blrgen.validate.special import meaning_of, on_symbols
from blrgen.validate.symbolic import linalg
from blrgen.validate.symbolic.arrays import where
from blrgen.validate.symbolic.linear import NC
from blrgen.validate.symbolic.number import CannotRun, Sym, context, expr_of
from blrgen.validate.symbolic.run import Program

Factor = Callable[[Any], Any]  # a matrix → what stands for its Cholesky factor


def give_special(program: Program, rule: Rule, first_form: bool) -> set[str]:
    """Special functions and the sums of a rule; of what is written in two forms, one."""
    used = set()
    for name in list(program.names):
        known = special(name)
        if name == "_where":
            program.names[name] = where
        elif name == "_either":  # both forms of a number are compared, one a run
            program.names[name] = lambda _, yes, no: yes if first_form else no
        elif known is not None:
            program.names[name] = meaning_of(known)
        elif name == "_over":
            program.names[name] = lambda f, *args: f(*args)
        elif name == "_exp_added":
            program.names[name] = _exp_added
        else:
            continue
        used.add(name)
    return used | _give_averages(program, rule)


def _give_averages(program: Program, rule: Rule) -> set[str]:
    """Expectations without a closed form, by the integrals they stand for."""
    from blrgen.program.lower import Reader

    own = ("_expectation_", "_binomial_mean_")
    if not any(name.startswith(own) for name in program.names):
        return set()
    found = Reader(rule).lowering.meanings
    for name, meaning in found.items():
        program.names[f"_{name}"] = on_symbols(meaning)
    return {f"_{name}" for name in found if name.startswith("binomial_mean_")}


def _exp_added(top: Any, share: Any, level: Any) -> tuple[Any, Any]:
    """Σ exp(level) so far, relative to exp(0): what the largest level is does not matter."""
    return Sym(sp.S.Zero), share + Sym(sp.exp(expr_of(level)))


def give_checks(program: Program, cls: Any) -> set[str]:
    """What refuses a step: the step is compared where it stays inside."""
    used = set()
    looked: dict[str, Callable[..., Any]] = {
        "_set": lambda opt, name, value, domains: opt.__dict__.update({name: value}),
        "_held": lambda name, params: params,
        "_shaped_as": lambda name, x, *_: x,
        "_finite": lambda *_: None,
        "_generator": lambda rng, *_: rng,
        "_number": lambda name, x, *_: x,
    }
    found = {name: f for name, f in looked.items() if name in program.names}
    program.names |= found
    used |= {*found}
    if hasattr(cls, "_outside"):
        cls._outside = lambda self, only=None: 0
        used.add("_outside")
    if "_between" in program.names:
        program.names["_between"] = lambda *_: None
        used.add("_between")
    return used


def give_linear(program: Program, factor: Factor) -> set[str]:
    """The helpers around linear algebra, for matrices of any size."""
    functions: dict[str, Callable[..., Any]] = {
        "_views": lambda name, arrays, *_: [arrays],
        "_vector": lambda name, arrays, *_: arrays,
        "_split": lambda vector, params: vector,
        "_scattered": _scattered,
        "_symmetric": lambda name, matrix, *_: matrix,
        "_parameter": lambda name, x: x,
        "_cholesky": lambda name, matrix: factor(matrix),
        "_known_factor": lambda name, matrix, *_: factor(matrix),
        "_solve": _solve,
        "_solve_lower": _solve_lower,
        **_around_entries(program),
    }
    given = {name: f for name, f in functions.items() if name in program.names}
    program.names |= given
    return set(given)


def _scattered(vector: Any, params: Any) -> None:
    params[...] = vector


def _around_entries(program: Program) -> dict[str, Callable[..., Any]]:
    """What stands for the helpers around a matrix that is made entry by entry."""
    found: dict[str, Callable[..., Any]] = {
        "_solved": lambda name, matrix, b: linalg.solve(matrix, b),
        "_gram": lambda X: X.T @ X,
        "_definite": lambda name, matrix: None,
        "_look": lambda name, matrix, work, diagonal: None,
        "_products": lambda X, *others: [X.T @ A for A in others],
    }
    for loop, entry in loops(program).items():
        found[loop] = _whole(program.names[entry])
    return {name: f for name, f in found.items() if name in program.names}


def loops(program: Program) -> dict[str, str]:
    """The loops over entries and the functions of an entry: `_write_S` and `_S_next`."""
    pairs = {}
    for name, f in program.names.items():
        if name.startswith("_write_") and callable(f):
            state, _, suffix = name.removeprefix("_write_").partition("_averaged")
            averaged = "_averaged" if name.endswith(f"{state}_averaged") else suffix
            pairs[name] = f"_{state}_next{averaged}"
    return {loop: entry for loop, entry in pairs.items() if entry in program.names}


def _whole(entry: Callable[..., Any]) -> Callable[..., None]:
    """The loop on matrices of any size: the function of an entry, of whole matrices."""

    def write(out: Any, work: Any, *given: Any) -> None:
        value = entry(*given, *([NC(sp.S.One, "matrix")] if has_unit(entry) else []))
        out[...] = value
        work[...] = value

    return write


def has_unit(entry: Callable[..., Any]) -> bool:
    """Whether the matrix contains a multiple of the identity."""
    return "unit" in inspect.signature(entry).parameters


def _solve(factor: Any, b: Any) -> Any:
    """(L Lᵀ)⁻¹ b."""
    known = context().factors
    if isinstance(factor, NC) and factor.e in known:
        return linalg.solve(NC(known[factor.e], "matrix"), b)
    raise CannotRun("_solve without a Cholesky factor")


def _solve_lower(factor: Any, b: Any) -> Any:
    """L⁻¹ b."""
    if isinstance(factor, NC) and factor.e in context().factors and isinstance(b, NC):
        return linalg.solve(factor, b)
    raise CannotRun("_solve_lower without a Cholesky factor")
