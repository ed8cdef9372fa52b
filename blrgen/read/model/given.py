"""Data from outside: JSON, NPZ, NPY and CSV → arrays by name.

null in JSON and an empty field in CSV are NaN.  A CSV's first line that is not numbers is a
header and passed over; one column is a vector.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from blrgen.errors import UserError
from blrgen.limits import ARRAY_BYTES, HEADER_BYTES, JSON_BYTES
from blrgen.paths import bytes_of

MAX_DEPTH = 8  # axes of an array in JSON


def given_data(files: Iterable[str], settings: Iterable[str]) -> dict[str, Any]:
    """Everything that --data and --set say, each name once."""
    found: dict[str, Any] = {}
    for said in files:
        name, equals, path = said.partition("=")
        if equals and name.isidentifier():
            _add(found, name, _one(path), f"--data {said}")
            continue
        for key, value in _many(said).items():
            _add(found, key, value, f"--data {said}")
    for said in settings:
        name, equals, text = (x.strip() for x in said.partition("="))
        if not equals or not name.isidentifier():
            raise UserError(f"{said[:60]!r} is not NAME=VALUE", where="--set",
                            how="for example --set m0=0")  # fmt: skip
        _add(found, name, _array(_json(text, f"--set {name}")), f"--set {name}")
    return found


def _add(found: dict[str, Any], name: str, value: Any, where: str) -> None:
    if name in found:
        raise UserError(f"{name} is given twice", where=where, how="give it once")
    found[name] = value


def _read(path: str, most: int = JSON_BYTES) -> bytes:
    try:
        return bytes_of(path, most)
    except UserError as error:
        raise UserError(error.what, where="--data", why=error.why) from None


def _many(path: str) -> dict[str, Any]:
    """Names → arrays."""
    if path.endswith(".npz"):
        return _npz(path)
    if path.endswith((".npy", ".csv")):
        raise UserError(
            f"{path} holds one array without a name", where="--data",
            how=f"write --data NAME={path}",
        )  # fmt: skip
    try:
        text = _read(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        how = "JSON, NPZ, or NAME=FILE.csv"
        raise UserError(f"{path} is not JSON", where="--data", how=how) from None
    table = _json(text, path)
    if not isinstance(table, dict):
        raise UserError(f"{path} holds no names", where="--data",
                        how='write {"x": [1, 2, 3]}')  # fmt: skip
    return {name: _array(value) for name, value in table.items()}


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        why = f"line {error.lineno}, column {error.colno}: {error.msg}"
    except (ValueError, RecursionError):
        why = "a number in it is too long, or it is nested too deeply"
    raise UserError("this is not JSON", where=where, why=why)


@dataclass(frozen=True)
class Unreadable:
    """What stands under a name and is no array of numbers; why."""

    why: str


def _array(value: Any) -> Any:
    """A number, or lists of equal length of such; null is NaN."""
    import numpy as np

    todo, depth = [value], 0
    while todo:
        depth += 1
        inner: list[Any] = []
        for v in todo:
            if isinstance(v, list):
                inner += v
            elif not (v is None or isinstance(v, int | float)):
                return Unreadable(f"it holds {json.dumps(v)[:40]}")
        todo = inner
        if depth > MAX_DEPTH:
            return Unreadable(f"it has more than {MAX_DEPTH} axes")
    try:
        return np.array(_filled(value), dtype=np.float64)
    except OverflowError:
        return Unreadable("a number in it is too large")
    except ValueError:
        return Unreadable(
            "its rows have different lengths: a ragged plate is flat, with the lengths under the "
            "size's name"
        )


def _filled(value: Any) -> Any:
    if isinstance(value, list):
        return [_filled(v) for v in value]
    return float("nan") if value is None else value


def _one(path: str) -> Any:
    """One array: .npy or .csv."""
    if path.endswith(".npy"):
        return _npy(path)
    if path.endswith(".csv"):
        return _csv(path)
    raise UserError(f"{path[:200]!r} is neither .npy nor .csv", where="--data",
                    how="names → arrays come as JSON or NPZ: --data FILE")  # fmt: skip


def _npy(path: str) -> Any:
    import io

    import numpy as np

    try:
        data = _read(path, ARRAY_BYTES)
        _check_header(data, path)
        return np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError):
        raise UserError(f"{path} is no .npy file of numbers", where="--data") from None


def _npz(path: str) -> dict[str, Any]:
    import io
    import zipfile
    import zlib

    import numpy as np

    try:
        data = _read(path, ARRAY_BYTES)
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > ARRAY_BYTES:
                why = f"unpacked it has more than {ARRAY_BYTES} bytes"
                raise UserError(f"{path} is too large", where="--data", why=why)
            for entry in packed.infolist():
                with packed.open(entry) as stream:
                    _check_header(stream.read(HEADER_BYTES), path, entry.file_size)
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, OSError, AttributeError, MemoryError, zipfile.BadZipFile,
            NotImplementedError, RuntimeError, zlib.error):  # fmt: skip
        raise UserError(f"{path} is no .npz file of numbers", where="--data") from None


def _check_header(data: bytes, path: str, size: int | None = None) -> None:
    """The shape that a header states must fit the bytes behind it: memory is taken by it."""
    import io
    from math import prod

    import numpy as np

    stream = io.BytesIO(data[:HEADER_BYTES])
    version = np.lib.format.read_magic(stream)
    reader = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    if version[0] not in reader:
        raise UserError(f"{path} is no file of numbers", where="--data",
                        why="its header is of another version of the format")  # fmt: skip
    shape, _, dtype = reader[version[0]](stream)
    if prod(shape) * dtype.itemsize > (len(data) if size is None else size):
        raise UserError(f"{path} is no file of numbers", where="--data",
                        why="it has fewer bytes than the shape in its header")  # fmt: skip


def _csv(path: str) -> Any:
    import csv

    import numpy as np

    try:
        rows = [r for r in csv.reader(_read(path).decode("utf-8-sig").splitlines()) if r]
    except (UnicodeDecodeError, csv.Error):
        raise UserError(f"{path} is no CSV file", where="--data") from None
    first = 1 if rows and not all(map(_is_number, rows[0])) else 0
    body = rows[first:]
    for number, row in enumerate(body, first + 1):
        bad = next((f for f in row if not _is_number(f)), None)
        if bad is not None or len(row) != len(body[0]):
            why = (
                f"{bad!r} is no number"
                if bad is not None
                else (f"{len(row)} fields, {len(body[0])} before")
            )
            raise UserError(f"{path} is no table of numbers", where=f"{path}:{number}", why=why)
    values = np.array([[float(f) if f.strip() else np.nan for f in r] for r in body])
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _is_number(field: str) -> bool:
    try:
        float(field or "nan")
    except ValueError:
        return not field.strip()
    return True
