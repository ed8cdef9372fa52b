"""How many operations a loop's body is, as a processor counts them."""

from __future__ import annotations

from blrgen.program import nodes as n
from blrgen.program.program import Program

LOOK_AHEAD = 64  # operations of an element; with more a processor waits for its own results
SIMPLE = frozenset({"abs", "max", "min", "sign", "sqrt"})  # one or two instructions
HELPER = 32  # operations of a function that is computed by a polynomial


def operations(program: Program) -> int:
    """Operations of one element, in the only phase of a planned program."""
    (phase,) = program.phases
    return sum(_operations(s.expr) for s in phase.body)


def _operations(node: n.Node) -> int:
    own = 1 if node.children else 0
    if isinstance(node, n.Call) and node.name not in SIMPLE:
        own = HELPER
    return own + sum(map(_operations, node.children))


def better_apart(whole: Program, first: Program, second: Program) -> bool:
    """Whether two loops over what is in the cache are faster than one that does the same.

    A processor works on several elements at a time as long as it can look ahead to the next
    ones; a long body that shares little leaves it waiting for one result after the other.
    """
    together, alone = operations(whole), operations(first) + operations(second)
    return together > LOOK_AHEAD and together > 0.9 * alone
