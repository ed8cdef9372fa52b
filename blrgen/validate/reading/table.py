"""The table: every function and keyword that has a meaning, and where it is found.

An entry is a Python function over values; its parameters are the arguments that have a
meaning, and every other argument is refused.  `docs/verify.md` is printed from here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.values import Tensor

SHORT = {"numpy": "np", "array": "x", "list": "items", "dict": "words"}
ROOMS = (
    "attributes",
    "axes",
    "factors",
    "functions",
    "linear",
    "making",
    "python",
    "reductions",
    "shaping",
    "solving",
)


@dataclass(frozen=True)
class Entry:
    """One name: its meaning in words, one use of it, and what computes it."""

    name: str
    text: str
    example: str
    function: Callable[..., Any]

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """Its arguments, without the machine."""
        return list(inspect.signature(self.function).parameters.values())[1:]

    @property
    def any_keyword(self) -> bool:
        """Whether its keywords are names that the caller chooses."""
        return any(p.kind is p.VAR_KEYWORD for p in self.parameters)

    @property
    def signature(self) -> str:
        """Its arguments as they are written; what is refused when anything else is given."""
        shown = []
        for p in self.parameters:
            star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
            shown.append(f"{star}{p.name}{'=' if p.default is not p.empty else ''}")
        return f"{spoken(self.name)}({', '.join(shown)})"


ENTRIES: dict[str, Entry] = {}
ATTRIBUTES: dict[str, Entry] = {}


def meaning(
    *names: str, text: str, example: str | tuple[str, ...]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a function into the table under its names: an example each, or one with {name} in it."""
    examples = (example,) * len(names) if isinstance(example, str) else example

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        for name, shown in zip(names, examples, strict=True):
            ENTRIES[name] = Entry(name, text, shown.replace("{name}", spoken(name)), f)
        return f

    return register


def has(name: str) -> bool:
    """Whether it is a name of the table or leads to one; a bare name is one of Python's."""
    load()
    return name in ENTRIES


def leads(name: str) -> bool:
    """Whether names of the table start with it."""
    load()
    return any(n.startswith(name + ".") for n in ENTRIES)


def load() -> None:
    """Fill the table."""
    for name in ROOMS:
        import_module(f"blrgen.validate.reading.{name}")


def spoken(name: str) -> str:
    """numpy.linalg.solve as np.linalg.solve, array.copy as x.copy."""
    head, _, rest = name.partition(".")
    return f"{SHORT.get(head, head)}.{rest}" if rest else name


def apply(mc: Machine, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
    """A name of the table on arguments; one that is not among its parameters is refused."""
    load()
    entry = ENTRIES.get(name)
    mc.used.add(name)
    if entry is None:
        raise mc.refuse(f"{spoken(name)}")
    known = {p.name for p in entry.parameters if p.kind is not p.POSITIONAL_ONLY}
    for k in keywords:
        if k not in known and not entry.any_keyword:
            raise mc.refuse(f"keyword {k}= of {spoken(name)}")
    try:
        bound = inspect.signature(entry.function).bind(mc, *args, **keywords)
    except TypeError:
        raise mc.refuse(f"these arguments of {spoken(name)}") from None
    if any(isinstance(x, Tensor) for x in (*bound.args, *bound.kwargs.values())):
        from blrgen.validate.reading.tensors import tensor_function

        return tensor_function(mc, name, list(bound.args[1:]), bound.kwargs)
    return entry.function(*bound.args, **bound.kwargs)
