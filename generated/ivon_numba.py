"""IVON.

The Bayesian learning rule for the candidate: Gaussian with diagonal covariance, N(m,
diag(s)⁻¹).

Here m is mean; u is moving average of the gradient; h is curvature of the loss alone, per
example; g is a minibatch estimate of the gradient of the loss, at theta; ε is standard
normal noise; t counts steps from 1; x⁺ is the next value of x.

The loss is probed at:

    θ = m + ε/(√N·√(h + δ))

from which a step reads the noise back:

    ε = (θ − m)·√N·√(h + δ)

Estimated there, and averaged over several such points:

    ĥ = √N·ε·g·√(h + δ)

Update:

    u⁺ = β₁·u + (1 − β₁)·g
    h⁺ = β₂·h + (1 − β₂)·ĥ + (1 − β₂)²·(h − ĥ)²/(2·(h + δ))
    m⁺ = m − α·(δ + h₀)·max(−c, min(c, (δ·m + u⁺/(1 − β₁ᵗ))/(h⁺ + δ)))

Approximations, in the order in which they were made:

    stochastic: one draw θ ~ q and a minibatch stand for the expectation and the data
    hessian=reparam: by parts once, 𝔼_q[∇²ℓ] = −𝔼_q[∇ℓ·∇log q]; one draw stands for it
    ess: ℓ is N times the mean loss ℓ̄ that the probes now mean, and s → Ns, so that N
        stands in front of the precision
    separate-rates: once mean and scale have equations of their own, each gets a step size
        of its own
    slow-scale: from here on s₋ ≈ s where momentum compares two scales; nothing to rewrite
        yet
    momentum: the last step, λ − λ₋, is repeated in natural coordinates; with α → α(1−β₁)
        and γ → β₁, the rates of the equivalent proximal step
    momentum: an exact change of state, with D what divides the mean step
    prior=apart: ½δ‖θ‖² is added to the loss: δm enters outside the gradient average; s
        keeps the curvature of the loss alone, precision N(s + δ)
    rename=s:h: s is written h from here on
    bias-correction: u: after t steps an average that started at 0 has gathered the weight 1
        − βᵗ
    retraction: the second-order term of the geodesic, −½Γ(step, step); in block coordinates
        the old h divides the mean step
    precision=new: the new h divides the mean step, as in natural coordinates
    clip: no coordinate moves by more than α·c
    start: h starts at h₀, to be chosen
    rescale: α is measured in units of the first scale, α → α(h₀ + δ)

Hyperparameters:

    alpha  step size of the mean, in (0, ∞), 0.1 by default
    beta1  decay of the gradient average, in [0, 1), 0.9 by default
    beta2  decay of the curvature average, in [0, 1), 0.99999 by default
    delta  precision of the Gaussian prior (weight decay), per example, in [0, ∞), 0.0001 by
           default
    N      effective number of examples, in (0, ∞), 1000 by default
    c      largest step of a coordinate, before the step size, in (0, ∞], ∞ by default
    h0     first value of h, in (0, ∞), 1 by default

See Shen et al. (2024).
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

__all__ = ["IVON"]

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
def _draw(
    theta: Array, m: Array, h: Array, eps: Array, delta: float, one_over_sqrt_N: float
) -> None:
    """Write where to evaluate the loss into theta."""
    real = theta.dtype.type
    delta = real(delta)
    one_over_sqrt_N = real(one_over_sqrt_N)
    for i in range(theta.size):
        theta[i] = m[i] + one_over_sqrt_N * eps[i] / np.sqrt(h[i] + delta)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _observe(
    theta: Array,
    m: Array,
    h: Array,
    g: Array,
    g_sum: Array,
    h_hat_sum: Array,
    delta: float,
    N: float,
) -> None:
    """Add what one draw has shown to the sums."""
    real = theta.dtype.type
    delta = real(delta)
    N = real(N)
    for i in range(theta.size):
        h_hat_sum[i] += N * (theta[i] - m[i]) * (h[i] + delta) * g[i]
        g_sum[i] += g[i]


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step(
    theta: Array,
    m: Array,
    u: Array,
    h: Array,
    g: Array,
    beta1: float,
    beta2: float,
    delta: float,
    N: float,
    one_minus_beta1: float,
    one_minus_beta2: float,
    one_minus_beta2_squared_over_two: float,
    scaled_c: float,
    scaled_delta: float,
    scaled_alpha: float,
) -> None:
    """Update every element in place."""
    real = theta.dtype.type
    beta1 = real(beta1)
    beta2 = real(beta2)
    delta = real(delta)
    N = real(N)
    one_minus_beta1 = real(one_minus_beta1)
    one_minus_beta2 = real(one_minus_beta2)
    one_minus_beta2_squared_over_two = real(one_minus_beta2_squared_over_two)
    scaled_c = real(scaled_c)
    scaled_delta = real(scaled_delta)
    scaled_alpha = real(scaled_alpha)
    for i in range(theta.size):
        h_plus_delta = h[i] + delta
        h_hat = N * (theta[i] - m[i]) * h_plus_delta * g[i]
        u_next = beta1 * u[i] + one_minus_beta1 * g[i]
        h_minus_h_hat = h[i] - h_hat
        part = one_minus_beta2_squared_over_two * (h_minus_h_hat * h_minus_h_hat)
        h_next = beta2 * h[i] + one_minus_beta2 * h_hat + part / h_plus_delta
        part_2 = scaled_delta * m[i] + scaled_alpha * u_next
        m_next = m[i] - max(min(part_2 / (h_next + delta), scaled_c), -scaled_c)
        m[i] = m_next
        u[i] = _flushed(u_next)
        h[i] = h_next


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step_averaged(
    m: Array,
    u: Array,
    h: Array,
    g_sum: Array,
    h_hat_sum: Array,
    beta1: float,
    beta2: float,
    delta: float,
    draws: float,
    one_minus_beta1: float,
    one_minus_beta2: float,
    one_minus_beta2_squared_over_two: float,
    scaled_c: float,
    scaled_delta: float,
    scaled_alpha: float,
) -> None:
    """Update every element in place, from averages over draws."""
    real = m.dtype.type
    beta1 = real(beta1)
    beta2 = real(beta2)
    delta = real(delta)
    draws = real(draws)
    one_minus_beta1 = real(one_minus_beta1)
    one_minus_beta2 = real(one_minus_beta2)
    one_minus_beta2_squared_over_two = real(one_minus_beta2_squared_over_two)
    scaled_c = real(scaled_c)
    scaled_delta = real(scaled_delta)
    scaled_alpha = real(scaled_alpha)
    for i in range(m.size):
        g = g_sum[i] / draws
        h_hat = h_hat_sum[i] / draws
        u_next = beta1 * u[i] + one_minus_beta1 * g
        h_minus_h_hat = h[i] - h_hat
        part = one_minus_beta2_squared_over_two * (h_minus_h_hat * h_minus_h_hat)
        h_next = beta2 * h[i] + one_minus_beta2 * h_hat + part / (h[i] + delta)
        part_2 = scaled_delta * m[i] + scaled_alpha * u_next
        m_next = m[i] - max(min(part_2 / (h_next + delta), scaled_c), -scaled_c)
        m[i] = m_next
        u[i] = _flushed(u_next)
        h[i] = h_next


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", forceinline=True)
def _step_draw(
    theta: Array,
    m: Array,
    u: Array,
    h: Array,
    eps: Array,
    g: Array,
    beta1: float,
    beta2: float,
    delta: float,
    N: float,
    one_minus_beta1: float,
    one_minus_beta2: float,
    one_minus_beta2_squared_over_two: float,
    scaled_c: float,
    scaled_delta: float,
    scaled_alpha: float,
    one_over_sqrt_N: float,
) -> None:
    """Update every element in place, and theta for the next draw."""
    real = theta.dtype.type
    beta1 = real(beta1)
    beta2 = real(beta2)
    delta = real(delta)
    N = real(N)
    one_minus_beta1 = real(one_minus_beta1)
    one_minus_beta2 = real(one_minus_beta2)
    one_minus_beta2_squared_over_two = real(one_minus_beta2_squared_over_two)
    scaled_c = real(scaled_c)
    scaled_delta = real(scaled_delta)
    scaled_alpha = real(scaled_alpha)
    one_over_sqrt_N = real(one_over_sqrt_N)
    for i in range(theta.size):
        h_plus_delta = h[i] + delta
        h_hat = N * (theta[i] - m[i]) * h_plus_delta * g[i]
        u_next = beta1 * u[i] + one_minus_beta1 * g[i]
        h_minus_h_hat = h[i] - h_hat
        part = one_minus_beta2_squared_over_two * (h_minus_h_hat * h_minus_h_hat)
        h_next = beta2 * h[i] + one_minus_beta2 * h_hat + part / h_plus_delta
        h_next_plus_delta = h_next + delta
        part_2 = scaled_delta * m[i] + scaled_alpha * u_next
        m_next = m[i] - max(min(part_2 / h_next_plus_delta, scaled_c), -scaled_c)
        theta_next = m_next + one_over_sqrt_N * eps[i] / np.sqrt(h_next_plus_delta)
        m[i] = m_next
        u[i] = _flushed(u_next)
        h[i] = h_next
        theta[i] = theta_next


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
        m = _view(table[1, which], start, size, like)
        u = _view(table[2, which], start, size, like)
        h = _view(table[3, which], start, size, like)
        g = _view(table[4, which], start, size, like)
        _step(theta, m, u, h, g, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_arrays(table: Array, ends: Array, like: Array, threads: int, *numbers: float) -> None:
    """Run `_step_stretch` on all stretches, with threads."""
    stretch = _stretch(ends[-1], threads)
    for part in prange(-(-ends[-1] // stretch)):
        first, last = part * stretch, min(ends[-1], (part + 1) * stretch)
        _step_stretch(table, ends, like, first, last, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_threads(
    theta: Array, m: Array, u: Array, h: Array, g: Array, threads: int, *numbers: float
) -> None:
    """Run `_step` on stretches of one array, with threads."""
    stretch = _stretch(theta.size, threads)
    for part in prange(-(-theta.size // stretch)):
        first, last = part * stretch, min(theta.size, (part + 1) * stretch)
        _step(
            theta[first:last], m[first:last], u[first:last], h[first:last], g[first:last], *numbers
        )


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _draw_new_stretch(
    table: Array, ends: Array, like: Array, first: int, last: int, key: int, *numbers: float
) -> None:
    """Run `_draw` on a stretch of the elements of all arrays with new noise."""
    words = np.empty(WORDS, np.uint32)
    eps = words[WORDS // 2 :].view(like.dtype)[:BLOCK]
    for begin in range(first, last, BLOCK):
        end = min(last, begin + BLOCK)
        _standard_normal_block(eps, words, np.uint64(key), 0, begin)
        for which in range(_which(ends, begin), ends.size - 1):
            low, high = max(begin, ends[which]), min(end, ends[which + 1])
            if low >= end:
                break
            start, size = low - ends[which], high - low
            theta = _view(table[0, which], start, size, like)
            m = _view(table[1, which], start, size, like)
            h = _view(table[2, which], start, size, like)
            _draw(theta, m, h, eps[low - begin : high - begin], *numbers)


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
        m = _view(table[1, which], start, size, like)
        h = _view(table[2, which], start, size, like)
        eps = _view(table[3, which], start, size, like)
        _draw(theta, m, h, eps, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _draw_arrays(table: Array, ends: Array, like: Array, threads: int, *numbers: float) -> None:
    """Run `_draw_stretch` on all stretches, with threads."""
    stretch = _stretch(ends[-1], threads)
    for part in prange(-(-ends[-1] // stretch)):
        first, last = part * stretch, min(ends[-1], (part + 1) * stretch)
        _draw_stretch(table, ends, like, first, last, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _draw_threads(
    theta: Array, m: Array, h: Array, eps: Array, threads: int, *numbers: float
) -> None:
    """Run `_draw` on stretches of one array, with threads."""
    stretch = _stretch(theta.size, threads)
    for part in prange(-(-theta.size // stretch)):
        first, last = part * stretch, min(theta.size, (part + 1) * stretch)
        _draw(theta[first:last], m[first:last], h[first:last], eps[first:last], *numbers)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _observe_stretch(
    table: Array, ends: Array, like: Array, first: int, last: int, *numbers: float
) -> None:
    """Run `_observe` on a stretch of the elements of all arrays."""
    for which in range(_which(ends, first), ends.size - 1):
        low, high = max(first, ends[which]), min(last, ends[which + 1])
        if low >= last:
            break
        start, size = low - ends[which], high - low
        theta = _view(table[0, which], start, size, like)
        m = _view(table[1, which], start, size, like)
        h = _view(table[2, which], start, size, like)
        g = _view(table[3, which], start, size, like)
        g_sum = _view(table[4, which], start, size, like)
        h_hat_sum = _view(table[5, which], start, size, like)
        _observe(theta, m, h, g, g_sum, h_hat_sum, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _observe_arrays(table: Array, ends: Array, like: Array, threads: int, *numbers: float) -> None:
    """Run `_observe_stretch` on all stretches, with threads."""
    stretch = _stretch(ends[-1], threads)
    for part in prange(-(-ends[-1] // stretch)):
        first, last = part * stretch, min(ends[-1], (part + 1) * stretch)
        _observe_stretch(table, ends, like, first, last, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _observe_threads(
    theta: Array,
    m: Array,
    h: Array,
    g: Array,
    g_sum: Array,
    h_hat_sum: Array,
    threads: int,
    *numbers: float,
) -> None:
    """Run `_observe` on stretches of one array, with threads."""
    stretch = _stretch(theta.size, threads)
    for part in prange(-(-theta.size // stretch)):
        first, last = part * stretch, min(theta.size, (part + 1) * stretch)
        _observe(
            theta[first:last],
            m[first:last],
            h[first:last],
            g[first:last],
            g_sum[first:last],
            h_hat_sum[first:last],
            *numbers,
        )


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step_averaged_stretch(
    table: Array, ends: Array, like: Array, first: int, last: int, *numbers: float
) -> None:
    """Run `_step_averaged` on a stretch of the elements of all arrays."""
    for which in range(_which(ends, first), ends.size - 1):
        low, high = max(first, ends[which]), min(last, ends[which + 1])
        if low >= last:
            break
        start, size = low - ends[which], high - low
        m = _view(table[0, which], start, size, like)
        u = _view(table[1, which], start, size, like)
        h = _view(table[2, which], start, size, like)
        g_sum = _view(table[3, which], start, size, like)
        h_hat_sum = _view(table[4, which], start, size, like)
        _step_averaged(m, u, h, g_sum, h_hat_sum, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_averaged_arrays(
    table: Array, ends: Array, like: Array, threads: int, *numbers: float
) -> None:
    """Run `_step_averaged_stretch` on all stretches, with threads."""
    stretch = _stretch(ends[-1], threads)
    for part in prange(-(-ends[-1] // stretch)):
        first, last = part * stretch, min(ends[-1], (part + 1) * stretch)
        _step_averaged_stretch(table, ends, like, first, last, *numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_averaged_threads(
    m: Array, u: Array, h: Array, g_sum: Array, h_hat_sum: Array, threads: int, *numbers: float
) -> None:
    """Run `_step_averaged` on stretches of one array, with threads."""
    stretch = _stretch(m.size, threads)
    for part in prange(-(-m.size // stretch)):
        first, last = part * stretch, min(m.size, (part + 1) * stretch)
        _step_averaged(
            m[first:last],
            u[first:last],
            h[first:last],
            g_sum[first:last],
            h_hat_sum[first:last],
            *numbers,
        )


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step_draw_new_stretch(
    table: Array, ends: Array, like: Array, first: int, last: int, key: int, *numbers: float
) -> None:
    """Run `_step_draw` on a stretch of the elements of all arrays with new noise."""
    words = np.empty(WORDS, np.uint32)
    eps = words[WORDS // 2 :].view(like.dtype)[:BLOCK]
    for begin in range(first, last, BLOCK):
        end = min(last, begin + BLOCK)
        _standard_normal_block(eps, words, np.uint64(key), 0, begin)
        for which in range(_which(ends, begin), ends.size - 1):
            low, high = max(begin, ends[which]), min(end, ends[which + 1])
            if low >= end:
                break
            start, size = low - ends[which], high - low
            theta = _view(table[0, which], start, size, like)
            m = _view(table[1, which], start, size, like)
            u = _view(table[2, which], start, size, like)
            h = _view(table[3, which], start, size, like)
            g = _view(table[4, which], start, size, like)
            _step_draw(theta, m, u, h, eps[low - begin : high - begin], g, *numbers)


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


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


@njit(cache=True, error_model="numpy", forceinline=True)
def _flushed(x: Array) -> Array:
    """Return x, or 0 for a number below the smallest normal one: with those sums are slow."""
    real = type(x)
    single = real(16777217) == real(16777216)  # float32: 24 bits
    smallest = real(1.1754943508222875e-38 if single else 2.2250738585072014e-308)
    return _where(np.abs(x) < smallest, real(0), x)


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


def _one_minus_power(x: float, t: int) -> float:
    """Return 1 − xᵗ for x from 0 to 1 and t ≥ 1: all its digits, also where x is close to 1."""
    return type(x)(-math.expm1(t * math.log(x or 1e-30)))


@njit(cache=True, error_model="numpy", forceinline=True)
def _where(condition: bool, yes: float, no: float) -> float:
    """Return one of two numbers."""
    return yes if condition else no


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
def _octave_single(odd: int) -> tuple[int, float]:
    """Return e and f·2^32 where an odd number is (1 + f)·2^32/2ᵉ, 1 + f in [2/3, 4/3).

    e is read off the float nearest to the number, and f is exact: what a shift by e leaves of it.
    """
    real, word = np.float32, np.uint32
    nearest = word(_integer_of(real(odd)))
    e = word(word(0x4FAAAAAA) - nearest) >> word(23)
    return e, real(np.int32(word(odd << word(e & word(31)))))


@njit(**INLINED)
def _octave_double(odd: int) -> tuple[int, float]:
    """Return e and f·2^64 where an odd number is (1 + f)·2^64/2ᵉ, 1 + f in [2/3, 4/3).

    e is read off the float nearest to the number, and f is exact: what a shift by e leaves of it.
    """
    real, word = np.float64, np.uint64
    nearest = word(_integer_of(real(odd)))
    e = word(word(0x43F5555555555554) - nearest) >> word(52)
    return e, real(np.int64(word(odd << word(e & word(63)))))


@njit(**INLINED)
def _minus_two_log_single(w: int) -> float:
    """Return −2 log u for u = (2k + 1)/2^32 with k = w // 2, accurate also as u → 1.

    u = (1 + f)/2ᵉ; with s = f/(2 + f), log(1 + f) is 2 artanh(s).
    """
    real, word = np.float32, np.uint32
    e, f = _octave_single(word(w | word(1)))
    s = f / (f + real(2.0**33))
    square = s * s
    p = real(-0.6086506)
    p = p * square + real(-0.79905635)
    p = p * square + real(-1.3333409)
    p = p * square + real(-4)
    return s * p + real(np.int32(e)) * real(1.3862944)


@njit(**INLINED)
def _minus_two_log_double(w: int) -> float:
    """Return −2 log u for u = (2k + 1)/2^64 with k = w // 2, accurate also as u → 1.

    u = (1 + f)/2ᵉ; with s = f/(2 + f), log(1 + f) is 2 artanh(s).
    """
    real, word = np.float64, np.uint64
    e, f = _octave_double(word(w | word(1)))
    s = f / (f + real(2.0**65))
    square = s * s
    p = real(-0.30774005996544945)
    p = p * square + real(-0.3049470582889565)
    p = p * square + real(-0.3637305413650387)
    p = p * square + real(-0.4444426650260715)
    p = p * square + real(-0.5714285896305809)
    p = p * square + real(-0.799999999908737)
    p = p * square + real(-1.3333333333335073)
    p = p * square + real(-4.0)
    return s * p + real(np.int64(e)) * real(1.3862943611198906)


@njit(**INLINED)
def _turn_single(w: int) -> tuple[float, float]:
    """Return cos φ and sin φ for one of 2^32 equally spaced angles.

    30 bits choose an angle between −π/4 and π/4, the other two a quarter of the circle.
    """
    real, word = np.float32, np.uint32
    t = real(np.int32(word(w << word(2)))) * real(2.0**-31) + real(2.0**-30)
    square = t * t
    s = real(-3.595429e-05)
    s = s * square + real(0.0024900069)
    s = s * square + real(-0.080745436)
    s = s * square + real(0.7853982)
    s *= t
    c = real(-0.0003188775)
    c = c * square + real(0.01584991)
    c = c * square + real(-0.30842426)
    c = c * square + real(1)
    c = _float_of(np.int32(word(_integer_of(c)) ^ word(w & word(0x80000000))))
    crosswise = word(w & word(0x40000000)) != word(0)
    return (s if crosswise else c), (c if crosswise else s)


@njit(**INLINED)
def _turn_double(w: int) -> tuple[float, float]:
    """Return cos φ and sin φ for one of 2^64 equally spaced angles.

    62 bits choose an angle between −π/4 and π/4, the other two a quarter of the circle.
    """
    real, word = np.float64, np.uint64
    t = real(np.int64(word(w << word(2)))) * real(2.0**-63) + real(2.0**-62)
    square = t * t
    s = real(6.877360573166326e-12)
    s = s * square + real(-1.7571500746983935e-09)
    s = s * square + real(3.133616225433416e-07)
    s = s * square + real(-3.657620415891387e-05)
    s = s * square + real(0.002490394570188844)
    s = s * square + real(-0.08074551218828054)
    s = s * square + real(0.7853981633974483)
    s *= t
    c = real(1.1365469207731353e-10)
    c = c * square + real(-2.4609507094028117e-08)
    c = c * square + real(3.590859179850238e-06)
    c = c * square + real(-0.00032599188648354014)
    c = c * square + real(0.015854344243741547)
    c = c * square + real(-0.30842513753403783)
    c = c * square + real(1.0)
    c = _float_of(np.int64(word(_integer_of(c)) ^ word(w & word(0x8000000000000000))))
    crosswise = word(w & word(0x4000000000000000)) != word(0)
    return (s if crosswise else c), (c if crosswise else s)


def _standard_normal_single(out: Array, words: Array, key: int, stream: int, first: int) -> None:
    """Four numbers from three words by Box and Muller: √(−2 log u) cos φ and √(−2 log u) sin φ.

    Half a word is the upper half of an angle. The lower half of a word says both what little
    it adds to its own radius and the lower half of the angle there.
    """
    quarter = BLOCK // 4
    upper, lower = np.uint32(0xFFFF0000), np.uint32(0xFFFF)
    _random_words(words, 3 * quarter // 2, key, stream, first // BLOCK * 128)
    for j in range(quarter):
        v, w, angles = words[j], words[j + quarter], words[j + 2 * quarter]
        r = np.sqrt(_minus_two_log_single(v))
        c, s = _turn_single(np.uint32((angles & upper) | (v & lower)))
        out[j] = r * c
        out[j + quarter] = r * s
        r = np.sqrt(_minus_two_log_single(w))
        c, s = _turn_single(np.uint32((angles << np.uint32(16)) | (w & lower)))
        out[j + 2 * quarter] = r * c
        out[j + 3 * quarter] = r * s


def _standard_normal_double(out: Array, words: Array, key: int, stream: int, first: int) -> None:
    """Two numbers a time by Box and Muller: √(−2 log u) cos φ and √(−2 log u) sin φ."""
    half, pairs = BLOCK // 2, words.view(np.uint64)
    _random_words(words, BLOCK, key, stream, first // BLOCK * 256)
    for j in range(half):
        r = np.sqrt(_minus_two_log_double(pairs[j]))
        c, s = _turn_double(pairs[j + half])
        out[j] = r * c
        out[j + half] = r * s


def _standard_normal_block(out: Array, words: Array, key: int, stream: int, first: int) -> None:
    """Fill one whole block; what is compiled in its place depends on the dtype."""
    raise NotImplementedError


@overload(_standard_normal_block, jit_options=CALLED)
def _standard_normal_chosen(out: Array, words: Array, key: int, stream: int, first: int) -> Any:
    """Return the function for a dtype."""
    return _standard_normal_single if out.dtype == types.float32 else _standard_normal_double


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _standard_normal(out: Array, words: Array, key: int, stream: int, first: int) -> None:
    """Fill `out` with a stretch of a stream of standard normal numbers.

    A number depends on the key, the stream and its place in it only; `first`, the place of the
    first, is a multiple of BLOCK. `words` is memory for WORDS words.
    """
    for start in range(0, out.size, BLOCK):
        part = out[start : start + BLOCK]
        if part.size == BLOCK:
            _standard_normal_block(part, words, key, stream, first + start)
        else:
            whole = np.empty(BLOCK, out.dtype)
            _standard_normal_block(whole, words, key, stream, first + start)
            for i in range(part.size):
                part[i] = whole[i]


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _standard_normal_threads(out: Array, key: int, stream: int, threads: int) -> None:
    """Fill `out` from the beginning of a stream with threads; the numbers are the same."""
    stretch = _stretch(out.size, threads)
    for index in prange(-(-out.size // stretch)):
        begin, end = index * stretch, min((index + 1) * stretch, out.size)
        words = np.empty(WORDS, np.uint32)
        _standard_normal(out[begin:end], words, np.uint64(key), stream, begin)


class IVON:
    """IVON.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = IVON(params)
        theta = opt.draw(rng)
        opt.step(g)  # g at theta
    """

    def __init__(
        self,
        params: Arrays,
        *,
        alpha: float = 0.1,
        beta1: float = 0.9,
        beta2: float = 0.99999,
        delta: float = 0.0001,
        N: float = 1000.0,
        c: float = math.inf,
        h0: float = 1.0,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.alpha = alpha
        self.beta1 = beta1
        self.beta2 = beta2
        self.delta = delta
        self.N = N
        self.c = c
        self.h0 = h0
        self._check_hyperparameters()
        self.params = params
        self._arrays = _listed(params)
        self.t = 0  # steps taken
        self.m = _views("params", params)
        self.u = _laid(self.m, 1)
        self.h = _laid(self.m, 2, self.h0)
        self._pending: dict[str, Sequence[Array]] = {}  # what the last draw left
        self._sums: dict[str, Sequence[Array]] = {}  # over this step's draws
        self._draws = 0  # how many there are in them
        self._places: list[tuple[list[Array], int]] = []  # of draws, to be used again
        self._inputs: dict[str, Any] = {}  # many arrays, as they were given last
        self._known: dict[Any, Any] = {}  # where arrays begin
        self._groups = _groups(self.m)
        self._joined = _many(self.m)
        self._threads = 0  # at most, as many as there were in the first step; asking is slow

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle is made of: nothing that says where arrays lie."""
        left = ("_arrays", "m", "_places", "_inputs", "_known", "_groups", "_joined", "_threads")
        return {name: value for name, value in vars(self).items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it over; m looks into the parameters again."""
        vars(self).update(state)
        self._arrays = _listed(self.params)
        self.m = _views("params", self.params)
        self._places = []  # of draws, to be used again
        self._inputs = {}  # many arrays, as they were given last
        self._known = {}  # where arrays begin
        self._groups = _groups(self.m)
        self._joined = _many(self.m)
        self._threads = 0  # at most, as many as there were in the first step; asking is slow

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.alpha < math.inf:
            raise ValueError(f"alpha = {self.alpha!r} is outside (0, inf)")
        if not 0 <= self.beta1 < 1:
            raise ValueError(f"beta1 = {self.beta1!r} is outside [0, 1)")
        if not 0 <= self.beta2 < 1:
            raise ValueError(f"beta2 = {self.beta2!r} is outside [0, 1)")
        if not 0 <= self.delta < math.inf:
            raise ValueError(f"delta = {self.delta!r} is outside [0, inf)")
        if not 0 < self.N < math.inf:
            raise ValueError(f"N = {self.N!r} is outside (0, inf)")
        if not 0 < self.c <= math.inf:
            raise ValueError(f"c = {self.c!r} is outside (0, inf]")
        if not 0 < self.h0 < math.inf:
            raise ValueError(f"h0 = {self.h0!r} is outside (0, inf)")

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        self._check_hyperparameters()
        one_over_sqrt_N = 1 / math.sqrt(self.N)
        theta = self._place()
        if eps is None:
            rows = theta, self.m, self.h
            self._run_anew(_draw_new_stretch, _draw_anew, rng, rows, self.delta, one_over_sqrt_N)
        else:
            eps = _views("eps", eps, self._arrays)
            numbers = self.delta, one_over_sqrt_N
            if self._joined:
                rows = theta, self.m, self.h, eps
                self._run(_draw_threads, _draw_stretch, _draw_arrays, rows, *numbers)
            else:
                for index, m in enumerate(self.m):
                    _draw(theta[index], m, self.h[index], eps[index], *numbers)
        self._pending = {"theta": theta}
        return self._lent(theta)

    def observe(self, g: Arrays) -> None:
        """Take g at the last draw, one of several."""
        if not self._pending:
            raise RuntimeError("observe needs a draw: call draw first")
        g = self._seen("g", g)
        if not self._sums:
            self._sums["g_sum"] = _laid(self.m, 3)
            self._sums["h_hat_sum"] = _laid(self.m, 4)
        numbers = self.delta, self.N
        if self._joined:
            rows = (
                self._pending["theta"],
                self.m,
                self.h,
                g,
                self._sums["g_sum"],
                self._sums["h_hat_sum"],
            )
            self._run(_observe_threads, _observe_stretch, _observe_arrays, rows, *numbers)
        else:
            for index, m in enumerate(self.m):
                _observe(
                    self._pending["theta"][index],
                    m,
                    self.h[index],
                    g[index],
                    self._sums["g_sum"][index],
                    self._sums["h_hat_sum"][index],
                    *numbers,
                )
        self._pending = {}
        self._draws += 1

    def step(
        self, g: Arrays | None = None, *, rng: np.random.Generator | None = None
    ) -> Arrays | None:
        """Update in place from g at the draw, or all observed; with rng, draw again."""
        self._check_hyperparameters()
        if not self._draws and g is not None:
            self._step_single(g, rng)
        else:
            if g is not None:
                self.observe(g)
            self._step_averaged()
        self.t += 1
        if rng is None:
            return None
        return self._lent(self._pending["theta"]) if self._pending else self.draw(rng)

    def _step_single(self, g: Arrays, rng: np.random.Generator | None) -> None:
        """Estimate and update in one pass, from one draw."""
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = self._seen("g", g)
        t = self.t + 1
        one_minus_beta1 = 1 - self.beta1
        one_minus_beta2 = 1 - self.beta2
        one_minus_beta2_squared_over_two = (1 - self.beta2) ** 2 / 2
        scaled_c = self.alpha * (self.delta + self.h0) * self.c
        scaled_delta = self.alpha * (self.delta + self.h0) * self.delta
        beta1_correction = _one_minus_power(self.beta1, t)
        scaled_alpha = self.alpha * (self.delta + self.h0) / beta1_correction
        if rng is None:
            numbers = (
                self.beta1,
                self.beta2,
                self.delta,
                self.N,
                one_minus_beta1,
                one_minus_beta2,
                one_minus_beta2_squared_over_two,
                scaled_c,
                scaled_delta,
                scaled_alpha,
            )
            if self._joined:
                rows = self._pending["theta"], self.m, self.u, self.h, g
                self._run(_step_threads, _step_stretch, _step_arrays, rows, *numbers)
            else:
                for index, m in enumerate(self.m):
                    _step(
                        self._pending["theta"][index],
                        m,
                        self.u[index],
                        self.h[index],
                        g[index],
                        *numbers,
                    )
            self._pending = {}
        else:
            one_over_sqrt_N = 1 / math.sqrt(self.N)
            rows = self._pending["theta"], self.m, self.u, self.h, g
            self._run_anew(
                _step_draw_new_stretch,
                _step_draw_anew,
                rng,
                rows,
                self.beta1,
                self.beta2,
                self.delta,
                self.N,
                one_minus_beta1,
                one_minus_beta2,
                one_minus_beta2_squared_over_two,
                scaled_c,
                scaled_delta,
                scaled_alpha,
                one_over_sqrt_N,
            )

    def _step_averaged(self) -> None:
        """Update from several draws, observed one by one."""
        if self._pending:
            raise RuntimeError("the last draw was not observed: pass what it showed")
        if not self._draws:
            raise RuntimeError("step needs a draw: call draw first")
        t = self.t + 1
        one_minus_beta1 = 1 - self.beta1
        one_minus_beta2 = 1 - self.beta2
        one_minus_beta2_squared_over_two = (1 - self.beta2) ** 2 / 2
        scaled_c = self.alpha * (self.delta + self.h0) * self.c
        scaled_delta = self.alpha * (self.delta + self.h0) * self.delta
        beta1_correction = _one_minus_power(self.beta1, t)
        scaled_alpha = self.alpha * (self.delta + self.h0) / beta1_correction
        numbers = (
            self.beta1,
            self.beta2,
            self.delta,
            float(self._draws),
            one_minus_beta1,
            one_minus_beta2,
            one_minus_beta2_squared_over_two,
            scaled_c,
            scaled_delta,
            scaled_alpha,
        )
        if self._joined:
            rows = self.m, self.u, self.h, self._sums["g_sum"], self._sums["h_hat_sum"]
            self._run(
                _step_averaged_threads,
                _step_averaged_stretch,
                _step_averaged_arrays,
                rows,
                *numbers,
            )
        else:
            for index, m in enumerate(self.m):
                _step_averaged(
                    m,
                    self.u[index],
                    self.h[index],
                    self._sums["g_sum"][index],
                    self._sums["h_hat_sum"][index],
                    *numbers,
                )
        self._sums = {}
        self._draws = 0

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means = []
        deviations = []
        for index, m in enumerate(self.m):
            real = m.dtype.type
            means.append(m.copy())
            deviations.append(_deviation(real(self.N) * (self.h[index] + real(self.delta))))
        return self._shaped(means), self._shaped(deviations)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw from the posterior; the same seed gives the same draw."""
        means, deviations = self.posterior()
        pairs = zip(_listed(means), _listed(deviations), strict=True)
        key, threads = int(rng.integers(2**63)), get_num_threads()
        values = []
        for stream, (mean, deviation) in enumerate(pairs):
            noise = np.empty(mean.size, mean.dtype)
            _standard_normal_threads(noise, key, stream, threads)
            values.append(mean + deviation * noise.reshape(mean.shape))
        return self._shaped(values)

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to resume exactly, as copies."""
        return {
            "t": self.t,
            "hyperparameters": {
                "alpha": self.alpha,
                "beta1": self.beta1,
                "beta2": self.beta2,
                "delta": self.delta,
                "N": self.N,
                "c": self.c,
                "h0": self.h0,
            },
            "m": [x.copy() for x in self.m],
            "u": [x.copy() for x in self.u],
            "h": [x.copy() for x in self.h],
            "pending": {k: [x.copy() for x in v] for k, v in self._pending.items()},
            "sums": {k: [x.copy() for x in v] for k, v in self._sums.items()},
            "draws": self._draws,
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        missing = [
            key
            for key in ("t", "hyperparameters", "m", "u", "h", "pending", "sums", "draws")
            if key not in saved
        ]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        m = _restored("m", saved["m"], self.m)
        u = _restored("u", saved["u"], self.u)
        h = _restored("h", saved["h"], self.h)
        pending = {k: tuple(_restored(k, v, self.m)) for k, v in saved["pending"].items()}
        sums = {k: tuple(_restored(k, v, self.m)) for k, v in saved["sums"].items()}
        for array, value in zip(self.m, m, strict=True):
            array[:] = value
        for array, value in zip(self.u, u, strict=True):
            array[:] = value
        for array, value in zip(self.h, h, strict=True):
            array[:] = value
        self._pending = pending
        self._sums = sums
        self._draws = int(saved["draws"])
        self.t = int(saved["t"])
        self.alpha = saved["hyperparameters"]["alpha"]
        self.beta1 = saved["hyperparameters"]["beta1"]
        self.beta2 = saved["hyperparameters"]["beta2"]
        self.delta = saved["hyperparameters"]["delta"]
        self.N = saved["hyperparameters"]["N"]
        self.c = saved["hyperparameters"]["c"]
        self.h0 = saved["hyperparameters"]["h0"]

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
        arrays = _laid(self.m, 5)
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
