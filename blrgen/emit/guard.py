"""A step that leaves the domain of the parameters is undone and said, never continued from.

Written for candidates that are no Gaussians: what a Gaussian's scale becomes is looked at
where it is used, in `posterior`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.printers import ArrayPrinter
from blrgen.emit.templates import fill
from blrgen.emit.text import sentence_list
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.program import Variable
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.core import Derivation
    from blrgen.emit.elementwise import ElementwiseWriter

_CHOSEN = "        chosen = slice(only, None if only is None else only + 1)\n"
_UNKNOWN = (
    "            if unknown:",
    "                raise ValueError(",
    '                    f"no number for some of {outside} elements: an average without a closed "',
    '                    "form could not be computed there, or an input is no number; "',
    '                    "nothing has been changed"',
    "                )",
)


def guarded(
    derivation: Derivation,
    states: tuple[Variable, ...],
    coupled: bool = False,
    halved: bool = False,
) -> tuple[Variable, ...]:
    """The states that are looked at after a step: all of them, where one has an end.

    Where components are coupled, one that is not finite spoils all of them; where a step is
    tried again, smaller, that is what is looked at.
    """
    if "precision" in dict(derivation.candidate) and not halved:
        return ()
    ended = any(v.lower is not None or v.upper is not None for v in states)
    return tuple(v for v in states if v.type != SCALAR) if ended or coupled else ()


def numbers(writer: ElementwiseWriter) -> tuple[Variable, ...]:
    """The states beside the vectors that are numbers."""
    return tuple(writer.scalar_states) if writer.coupled and writer.guarded else ()


def before_step(writer: ElementwiseWriter) -> list[str]:
    """Copies to go back to."""
    if not writer.guarded:
        return []
    held = ", ".join(f"self.{v.name}" for v in writer.guarded)
    comma = "," if len(writer.guarded) == 1 else ""
    rows = [f"        before = [[x.copy() for x in arrays] for arrays in ({held}{comma})]"]
    return rows + [f"        {v.name}_before = self.{v.name}" for v in numbers(writer)]


def after_step(writer: ElementwiseWriter) -> list[str]:
    """Look, and go back where it is needed."""
    if not writer.guarded:
        return []
    held = ", ".join(f"self.{v.name}" for v in writer.guarded)
    comma = "," if len(writer.guarded) == 1 else ""
    own = numbers(writer)
    names = sentence_list(v.name for v in (*writer.guarded, *own))
    rates = [v.name for v in writer.program.of("hyper") if v.name in ("rho", "alpha")]
    advice = f"a smaller {rates[0]} helps" if rates else "the inputs ask for too much"
    if writer.program.halved:
        advice = "no smaller rho helps"
    unknown = []
    if writer.program.expectations:  # which are nan where their sums are not to be trusted
        every = f"arrays in ({held}{comma}) for x in arrays"
        unknown = [f"            unknown = any(np.isnan(x).any() for {every})"]
    return [
        "        outside = self._outside()",
        "        if outside:",
        *unknown,
        f"            for arrays, kept in zip(({held}{comma}), before, strict=True):",
        "                for array, old in zip(arrays, kept, strict=True):",
        "                    array[:] = old",
        *(f"            self.{v.name} = {v.name}_before" for v in own),
        *(_UNKNOWN if unknown else ()),
        "            raise ValueError(",
        f'                f"the step leaves the domain of {names} at {{outside}} elements; "',
        f'                "nothing has been changed; {advice}"',
        "            )",
    ]


def at_start(writer: ElementwiseWriter) -> list[str]:
    """The look at first values."""
    return ["self._check_state()"] if writer.guarded else []


def check_state(writer: ElementwiseWriter) -> str:
    """_check_state: what is there at the start, and what was saved."""
    names = sentence_list(v.name for v in (*writer.guarded, *numbers(writer)))
    rows = [
        "        if self._outside():",
        f'            raise ValueError(f"{names}: {{self._outside()}} elements are outside the '
        'domain")',
    ]
    return fill("class/check_state.py.jinja", what=names, checks="\n".join(rows))


def method(writer: ElementwiseWriter) -> list[str]:
    """_outside and _check_state, or nothing."""
    if not writer.guarded:
        return []
    own = [v.name for v in writer.guarded]
    read = {x for v in writer.guarded for b in (v.lower, v.upper) if b for x in n.names(b)}
    hypers = {h.name: f"real(self.{h.name})" for h in writer.program.of("hyper")}
    printer = ArrayPrinter({k: v for k, v in hypers.items() if k in read})
    tests = []
    for v in writer.guarded:
        if v.lower is not None:
            tests.append(f"({v.name} > {printer.at(v.lower, 1)})")
        if v.upper is not None:
            tests.append(f"({v.name} < {printer.at(v.upper, 1)})")
        tests.append(f"np.isfinite({v.name})")
    one_of = "[chosen]" if writer.program.halved else ""
    pairs = f"zip({', '.join(f'self.{x}{one_of}' for x in own)}, strict=True)"
    text = " & ".join(tests)
    if len(text) > 75:
        text = "(\n                " + "\n                & ".join(tests) + "\n            )"
    uses = any(name in hypers for name in read)
    typed = f"            real = {own[0]}.dtype.type\n" if uses else ""
    return [
        fill(
            "class/outside.py.jinja",
            only=", only: int | None = None" if one_of else "",
            chosen=_CHOSEN if one_of else "",
            names=", ".join(own),
            pairs=pairs if len(own) > 1 else f"self.{own[0]}{one_of}",
            typed=typed,
            inside=text,
            numbers="".join(_number_rows(numbers(writer), printer)),
        ),
        check_state(writer),
    ]


def _number_rows(states: tuple[Variable, ...], printer: ArrayPrinter) -> list[str]:
    """One line for each number that has an end."""
    rows = []
    for v in states:
        tests = [] if v.lower is None else [f"self.{v.name} > {printer.at(v.lower, 1)}"]
        tests += [] if v.upper is None else [f"self.{v.name} < {printer.at(v.upper, 1)}"]
        inside = " and ".join([*tests, f"{use('math')}.isfinite(self.{v.name})"])
        rows.append(f"        outside += not ({inside})\n")
    return rows
