"""Programs → source files that stand alone.

| module | what it does |
|---|---|
| `targets` | the table of targets |
| `numpy`, `numba` | one target each: how a kernel is written |
| `printers` | nodes as Python expressions |
| `prose` | the docstring: equations, approximations, hyperparameters |
| `plan` | a rule's phases as programs of their own |
| `kernels` | an elementwise phase as a loop or as array statements |
| `writer` | what all classes share |
| `elementwise`, `posterior` | the class around elementwise kernels |
| `linear`, `formed` | the class around linear algebra; a matrix that is made entry by entry |
| `fixed` | the step of a rule whose sizes are small numbers, every entry written out |
| `joined`, `probing` | kernels on stretches of arrays and with new noise; rules that draw |
| `polynomials`, `special` | the numbers that the runtime's functions hold; special functions |
| `support`, `uses` | the functions of `blrgen.runtime` that a file needs; what its text declares |
| `assemble` | the whole file |
| `templates` | the texts of `templates/`, strictly filled |
| `compile` | a source as a ready class |
| `generated` | the committed output: write it, check it |

What an emitted file is made of, for whoever runs it on symbols: every check of what a
caller hands in is in `_check_hyperparameters` (method), `_views`, `_vector`, `_symmetric`
and `_shaped_as` (functions, which return what they were given, `_views` as flat views in
a list and `_vector` as one vector); numbers go through `_typed`; the rest
is arithmetic, `np.<function>`, `math.<function>` on scalars, and in linear algebra `@`,
`_cholesky(name, S)` = L with L Lᵀ = S, `_solve(L, b)` = (L Lᵀ)⁻¹ b, `_solve_lower(L, b)` =
L⁻¹ b, `_solve_upper(L, b)` = L⁻ᵀ b and `_symmetrize(A)` = (A + Aᵀ)/2; where loops are compiled
also `_solved(name, A, b)` = A⁻¹ b, which overwrites the upper triangle of A, all it reads,
`_write_S(out, work, …)`, which writes `_S_next(…)` of every entry to `out` and the upper
triangle to `work`, `_definite(name, A)`, which only looks, `_gram(X)` = Xᵀ X and
`_products(X, A, …)` = Xᵀ A, …; `_look(name, A, work, diagonal)` looks at an A that is also in
`work`, all of it, and `_known_factor(name, S, work, diagonal)` = L with L Lᵀ = S, found
there if that A was S, which is good until `work` is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.timing import timed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from blrgen.core import Derivation

DTYPES = ("float32", "float64")
GENERATORS = ("threefry", "hash")  # of the random words of a target that makes its own


def emit(
    derivation: Derivation,
    target: str = "numba",
    dtype: str | None = None,
    noise: str | None = None,
    sizes: Mapping[str, int] | None = None,
) -> str:
    """The source of a file that computes the derived rule.

    With no `dtype` the class takes float32 and float64 arrays and computes in the
    dtype it is given; with one it refuses the other.  `noise` names the generator of a
    target that makes its own random numbers (docs/noise.md).  `sizes`, {"d": 4} say,
    are those of vectors and matrices that are always this small: their entries are written out.
    """
    from blrgen.emit.targets import emitter

    def found(name: str) -> Callable[[Derivation, str | None], str]:
        return emitter(name, noise, sizes)

    def written(d: Derivation) -> str:
        return timed("load the target", found, target)(d, dtype)

    return timed(f"emit {target}", written, derivation)
