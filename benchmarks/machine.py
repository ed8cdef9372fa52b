"""What the machine is, as far as times depend on it; and how a process is bound to threads.

Nothing here says which machine it is: no names, no addresses.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

# glibc gives large blocks back at once by default, so that every temporary faults its pages in
TUNABLES = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184"
PACKAGES = (
    "numpy", "numba", "scipy", "torch", "optax", "jax", "ivon-opt", "scikit-learn", "filterpy",
    "pykalman", "hmmlearn",
)  # fmt: skip
_COUNTED = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
_SIMD = ("avx512f", "avx2", "avx", "sse4_2", "asimd", "sve")


def facts() -> dict[str, Any]:
    """Cores, vector instructions, memory and versions."""
    return {
        "cores": len(cpus()),
        "architecture": platform.machine(),
        "simd": next((x for x in _SIMD if x in _flags()), "unknown"),
        "memory_gib": round(memory() / 2**30),
        "python": platform.python_version(),
        "packages": {p: v for p in PACKAGES if (v := _version(p))},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _flags() -> set[str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return set()
    lines = (x.split(":", 1) for x in text.splitlines() if x.startswith(("flags", "Features")))
    return {word for _, words in lines for word in words.split()}


def memory() -> int:
    """Bytes of memory that a process may still take."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:
        return 8 * 2**30
    rows = dict(x.split(":", 1) for x in text.splitlines() if ":" in x)
    return int(rows.get("MemAvailable", "8388608 kB").split()[0]) * 1024


def cpus() -> list[int]:
    """The processors that this process may use, those of different cores first."""
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1))
    allowed = sorted(os.sched_getaffinity(0))
    first: list[int] = []
    others: list[int] = []
    seen: set[str] = set()
    for cpu in allowed:
        core = _siblings(cpu)
        (others if core in seen else first).append(cpu)
        seen.add(core)
    return first + others


def _siblings(cpu: int) -> str:
    try:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return str(cpu)


def environment(threads: int) -> dict[str, str]:
    """A process's environment: the allocator tuned, every library told its number of threads."""
    own = dict(os.environ) | {name: str(threads) for name in _COUNTED}
    own["GLIBC_TUNABLES"] = TUNABLES
    own.pop("PYTHONDONTWRITEBYTECODE", None)
    root = str(Path(__file__).resolve().parents[1])
    own["PYTHONPATH"] = os.pathsep.join(filter(None, [root, own.get("PYTHONPATH", "")]))
    return own


def bind(threads: int) -> None:
    """Keep this process on as many processors as it may have threads; tell torch."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus()[:threads])
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
