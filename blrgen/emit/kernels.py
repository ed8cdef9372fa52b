"""One elementwise phase → one kernel: a Numba loop, or the same lines on whole arrays."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blrgen.emit.loops import looped
from blrgen.emit.plan import array_names, phase_of, scalar_names
from blrgen.emit.printers import ArrayPrinter, ElementPrinter, PythonPrinter, literal
from blrgen.emit.shorten import shortened
from blrgen.emit.special.helper import QUIET
from blrgen.emit.templates import fill
from blrgen.emit.text import WIDTH, assignment, bracketed, call
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.naming import constant_name
from blrgen.program.program import Program, fresh
from blrgen.program.types import SCALAR


@dataclass(frozen=True)
class Kernel:
    """A function to be emitted: its name, what it says of itself, its program and arguments."""

    name: str
    summary: str
    program: Program
    arrays: tuple[str, ...]
    scalars: tuple[str, ...]
    accumulate: bool = False  # add to the outputs instead of replacing them
    is_output: bool = False  # the targets are outputs, never read
    parts: tuple[Kernel, ...] = ()  # kernels that are run one after the other instead
    by_block: bool = False  # called for a block of elements at a time, with new noise
    packed: bool = True  # its numbers come in one tuple, in the type of the arrays

    @property
    def lines(self) -> list[tuple[str, n.Node]]:
        """Statements in order."""
        return [(s.name, s.expr) for s in phase_of(self.program).body]

    @property
    def returns(self) -> tuple[str, ...]:
        """Next values of states that are numbers and are made from whole arrays."""
        made = {s.name for s in phase_of(self.program).body}
        return tuple(
            local
            for target, local in phase_of(self.program).writes
            if local in made and self.program.scope[target] == SCALAR
        )

    @property
    def coupled(self) -> bool:
        """Whether elements need sums over all of them."""
        return any(isinstance(e, n.OVER_COMPONENTS) for _, e in self.lines)

    @property
    def writes(self) -> tuple[tuple[str, str], ...]:
        """(array, local value), done at the end."""
        return tuple(w for w in phase_of(self.program).writes if w[0] in self.arrays)


def kernel(
    name: str,
    summary: str,
    program: Program,
    order: tuple[str, ...],
    accumulate: bool = False,
    is_output: bool = False,
) -> Kernel:
    """The kernel of a planned program; `order` is the order of its array arguments."""
    arrays, scalars = array_names(program, order), scalar_names(program)
    return Kernel(name, summary, program, arrays, scalars, accumulate, is_output)


def in_turn(
    name: str, summary: str, program: Program, parts: tuple[Kernel, ...], order: tuple[str, ...]
) -> Kernel:
    """The kernel that runs others; `program` is what they do together."""
    arrays = {a for k in parts for a in k.arrays}
    scalars = dict.fromkeys(s for k in parts for s in k.scalars)
    ordered = tuple(a for a in order if a in arrays)
    return Kernel(name, summary, program, ordered, tuple(scalars), parts=parts)


def calls_kernel(k: Kernel, decorator: str) -> str:
    """A function that calls the parts."""
    return fill(
        "joined/in_turn.py.jinja",
        decorator=decorator,
        signature=signature(k),
        summary=k.summary,
        numbers=unpacked(k),
        calls="\n".join(
            call(f"    {p.name}(", [*p.arrays, *([bracketed(p.scalars)] if p.scalars else [])])
            for p in k.parts
        ),
    )


def signature(k: Kernel) -> str:
    """Def line; arrays and scalars annotated."""
    numbers = [f"{s}: float" for s in k.scalars]
    if k.packed and numbers:
        numbers = [f"numbers: {use('Numbers')}"]
    arguments = [*(f"{a}: Array" for a in k.arrays), *numbers]
    one = "float" if len(k.returns) == 1 else f"tuple[{', '.join(['float'] * len(k.returns))}]"
    return call(f"def {k.name}(", arguments, f") -> {one if k.returns else None}:")


def loop_kernel(k: Kernel, template: str, decorator: str) -> str:
    """A loop over elements; every number is given the arrays' type before it."""
    constants, lines = _typed_constants(k)
    indexed = {a: f"{a}[i]" for a in k.arrays}
    length = k.arrays[0]
    if k.coupled:
        return _passes_kernel(k, template, decorator)
    printer = ElementPrinter(indexed, [*_checked(k), *(name for _, name in constants)])
    body = _body(k, lines, printer, "[i]", 8)
    return fill(
        template,
        decorator=decorator,
        signature=signature(k),
        summary=k.summary,
        typed_constants=_typed(k, constants),
        length=length,
        body=body,
    )


def _checked(k: Kernel) -> list[str]:
    """Numbers made of hyperparameters alone, which the class holds to their ranges."""
    known = [v.name for v in k.program.of("hyper", "counter")]
    for s in phase_of(k.program).scalars:
        if set(n.names(s.expr)) <= set(known):
            known.append(s.name)
    return known


def _typed(k: Kernel, constants: list[tuple[Fraction, str]]) -> str:
    """Every number in the arrays' type."""
    rows = [] if k.packed else [f"{name} = real({name})" for name in k.scalars]
    rows += [f"{name} = real({literal(value)[0]})" for value, name in constants]
    rows = [f"real = {k.arrays[0]}.dtype.type", *rows] if rows else []
    return unpacked(k) + "".join(f"    {row}\n" for row in rows)


def unpacked(k: Kernel) -> str:
    """The lines that give a kernel's numbers their names, as many in each as fit."""
    if not k.packed or not k.scalars:
        return ""
    groups: list[list[str]] = [[]]
    for name in k.scalars:
        if len(f"    {', '.join([*groups[-1], name])} = numbers[99:99]") > WIDTH:
            groups.append([])
        groups[-1].append(name)
    rows, first = [], 0
    for group in groups:
        last = first + len(group)
        low, high = str(first or ""), str(last) if last < len(k.scalars) else ""
        part = f"[{low}:{high}]" if len(groups) > 1 else ""
        names = ", ".join(group) if len(group) > 1 else f"({group[0]},)"
        rows.append(f"    {names} = numbers{part}\n")
        first = last
    return "".join(rows)


def _passes_kernel(k: Kernel, template: str, decorator: str) -> str:
    """Several loops, numbers between them."""
    from blrgen.emit.components import Passes

    constants, lines = _typed_constants(k, Fraction(0))
    printer = ElementPrinter({a: f"{a}[i]" for a in k.arrays})
    zero = dict(constants)[Fraction(0)]
    passes = Passes(k, lines, printer, zero, lambda a, b: _store(k, a, b, "[i]", 8))
    return fill(
        template.replace("kernel.py", "passes.py"),
        decorator=decorator,
        signature=signature(k),
        summary=k.summary,
        typed_constants=_typed(k, constants),
        body=passes.text(),
    )


def array_kernel(k: Kernel, template: str) -> str:
    """The same lines on whole arrays."""
    lines = [(name, expr) for name, expr in k.lines]
    body = _body(k, lines, ArrayPrinter(), "[:]", 4)
    if k.returns:
        body += f"\n    return {', '.join(k.returns)}"
    quiet = f"{QUIET}\n" if k.coupled else ""  # what is not finite is looked at after the step
    typed = _typed(k, [])
    return quiet + fill(
        template, signature=signature(k), summary=k.summary, typed_constants=typed, body=body
    )


def _body(
    k: Kernel, lines: list[tuple[str, n.Node]], printer: PythonPrinter, index: str, indent: int
) -> str:
    """Locals first, then the arrays; a value used only for its array goes there directly."""
    taken = {*k.arrays, *k.scalars, *(name for name, _ in lines), "i", "real"}
    taken |= {x for _, e in lines for x in n.names(e)}
    lines = shortened(lines, printer, indent, taken)
    read = {x for _, e in lines for x in n.names(e)}
    direct = {
        local: target
        for target, local in k.writes
        if local not in read and local in dict(lines) and (k.is_output or k.accumulate)
    }
    rows = []
    for name, expr in lines:
        if name in direct:
            rows.append(_store(k, direct[name], printer(expr), index, indent))
            continue
        text = printer(expr)
        if isinstance(expr, n.Sym) and index == "[:]" and expr.name in k.arrays:
            text += ".copy()"  # the array itself is about to change
        rows.append(assignment(name, text, indent))
    for target, local in k.writes:
        if local not in direct:
            value = printer(n.Sym(local))  # a local, or an input as it is
            rows.append(_store(k, target, value, index, indent))
    return "\n".join(rows)


def _store(k: Kernel, target: str, value: str, index: str, indent: int) -> str:
    if k.accumulate:
        return f"{' ' * indent}{target}{index} += {value}"
    if index == "[i]" and target in k.program.fading:
        value = f"{use('_flushed')}({value})"  # whole arrays would be walked once more for it
    return assignment(f"{target}{index}", value, indent)


def _typed_constants(
    k: Kernel, *always: Fraction
) -> tuple[list[tuple[Fraction, str]], list[tuple[str, n.Node]]]:
    """Numbers in the loop replaced by names, so that each has the arrays' type."""
    taken = {*k.arrays, *k.scalars, *(name for name, _ in k.lines), "i", "real"}
    names: dict[Fraction, str] = {}

    def named(value: Fraction) -> str:
        if value not in names:
            names[value] = fresh(constant_name(value), taken)
            taken.add(names[value])
        return names[value]

    def change(node: n.Node) -> n.Node:
        return n.Sym(named(node.value)) if isinstance(node, n.Const) else node

    for value in always:
        named(value)
    lines = [(name, n.transform(looped(expr), change)) for name, expr in k.lines]
    return list(names.items()), lines
