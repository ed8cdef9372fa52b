"""What runs in a process of its own: the function on numbers, with limits.

It reads a job from stdin (the file's text, the function, arguments of each call) and answers on
stdout with what was returned, what the arguments hold afterwards, or the exception's name.
"""

import json
import os
import sys
from typing import Any

SECONDS, COMPILING, MEMORY = 20, 120, 4 * 2**30


def limit(seconds: int) -> None:
    """Time, memory, and no file can be written."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    except (ImportError, ValueError, OSError):
        return


def told(x: Any) -> Any:
    """A value as JSON: arrays as their shape and entries."""
    import numpy as np

    if x is None:
        return None
    if isinstance(x, dict):
        return {"dict": {str(k): told(v) for k, v in x.items()}}
    if hasattr(x, "_fields"):
        return {"dict": {k: told(getattr(x, k)) for k in x._fields}}
    if hasattr(x, "__dataclass_fields__"):
        return {"dict": {k: told(getattr(x, k)) for k in x.__dataclass_fields__}}
    if isinstance(x, (tuple, list)):
        return {"tuple": [told(v) for v in x]}
    a = np.asarray(x, dtype=float)
    return {"shape": list(a.shape), "entries": [repr(float(v)) for v in a.reshape(-1)]}


def made(x: Any) -> Any:
    """An argument from JSON."""
    import numpy as np

    if isinstance(x, dict):
        return np.array([float(v) for v in x["entries"]]).reshape(x["shape"])
    return float(x) if isinstance(x, str) else x


def uncached() -> None:
    """Numba compiles afresh: what is kept beside a file is not that of this text."""
    import numba

    def without(decorator: Any) -> Any:
        return lambda *given, **options: decorator(*given, **{**options, "cache": False})

    numba.njit, numba.jit = without(numba.njit), without(numba.jit)


def fault(error: Exception) -> dict[str, str]:
    """An exception as JSON; `compiled` where it is of the compiler."""
    kind = "compiled" if type(error).__module__.startswith("numba") else "error"
    return {kind: f"{type(error).__name__}: {error}"}


def answer(job: dict[str, Any]) -> list[Any]:
    """One answer a call."""
    import numpy as np

    names: dict[str, Any] = {"__name__": "step_under_test"}
    sys.modules["step_under_test"] = type(sys)("step_under_test")
    sys.modules["step_under_test"].__dict__.update(names)
    space = sys.modules["step_under_test"].__dict__
    exec(compile(job["source"], job["path"], "exec"), space)
    f = space[job["function"]]
    out: list[Any] = []
    for call in job["calls"]:
        values = {k: made(v) for k, v in call.items()}
        first = [values[k] for k in job["positional"]]
        rest = {k: v for k, v in values.items() if k not in job["positional"]}
        try:
            with np.errstate(all="ignore"):
                returned = f(*first, **rest)
            out.append(
                {"returned": told(returned), "after": {k: told(v) for k, v in values.items()}}
            )
        except Exception as error:
            out.append(fault(error))
    return out


def main() -> None:
    """Keep stdout for the answer; what the code prints goes to stderr."""
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    job = json.load(sys.stdin)
    limit(COMPILING if job["compiled"] else SECONDS)
    try:
        if job["compiled"]:
            uncached()
        found: Any = answer(job)
    except BaseException as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    json.dump(found, stream)
    stream.flush()


if __name__ == "__main__":
    main()
