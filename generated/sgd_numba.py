"""SGD.

The Bayesian learning rule for the candidate: Gaussian with unit covariance, N(m, I).

Here m is mean; g is a minibatch estimate of the gradient of the loss, at the mean m; x⁺ is
the next value of x.

Update:

    m⁺ = m − ρ·g

Approximations, in the order in which they were made:

    delta: 𝔼_q[f(θ)] ≈ f(m): the expectation is replaced by the value at the mean
    stochastic: a minibatch stands for the data

Hyperparameters:

    rho  step size of the rule, in (0, 1], 0.1 by default

See Robbins & Monro (1951).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numba import carray, prange, types

__all__ = ["SGD"]

DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
EARLY_CALLS = 4  # of a function that is kept compiled, before Numba is worth its import

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
BLOCK = 256  # elements that stay in the fastest cache while all kernels pass over them
PORTION = 2048  # elements of which a thread takes a whole number, so that blocks stay whole
THREADED = 65536  # elements from which a thread of its own is worth its start
FEW = 4  # arrays up to which they are stepped one by one


class _Later:
    """A function for Numba, which is imported when something has to be compiled.

    Machine code is kept beside this file and a new process runs it as it is.  Numba, which
    takes longer to start than everything else, takes over in a process that calls on.
    """

    def __init__(self, function: Callable[..., Any], made: Callable[..., Any]) -> None:
        self.function = function
        self.made = made
        self.calls = 0
        self.found: dict[str, Callable[..., Any] | None] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, compiled for arguments of these types."""
        name, types = self.function.__name__, " ".join(map(_type, arguments))
        self.calls += 1
        if types not in self.found:
            self.found[types] = _kept(name, types)
        code = self.found[types]
        if code is not None and self.calls <= EARLY_CALLS:
            code(*(word for x in arguments for word in _words(x)))
            return None
        compiled = _with_numba(name)
        result = compiled(*arguments)
        if code is None and result is None:
            with suppress(Exception):  # without it the next process starts more slowly
                _keep(name, types, compiled)
        return result


def njit(**options: Any) -> Callable[..., Any]:
    """Mark a function as one for numba.njit."""

    def marked(function: Callable[..., Any]) -> Any:
        # What Numba keeps has the module's name in it, and it finds it by this one.
        function.__qualname__ = f"{function.__module__}.{function.__name__}"
        return _Later(function, lambda numba: numba.njit(**options)(function))

    return marked


def intrinsic(function: Callable[..., Any]) -> Any:
    """Mark a function as one for numba.extending.intrinsic."""
    return _Later(function, lambda numba: numba.extending.intrinsic(function))


def get_num_threads() -> int:
    """Ask Numba, which is in this place from then on."""
    return int(_with_numba("get_num_threads")())


def _with_numba(name: str) -> Any:
    """Put compiled functions in the place of all that wait for Numba; return one of them."""
    import numba.extending

    for other in ("carray", "get_num_threads", "prange", "types"):
        globals()[other] = getattr(numba, other)
    for other, value in list(globals().items()):
        if isinstance(value, _Later):
            globals()[other] = value.made(numba)
    return globals()[name]


def _type(x: Any) -> str:
    """Return the type of an argument as far as compiled code depends on it."""
    if isinstance(x, np.ndarray) and x.flags.c_contiguous and x.flags.aligned:
        return f"{x.dtype.str}:{x.ndim}"
    return type(x).__name__


def _words(x: Any) -> tuple[Any, ...]:
    """Return an argument in the words that compiled code takes."""
    if isinstance(x, np.ndarray):
        return None, None, x.size, x.itemsize, x.ctypes.data, *x.shape, *x.strides
    return (x,)


def _place(name: str, types: str) -> tuple[Any, bytes]:
    """Return where machine code is kept, and the mark of that which fits here and now."""
    import hashlib
    import os
    import zlib
    from importlib.util import find_spec
    from pathlib import Path

    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

    here, numba = Path(__file__), find_spec("numba")
    version = os.stat(str(numba and numba.origin)).st_mtime_ns
    settings = sorted(x for x in os.environ.items() if x[0].startswith("NUMBA_"))
    known = (types, version, settings, get_host_cpu_name(), sorted(get_host_cpu_features().items()))
    mark = hashlib.sha256(here.read_bytes() + repr(known).encode()).digest()
    file = f"{here.stem}.{name}.{zlib.crc32(types.encode()):08x}.o"
    return here.parent / "__pycache__" / file, mark


def _kept(name: str, types: str) -> Callable[..., Any] | None:
    """Return the machine code that an earlier process kept, if there is some that fits."""
    import ctypes

    with suppress(Exception):  # whatever is wrong with what is kept, Numba is there
        from llvmlite import binding

        words: list[Any] = [ctypes.c_void_p] * 2  # for a result and for an exception
        for kind in types.split():
            if ":" in kind:
                words += [ctypes.c_void_p] * 2 + [ctypes.c_ssize_t] * 2 + [ctypes.c_void_p]
                words += [ctypes.c_ssize_t] * (2 * int(kind.partition(":")[2]))
            else:
                words.append({"float": ctypes.c_double, "int": ctypes.c_int64}[kind])
        file, mark = _place(name, types)
        code = file.read_bytes()
        if not code.startswith(mark):
            return None
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        linker = binding.create_lljit_compiler()
        library = binding.JITLibraryBuilder().add_object_img(code[len(mark) :])
        kept = library.add_current_process().export_symbol(name).link(linker, name)
        function = ctypes.PYFUNCTYPE(ctypes.c_int32, *words)(kept[name])
        nowhere = ctypes.create_string_buffer(16)

        def call(*given: Any, used: Any = (linker, kept)) -> None:
            if function(nowhere, nowhere, *given) not in (0, -2):  # done, done with nothing
                raise RuntimeError(f"{name} failed")

        return call
    return None


def _keep(name: str, types: str, compiled: Any) -> None:
    """Keep the machine code of a function for the types for which it was compiled last."""
    import ctypes
    import os
    import tempfile

    from llvmlite import binding

    last = compiled.overloads[compiled.signatures[-1]]
    module = last.library._get_module_for_linking().clone()
    for function in module.functions:  # the others are ways to call it from Python
        if not function.is_declaration:
            function.linkage = binding.Linkage.internal
    own = module.get_function(last.fndesc.llvm_func_name)
    own.linkage, own.name = binding.Linkage.external, name
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3,
        jit=True,
    )
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    options = binding.create_pipeline_tuning_options()
    passes.run(module, binding.create_pass_builder(machine, options))
    needed = [f.name for f in module.functions if f.is_declaration]
    if not all(x.startswith("llvm.") or hasattr(ctypes.CDLL(None), x) for x in needed):
        return  # it runs with the help of Numba
    file, mark = _place(name, types)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, suffix=".o")
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(mark + machine.emit_object(module))
    os.replace(temporary, file)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step(m: Array, g: Array, rho: float) -> None:
    """Update every element in place."""
    real = m.dtype.type
    rho = real(rho)
    for i in range(m.size):
        m_next = m[i] - rho * g[i]
        m[i] = m_next


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step_stretch(
    table: Array, ends: Array, like: Array, first: int, last: int, *numbers: float
) -> None:
    """Run `_step` on a stretch of the elements of all arrays."""
    for which in range(_which(ends, first), ends.size - 1):
        low, high = max(first, ends[which]), min(last, ends[which + 1])
        if low >= last:
            break
        start, size = low - ends[which], high - low
        m = _view(table[0, which], start, size, like)
        g = _view(table[1, which], start, size, like)
        _step(m, g, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_arrays(table: Array, ends: Array, like: Array, threads: int, *numbers: float) -> None:
    """Run `_step_stretch` on all stretches, with threads."""
    stretch = _stretch(ends[-1], threads)
    for part in prange(-(-ends[-1] // stretch)):
        first, last = part * stretch, min(ends[-1], (part + 1) * stretch)
        _step_stretch(table, ends, like, first, last, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_threads(m: Array, g: Array, threads: int, *numbers: float) -> None:
    """Run `_step` on stretches of one array, with threads."""
    stretch = _stretch(m.size, threads)
    for part in prange(-(-m.size // stretch)):
        first, last = part * stretch, min(m.size, (part + 1) * stretch)
        _step(m[first:last], g[first:last], *numbers)


@intrinsic  # type: ignore[untyped-decorator]
def _pointer(context: Any, address: Any) -> Any:
    """A whole number as the address of memory."""

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.voidptr(address), generated


@njit(cache=True, error_model="numpy")
def _view(address: int, start: int, size: int, like: Array) -> Array:
    """Return elements of the array at an address."""
    return carray(_pointer(address + start * like.itemsize), (size,), like.dtype)


@njit(cache=True, error_model="numpy")
def _note(table: Array, row: int, column: int, array: Array) -> None:
    """Write where an array begins, quicker than NumPy says it."""
    table[row, column] = array.ctypes.data


@njit(cache=True, error_model="numpy")
def _stretch(size: int, threads: int) -> int:
    """Return how many elements a thread takes: whole portions, all where there are few."""
    threads = min(threads, 1 + size // THREADED)
    return (size // threads // PORTION + 1) * PORTION


@njit(cache=True, error_model="numpy")
def _which(ends: Array, element: int) -> int:
    """Return the array in which an element is: the last one that begins at or before it."""
    low, high = 0, ends.size
    while high - low > 1:
        middle = (low + high) // 2
        if ends[middle] <= element:
            low = middle
        else:
            high = middle
    return low


def _same(arrays: Sequence[Array], others: Sequence[Array]) -> bool:
    """Return whether these are the very same arrays."""
    if arrays is others:
        return True
    return len(arrays) == len(others) and all(map(operator.is_, arrays, others))


def _addresses(known: dict[Any, Any], key: Any, rows: Sequence[Sequence[Array]]) -> Array:
    """Return where arrays begin; what is still there from the last time is not looked up."""
    if key not in known:
        table = np.empty((len(rows), len(rows[0])), dtype=np.int64)
        known[key] = [()] * len(rows), table
    held, table = known[key]
    for place, arrays in enumerate(rows):
        if not _same(arrays, held[place]):
            for column, array in enumerate(arrays):
                _note(table, place, column, array)
            # an input that may be large is not kept alive
            alive = len(arrays) > FEW or isinstance(arrays, list)
            held[place] = tuple(arrays) if alive else ()
    return table


def _groups(arrays: Sequence[Array]) -> list[tuple[slice, Array, Array, int]]:
    """Return which arrays go together: those of one dtype; where each ends, their type and size."""
    together = len({array.dtype for array in arrays}) == 1
    found = []
    for part in [slice(None)] if together else [slice(k, k + 1) for k in range(len(arrays))]:
        ends = np.cumsum([0, *(array.size for array in arrays[part])])
        found.append((part, ends, arrays[part][0][:0], int(ends[-1])))
    return found


def _many(arrays: Sequence[Array]) -> bool:
    """Return whether one call for all arrays is faster: they are many, or large."""
    return len(arrays) > FEW or sum(array.size for array in arrays) >= THREADED


def _views(name: str, arrays: Arrays, like: Sequence[Array] | None = None) -> list[Array]:
    """Return one array or several as flat views; refuse what cannot be used as it is."""
    if like is not None and len(like) == 1 and type(arrays) is np.ndarray:
        usual = arrays.dtype == like[0].dtype and arrays.flags.c_contiguous
        if usual and arrays.shape == like[0].shape:
            return [arrays if arrays.ndim == 1 else arrays.reshape(-1)]
    several = isinstance(arrays, list | tuple)
    found: list[Any] = list(arrays) if several else [arrays]
    if like is not None and len(found) != len(like):
        raise ValueError(f"{name}: {len(found)} arrays for {len(like)} arrays of parameters")
    for index, array in enumerate(found):
        where = f"{name}[{index}]" if several else name
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{where} is a {type(array).__name__}; pass a NumPy array")
        if array.dtype not in DTYPES:
            wanted = " or ".join(np.dtype(d).name for d in DTYPES)
            raise TypeError(f"{where} is {array.dtype}, not {wanted}; convert it with astype")
        if not array.flags.c_contiguous:
            raise ValueError(f"{where} is not contiguous; pass np.ascontiguousarray({where})")
        if like is None and not array.flags.writeable:
            raise ValueError(f"{where} is read-only and cannot be updated in place; pass a copy")
        if like is not None and array.dtype != like[index].dtype:
            raise TypeError(f"{where} is {array.dtype}, but its parameters are {like[index].dtype}")
        if like is not None and array.shape != like[index].shape:
            raise ValueError(
                f"{where} has shape {array.shape}, but its parameters have {like[index].shape}"
            )
    return [array.reshape(-1) for array in found]


def _listed(arrays: Arrays) -> list[Array]:
    """Return one array or several as a list."""
    return list(arrays) if isinstance(arrays, list | tuple) else [arrays]


def _restored(name: str, saved: Sequence[Array], current: Sequence[Array]) -> list[Array]:
    """Return copies of saved arrays; refuse those that do not fit the current ones."""
    if len(saved) != len(current):
        raise ValueError(f"saved {name}: {len(saved)} arrays, but there are {len(current)}")
    for index, (old, new) in enumerate(zip(saved, current, strict=True)):
        if old.shape != new.shape or old.dtype != new.dtype:
            raise ValueError(
                f"saved {name}[{index}] is {old.dtype} of shape {old.shape}, "
                f"but the parameters need {new.dtype} of shape {new.shape}"
            )
    return [array.copy() for array in saved]


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


class SGD:
    """SGD.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = SGD(params)
        opt.step(g)
    """

    def __init__(
        self,
        params: Arrays,
        *,
        rho: float = 0.1,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self._check_hyperparameters()
        self.params = params
        self._arrays = _listed(params)
        self.t = 0  # steps taken
        self.m = _views("params", params)
        self._inputs: dict[str, Any] = {}  # many arrays, as they were given last
        self._known: dict[Any, Any] = {}  # where arrays begin
        self._groups = _groups(self.m)
        self._joined = _many(self.m)
        self._threads = 0  # at most, as many as there were in the first step; asking is slow

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle is made of: nothing that says where arrays lie."""
        left = ("_arrays", "m", "_inputs", "_known", "_groups", "_joined", "_threads")
        return {name: value for name, value in vars(self).items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it over; m looks into the parameters again."""
        vars(self).update(state)
        self._arrays = _listed(self.params)
        self.m = _views("params", self.params)
        self._inputs = {}  # many arrays, as they were given last
        self._known = {}  # where arrays begin
        self._groups = _groups(self.m)
        self._joined = _many(self.m)
        self._threads = 0  # at most, as many as there were in the first step; asking is slow

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.rho <= 1:
            raise ValueError(f"rho = {self.rho!r} is outside (0, 1]")

    def step(self, g: Arrays) -> None:
        """Update the parameters in place from g, at m."""
        self._check_hyperparameters()
        g = self._seen("g", g)
        numbers = (self.rho,)
        if self._joined:
            rows = self.m, g
            self._run(_step_threads, _step_stretch, _step_arrays, rows, *numbers)
        else:
            for index, m in enumerate(self.m):
                _step(m, g[index], *numbers)
        self.t += 1

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means = []
        deviations = []
        for m in self.m:
            means.append(m.copy())
            deviations.append(_deviation(np.full_like(m, 1)))
        return self._shaped(means), self._shaped(deviations)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw from the posterior; the same seed gives the same draw."""
        means, deviations = self.posterior()
        pairs = zip(_listed(means), _listed(deviations), strict=True)
        return self._shaped([m + s * rng.standard_normal(m.shape, dtype=m.dtype) for m, s in pairs])

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to resume exactly, as copies."""
        return {
            "t": self.t,
            "hyperparameters": {"rho": self.rho},
            "m": [x.copy() for x in self.m],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        missing = [key for key in ("t", "hyperparameters", "m") if key not in saved]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        m = _restored("m", saved["m"], self.m)
        for array, value in zip(self.m, m, strict=True):
            array[:] = value
        self.t = int(saved["t"])
        self.rho = saved["hyperparameters"]["rho"]

    def _seen(self, name: str, arrays: Arrays) -> Sequence[Array]:
        """Return an input as flat views; the arrays of the last time are not looked at again."""
        like = self._arrays
        if len(like) == 1 and type(arrays) is np.ndarray and arrays.flags.c_contiguous:
            (one,) = like
            if arrays.dtype == one.dtype and arrays.shape == one.shape:
                return (arrays if arrays.ndim == 1 else arrays.reshape(-1),)
        if len(like) <= FEW:
            return tuple(_views(name, arrays, like))
        held, views = self._inputs.get(name, ((), ()))
        if not _same(_listed(arrays), held):
            views = tuple(_views(name, arrays, like))
            self._inputs[name] = tuple(_listed(arrays)), views
        return views

    def _run(
        self,
        alone: Callable[..., None],
        one: Callable[..., None],
        several: Callable[..., None],
        rows: Sequence[Sequence[Array]],
        *numbers: float,
    ) -> None:
        """Run a kernel on all arrays in one call, with threads where they are worth their start.

        `alone` is for one large array, which needs no table of addresses.
        """
        if not self._threads:
            large = any(size >= THREADED for *_, size in self._groups)
            self._threads = get_num_threads() if large else 1
            self._joined = len(self._arrays) > FEW or self._threads > 1
        if len(self._arrays) == 1 and self._threads > 1:
            alone(*[arrays[0] for arrays in rows], self._threads, *numbers)
            return
        for index, (group, ends, like, size) in enumerate(self._groups):
            own = rows if len(self._groups) == 1 else [arrays[group] for arrays in rows]
            table = _addresses(self._known, (one, index), own)
            if size < THREADED or self._threads == 1:
                one(table, ends, like, 0, size, *numbers)
            else:
                several(table, ends, like, self._threads, *numbers)

    def _shaped(self, flat: list[Array]) -> Arrays:
        """Return flat arrays in the shape of the parameters, one array if they are one."""
        shaped = [x.reshape(a.shape) for x, a in zip(flat, self._arrays, strict=True)]
        return shaped if isinstance(self.params, list | tuple) else shaped[0]
