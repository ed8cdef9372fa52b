"""What these tests share (tests/mass.py, tests/numeric.py), by path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

for _name in ("mass", "numeric"):
    if _name in sys.modules:
        continue
    _path = Path(__file__).resolve().parent.parent / f"{_name}.py"
    _spec = importlib.util.spec_from_file_location(_name, _path)
    assert _spec is not None and _spec.loader is not None
    _module = importlib.util.module_from_spec(_spec)
    sys.modules[_name] = _module
    _spec.loader.exec_module(_module)
