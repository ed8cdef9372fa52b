"""Where a model's text is: a file ending in .model here, or one of those that ship."""

from __future__ import annotations

from pathlib import Path

from blrgen.errors import UserError, did_you_mean
from blrgen.limits import MODEL_BYTES
from blrgen.paths import bytes_of, data_dir
from blrgen.read.model.mistakes import Mistake, ModelError
from blrgen.read.model.ranges import Finding
from blrgen.read.model.reader import examine
from blrgen.read.model.values import Model

ENDING = ".model"


def list_models() -> tuple[str, ...]:
    """The names of the models that come with blrgen."""
    return tuple(sorted(p.stem for p in data_dir("models").glob(f"*{ENDING}")))


def title_of(name: str) -> str:
    """The first line of a shipped model's comment."""
    first = (data_dir("models") / f"{name}{ENDING}").read_text(encoding="utf-8").split("\n", 1)[0]
    return first.lstrip("# ").rstrip(".:")


def find_model(what: str) -> Path:
    """The file here, else the shipped one of that name."""
    path = Path(what)
    if path.exists():  # a pipe is read as well, and what cannot be read says so
        return path
    shipped = data_dir("models") / what
    if path.name == what and shipped.is_file():
        return shipped
    known = [f"{n}{ENDING}" for n in list_models()]
    raise UserError(
        f"there is no model {what[:80]!r}",
        why="it is neither a file here nor among those that come with blrgen",
        how=did_you_mean(path.name[:80], known),
    )


def examine_file(
    what: str,
) -> tuple[str, Model | None, tuple[Mistake, ...], tuple[Finding, ...]]:
    """The name, and what `examine` says of the text."""
    path = find_model(what)
    name = path.name.removesuffix(ENDING)
    raw = bytes_of(path, MODEL_BYTES)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        bad = Mistake(
            "syntax", before.count(b"\n") + 1, column, "", "this is not UTF-8 text",
            f"the byte {raw[error.start]:#04x} cannot be decoded", "save the model as UTF-8",
        )  # fmt: skip
        return name, None, (bad,), ()
    return name, *examine(text, name, str(path))


def read_file(what: str) -> Model:
    """The model of a file or of a shipped name; a `ModelError` with all mistakes."""
    _, model, mistakes, _ = examine_file(what)
    if model is None or mistakes:
        raise ModelError(what, mistakes)
    return model
