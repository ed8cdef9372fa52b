"""What a class keeps for a matrix that is made entry by entry (`blrgen.emit.tree.formed`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.tree.formed import DIAGONAL, WORK, Entries

if TYPE_CHECKING:
    from blrgen.emit.linear import LinearWriter


def first_rows(writer: LinearWriter) -> list[str]:
    """Where the next matrix is made, and where it is factored."""
    entries = next(iter(writer.all_entries()), None)
    if entries is None:
        return []
    state = entries.made.state
    rows = [
        f"self._own = self.{state}, np.empty_like(self.{state})  # one of them is {state}",
        f"self._{WORK} = np.empty_like(self.{state})  # where it is factored",
    ]
    if entries.again:
        zeros = f"np.zeros(len(self.{state}), dtype={writer.main}.dtype)"
        rows.append(f"self._{DIAGONAL} = {zeros}  # of {state}, where `{WORK}` has its factor")
    return rows


def room(entries: Entries) -> str:
    """The array that the state is not in: where its next value goes."""
    made = entries.made
    return f"        {made.name} = self._own[self.{made.state} is self._own[0]]"
