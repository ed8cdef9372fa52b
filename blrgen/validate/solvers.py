"""The emitted solvers and loops over matrix entries, run on numbers modulo a prime.

In a step of symbols of any size they stand for what they are documented to compute.  That
they compute it is shown here, at several sizes: `_solve(L, b)` on random triangular L,
`_solved(A, b)` on A = L Lᵀ with positive diagonals (the squares of the field), and the loop
that writes a matrix entry by entry against the function of one entry.  What calls LAPACK
is run twice, without it and with routines that do what LAPACK's documentation says.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from blrgen.decide.field import Mod
from blrgen.decide.modular import P, is_square
from blrgen.decide.proof import Proof
from blrgen.validate.emitted_helpers import has_unit, loops
from blrgen.validate.lapack import ROUTINES, triangular, with_lapack
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.number import CannotRun
from blrgen.validate.symbolic.run import Program

SIZES = (1, 2, 3, 4, 5, 6, 9, 10, 13)  # with and without rests of the loops by two and four
BOUND = "(20/2^127) at each size d = 1…6"
WIDE = f"(60/2^127) at each size d = {', '.join(map(str, SIZES))}"
ROWS = "(2/2^127) at n = 1…12 rows, five at a time"


class Positive(Mod):
    """A number of the field that can be compared with 0 and has the positive root."""

    def _with(self, other: Any, f: Callable[[int, int], int]) -> Any:
        found = super()._with(other, f)
        return Positive(found.v) if isinstance(found, Mod) else found

    def __gt__(self, other: Any) -> bool:
        if other == 0:
            return is_square(self.v)
        raise CannotRun("a comparison of numbers modulo a prime")

    def __lt__(self, other: Any) -> bool:
        return True  # than infinity, the only number that is asked about

    def __pow__(self, n: Any) -> Any:
        if isinstance(n, int):
            return Positive(super().__pow__(n).v)
        if str(n) == "1/2" and is_square(self.v):
            return Positive(pow(self.v, (P + 1) // 4, P))
        return NotImplemented


def solver_proofs(source: str) -> list[tuple[str, Proof]]:
    """A claim for each of them that the source has."""
    claims = (
        ("_solve", "_solve(L, b) = (L Lᵀ)⁻¹ b", "for random triangular matrices", BOUND, _solves),
        (
            "_solve_lower",
            "_solve_lower(L, b) = L⁻¹ b",
            "for random triangular matrices",
            BOUND,
            _solves_lower,
        ),
        ("_solved", "_solved(A, b) = A⁻¹ b", "for random A = L Lᵀ", WIDE, _solved),
        (
            "_gram",
            "_gram(X) = Xᵀ X",
            "for random matrices",
            "(2/2^127) at n × d, n = 1…8, d = 1…34",
            _squared,
        ),
        (
            "_known_factor",
            "_known_factor(S) = L, also what `_look` left",
            "for random S = L Lᵀ and every entry of it changed",
            BOUND,
            _known,
        ),
        ("_products", "_products(X, A, …) = Xᵀ A, …", "for random matrices", ROWS, _multiplied),
    )
    out = []
    for name, claim, how, bound, wrong in claims:
        if Program(source, {}).function(name) is None:
            continue
        found = wrong(source)
        proof = Proof("random-exact", claim, how, bound=bound)
        out.append((name, Proof("refuted", claim, found) if found else proof))
    for loop, entry in loops(Program(source, {})).items():
        claim = f"{loop} writes {entry} of the entries"
        found = _written(source, loop, entry)
        proof = Proof("random-exact", claim, "for random matrices", bound=WIDE)
        out.append((loop, Proof("refuted", claim, found) if found else proof))
    return out


def _solves(source: str) -> str:
    """What is wrong with `_solve`."""
    return _solves_with(source, "_solve", lambda lower, x: lower @ (lower.T @ x))


def _solves_lower(source: str) -> str:
    """What is wrong with `_solve_lower`."""
    return _solves_with(source, "_solve_lower", lambda lower, x: lower @ x)


def _solves_with(source: str, name: str, back: Callable[[Any, Any], Any]) -> str:
    """What is wrong with a solver whose work `back` undoes, without LAPACK and with it."""
    random = Random(5)
    for routine in (None, ROUTINES):
        program = Program(source, {})
        with_lapack(program, routine)
        call: Any = program.function(name)
        for d in range(1, 7):
            lower = _triangle(d, random, Mod)
            for shape in ((d,), (d, d)):
                b = _random(shape, random, Mod)
                x = program.call(call, lower.copy(), b.copy())
                if not _zero(back(lower, x) - b):
                    return f"it differs at d = {d}{'' if routine is None else ', with LAPACK'}"
    return ""


def _solved(source: str) -> str:
    """What is wrong with `_solved`, whose other triangle holds anything."""
    random = Random(7)
    for routine in (None, ROUTINES):
        program = Program(source, {})
        if routine is not None:
            program.names["LARGE"] = 0
        with_lapack(program, routine)
        call: Any = program.function("_solved")
        for d in SIZES:
            lower = _triangle(d, random, Positive)
            matrix, b = lower @ lower.T, _random((d,), random, Positive)
            work = array([[matrix[i, j] if i <= j else Positive(7) for j in range(d)]
                          for i in range(d)])  # fmt: skip
            x = program.call(call, "A", work, b.copy())
            if not _zero(matrix @ x - b):
                return f"it differs at d = {d}{'' if routine is None else ', with LAPACK'}"
    return ""


def _known(source: str) -> str:
    """What is wrong with `_known_factor` behind `_look`: for the same matrix, and for others."""
    random = Random(15)
    for d in range(1, 7):
        for i, j in [(0, -1), *itertools.combinations_with_replacement(range(d), 2)]:
            program = Program(source, {})
            program.names |= {"LARGE": 0, "_cholesky": lambda name, matrix: "factored again"}
            with_lapack(program, ROUTINES)
            lower = _triangle(d, random, Positive)
            matrix, diagonal = lower @ lower.T, _random((d,), random, Positive)
            work = matrix.copy()
            look: Any = program.function("_look")
            program.call(look, "S", matrix, work, diagonal)
            if j >= 0:
                matrix = matrix.copy()
                matrix[i, j] = matrix[j, i] = matrix[i, j] + 1
            call: Any = program.function("_known_factor")
            found = program.call(call, "S", matrix, work, diagonal)
            if j >= 0 and not isinstance(found, str):
                return f"entry {i}, {j} of another matrix is not seen at d = {d}"
            if j < 0 and not _zero(triangular(found, 1) - lower):
                return f"it differs at d = {d}"
            if not _zero(diagonal):
                return f"what is known does not end at d = {d}"
    return ""


def _squared(source: str) -> str:
    """What is wrong with `_gram`: its loop, without BLAS and with it, by rows and by columns."""
    random = Random(13)
    for routine, narrow in ((None, 128), (None, 0), (ROUTINES, 0)):
        program = Program(source, {})
        program.names |= {"NARROW": narrow, "PANEL": 4 * 8}
        with_lapack(program, routine)
        call: Any = program.function("_gram")
        for rows, columns in itertools.product((1, 4, 6, 8), (1, 2, 3, 5, 8, 34)):
            X = _random((rows, columns), random, Mod)
            for given in (X, _random((columns, rows), random, Mod).T):
                if not _zero(program.call(call, given) - given.T @ given):
                    return f"it differs at {rows} × {columns}"
    return ""


def _multiplied(source: str) -> str:
    """What is wrong with `_products`."""
    random = Random(11)
    program = Program(source, {})
    program.names |= {"STRETCH": 15, "SHARED": 2, "PANEL": 4 * 8}
    call: Any = program.function("_products")
    for n in range(1, 13):
        X, y = _random((n, 3), random, Mod), _random((n,), random, Mod)
        for others in ((X, y), (y, X), (y, y, X)):
            found = program.call(call, X, *others)
            if not all(_zero(f - X.T @ A) for f, A in zip(found, others, strict=True)):
                return f"it differs for {n} rows"
    return ""


def _written(source: str, loop: str, entry: str) -> str:
    """What is wrong with a loop over entries."""
    random = Random(9)
    program = Program(source, {})
    write: Any = program.function(loop)
    one: Any = program.function(entry)
    arguments = inspect.signature(write).parameters.values()
    matrices = [x.annotation == "Array" for x in arguments][2:]
    whole = program.function("_known_factor") is not None  # it reads the other triangle, too
    for d in SIZES:
        given: list[Any] = [
            _random((d, d), random, Mod) if is_matrix else Mod(random.randrange(P))
            for is_matrix in matrices
        ]
        out, work = _random((d, d), random, Mod), _random((d, d), random, Mod)
        program.call(write, out, work, *given)
        for i in range(d):
            for j in range(d):
                values = [x[i, j] if m else x for x, m in zip(given, matrices, strict=True)]
                values += [Mod(int(i == j))] if has_unit(one) else []
                wanted = program.call(one, *values)
                if out[i, j] != wanted or ((whole or j >= i) and work[i, j] != wanted):
                    return f"entry {i}, {j} differs at d = {d}"
    return ""


# numbers --------------------------------------------------------------------------------
def _random(shape: tuple[int, ...], random: Random, kind: type[Mod]) -> Any:
    entries = [kind(random.randrange(P)) for _ in range(int(np.prod(shape)))]
    return array(entries).reshape(shape)


def _triangle(d: int, random: Random, kind: type[Mod]) -> Any:
    """A lower triangle with a positive diagonal."""
    return array([
        [kind(random.randrange(1, P) ** (2 if i == j else 1)) if j <= i else kind(0)
         for j in range(d)]
        for i in range(d)
    ])  # fmt: skip


def _zero(residual: Any) -> bool:
    return all(v == Mod(0) for v in residual.view(np.ndarray).reshape(-1))
