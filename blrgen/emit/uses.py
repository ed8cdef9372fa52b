"""What the text of a file needs, declared where the text is written.

`use("_views")` is `_views` and says that the file being written needs that support function;
the name of an import is declared in the same way.  `collecting` is one file.  How a symbol is
spelled may need something of the lines around it, such as a loop's index: `spelled` says so,
and `watching` tells who writes these lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_USED: ContextVar[set[str] | None] = ContextVar("uses", default=None)


@contextmanager
def collecting() -> Iterator[set[str]]:
    """The names that are declared inside."""
    found: set[str] = set()
    token = _USED.set(found)
    try:
        yield found
    finally:
        _USED.reset(token)


def use(name: str) -> str:
    """The name itself."""
    found = _USED.get()
    if found is not None:
        found.add(name)
    return name


@contextmanager
def watching() -> Iterator[set[str]]:
    """The names that are declared inside, which the file around hears of too."""
    with collecting() as found:
        yield found
    for name in found:
        use(name)


class Spelled(str):
    """How a symbol is written, and what that needs of the lines around it."""

    needs: tuple[str, ...] = ()


def spelled(text: str, *needs: str) -> Spelled:
    """A spelling that needs something."""
    made = Spelled(text)
    made.needs = needs
    return made


def written(text: str) -> str:
    """A spelling that is written now."""
    for name in text.needs if isinstance(text, Spelled) else ():
        use(name)
    return text
