"""Where the data folders are: in a checkout (or editable install) and in a wheel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.errors import InternalError, UserError

if TYPE_CHECKING:
    from pathlib import Path

# kind → its place in a checkout; a wheel has every one under blrgen/_data/KIND
_CHECKOUT = {
    "families": ("families",),
    "models": ("models",),
    "templates": ("templates",),
    "reference": ("tests", "reference"),
}
_MARKS = ("pyproject.toml", ".git")  # what tells a checkout from a site-packages folder


def package_dir() -> Path:
    """The folder of the package itself."""
    from pathlib import Path

    return Path(__file__).resolve().parent


def data_dir(kind: str) -> Path:
    """The folder of "families", "models", "templates" or "reference" (hand-written algorithms)."""
    if kind not in _CHECKOUT:
        raise InternalError(f"no data folder is called {kind!r}; known: {', '.join(_CHECKOUT)}")
    package = package_dir()
    packed = package / "_data" / kind
    if packed.is_dir():
        return packed
    root = package.parent
    beside = root.joinpath(*_CHECKOUT[kind])
    if beside.is_dir() and any((root / mark).exists() for mark in _MARKS):
        return beside
    raise InternalError(
        f"the data folder {kind!r} is missing: looked in {packed} and {beside}; "
        "the installation is incomplete"
    )


def text_of(path: str | Path, most: int, shown: str = "") -> str:
    """The text of a file of at most so many bytes: no more is read, whatever the path is."""
    shown = shown or str(path)
    try:
        with open(path, "rb") as stream:
            data = stream.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = (getattr(error, "strerror", "") or str(error)).lower()
        raise UserError(f"cannot read {shown[:200]}", why=why) from None
    if len(data) > most:
        raise UserError(f"{shown} is too large", why=f"more than {most} bytes")
    try:
        return data.decode("utf-8-sig")  # some editors write a mark first
    except UnicodeDecodeError as error:
        why = f"byte {error.start} cannot be decoded"
        raise UserError(f"{shown} is not UTF-8 text", why=why) from None
