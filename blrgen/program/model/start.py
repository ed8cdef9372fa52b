"""A first state from labels, where a categorical variable of the first block indexes rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from blrgen.program.axes import nodes as a
from blrgen.program.model.given import given
from blrgen.program.model.names import Given
from blrgen.program.model.values import Array, Method, Start

if TYPE_CHECKING:
    from blrgen.program.model.own import Own


def start_of(
    every: a.Program, first: Sequence[Own], after: Sequence[str], known: Given
) -> Start | None:
    """The step with the labels given, if there are any over one plate."""
    labels = [own for own in first if own.member.one_hot and len(own.member.element) == 1]
    if len(first) != 1 or not labels or not after:
        return None
    (name,) = labels[0].means
    sizes = every.sizes[name]
    rows = tuple(
        x.array.name for x in known.arguments
        if x.role == "data" and not x.array.labels and x.array.axes[:1] == sizes[:1]
    )  # fmt: skip
    program = given(every, (name,), tuple(after))
    method = Method(known.names.of("from_labels"), program, "Return the state that labels lead to.")
    return Start(method, Array(name, sizes), rows)
