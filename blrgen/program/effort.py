"""How many operations a loop's body is, as a processor counts them."""

from __future__ import annotations

from blrgen.program import nodes as n
from blrgen.program.part import Part

LOOK_AHEAD = 64  # operations of an element; with more a processor waits for its own results
SIMPLE = frozenset({"abs", "max", "min", "sign", "sqrt"})  # one or two instructions
HELPER = 32  # operations of a function that is computed by a polynomial


def operations(part: Part) -> int:
    """Operations of one element."""
    return sum(_operations(s.expr) for s in part.body)


def _operations(node: n.Node) -> int:
    if isinstance(node, n.Ref):
        return 0
    own = 1 if node.children else 0
    if isinstance(node, n.Call) and node.name not in SIMPLE:
        own = HELPER
    return own + sum(map(_operations, node.children))


def better_apart(whole: Part, first: Part, second: Part) -> bool:
    """Whether two loops over what is in the cache are faster than one that does the same.

    A processor works on several elements at a time as long as it can look ahead to the next
    ones; a long body that shares little leaves it waiting for one result after the other.
    """
    together, alone = operations(whole), operations(first) + operations(second)
    return together > LOOK_AHEAD and together > 0.9 * alone
