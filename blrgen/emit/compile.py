"""An emitted source as a ready class.

The source is kept in a cache folder under the hash of its text, so that Numba finds
what it compiled before, and imported from there.  Files are written whole and moved
into place, so that processes that do the same at the same time do not disturb each
other.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from threading import Lock
from types import ModuleType

from blrgen.errors import InternalError, UserError

PREFIX = "blrgen_emitted_"
_LOCK = Lock()


def compile_class(source: str) -> type:
    """The class that an emitted source defines; the same source gives the same class."""
    with _LOCK:  # CPython 3.11 loses count when two threads build syntax trees at once
        name = public_name(source)
    found = getattr(load(source), name)
    if not isinstance(found, type):
        raise InternalError(f"{name} in an emitted source is not a class")
    return found


def public_name(source: str) -> str:
    """The one name in `__all__`, read without running anything."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
        ):
            names = ast.literal_eval(node.value)
            if len(names) == 1:
                return str(names[0])
    raise InternalError("an emitted source names exactly one class in __all__")


def load(source: str) -> ModuleType:
    """The source as a module."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:32]
    name = PREFIX + digest
    with _LOCK:
        if name in sys.modules:
            return sys.modules[name]
        path = written(source, name)
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise InternalError("an emitted source cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # before running it: pickle and Numba look it up there
        try:
            spec.loader.exec_module(module)
        except ImportError as error:
            del sys.modules[name]
            raise UserError(
                f"the emitted class needs {error.name}, which is not installed",
                how=f"pip install {error.name}, or choose another target",
            ) from error
        except BaseException:
            del sys.modules[name]
            raise
        return module


def cache_directory() -> Path:
    """Where sources and what Numba compiles from them are kept; made when it is missing."""
    from blrgen.cache import OFF

    base = os.environ.get("BLRGEN_CACHE") or os.environ.get("XDG_CACHE_HOME")
    chosen = Path(base) if base else Path.home() / ".cache"
    shared = Path(tempfile.gettempdir()) / f"blrgen-{os.getuid()}"
    # a module needs a file all the same where the cache is turned off
    for folder in (shared,) if (base or "").lower() in OFF else (chosen / "blrgen", shared):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and folder.stat().st_uid == os.getuid():
            return folder
    return Path(tempfile.mkdtemp(prefix="blrgen-"))


def written(source: str, name: str) -> Path:
    """The file with the source, complete whenever it is there at all."""
    path = cache_directory() / f"{name}.py"
    if path.is_file() and path.read_text(encoding="utf-8") == source:
        return path
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(source)
    os.replace(temporary, path)
    return path
