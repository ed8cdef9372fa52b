"""What was computed before: results kept as data, found again by the content they came from.

An entry's name is the hash of everything that its value depends on: what was asked, the
bytes of the family file, and the sources of the engine with the versions of what it
computes with.  So nothing is ever out of date: a change anywhere is another name.  Values
are JSON; nothing that is read back is executed.  An entry that is damaged counts as absent.
The folder may be deleted at any time, and used by several processes at once: an entry
appears whole, by renaming.

    BLRGEN_CACHE      the folder, or "off"
    XDG_CACHE_HOME    its parent otherwise; ~/.cache when neither is set
"""

from __future__ import annotations

import os

from blrgen.timing import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

MOST_BYTES = 64_000_000  # of all entries; the oldest go first
LARGEST = 1_000_000  # one entry
OFF = ("off", "0", "none")
_digests: dict[str, str] = {}


def folder() -> str | None:
    """The folder of the entries; None when there is to be no cache."""
    chosen = os.environ.get("BLRGEN_CACHE", "")
    if chosen:
        return None if chosen.lower() in OFF else os.path.abspath(chosen)
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):  # the specification says to ignore a relative one
        home = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "blrgen") if os.path.isabs(home) else None


def remembered(kind: str, parts: Iterable[str | bytes], make: Callable[[], Any]) -> Any:
    """The value for these parts: as kept, or made now and kept."""
    name = entry_name(kind, parts)
    found = get(name)
    if found is not None:
        said(f"{kind}: from the cache")
        return found
    found = make()
    put(name, found)
    return found


def entry_name(kind: str, parts: Iterable[str | bytes]) -> str:
    """The hash of the engine, the kind of the entry, and all that its value depends on."""
    from hashlib import sha256

    digest = sha256(engine_digest().encode())
    for part in (kind, *parts):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def get(name: str) -> Any | None:
    """The value of an entry, or None: absent, damaged, or no cache."""
    from json import loads

    path = _path(name)
    if path is None:
        return None
    try:
        with open(path, "rb") as stream:
            kept = loads(stream.read(2 * LARGEST))
        if kept["name"] == name and kept["check"] == _checksum(kept["value"]):
            return kept["value"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def put(name: str, value: Any) -> None:
    """Keep a value; a folder that cannot be written to is none."""
    from contextlib import suppress
    from json import dumps

    path = _path(name)
    if path is None:
        return
    data = dumps({"name": name, "check": _checksum(value), "value": value}).encode()
    if len(data) > LARGEST:
        return
    draft = f"{path}.{os.getpid()}.draft"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(draft, "xb") as stream:
            stream.write(data)
        os.replace(draft, path)
        prune()
    except OSError:
        with suppress(OSError):
            os.unlink(draft)


def prune(most: int = MOST_BYTES) -> None:
    """Remove the oldest entries until what is left fits; drafts that were left behind too."""
    from contextlib import suppress

    top = folder()
    if top is None:
        return
    entries = []
    for place, _, files in os.walk(top):
        for file in files:
            if file.endswith((".json", ".draft")):
                with suppress(OSError):
                    seen = os.stat(os.path.join(place, file))
                    entries.append((seen.st_mtime_ns, seen.st_size, os.path.join(place, file)))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= most:
            return
        with suppress(OSError):
            os.unlink(path)
        total -= size


def engine_digest() -> str:
    """The hash of every source and data file of the engine, of SymPy's and mpmath's releases."""
    from blrgen.paths import data_dir, package_dir

    package = package_dir()
    if "engine" not in _digests:
        from hashlib import sha256

        digest = sha256()
        for top in (str(package), str(data_dir("families"))):
            for path in sorted(_sources(top)):
                with open(os.path.join(top, path), "rb") as stream:
                    digest.update(path.encode() + b"\0" + sha256(stream.read()).digest())
        for release in _releases():
            digest.update(release)
        _digests["engine"] = digest.hexdigest()
    return _digests["engine"]


def _sources(top: str) -> list[str]:
    found = []
    for place, folders, files in os.walk(top):
        folders[:] = [f for f in folders if f not in ("__pycache__", "_data")]
        found += [
            os.path.relpath(os.path.join(place, f), top)
            for f in files
            if f.endswith((".py", ".toml"))
        ]
    return found


def _releases() -> list[bytes]:
    """What names the versions of Python and of the libraries, without loading them."""
    import sys
    from importlib.util import find_spec

    found = [sys.version.encode()]
    for library, file in (("sympy", "release.py"), ("mpmath", "__init__.py")):
        spec = find_spec(library)
        if spec is not None and spec.origin is not None:
            with open(os.path.join(os.path.dirname(spec.origin), file), "rb") as stream:
                found.append(stream.read())
    return found


def _path(name: str) -> str | None:
    top = folder()
    return None if top is None else os.path.join(top, name[:2], f"{name}.json")


def _checksum(value: Any) -> str:
    from hashlib import sha256
    from json import dumps

    return sha256(dumps(value, sort_keys=True).encode()).hexdigest()
