"""How a target writes what a class does with arrays and numbers: words and formulas as text.

The class of an optimizer is one tree.  A target says in one table how each word of it is
written, and which printers write numbers and arrays; `spelled` puts these texts into the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from blrgen.emit.printers import ScalarPrinter
from blrgen.emit.tree import classes as c
from blrgen.emit.tree.layout import flat
from blrgen.emit.uses import watching
from blrgen.program import nodes as n

T = TypeVar("T")
Printed = Callable[[n.Node], str]


@dataclass(frozen=True)
class Spelling:
    """`words`: pattern of each, "{0}" its first argument, "_name" a support function.

    `arrays` prints a formula element by element: names as they are written, those of arrays.
    """

    words: Mapping[str, str]
    arrays: Callable[[Mapping[str, str], tuple[str, ...]], Printed]
    generator: str = "np.random.Generator"  # what gives random numbers

    def word(self, x: c.Word) -> c.Text:
        """A word with its arguments."""
        pattern = self.words[x.name]
        args = [self.of(a) for a in x.args]
        uses = {u for a in args for u in c.used(a)} | {*re.findall(r"\b(_\w+|np|math)\b", pattern)}
        return c.Text(pattern.format(*map(flat, args)), tuple(sorted(uses)))

    def formula(self, x: c.Formula) -> c.Text:
        """Arithmetic with the names that it reads."""
        read = n.names(x.expr)
        names = {k: self.of(v) for k, v in x.names if k in read}
        texts = {k: flat(v) for k, v in names.items()}
        with watching() as uses:
            typed = x.over or x.typed
            text = self.arrays(texts, x.over)(x.expr) if typed else ScalarPrinter(texts)(x.expr)
        uses |= {u for v in names.values() for u in c.used(v)}
        return c.Text(text, tuple(sorted(uses)))

    def of(self, x: T) -> T:
        """The same tree with texts in it."""
        made: Any = x
        if isinstance(x, c.Word):
            made = self.word(x)
        elif isinstance(x, c.Formula):
            made = self.formula(x)
        elif isinstance(x, tuple):
            made = tuple(map(self.of, x))
        elif isinstance(x, c.Argument):
            made = replace(x, kind=x.kind.replace("Generator", self.generator))
        elif hasattr(x, "__dataclass_fields__"):
            made = replace(made, **{f.name: self.of(getattr(x, f.name)) for f in fields(made)})
        return made  # type: ignore[no-any-return]
