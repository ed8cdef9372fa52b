"""BayesBiNN.

The Bayesian learning rule for the candidate: Bernoulli on signs, θ in {-1, +1}.

Here λ is natural parameter; g is a minibatch estimate of the gradient of the loss, at
theta; ε is ½log(u/(1−u)) with u uniform on (0, 1); x⁺ is the next value of x.

The loss is probed at:

    θ = tanh((ε + λ)/τ)

Update:

    μ = tanh(λ)
    λ⁺ = (1 − ρ)·λ + λ₀·ρ − ρ·g·(1 − θ²)/(τ·(1 − μ²))

Approximations, in the order in which they were made:

    relax: θ = sign(λ + ε) is relaxed to tanh((λ + ε)/τ), so that the loss has a gradient
    stochastic: a minibatch stands for the data
    prior=total: −log p(θ) = −λ₀T(θ) + const is linear in T, so its gradient in μ is −λ₀

Hyperparameters:

    rho   step size of the rule, in (0, 1], 0.1 by default
    tau   temperature of the relaxation, in (0, ∞), 1 by default
    lam0  natural parameter of the prior, in (−∞, ∞), 0 by default

See Meng, Bachmann & Khan (2020).
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numba import carray, prange, types

__all__ = ["BayesBiNN"]

DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
EARLY_CALLS = 4  # of a function that is kept compiled, before Numba is worth its import

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
BLOCK = 256  # elements that stay in the fastest cache while all kernels pass over them
PORTION = 2048  # elements of which a thread takes a whole number, so that blocks stay whole
THREADED = 65536  # elements from which a thread of its own is worth its start
FEW = 4  # arrays up to which they are stepped one by one
PAGE, LINE = 4096, 64  # bytes: of memory that is mapped at once, of what a cache fetches at once


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


def overload(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Mark a function as one for numba.extending.overload."""
    return lambda f: _Later(f, lambda numba: numba.extending.overload(function, **options)(f))


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


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", forceinline=True)
def _draw(theta: Array, lam: Array, eps: Array, tau: float) -> None:
    """Write where to evaluate the loss into theta."""
    real = theta.dtype.type
    tau = real(tau)
    for i in range(theta.size):
        theta[i] = _tanh((eps[i] + lam[i]) / tau)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", forceinline=True)
def _step(
    theta: Array,
    lam: Array,
    g: Array,
    one_minus_rho: float,
    lam0_times_rho: float,
    rho_over_tau: float,
) -> None:
    """Update every element in place."""
    real = theta.dtype.type
    one_minus_rho = real(one_minus_rho)
    lam0_times_rho = real(lam0_times_rho)
    rho_over_tau = real(rho_over_tau)
    one = real(1)
    for i in range(theta.size):
        cosh_lam = _cosh(lam[i])
        part = rho_over_tau * g[i] * (one - theta[i]) * (one + theta[i]) * (cosh_lam * cosh_lam)
        lam_next = one_minus_rho * lam[i] + lam0_times_rho - part
        lam[i] = lam_next


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", forceinline=True)
def _step_draw(
    theta: Array,
    lam: Array,
    eps: Array,
    g: Array,
    one_minus_rho: float,
    lam0_times_rho: float,
    rho_over_tau: float,
    tau: float,
) -> None:
    """Update every element in place, and theta for the next draw."""
    _step(theta, lam, g, one_minus_rho, lam0_times_rho, rho_over_tau)
    _draw(theta, lam, eps, tau)


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
        theta = _view(table[0, which], start, size, like)
        lam = _view(table[1, which], start, size, like)
        g = _view(table[2, which], start, size, like)
        _step(theta, lam, g, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_arrays(table: Array, ends: Array, like: Array, threads: int, *numbers: float) -> None:
    """Run `_step_stretch` on all stretches, with threads."""
    stretch = _stretch(ends[-1], threads)
    for part in prange(-(-ends[-1] // stretch)):
        first, last = part * stretch, min(ends[-1], (part + 1) * stretch)
        _step_stretch(table, ends, like, first, last, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_threads(theta: Array, lam: Array, g: Array, threads: int, *numbers: float) -> None:
    """Run `_step` on stretches of one array, with threads."""
    stretch = _stretch(theta.size, threads)
    for part in prange(-(-theta.size // stretch)):
        first, last = part * stretch, min(theta.size, (part + 1) * stretch)
        _step(theta[first:last], lam[first:last], g[first:last], *numbers)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _draw_new_stretch(
    table: Array, ends: Array, like: Array, first: int, last: int, key: int, *numbers: float
) -> None:
    """Run `_draw` on a stretch of the elements of all arrays with new noise."""
    words = np.empty(WORDS, np.uint32)
    eps = words[WORDS // 2 :].view(like.dtype)[:BLOCK]
    for begin in range(first, last, BLOCK):
        end = min(last, begin + BLOCK)
        _logistic_block(eps, words, np.uint64(key), 0, begin)
        for which in range(_which(ends, begin), ends.size - 1):
            low, high = max(begin, ends[which]), min(end, ends[which + 1])
            if low >= end:
                break
            start, size = low - ends[which], high - low
            theta = _view(table[0, which], start, size, like)
            lam = _view(table[1, which], start, size, like)
            _draw(theta, lam, eps[low - begin : high - begin], *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _draw_anew(
    table: Array, ends: Array, like: Array, threads: int, key: int, *numbers: float
) -> None:
    """Run `_draw_new_stretch` on all stretches, with threads."""
    stretch = _stretch(ends[-1], threads)
    for part in prange(-(-ends[-1] // stretch)):
        first, last = part * stretch, min(ends[-1], (part + 1) * stretch)
        _draw_new_stretch(table, ends, like, first, last, key, *numbers)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _draw_stretch(
    table: Array, ends: Array, like: Array, first: int, last: int, *numbers: float
) -> None:
    """Run `_draw` on a stretch of the elements of all arrays."""
    for which in range(_which(ends, first), ends.size - 1):
        low, high = max(first, ends[which]), min(last, ends[which + 1])
        if low >= last:
            break
        start, size = low - ends[which], high - low
        theta = _view(table[0, which], start, size, like)
        lam = _view(table[1, which], start, size, like)
        eps = _view(table[2, which], start, size, like)
        _draw(theta, lam, eps, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _draw_arrays(table: Array, ends: Array, like: Array, threads: int, *numbers: float) -> None:
    """Run `_draw_stretch` on all stretches, with threads."""
    stretch = _stretch(ends[-1], threads)
    for part in prange(-(-ends[-1] // stretch)):
        first, last = part * stretch, min(ends[-1], (part + 1) * stretch)
        _draw_stretch(table, ends, like, first, last, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _draw_threads(theta: Array, lam: Array, eps: Array, threads: int, *numbers: float) -> None:
    """Run `_draw` on stretches of one array, with threads."""
    stretch = _stretch(theta.size, threads)
    for part in prange(-(-theta.size // stretch)):
        first, last = part * stretch, min(theta.size, (part + 1) * stretch)
        _draw(theta[first:last], lam[first:last], eps[first:last], *numbers)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step_draw_new_stretch(
    table: Array, ends: Array, like: Array, first: int, last: int, key: int, *numbers: float
) -> None:
    """Run `_step_draw` on a stretch of the elements of all arrays with new noise."""
    words = np.empty(WORDS, np.uint32)
    eps = words[WORDS // 2 :].view(like.dtype)[:BLOCK]
    for begin in range(first, last, BLOCK):
        end = min(last, begin + BLOCK)
        _logistic_block(eps, words, np.uint64(key), 0, begin)
        for which in range(_which(ends, begin), ends.size - 1):
            low, high = max(begin, ends[which]), min(end, ends[which + 1])
            if low >= end:
                break
            start, size = low - ends[which], high - low
            theta = _view(table[0, which], start, size, like)
            lam = _view(table[1, which], start, size, like)
            g = _view(table[2, which], start, size, like)
            _step_draw(theta, lam, eps[low - begin : high - begin], g, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_draw_anew(
    table: Array, ends: Array, like: Array, threads: int, key: int, *numbers: float
) -> None:
    """Run `_step_draw_new_stretch` on all stretches, with threads."""
    stretch = _stretch(ends[-1], threads)
    for part in prange(-(-ends[-1] // stretch)):
        first, last = part * stretch, min(ends[-1], (part + 1) * stretch)
        _step_draw_new_stretch(table, ends, like, first, last, key, *numbers)


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


def _laid(like: Sequence[Array], place: int, values: Any = 0.0) -> list[Array]:
    """Return new arrays, as large as others, in one stretch of memory, with these values.

    Each begins on a cache line: a load across two of them costs twice. Stretches for the same
    step differ by `place`, so that they do not begin alike in their pages: a store to one array
    would hold up the loads of another.
    """
    ends = np.cumsum([0, *(-(-array.nbytes // LINE) * LINE for array in like)])
    memory = np.zeros(ends[-1] + 2 * PAGE, np.uint8)
    begin = -memory.ctypes.data % PAGE + 17 * LINE * place % PAGE
    made = [
        memory[begin + start : begin + start + array.nbytes].view(array.dtype)
        for start, array in zip(ends[:-1], like, strict=True)
    ]
    if isinstance(values, list):
        for array, value in zip(made, values, strict=True):
            array[:] = value
    elif values != 0:
        for array in made:
            array[:] = values
    return made


def _holders(arrays: Sequence[Array]) -> int:
    """Return how many arrays look into the memory of these, which is one stretch."""
    return sys.getrefcount(arrays[0].base) if arrays else 0


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


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _tanh(x: Array) -> Array:
    """Return tanh x = (e²ˣ − 1)/(e²ˣ + 1), from |x| and with the sign bit of x."""
    real = type(x)
    whole = type(_integer_of(x))
    size = np.abs(x)
    end = real(10 if real(16777217) == real(16777216) else 20)  # float32: 24 bits
    inside = _where(size > end, end, size)
    k, r = _octaves(inside + inside)
    scale = _power_of_two(k)
    top = scale * _rise(r) + (scale - real(1))
    bits = _integer_of(top / (top + real(2)))
    return _float_of(whole(bits | (_integer_of(x) & _integer_of(real(-0.0)))))


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _cosh(x: Array) -> Array:
    """Return cosh x = ½(e + 1/e) with e = 2ᵏ(1 + s) and s = eʳ − 1."""
    real = type(x)
    whole = type(_integer_of(x))
    size = np.abs(x)
    end = real(89.5 if real(16777217) == real(16777216) else 710.5)
    k, r = _octaves(_where(size > end, end, size))
    quarter = _power_of_two(whole(k - whole(2)))
    other = _power_of_two(whole(whole(-2) - _where(k < whole(60), k, whole(60))))
    s = _rise(r)
    half = quarter + (quarter * s + other / (s + real(1)))
    return half + half


@intrinsic  # type: ignore[untyped-decorator]
def _integer_of(context: Any, x: Any) -> Any:
    """Return the bits of a float as an integer of its width."""
    result = types.int32 if x == types.float32 else types.int64

    def cast(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    return result(x), cast


@intrinsic  # type: ignore[untyped-decorator]
def _float_of(context: Any, k: Any) -> Any:
    """Return the float that has these bits."""
    result = types.float32 if k == types.int32 else types.float64

    def cast(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    return result(k), cast


@njit(cache=True, error_model="numpy", forceinline=True)
def _where(condition: bool, yes: float, no: float) -> float:
    """Return one of two numbers."""
    return yes if condition else no


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _octaves(x: Array) -> tuple[Array, Array]:
    """Return k and r with x = k log 2 + r and |r| at most half of log 2."""
    real = type(x)
    whole = type(_integer_of(x))
    single = real(16777217) == real(16777216)  # float32: 24 bits
    shift = real(12582912.0 if single else 6755399441055744.0)  # a sum with it is whole
    shifted = x * real(1.4426950408889634) + shift
    n = shifted - shift
    r = (x - n * real(0.693145751953125)) - n * real(1.4286068203094173e-06)
    return whole(_integer_of(shifted) - _integer_of(shift)), r


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _power_of_two(k: Array) -> Array:
    """Return 2ᵏ by its bits, for the exponents of normal numbers; 0 for the one below them."""
    whole = type(k)
    real = type(_float_of(k))
    one, two = _integer_of(real(1)), _integer_of(real(2))
    return _float_of(whole(one + whole(k * whole(two - one))))


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _rise(r: Array) -> Array:
    """Return eʳ − 1 = r + r² q(r) where |r| is at most half of log 2."""
    real = type(r)
    if real(16777217) == real(16777216):  # float32: 24 bits
        q = real(0.0013926176)
        for c in (0.008363173, 0.041666556, 0.16666578, 0.5):
            q = q * r + real(c)
    else:
        q = real(2.5100375832561234e-08)
        for c in (
            2.7620075879983367e-07,
            2.7557268480310024e-06,
            2.4801521322368692e-05,
            0.00019841269863040545,
            0.0013888888917196719,
            0.008333333333330065,
            0.041666666666624164,
            0.16666666666666669,
            0.5000000000000001,
        ):
            q = q * r + real(c)
    return r + r * r * q


WORDS = 1024  # of 32 bits, as many as are made at once
CALLED = {"fastmath": FASTMATH, "error_model": "numpy"}
INLINED = CALLED | {"forceinline": True}


@njit(**INLINED)
def _round(x: int, y: int, left: int) -> tuple[int, int]:
    """Return x + y and rotl(y, left) ⊕ (x + y)."""
    word = np.uint32
    right = word(32 - left)
    left = word(left)
    x = word(x + y)
    return x, word(word(word(y << left) | word(y >> right)) ^ x)


@njit(**INLINED)
def _rounds(x: int, y: int, lefts: tuple[int, ...], k: int, other: int) -> tuple[int, int]:
    """Return a pair of words after four rounds, with a part of the key added to each."""
    a, b, c, d = lefts
    x, y = _round(x, y, a)
    x, y = _round(x, y, b)
    x, y = _round(x, y, c)
    x, y = _round(x, y, d)
    return np.uint32(x + k), np.uint32(y + other)


@njit(**INLINED)
def _random_words(words: Array, count: int, key: int, stream: int, first: int) -> None:
    """Fill `words` with pairs of random words: Threefry2x32-20 of `count` counters from `first`.

    The second words of all pairs follow the first ones. A counter is encrypted together with
    its stream, so that no two of them give the same pair (up to 2²³ streams and 2⁴⁰ counters;
    a multiple of 2³² can only be first). Four rounds are a loop: no processor looks far enough
    ahead to work on several chains of twenty.
    """
    word = np.uint32
    k0, k1 = word(key), word(np.uint64(key) >> np.uint64(32))
    k2 = word(word(k0 ^ k1) ^ word(0x1BD11BDA))
    low = word(word(first) + k0)
    high = word(word(stream + ((first >> 32) << 24)) + k1)
    for j in range(count):
        x, y = _rounds(word(low + word(j)), high, (13, 15, 26, 6), k1, word(k2 + word(1)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (17, 29, 16, 24), k2, word(k0 + word(2)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (13, 15, 26, 6), k0, word(k1 + word(3)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (17, 29, 16, 24), k1, word(k2 + word(4)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (13, 15, 26, 6), k2, word(k0 + word(5)))
        words[j], words[j + count] = x, y


@njit(**INLINED)
def _log_odds_single(w: int) -> float:
    """Return log u − log(1 − u) for u = (2k + 1)/2^32 with k = w // 2, accurate at both ends.

    With a whole number j that brings a = u/2ʲ and b = 1 − u near to each other, it is
    j log 2 + 2 artanh(s), s = (a − b)/(a + b).
    """
    real, word, signed = np.float32, np.uint32, np.int32
    a, b = real(word(w | word(1))), real(word(~w | word(1)))
    bits = _integer_of(a)
    j = signed(bits - _integer_of(b) + signed(0x400000))
    j = signed(j & signed(-0x800000))  # whole, at the place of an exponent
    a = _float_of(signed(bits - j))
    s = (a - b) / (a + b)
    square = s * s
    p = real(0.3043253)
    p = p * square + real(0.39952818)
    p = p * square + real(0.66667044)
    p = p * square + real(2)
    return s * p + real(j) * real(8.262958e-08)


@njit(**INLINED)
def _log_odds_double(w: int) -> float:
    """Return log u − log(1 − u) for u = (2k + 1)/2^64 with k = w // 2, accurate at both ends.

    With a whole number j that brings a = u/2ʲ and b = 1 − u near to each other, it is
    j log 2 + 2 artanh(s), s = (a − b)/(a + b).
    """
    real, word, signed = np.float64, np.uint64, np.int64
    a, b = real(word(w | word(1))), real(word(~w | word(1)))
    bits = _integer_of(a)
    j = signed(bits - _integer_of(b) + signed(0x8000000000000))
    j = signed(j & signed(-0x10000000000000))  # whole, at the place of an exponent
    a = _float_of(signed(bits - j))
    s = (a - b) / (a + b)
    square = s * s
    p = real(0.15387002998272473)
    p = p * square + real(0.15247352914447826)
    p = p * square + real(0.18186527068251934)
    p = p * square + real(0.22222133251303575)
    p = p * square + real(0.2857142948152904)
    p = p * square + real(0.3999999999543685)
    p = p * square + real(0.6666666666667537)
    p = p * square + real(2.0)
    return s * p + real(j) * real(1.539095918623324e-16)


@njit(**INLINED)
def _other(w: int, upper: int) -> int:
    """Return the upper half of one word with the two lower bytes of another, exchanged."""
    word = np.uint32
    left, right = word(w << word(8)) & word(0xFF00), word(w >> word(8)) & word(0xFF)
    return word(word(upper & word(0xFFFF0000)) | word(left | right))


def _logistic_single(out: Array, words: Array, key: int, stream: int, first: int) -> None:
    """Logistic(0, 1/2): log u − log(1 − u); four numbers from three words.

    Half a word is the upper half of another u, whose lower half is that of the first one with
    its bytes exchanged: to 24 bits the two are independent.
    """
    real, quarter = np.float32, BLOCK // 4
    _random_words(words, 3 * quarter // 2, key, stream, first // BLOCK * 128)
    for j in range(quarter):
        v, w, halves = words[j], words[j + quarter], words[j + 2 * quarter]
        u = _log_odds_single(v)
        out[j] = real(0.5) * u
        u = _log_odds_single(w)
        out[j + quarter] = real(0.5) * u
        u = _log_odds_single(_other(v, halves))
        out[j + 2 * quarter] = real(0.5) * u
        u = _log_odds_single(_other(w, np.uint32(halves << np.uint32(16))))
        out[j + 3 * quarter] = real(0.5) * u


def _logistic_double(out: Array, words: Array, key: int, stream: int, first: int) -> None:
    """Logistic(0, 1/2): log u − log(1 − u)."""
    real, whole = np.float64, words.view(np.uint64)
    _random_words(words, BLOCK, key, stream, first // BLOCK * 256)
    for j in range(BLOCK):
        u = _log_odds_double(whole[j])
        out[j] = real(0.5) * u


def _logistic_block(out: Array, words: Array, key: int, stream: int, first: int) -> None:
    """Fill one whole block; what is compiled in its place depends on the dtype."""
    raise NotImplementedError


@overload(_logistic_block, jit_options=CALLED)
def _logistic_chosen(out: Array, words: Array, key: int, stream: int, first: int) -> Any:
    """Return the function for a dtype."""
    return _logistic_single if out.dtype == types.float32 else _logistic_double


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _logistic(out: Array, words: Array, key: int, stream: int, first: int) -> None:
    """Fill `out` with a stretch of a stream of Logistic(0, 1/2) numbers.

    A number depends on the key, the stream and its place in it only; `first`, the place of the
    first, is a multiple of BLOCK. `words` is memory for WORDS words.
    """
    for start in range(0, out.size, BLOCK):
        part = out[start : start + BLOCK]
        if part.size == BLOCK:
            _logistic_block(part, words, key, stream, first + start)
        else:
            whole = np.empty(BLOCK, out.dtype)
            _logistic_block(whole, words, key, stream, first + start)
            for i in range(part.size):
                part[i] = whole[i]


@njit(fastmath=FASTMATH, error_model="numpy")
def _settle(
    out: Array, p: Array, low: float, high: float, words: Array, key: int, stream: int, first: int
) -> None:
    """Compare 64 more bits where the first sixteen say nothing, in one whole portion.

    They are made for such an element alone, in a stream of their own; what is left is 2⁻⁸⁰.
    """
    half, few, scale = PORTION // 2, 64, p.dtype.type(65536)
    more = np.empty(2, np.uint32)
    for begin in (0, half):
        right, chances = np.uint32(0 if begin else 16), p[begin : begin + half]
        for start in range(0, half, few):
            same = 0
            for i in range(start, start + few):
                bits = np.int32((words[i] >> right) & np.uint32(65535))
                same += bits == np.int32(chances[i] * scale)
            for i in range(start, start + few if same else start):
                bits = np.int32((words[i] >> right) & np.uint32(65535))
                if bits == np.int32(chances[i] * scale):
                    _random_words(more, 1, key, stream + 2**23, first + begin + i)
                    scaled = np.float64(chances[i]) * 65536.0
                    rest = np.uint64((scaled - np.floor(scaled)) * 2.0**64)
                    out[begin + i] = high if more.view(np.uint64)[0] < rest else low


@njit(**INLINED)
def _signs_block(
    out: Array, p: Array, low: float, high: float, words: Array, key: int, stream: int, first: int
) -> bool:
    """Choose `high` in one whole portion wherever sixteen random bits are below 2¹⁶ p.

    One half of it after the other: memory is read and written in its own order. Return
    whether these sixteen bits are those of the probability somewhere, so that more must be seen.
    """
    real, half = out.dtype.type, PORTION // 2
    _random_words(words, half // 2, key, stream, first // PORTION * (half // 2))
    scale, nearest = real(65536), np.uint32(65536)
    for j in range(half):
        u = np.int32(np.int32(words[j] >> np.uint32(16)) - np.int32(p[j] * scale))
        nearest = min(nearest, np.uint32(u))
        out[j] = high if u < 0 else low
    for j in range(half):
        u = np.int32(np.int32(words[j] & np.uint32(65535)) - np.int32(p[j + half] * scale))
        nearest = min(nearest, np.uint32(u))
        out[j + half] = high if u < 0 else low
    return bool(nearest == 0)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _signs(
    out: Array, p: Array, low: float, high: float, words: Array, key: int, stream: int, first: int
) -> None:
    """Fill `out` with `high` with the probability p of each element, else `low`.

    A choice depends on the key, the stream, its place in the stream and its probability, which
    is met within 2⁻⁸⁰; `first`, the place of the first, is a multiple of PORTION. `words` is
    memory for WORDS words.
    """
    low, high = out.dtype.type(low), out.dtype.type(high)
    whole = out.size // PORTION * PORTION
    for start in range(0, whole, PORTION):
        to, chance = out[start : start + PORTION], p[start : start + PORTION]
        if _signs_block(to, chance, low, high, words, key, stream, first + start):
            _settle(to, chance, low, high, words, key, stream, first + start)
    if whole < out.size:
        to, chance = np.empty(PORTION, out.dtype), np.zeros(PORTION, p.dtype)
        for i in range(whole, out.size):
            chance[i - whole] = p[i]
        if _signs_block(to, chance, low, high, words, key, stream, first + whole):
            _settle(to, chance, low, high, words, key, stream, first + whole)
        for i in range(whole, out.size):
            out[i] = to[i - whole]


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _signs_threads(
    out: Array, p: Array, low: float, high: float, key: int, stream: int, threads: int
) -> None:
    """Fill `out` from the beginning of a stream with threads; the numbers are the same."""
    stretch = _stretch(out.size, threads)
    for index in prange(-(-out.size // stretch)):
        begin, end = index * stretch, min((index + 1) * stretch, out.size)
        words = np.empty(WORDS, np.uint32)
        _signs(out[begin:end], p[begin:end], low, high, words, np.uint64(key), stream, begin)


class BayesBiNN:
    """BayesBiNN.

    `params` is the array, or the list of arrays, with the natural parameter; it is updated in
    place. Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = BayesBiNN(params)
        theta = opt.draw(rng)
        opt.step(g)  # g at theta
    """

    def __init__(
        self,
        params: Arrays,
        *,
        rho: float = 0.1,
        tau: float = 1.0,
        lam0: float = 0.0,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self.tau = tau
        self.lam0 = lam0
        self._check_hyperparameters()
        self.params = params
        self._arrays = _listed(params)
        self.t = 0  # steps taken
        self.lam = _views("params", params)
        self._pending: dict[str, Sequence[Array]] = {}  # what the last draw left
        self._places: list[tuple[list[Array], int]] = []  # of draws, to be used again
        self._inputs: dict[str, Any] = {}  # many arrays, as they were given last
        self._known: dict[Any, Any] = {}  # where arrays begin
        self._groups = _groups(self.lam)
        self._joined = _many(self.lam)
        self._threads = 0  # at most, as many as there were in the first step; asking is slow

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle is made of: nothing that says where arrays lie."""
        left = ("_arrays", "lam", "_places", "_inputs", "_known", "_groups", "_joined", "_threads")
        return {name: value for name, value in vars(self).items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it over; lam looks into the parameters again."""
        vars(self).update(state)
        self._arrays = _listed(self.params)
        self.lam = _views("params", self.params)
        self._places = []  # of draws, to be used again
        self._inputs = {}  # many arrays, as they were given last
        self._known = {}  # where arrays begin
        self._groups = _groups(self.lam)
        self._joined = _many(self.lam)
        self._threads = 0  # at most, as many as there were in the first step; asking is slow

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.rho <= 1:
            raise ValueError(f"rho = {self.rho!r} is outside (0, 1]")
        if not 0 < self.tau < math.inf:
            raise ValueError(f"tau = {self.tau!r} is outside (0, inf)")
        if not -math.inf < self.lam0 < math.inf:
            raise ValueError(f"lam0 = {self.lam0!r} is outside (-inf, inf)")

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        self._check_hyperparameters()
        theta = self._place()
        if eps is None:
            rows = theta, self.lam
            self._run_anew(_draw_new_stretch, _draw_anew, rng, rows, self.tau)
        else:
            eps = _views("eps", eps, self._arrays)
            numbers = (self.tau,)
            if self._joined:
                rows = theta, self.lam, eps
                self._run(_draw_threads, _draw_stretch, _draw_arrays, rows, *numbers)
            else:
                for index, lam in enumerate(self.lam):
                    _draw(theta[index], lam, eps[index], *numbers)
        self._pending = {"theta": theta}
        return self._lent(theta)

    def step(self, g: Arrays, *, rng: np.random.Generator | None = None) -> Arrays | None:
        """Update the parameters in place from g, where `draw` said; with rng, draw again."""
        self._check_hyperparameters()
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = self._seen("g", g)
        one_minus_rho = 1 - self.rho
        lam0_times_rho = self.lam0 * self.rho
        rho_over_tau = self.rho / self.tau
        if rng is None:
            numbers = one_minus_rho, lam0_times_rho, rho_over_tau
            if self._joined:
                rows = self._pending["theta"], self.lam, g
                self._run(_step_threads, _step_stretch, _step_arrays, rows, *numbers)
            else:
                for index, lam in enumerate(self.lam):
                    _step(self._pending["theta"][index], lam, g[index], *numbers)
            self._pending = {}
        else:
            rows = self._pending["theta"], self.lam, g
            self._run_anew(
                _step_draw_new_stretch,
                _step_draw_anew,
                rng,
                rows,
                one_minus_rho,
                lam0_times_rho,
                rho_over_tau,
                self.tau,
            )
        self.t += 1
        if rng is None:
            return None
        return self._lent(self._pending["theta"]) if self._pending else self.draw(rng)

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every binary variable."""
        means = []
        for lam in self.lam:
            means.append(np.tanh(lam))
        deviations = [np.sqrt((mean + 1) * (1 - mean)) for mean in means]
        return self._shaped(means), self._shaped(deviations)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw -1 or 1 for each; the same seed, the same draw."""
        means, _ = self.posterior()
        key, threads = int(rng.integers(2**63)), get_num_threads()
        values = []
        for stream, mean in enumerate(_listed(means)):
            share = np.ravel((mean + 1) / 2)
            value = np.empty_like(share)
            _signs_threads(value, share, -1.0, 1.0, key, stream, threads)
            values.append(value.reshape(mean.shape))
        return self._shaped(values)

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to resume exactly, as copies."""
        return {
            "t": self.t,
            "hyperparameters": {"rho": self.rho, "tau": self.tau, "lam0": self.lam0},
            "lam": [x.copy() for x in self.lam],
            "pending": {k: [x.copy() for x in v] for k, v in self._pending.items()},
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        missing = [key for key in ("t", "hyperparameters", "lam", "pending") if key not in saved]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        lam = _restored("lam", saved["lam"], self.lam)
        pending = {k: tuple(_restored(k, v, self.lam)) for k, v in saved["pending"].items()}
        for array, value in zip(self.lam, lam, strict=True):
            array[:] = value
        self._pending = pending
        self.t = int(saved["t"])
        self.rho = saved["hyperparameters"]["rho"]
        self.tau = saved["hyperparameters"]["tau"]
        self.lam0 = saved["hyperparameters"]["lam0"]

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
        alone: Callable[..., None] | None,
        one: Callable[..., None],
        several: Callable[..., None],
        rows: Sequence[Sequence[Array]],
        *numbers: float,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Run a kernel on all arrays in one call, with threads where they are worth their start.

        `alone` is for one large array, which needs no table of addresses. A kernel that makes
        noise has keys from rng.
        """
        if not self._threads:
            large = any(size >= THREADED for *_, size in self._groups)
            self._threads = get_num_threads() if large else 1
            self._joined = len(self._arrays) > FEW or self._threads > 1
        if alone is not None and len(self._arrays) == 1 and self._threads > 1:
            alone(*[arrays[0] for arrays in rows], self._threads, *numbers)
            return
        for index, (group, ends, like, size) in enumerate(self._groups):
            own = rows if len(self._groups) == 1 else [arrays[group] for arrays in rows]
            table = _addresses(self._known, (one, index), own)
            keys = () if rng is None else (int(rng.integers(2**63)),)
            if size < THREADED or self._threads == 1:
                one(table, ends, like, 0, size, *keys, *numbers)
            else:
                several(table, ends, like, self._threads, *keys, *numbers)

    def _place(self) -> list[Array]:
        """Return arrays for a draw: those of an earlier one, unless somebody still holds them."""
        for arrays, alone in self._places:
            if _holders(arrays) <= alone:
                return arrays
        arrays = _laid(self.lam, 1)
        self._places = [*self._places[-1:], (arrays, _holders(arrays))]
        return arrays

    def _lent(self, arrays: Sequence[Array]) -> Arrays:
        """Return arrays in the shape of the parameters, to be read only: the step reads them."""
        lent = []
        for array, like in zip(arrays, self._arrays, strict=True):
            view = array.view() if like.ndim == 1 else array.reshape(like.shape)
            view.setflags(write=False)
            lent.append(view)
        return lent if isinstance(self.params, list | tuple) else lent[0]

    def _run_anew(
        self,
        one: Callable[..., None],
        several: Callable[..., None],
        rng: np.random.Generator | None,
        rows: Sequence[Sequence[Array]],
        *numbers: float,
    ) -> None:
        """Run a kernel with new noise, of which the generator gives the key."""
        if not isinstance(rng, np.random.Generator):
            raise TypeError("pass rng=np.random.default_rng(seed), or eps= with the noise itself")
        self._run(None, one, several, rows, *numbers, rng=rng)

    def _shaped(self, flat: list[Array]) -> Arrays:
        """Return flat arrays in the shape of the parameters, one array if they are one."""
        shaped = [x.reshape(a.shape) for x, a in zip(flat, self._arrays, strict=True)]
        return shaped if isinstance(self.params, list | tuple) else shaped[0]
