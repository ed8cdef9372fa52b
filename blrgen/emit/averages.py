"""Expectations without a closed form as emitted functions: the weight, its window, the sums.

Each part of the support has a weight in t and a window around its peak; the expectation is
the quotient of two sums over the windows, taken relative to the highest peak.
"""

from __future__ import annotations

import textwrap

from blrgen.emit import tails
from blrgen.emit.printers import ArrayPrinter, PythonPrinter, literal
from blrgen.emit.shorten import shortened
from blrgen.emit.special.helper import JITTED, QUIET
from blrgen.emit.templates import fill
from blrgen.emit.text import WIDTH, assignment
from blrgen.emit.tree.layout import docstring
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.density import Expectation, Weight
from blrgen.program.inspect import ATOM

DEEPEST = 600  # logarithms of weights below this count as this
POINTS = 256  # cells of the trapezoidal rule in a window
CELLS, ZOOMS = 32, 24  # of the search for the window
BULK, DOUBLINGS = 14, 60  # of the search for the peak of whole numbers, and of its width
DEPTH = 45  # a weight below e^-45 of its peak is left out: 3e-20
REACH = 12  # where the search begins, in t
INTEGERS = 2**30  # where it begins on the integers


class _Real:
    """Every number in the type of the arguments."""

    def print_Const(self, node: n.Const) -> tuple[str, int]:
        return f"real({literal(node.value)[0]})", ATOM

    def print_Named(self, node: n.Named) -> tuple[str, int]:
        return f"real(np.{node.name})", ATOM


class RealElement(_Real, ArrayPrinter):
    """One element, every number in its type; its loops do one after the other."""

    choice = PythonPrinter.choice
    _special = PythonPrinter._special


class _RealArray(_Real, ArrayPrinter):
    pass


def texts(
    expectations: tuple[Expectation, ...], target: str, inverses: tuple[Weight, ...] = ()
) -> list[str]:
    """The functions of all of them, what they share once; `inverses` are drawn from as well."""
    made: dict[str, str] = {}
    known: dict[Weight, int] = {}

    def names(d: Weight) -> list[str]:
        first = known.setdefault(d, 1 + sum(len(other.pieces) for other in known))
        return [str(first + k) for k in range(len(d.pieces))]

    for e in expectations:
        made[e.name] = _expectation(e, names(e.density), target)
    for k, inverse in enumerate(inverses, start=1):
        made[f"quantile {k}"] = _quantile(f"_quantile_{k}", inverse, names(inverse), target)
    for d in known:
        if d.integers:
            name, given = names(d)[0], _given(target, "start")
            made[f"bulk {name}"] = _bulk(d, name, target)
            made[f"place {name}"] = tails.place(name, d.first, _where(target), **given)
        for k, name in enumerate(names(d)):
            made[f"window {name}"] = _window(d, name, target)
            made[f"weight {name}"] = _weight(d, k, name, target)
    return list(made.values())


def _quantile(name: str, d: Weight, names: list[str], target: str) -> str:
    """The inverse of the distribution function."""
    body = (
        _whole_quantile_body(d, names[0], target)
        if d.integers
        else _quantile_body(d, names, target)
    )
    return fill(
        "special/quantile.py.jinja",
        name=name,
        arguments=_arguments(d.parameters),
        density=d.said,
        body="\n".join(body),
        **_given(target, "u"),
    )


def _quantile_body(d: Weight, names: list[str], target: str) -> list[str]:
    """On the line: cells in halves, the logarithm of the weight linear in each half.

    With M₁ the mass of a cell as one such piece and M₂ that of its halves (4M₂ − M₁)/3 is
    right to the fourth order, and in a steep tail still of the right size.
    """
    where = _where(target)
    p = ", ".join(d.parameters)
    rows = [f"    low_{x}, high_{x}, peak_{x} = _window_{x}({p})" for x in names]
    peak = f"peak_{names[0]}"
    for x in names[1:]:
        peak = f"np.maximum({peak}, peak_{x})"
    rows += [f"    peak = {peak}", "    total, found = u * real(0), u * real(0)"]
    for again in (False, True):
        if again:
            rows += ["    wanted = u * total", "    total = u * real(0)"]
        for k, x in enumerate(names):
            rows += [
                f"    step = (high_{x} - low_{x}) / real({POINTS})",
                f"    start = np.maximum(_log_weight_{x}(low_{x}, {p}) - peak, real(-{DEEPEST}))",
                f"    for k in range({POINTS}):",
                f"        t = low_{x} + step * real(k)",
                *_level("middle", x, f"t + step / real(2), {p}"),
                *_level("end", x, f"t + step, {p}"),
                f"        front = {use('_mean_between')}(start, middle) / real(2)",
                "        back = _mean_between(middle, end) / real(2)",
                "        both = front + back",
                "        area = (real(4) * both - _mean_between(start, end)) / real(3)",
                "        area = step * np.maximum(area, both / real(2))",
            ]
            if again:
                rows += [
                    "        inside = (total <= wanted) & (wanted < total + area)",
                    "        share = (wanted - total) / area * both",
                    "        early = share < front",
                    f"        here = {where}(early, start, middle)",
                    f"        there = {where}(early, middle, end)",
                    f"        share = {where}(early, share / front, (share - front) / back)",
                    f"        place = {use('_place_between')}(here, there, share)",
                    f"        place = {where}(early, place, real(1) + place)",
                    "        t = t + step * place / real(2)",
                ]
                rows += _value("x", d.pieces[k].variable, target, 8)
                rows.append(f"        found = {where}(inside, x, found)")
            rows += ["        total += area", "        start = end"]
    return [*rows, "    return found"]


def _level(name: str, x: str, at: str) -> list[str]:
    return [
        f"        {name} = _log_weight_{x}({at}) - peak",
        f"        {name} = np.maximum({name}, real(-{DEEPEST}))",
    ]


def _whole_quantile_body(d: Weight, name: str, target: str) -> list[str]:
    """On whole numbers: one by one where they are few, else cells that widen from the peak on.

    A cell of n numbers has the mass (n − 1)/6 (f₀ + 4f½ + f₁) + ½(f₀ + f₁).
    """
    where = _where(target)
    p = ", ".join(d.parameters)
    rows = [
        f"    low, high, peak = _window_{name}({p})",
        f"    at, width = _bulk_{name}(low, high, {p})",
        "    high = high + real(1)",
        "    first, last = np.arcsinh((low - at) / width), np.arcsinh((high - at) / width)",
        f"    few = high - low <= real({POINTS})",
        "    total, found = u * real(0), u * real(0)",
    ]
    for again in (False, True):
        if again:
            rows += ["    wanted = u * total", "    total = u * real(0)"]
        rows += [
            "    start = low",
            f"    for k in range({POINTS}):",
            f"        across = np.sinh(first + (last - first) * real(k + 1) / real({POINTS}))",
            f"        stop = {where}(few, low + real(k + 1), at + np.rint(width * across))",
            "        count = stop - start",
            "        end = np.maximum(stop - real(1), start)",
            f"        left = np.exp(_log_weight_{name}(start, {p}) - peak)",
            f"        right = np.exp(_log_weight_{name}(end, {p}) - peak)",
            f"        middle = np.exp(_log_weight_{name}((start + end) / real(2), {p}) - peak)",
            "        both = (left + right) / real(2)",
            "        mass = (count - real(1)) * (both + real(2) * middle) / real(3) + both",
            f"        mass = {where}(count < real(2.5), real(2) * both, mass)",
            f"        mass = {where}(count < real(1.5), left, mass)",
            f"        mass = {where}(count < real(0.5), real(0), mass)",
        ]
        if again:
            rows += [
                "        inside = (total <= wanted) & (wanted < total + mass)",
                "        share = (wanted - total) / mass",
                "        lean = (right - left) / (real(2) * np.maximum(count - real(1), real(1)))",
                "        low_end = np.maximum(left - lean, real(0))",
                "        high_end = np.maximum(right + lean, real(0))",
                "        gain = share * (high_end * high_end - low_end * low_end)",
                "        root = np.sqrt(low_end * low_end + gain)",
                "        x = np.floor(count * share * (low_end + high_end) / (low_end + root))",
                f"        pair = {where}(share * mass < left, real(0), real(1))",
                f"        x = {where}(count < real(2.5), pair, x)",
                f"        x = {where}(count < real(1.5), real(0), x)",
                f"        found = {where}(inside, np.minimum(start + x, end), found)",
            ]
        rows += ["        total += mass", "        start = stop"]
    return [*rows, "    return found"]


def _given(target: str, first: str) -> dict[str, str]:
    jitted = target == "numba"
    use("njit" if jitted else "np")
    return {
        "decorator": JITTED if jitted else QUIET,
        "real": f"type({first})" if jitted else f"{first}.dtype.type",
    }


def _where(target: str) -> str:
    return use("_where") if target == "numba" else "np.where"


def _printer(target: str) -> PythonPrinter:
    return RealElement() if target == "numba" else _RealArray()


def _arguments(names: tuple[str, ...]) -> str:
    return ", ".join(f"{x}: Array" for x in names)


def _weight(d: Weight, piece: int, name: str, target: str) -> str:
    said = f"Return the logarithm of {d.said} times dx/dt, as a function of t."
    if len(said) > WIDTH - 10:
        what = textwrap.fill(d.said, WIDTH - 8)
        said = f"Return the logarithm of a weight times dx/dt, as a function of t.\n\n{what}"
    return fill(
        "special/log_weight.py.jinja",
        name=name,
        arguments=_arguments(("t", *d.parameters)),
        doc="\n".join(docstring(said, 4)),
        value="\n".join(_value("value", d.pieces[piece].log_weight, target, 4)),
        where=_where(target),
        **_given(target, "t"),
    )


def _window(d: Weight, name: str, target: str) -> str:
    first, rounding = d.parameters[0], ""
    low = f"{first} * real(0) - real({INTEGERS if d.integers else REACH})"
    high = f"{first} * real(0) + real({INTEGERS if d.integers else REACH})"
    if d.integers:
        low = f"{first} * real(0) + real({d.first})" if d.first is not None else low
        rows = ["low, high = np.floor(low), np.ceil(high)"]
        if d.first is not None:
            rows.append(f"low = np.maximum(low, real({d.first}))")
        rounding = "".join(f"        {row}\n" for row in rows)
    return fill(
        "special/window.py.jinja",
        name=name,
        arguments=_arguments(d.parameters),
        names=", ".join(d.parameters),
        depth=str(DEPTH),
        zooms=str(ZOOMS),
        cells=str(CELLS),
        low=low,
        high=high,
        round=rounding,
        where=_where(target),
        **_given(target, first),
    )


def _bulk(d: Weight, name: str, target: str) -> str:
    return fill(
        "special/bulk.py.jinja",
        name=name,
        arguments=_arguments(d.parameters),
        names=", ".join(d.parameters),
        zooms=str(BULK),
        cells=str(CELLS),
        doublings=str(DOUBLINGS),
        where=_where(target),
        **_given(target, "low"),
    )


def _expectation(e: Expectation, names: list[str], target: str) -> str:
    return fill(
        "special/expectation.py.jinja",
        name=f"_{e.name}",
        arguments=_arguments(e.density.parameters),
        said=e.said,
        density=e.density.said,
        body="\n".join(_body(e, names, target)),
        **_given(target, e.density.parameters[0]),
    )


def _body(e: Expectation, names: list[str], target: str) -> list[str]:
    """Windows, then sums of the weight and of each integrand, centred for a covariance."""
    p = ", ".join(e.density.parameters)
    rows = []
    for name in names:
        rows.append(f"    low_{name}, high_{name}, peak_{name} = _window_{name}({p})")
    peak = f"peak_{names[0]}"
    for name in names[1:]:
        peak = f"np.maximum({peak}, peak_{name})"
    rows.append(f"    peak = {peak}")
    integrands = [tuple(dict.fromkeys(row)) for row in e.integrands]  # one for a variance
    count = len(integrands[0])
    sums = ["mass", *(f"sum_{k}" for k in range(count))]
    rows.append(f"    {', '.join(sums)} = {', '.join(['real(0)'] * len(sums))}")
    for k, name in enumerate(names):
        rows += _loop(e, k, name, target)
        for j, f in enumerate(integrands[k]):
            rows += _value(f"f_{j}", f, target, 8)
        rows.append("        mass += w")
        rows += [_taken(f"sum_{j}", f"w * f_{j}", target) for j in range(count)]
    if e.density.integers:
        rows += _beyond(e, names[0], count, target)
    if not count:
        return [*rows, "    return peak + np.log(mass)"]
    if len(e.integrands[0]) == 1:
        return [*rows, "    return sum_0 / mass"]
    rows += [f"    mean_{j} = sum_{j} / mass" for j in range(count)]
    rows.append("    product = real(0)")
    centred = [f"(f_{j} - mean_{j})" for j in range(count)]
    term = " * ".join(centred * (2 if count == 1 else 1))
    for k, name in enumerate(names):
        rows += _loop(e, k, name, target)
        for j, f in enumerate(integrands[k]):
            rows += _value(f"f_{j}", f, target, 8)
        rows.append(_taken("product", f"w * {term}", target))
    if e.density.integers:

        def inner() -> list[str]:
            return [*_integrands(e, 0, target), _taken("spread", f"w * {term}", target)]

        summed = tails.loops(names[0], p, e.density.first, inner)
        rows += ["    if " + _any(target) + ":", "        spread = real(0)", *summed]
        rows.append(f"        product = {_where(target)}(blind, spread, product)")
        rows = [row.replace("{where}", _where(target)) for row in rows]
    return [*rows, "    return product / mass"]


def _beyond(e: Expectation, name: str, count: int, target: str) -> list[str]:
    """The sums where equal steps do not see the weight."""
    d, where = e.density, _where(target)
    p = ", ".join(d.parameters)
    sums = ["far", *(f"far_{k}" for k in range(count))]

    def inner() -> list[str]:
        taken = [_taken(f"far_{j}", f"w * f_{j}", target) for j in range(count)]
        return [*_integrands(e, 0, target), "        far += w", *taken]

    def first() -> list[str]:
        return [*inner(), *(row[4:] for row in tails.watched())]

    rows = [*tails.blind(name, p, _any(target)), *tails.start(name, p, d.first, where)]
    zeros = ", ".join(["at * real(0)"] * (len(sums) + 2))
    rows.append(f"        {', '.join(sums)}, twist, rest = {zeros}")
    rows += tails.loops(name, p, d.first, first)
    rows += tails.unresolved(name, p, where)
    rows += [
        f"        {old} = {where}(blind, {new}, {old})"
        for new, old in zip(
            [*sums, "top"], ["mass", *(f"sum_{k}" for k in range(count)), "peak"], strict=True
        )
    ]
    return [row.replace("{where}", where) for row in rows]


def _any(target: str) -> str:
    return "blind" if target == "numba" else "np.any(blind)"


def _integrands(e: Expectation, piece: int, target: str) -> list[str]:
    functions = dict.fromkeys(e.integrands[piece])
    return [row for j, f in enumerate(functions) for row in _value(f"f_{j}", f, target, 8)]


def _value(name: str, f: n.Node, target: str, indent: int) -> list[str]:
    """name = f, parts that are too long for a line with names of their own."""
    printer = _printer(target)
    taken = {name, *n.names(f)}
    lines = shortened([(name, f)], printer, indent, taken)
    return [assignment(x, printer(e), indent) for x, e in lines]


def _taken(total: str, term: str, target: str) -> str:
    """A term that counts only where there is weight: f may be infinite beyond."""
    return f"        {total} += {_where(target)}(w > real(0), {term}, real(0))"


def _loop(e: Expectation, k: int, name: str, target: str) -> list[str]:
    p = ", ".join(e.density.parameters)
    step, last = f"(high_{name} - low_{name}) / real({POINTS})", "every"
    if e.density.integers:  # one by one where there are few: then nothing is left out
        step = f"np.maximum(real(1), np.ceil({step} * real(every)))"
        last = "1"
    return [
        f"    step = {step}",
        f"    for k in range(0, {POINTS + 1}, {last}):",
        f"        t = low_{name} + step * real(k)",
        f"        w = step * np.exp(_log_weight_{name}(t, {p}) - peak)",
    ]
