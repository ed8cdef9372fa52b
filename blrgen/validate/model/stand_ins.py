"""What an emitted file of a model finds when it runs on numbers of a tower of fields.

NumPy's own functions move and add the numbers, as they do with any objects; exp, log and linear
algebra are those of the tower.  Special functions of the file are taken at their word: that they
compute what their names say is tested where they are written.  Checks of what a caller gives
are left out, data are not moved, and ends of domains are not met.  Whatever else is asked of
these numbers has no meaning here, and says so.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np

from blrgen.decide.tower_kind import FUNCTIONS, TOWERS, function
from blrgen.decide.towers import NoMeaning, Tower, lift, oracle_number
from blrgen.emit.compile import public_name
from blrgen.validate.model.covered import FILE, parsed

PLAIN = frozenset(
    [
        "abs",
        "all",
        "any",
        "arange",
        "argwhere",
        "array",
        "broadcast_arrays",
        "broadcast_shapes",
        "broadcast_to",
        "concatenate",
        "copy",
        "count_nonzero",
        "cumsum",
        "diagonal",
        "dot",
        "einsum",
        "errstate",
        "expand_dims",
        "eye",
        "indices",
        "integer",
        "int64",
        "intp",
        "bool_",
        "logical_and",
        "logical_not",
        "logical_or",
        "matmul",
        "max",
        "maximum",
        "min",
        "minimum",
        "moveaxis",
        "multiply",
        "ndarray",
        "ndim",
        "ndindex",
        "newaxis",
        "outer",
        "prod",
        "ravel",
        "repeat",
        "reshape",
        "shape",
        "size",
        "square",
        "squeeze",
        "stack",
        "sum",
        "swapaxes",
        "take",
        "tile",
        "trace",
        "transpose",
        "tri",
        "tril",
        "triu",
        "where",
        "zeros_like",
        "empty_like",
        "add",
        "subtract",
        "divide",
        "bincount",
        "nonzero",
    ]
)
CHECKS = ("_in_domain", "_check_definite")  # of what the caller gives
SPECIAL = {f"_{name}": name for name in FUNCTIONS} | {"_digamma_many": "digamma"}


def _where_they_are(_: Any, moving: Any) -> dict[str, Any]:
    """Data are not moved; a step is the same wherever they are."""
    return {x: np.zeros(1) for name, (_, points, _) in moving.items() for x in (name, *points)}


class Real:
    """The dtype of arrays of numbers of a tower."""

    kind = "f"

    @staticmethod
    def type(x: Any) -> Any:
        """A number as one of these; ∞, NaN and what was rounded can be compared with alone."""
        with suppress(NoMeaning):
            found = lift(x)
            return x if found is NotImplemented else found
        return x


_AS_IS = np.frompyfunc(Real.type, 1, 1)


class Numbers(np.ndarray):
    """An array of numbers of a tower that answers as an array of doubles."""

    @property
    def dtype(self) -> Any:
        return Real()

    def astype(self, *_: Any, **__: Any) -> Any:
        return self.copy()


def numbers(x: Any) -> Any:
    """An array of objects as one of numbers; anything else as it is."""
    if isinstance(x, tuple):
        return tuple(map(numbers, x))
    plain = isinstance(x, np.ndarray) and not isinstance(x, Numbers)
    return x.view(Numbers) if plain and x.dtype == object else x


def _wrapped(f: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        plain = {} if dtype is None or _is_real(dtype) else {"dtype": dtype}
        return numbers(f(*args, **kwargs, **plain))

    return call


def _is_real(dtype: Any) -> bool:
    return dtype in (np.float64, np.float32, float) or isinstance(dtype, Real) or dtype is Real.type


_MISSING = np.frompyfunc(lambda x: isinstance(x, float) and x != x, 1, 1)


class Numpy:
    """NumPy, as far as an emitted file of a model may need it."""

    made = 0  # arrays with whatever lay there

    def __init__(self) -> None:
        self.linalg = SimpleNamespace(
            solve=lambda a, b: numbers(TOWERS.solve(a, b)),
            slogdet=lambda a: (None, numbers(TOWERS.logdet(a))),
            inv=lambda a: numbers(TOWERS.inverse(a)),
            LinAlgError=np.linalg.LinAlgError,
        )
        self.random = SimpleNamespace(default_rng=lambda seed: None, Generator=object)
        self.float64 = self.float32 = Real.type
        self.inf, self.pi, self.nan = math.inf, TOWERS.constant("pi"), math.nan
        for name in ("exp", "log", "log1p", "expm1", "sqrt", "tanh"):
            setattr(self, name, entrywise(name))

    def __getattr__(self, name: str) -> Any:
        if name in PLAIN:
            found = getattr(np, name)
            return found if isinstance(found, type | np.ufunc) else _wrapped(found)

        def refuse(*_: Any, **__: Any) -> Any:
            raise NoMeaning(f"np.{name} of numbers of a field")

        return refuse

    def empty(self, shape: Any, dtype: Any = float) -> Any:
        self.made += 1  # what lies in memory is never the same twice
        return self.full(shape, oracle_number("memory", self.made) if _is_real(dtype) else 1, dtype)

    def zeros(self, shape: Any, dtype: Any = float) -> Any:
        return self.full(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any = float) -> Any:
        return self.full(shape, 1, dtype)

    def full(self, shape: Any, value: Any, dtype: Any = float) -> Any:
        return numbers(np.full(shape, value, object if _is_real(dtype) else dtype))

    def isnan(self, x: Any) -> Any:
        return np.asarray(_MISSING(x)).astype(bool)

    def isfinite(self, x: Any) -> Any:
        return ~self.isnan(x)

    def isinf(self, x: Any) -> Any:
        return np.zeros(np.shape(x), bool)

    isneginf = isposinf = isinf

    def asarray(self, x: Any, dtype: Any = None, order: Any = None) -> Any:
        if dtype is None:
            return numbers(np.asarray(x))
        if _is_real(dtype):
            return numbers(np.asarray(_AS_IS(np.asarray(x, dtype=object)), dtype=object))
        return np.asarray(x, dtype)

    ascontiguousarray = asarray


def entrywise(name: str) -> Callable[..., Any]:
    """A function of numbers, for arrays of them too."""

    def one(*args: Any) -> Any:
        return function(name, *args)

    def call(*args: Any) -> Any:
        if any(np.ndim(x) for x in args):
            return np.asarray(np.frompyfunc(one, len(args), 1)(*args)).view(Numbers)
        return one(*args)

    return call


def _laid(f: Callable[..., Any]) -> Callable[..., Any]:
    """Where entries stand that are laid end to end: what is 0 or 1 as such numbers."""

    def call(*args: Any) -> dict[str, Any]:
        found = f(*args[:-1], np.float64)
        return {k: numbers(TOWERS.array(x.astype(int))) if x.dtype.kind == "f" else x
                for k, x in found.items()}  # fmt: skip

    return call


def _decorator(*args: Any, **_: Any) -> Any:
    return args[0] if len(args) == 1 and callable(args[0]) else lambda f: f


# Of a constructor: the state is given whole, and its numbers lie inside of their domains.
CONSTRUCTED: dict[str, Callable[..., Any]] = {
    "_dtype": lambda *_: Real(),
    "_drawn_start": lambda *_: {},
    "_in_units": lambda state, *_: state,
    "_point_ends": lambda *_: (),
    "_brought_near": _where_they_are,
    "_stay_definite": lambda state, *_: state,
    "_stopped": lambda *_, **__: "",
    "_set_known": lambda model, name, value, _: object.__setattr__(model, name, value),
}


def class_on(
    source: str, *, short: bool = False, rounds: int = 0,
    stands: Mapping[str, Callable[..., Any]] | None = None,
) -> Any:  # fmt: skip
    """The class of an emitted file, on numbers of a tower; `stands` stand for its own functions."""
    numpy = Numpy()
    modules: dict[str, Any] = {
        "numpy": numpy,
        "math": SimpleNamespace(
            pi=TOWERS.constant("pi"), inf=math.inf, nan=math.nan, prod=math.prod,
            isfinite=lambda x: True,
            **{n: entrywise(n) for n in ("exp", "log", "sqrt", "log1p")},
        ),
        "numba": SimpleNamespace(
            njit=_decorator, prange=range, types=None, get_num_threads=lambda: 1,
            set_num_threads=lambda n: None,
        ),
        "numba.extending": SimpleNamespace(intrinsic=_decorator, overload=_decorator),
        "numpy.typing": SimpleNamespace(NDArray={Any: Any}),
    }  # fmt: skip

    def importer(name: str, *args: Any) -> Any:
        return modules[name] if name in modules else builtins.__import__(name, *args)

    names: dict[str, Any] = {
        "__name__": "emitted",
        "__builtins__": {**vars(builtins), "__import__": importer, "float": _float},
    }  # fmt: skip
    exec(compile(parsed(source, short=short, rounds=rounds), FILE, "exec"), names)
    names |= {name: lambda *_, **__: None for name in CHECKS if name in names}
    names |= {name: entrywise(f) for name, f in SPECIAL.items() if name in names}
    if "_solved_or_nan" in names:
        names["_solved_or_nan"] = numpy.linalg.solve
    own = {**CONSTRUCTED, **(stands or {})}
    if "_stacked" in names:
        own["_stacked"] = _laid(names["_stacked"])
    names |= {name: f for name, f in own.items() if name in names}
    return names[public_name(source)]


def _float(x: Any) -> Any:
    while isinstance(x, np.ndarray) and x.size == 1:
        x = x.reshape(-1)[0]
    return x if isinstance(x, Tower) else float(x)
