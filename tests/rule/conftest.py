"""The number crunching that these tests share (tests/numeric.py), by path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_PATH = Path(__file__).resolve().parent.parent / "numeric.py"
if "numeric" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("numeric", _PATH)
    assert _spec is not None and _spec.loader is not None
    _module = importlib.util.module_from_spec(_spec)
    sys.modules["numeric"] = _module
    _spec.loader.exec_module(_module)
