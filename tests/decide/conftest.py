"""The rules that these tests share with those of whole files (tests/validate), by path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

if "prove_rules" not in sys.modules:
    _path = Path(__file__).resolve().parents[1] / "validate" / "prove_rules.py"
    _spec = importlib.util.spec_from_file_location("prove_rules", _path)
    assert _spec is not None and _spec.loader is not None
    _module = importlib.util.module_from_spec(_spec)
    sys.modules["prove_rules"] = _module
    _spec.loader.exec_module(_module)
