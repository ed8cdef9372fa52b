"""A shipped model's class, emitted to a file and imported from it."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import Options, derive_model

MODELS = Path(__file__).resolve().parents[2] / "models"
FOLDER = Path(tempfile.gettempdir()) / "blrgen-bench-models"


def emitted_file(
    name: str, algorithm: str, target: str = "numba", inner: int | None = None
) -> Path:
    """The file of a model's algorithm; compiled code is kept beside it while it is the same."""
    model = read_model((MODELS / f"{name}.model").read_text(), name)
    made = text(lower(derive_model(model, algorithm, Options(inner=inner))), target)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}_{algorithm}_{inner or ''}_{target}.py".replace("-", "_")
    if not path.exists() or path.read_text() != made:
        path.write_text(made)
    return path


@cache
def model_class(name: str, algorithm: str, target: str = "numba", inner: int | None = None) -> Any:
    """The class; `inner` is the most rounds over local blocks."""
    path = emitted_file(name, algorithm, target, inner)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    (only,) = module.__all__
    return getattr(module, only)
