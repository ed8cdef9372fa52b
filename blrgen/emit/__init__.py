"""Programs → source files that stand alone.

| module | what it does |
|---|---|
| `assemble` | A whole file: docstring, imports, kernels, class, what is made for it |
| `averages` | Expectations without a closed form as emitted functions: the weight, its window |
| `binomial` | E[g(j)] of a binomial j as an emitted function |
| `common` | What is asked of a rule before its class is written |
| `compile` | An emitted source as a ready class |
| `drawn` | Draws from a family as source text: a function `sample(rng, size, …)` in plain NumPy |
| `extents` | Where the sizes of vectors and matrices are read from |
| `fixed` | The step of a rule whose sizes are numbers: straight-line code |
| `generated` | The committed output under `generated/`: one file for each recipe and target |
| `joined` | Kernels on stretches of arrays, with threads, and with new noise |
| `law` | Posterior and samples of families that are no Gaussians: moments, draws, inverse |
| `linear` | Which functions a rule of vectors and matrices has |
| `linear_functions` | Module-level functions of a file around linear algebra: what is computed |
| `names` | Names of the emitted class, and names a program must not use because the class does |
| `numba` | The Numba target: one fused loop a kernel, compiled for one thread and for several |
| `numpy` | The NumPy target: the same lines on whole arrays, in place |
| `pieces` | A kernel in pieces: what calls them block by block |
| `polynomials` | Polynomials of random numbers, which `blrgen.runtime` holds as constants |
| `printers` | Nodes as Python expressions |
| `prose` | The docstring of an emitted file: equations, approximations, hyperparameters, as prose |
| `ranges` | Domains as text → the condition that emitted code checks |
| `sampler` | A file of its own that draws from a family: `sample(rng, size, …)` and what it calls |
| `shorten` | Long lines, with parts of them as locals of their own |
| `support` | Support functions of emitted files: the definitions of `blrgen.runtime` |
| `tails` | Sums over integers where equal steps do not see the weight: heavy tails |
| `targets` | the table of targets |
| `templates` | The texts under `templates/`, filled strictly: every key supplied, none unused |
| `text` | Small helpers for laying out Python source |
| `uses` | What the text of a file needs, declared where the text is written |
| `special` | Special functions of emitted files: what they mean, and the numbers that they hold |
| `mixture` | A mixture's program over axes → a file that stands alone |
| `optimizer` | Programs of rules → the class of an optimizer, as a tree |
| `model` | Model programs → source files that stand alone |
| `tree` | Programs over axes → functions → source text |

What an emitted file is made of, for whoever runs it on symbols: every check of what a
caller hands in is in `_check_hyperparameters` and `_check_state` (methods, where there are
some), `_set` (an attribute in its domain), `_held`, `_views`, `_vector`, `_symmetric`
and `_shaped_as` (functions, which return what they were given, `_views` as flat views in
a list and `_vector` as one vector); numbers go through `_typed`; the rest
is arithmetic, `np.<function>`, `math.<function>` on scalars, and in linear algebra `@`,
`_cholesky(name, S)` = L with L Lᵀ = S, `_solve(L, b)` = (L Lᵀ)⁻¹ b, `_solve_lower(L, b)` =
L⁻¹ b and `_solve_upper(L, b)` = L⁻ᵀ b; where loops are compiled also `_solved(name, A, b)` =
A⁻¹ b, which overwrites the upper triangle of A, all it reads, `_write_S(S_next, work, …)`,
which writes `_S_next(…)` of every entry to `S_next` and the upper triangle to `work`,
`_definite(name, A)`, which only looks, `_gram(X)` = Xᵀ X and `_products(X, A, …)` = Xᵀ A, …;
`_look(name, A, work, diagonal)` looks at an A that is also in `work`, all of it, and
`_known_factor(name, S, work, diagonal)` = L with L Lᵀ = S, found there if that A was S, which
is good until `work` is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.errors import UserError, did_you_mean
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
    if derivation.mixture is not None:
        return _of_mixture(derivation, target, dtype, noise, sizes)
    from blrgen.emit.targets import emitter

    def written(d: Derivation, generator: str | None = noise) -> str:
        def found(name: str) -> Callable[[Derivation, str | None], str]:
            return emitter(name, generator, sizes)

        return timed("load the target", found, target)(d, dtype)

    source = timed(f"emit {target}", written, derivation)
    if noise is not None and all(source == written(derivation, x) for x in GENERATORS):
        raise UserError(
            f"--noise {noise} would change nothing",
            why="this file makes no random numbers in compiled code",
            how="leave --noise out",
        )
    return source


def _of_mixture(
    d: Derivation,
    target: str,
    dtype: str | None,
    noise: str | None,
    sizes: Mapping[str, int] | None,
) -> str:
    """The file of a mixture; it makes no random numbers, and its sizes are those of its arrays."""
    from blrgen.emit.mixture.file import mixture_file

    if noise is not None or sizes:
        flag = "--noise" if noise is not None else "--size"
        raise UserError(
            f"{flag} is not for mixtures", where=d.family.name,
            why="the class of a mixture makes no random numbers and takes arrays of every size",
            how=f"leave {flag} out",
        )  # fmt: skip
    if dtype is not None and dtype not in DTYPES:
        raise UserError(f"unknown dtype {dtype!r}", how=did_you_mean(dtype, DTYPES))
    return timed(f"emit {target}", lambda x: mixture_file(x, target, dtype), d)
