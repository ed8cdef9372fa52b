"""What `check` found of the families that ship, as data beside them.

`families/evidence.json` has the outcome of each under the content of its file and the version of
blrgen: another file or another version is not told by it, and is checked where it is asked for.
The tests check every family and hold what ships to what they find.

    python -m blrgen.check.shipped     check all families and write the file anew
"""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cache
from typing import Any


def shipped(name: str) -> dict[str, Any] | None:
    """What ships of a family, where its file and blrgen are those that it was found for."""
    entry = _read().get(name)
    return entry["found"] if entry is not None and entry["key"] == key(name) else None


def key(name: str) -> str:
    """A digest of the family file and the version."""
    from blrgen.read.family import find_family

    version = str(sys.modules["blrgen"].__dict__["__version__"])
    return hashlib.sha256(version.encode() + b"\n" + find_family(name).read_bytes()).hexdigest()


@cache
def _read() -> dict[str, Any]:
    from blrgen.paths import data_dir

    path = data_dir("families") / "evidence.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def main() -> int:
    """Check every family and write what is found; exit code 1 where one is wrong."""
    from blrgen.check.all import check_all
    from blrgen.paths import data_dir

    done = list(check_all(lambda said: print(said, file=sys.stderr)))
    entries = {d.name: {"key": key(d.name), "found": d.data} for d in done}
    text = json.dumps(entries, ensure_ascii=False, indent=1)
    (data_dir("families") / "evidence.json").write_text(text + "\n", encoding="utf-8")
    return 0 if all(d.passed for d in done) else 1


if __name__ == "__main__":
    raise SystemExit(main())
