"""What the text of a file needs, declared where the text is written.

`use("_views")` is `_views` and says that the file being written needs that support function;
the name of an import is declared in the same way.  `collecting` is one file.
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


def using(text: str, *names: str) -> str:
    """A text, and the names that it needs."""
    for name in names:
        use(name)
    return text
