"""A kernel that is too long for one loop: several, and which arguments each is called with.

Pieces that differ in constants and in the arrays they read only are one kernel.  Which
arrays are the same array is part of what they must have in common, so that no two arguments
of a call share memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction

from blrgen.program import nodes as n
from blrgen.program.kernels import Kernel, kernel
from blrgen.program.part import Part
from blrgen.program.program import Variable, fresh
from blrgen.program.split import is_long, split
from blrgen.program.types import ENTRIES, SCALAR

Given = str | Fraction  # an argument: what has a name, or a number


@dataclass(frozen=True)
class Pieces:
    """The kernels, the calls of them in their order, and the arrays that keep what they share."""

    kernels: tuple[Kernel, ...]
    calls: tuple[tuple[Kernel, tuple[Given, ...]], ...]
    kept: tuple[str, ...]


def is_in_pieces(k: Kernel) -> bool:
    """Whether it is long, and no sums over the elements stand between its lines."""
    return not k.coupled and is_long(k.program)


def pieces(k: Kernel) -> Pieces:
    """The kernel as several."""
    made = split(k.program)
    order = (*k.arrays, *made.kept)
    forms = [_form(p, order) for p in made.parts]
    alike: dict[Hashable, list[_Form]] = {}
    for form in forms[:-1]:  # the last one writes the states
        alike.setdefault(form.shape, []).append(form)
    groups = [*alike.values(), forms[-1:]]
    kernels, calls = list[Kernel](), dict[int, tuple[Kernel, tuple[Given, ...]]]()
    for number, group in enumerate(groups, 1):
        piece, arguments = _shared(f"{k.name}_{number}", group, order)
        piece = replace(piece, packed=False, is_output=k.is_output and group is groups[-1])
        kernels.append(piece)
        for form in group:
            given = arguments(form)
            calls[id(form)] = piece, tuple(given[x] for x in (*piece.arrays, *piece.scalars))
    return Pieces(tuple(kernels), tuple(calls[id(f)] for f in forms), made.kept)


@dataclass(frozen=True)
class _Form:
    """A piece, its names and constants in the order in which they first stand, and its shape."""

    program: Part
    names: tuple[str, ...]
    constants: tuple[Fraction, ...]
    shape: Hashable


def _form(part: Part, order: tuple[str, ...]) -> _Form:
    names: dict[str, int] = {}
    constants: list[Fraction] = []
    own = {s.name for s in part.body}

    def change(node: n.Node) -> n.Node:
        if isinstance(node, n.Const):
            constants.append(node.value)
            return n.Ref(f"constant {len(constants)}")
        if isinstance(node, n.Ref):
            seen = names.setdefault(node.name, len(names))
            kind = "local" if node.name in own else "array" if node.name in order else node.name
            return n.Ref(f"{kind} {seen}")
        return node

    body = tuple((n.transform(s.expr, change), change(n.Ref(s.name))) for s in part.body)
    writes = tuple((change(n.Ref(a)), change(n.Ref(b))) for a, b in part.writes)
    return _Form(part, tuple(names), tuple(constants), (body, writes))


def _shared(
    name: str, group: list[_Form], order: tuple[str, ...]
) -> tuple[Kernel, Callable[[_Form], dict[str, Given]]]:
    """One function for all, and what it is called with for each."""
    first = group[0]
    part, taken = first.program, first.program.taken
    own = {s.name for s in part.body}
    differ = [k for k, x in enumerate(first.names) if any(f.names[k] != x for f in group)]
    arrays = {k: _fresh("given", taken) for k in differ if first.names[k] not in own}
    vary = [k for k, c in enumerate(first.constants) if any(f.constants[k] != c for f in group)]
    scalars = {k: _fresh("c", taken) for k in vary}
    renamed = {first.names[k]: new for k, new in arrays.items()}
    count = iter(range(len(first.constants)))

    def change(node: n.Node) -> n.Node:
        if isinstance(node, n.Const):
            k = next(count)
            return n.Ref(scalars[k]) if k in scalars else node
        return (
            n.Ref(renamed.get(node.name, node.name), node.index)
            if isinstance(node, n.Ref)
            else node
        )

    body = tuple(replace(s, expr=n.transform(s.expr, change)) for s in part.body)
    writes = tuple((renamed.get(a, a), renamed.get(b, b)) for a, b in part.writes)
    more = [Variable(new, "kept", ENTRIES) for old, new in renamed.items()]
    more += [Variable(c, "constant", SCALAR) for c in scalars.values()]
    rule = replace(part.rule, variables=(*part.rule.variables, *more))
    made = replace(part, rule=rule, body=body, writes=writes)
    several = f", once for each of {len(group)} groups of terms" if len(group) > 1 else ""
    piece = kernel(name, f"Do a part of the step{several}.", made, (*order, *renamed.values()))

    def arguments(form: _Form) -> dict[str, Given]:
        given: dict[str, Given] = {x: x for x in (*order, *form.program.sizes)}
        given |= {new: form.names[k] for k, new in arrays.items()}
        return given | {c: form.constants[k] for k, c in scalars.items()}

    return piece, arguments


def _fresh(stem: str, taken: set[str]) -> str:
    name = fresh(stem, taken)
    taken.add(name)
    return name
