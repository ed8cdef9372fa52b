"""Sizes that functions name: from shapes of arrays, or as arguments."""

from __future__ import annotations

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.memory import Memory
from blrgen.emit.tree.reads import names_in
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


class Sized:
    """The sizes of a program's axes, in what it is given and what is stored."""

    program: a.Program
    memory: Memory

    def sizes(
        self, body: tuple[t.Statement, ...], arrays: list[str]
    ) -> tuple[list[t.Statement], list[str]]:
        """Each size that the body names: from an array's shape, or as an argument."""
        used = names_in(list(body))
        known = {str(x.size) for x in self.program.letters}
        known |= {str(x) for q in self.program.given for x in q.sizes}
        head: list[t.Statement] = []
        wholes: list[str] = []
        for size in sorted(known & used):
            found = next((s for x in arrays for s in self.seen(x, size)), None)
            if found is None:
                wholes.append(size)
            else:
                head.append(t.Assign(t.name(size), found))
        for x in self.program.letters:
            if x.under and f"{x.name}_most" in used:
                call = n.Call("_longest", (t.name(x.pointers),))
                head.append(t.Assign(t.name(f"{x.name}_most"), call))
        return head, wholes

    def lengths(self, arrays: list[str]) -> dict[int, t.Shape]:
        """Where given arrays show sizes that are numbers, behind their rows."""
        found: dict[int, t.Shape] = {}
        for q in self.program.given:
            for size in (x for x in q.sizes if isinstance(x, int) and q.name in arrays):
                for shape in (x for x in self.seen(q.name, size) if x.axis > 0):
                    found.setdefault(size, shape)
        return found

    def seen(self, array: str, size: a.Size) -> list[t.Shape]:
        """Where an array shows the size."""
        put = {x.name: x.sizes for x in self.program.assembled}
        if array in put:
            whole = list(put[array])
        elif array in self.memory.given:
            whole = list(self.memory.given[array].sizes)
        elif array in self.memory.made and self.memory.values[array] == array:
            whole = self.kept_sizes(array)
        else:
            return []
        drop = [p - 1 for p, x in enumerate(whole) if x in self.memory.ragged]
        stored = [x for p, x in enumerate(whole) if p not in drop]
        return [t.Shape(array, p) for p, x in enumerate(stored) if x == size]

    def kept_sizes(self, name: str) -> list[a.Size]:
        """The axes that are kept of a value; those of one ragged row, or a block, have no name."""
        letters, kept = self.memory.letters, self.memory.storages[name].kept
        return [
            letters[x].size if x in letters and letters[x].under in ("", *kept) else ""
            for x in kept
        ]  # fmt: skip
