"""Expectations without a closed form as emitted functions: the weight, its window, the sums.

Each part of the support has a weight in t and a window around its peak; the expectation is
the quotient of two sums over the windows, taken relative to the highest peak.
"""

from __future__ import annotations

from blrgen.emit.kernels import shortened
from blrgen.emit.printers import ArrayPrinter, ElementPrinter, PythonPrinter, literal
from blrgen.emit.special.helper import JITTED, QUIET
from blrgen.emit.templates import fill
from blrgen.emit.text import assignment
from blrgen.program import nodes as n
from blrgen.program.density import Density, Expectation
from blrgen.program.inspect import ATOM

POINTS = 256  # cells of the trapezoidal rule in a window
CELLS, ZOOMS = 32, 24  # of the search for the window
DEPTH = 45  # a weight below e^-45 of its peak is left out: 3e-20
REACH = 12  # where the search begins, in t
INTEGERS = 2**30  # where it begins on the integers


class _Real:
    """Every number in the type of the arguments."""

    def print_Const(self, node: n.Const) -> tuple[str, int]:
        return f"real({literal(node.value)[0]})", ATOM

    def print_Named(self, node: n.Named) -> tuple[str, int]:
        return f"real(np.{node.name})", ATOM


class RealElement(_Real, ElementPrinter):
    """One element, every number in its type."""


class _RealArray(_Real, ArrayPrinter):
    pass


def texts(
    expectations: tuple[Expectation, ...], target: str, inverses: tuple[Density, ...] = ()
) -> list[str]:
    """The functions of all of them, what they share once; `inverses` are drawn from as well."""
    made: dict[str, str] = {}
    known: dict[Density, int] = {}

    def names(d: Density) -> list[str]:
        first = known.setdefault(d, 1 + sum(len(other.pieces) for other in known))
        return [str(first + k) for k in range(len(d.pieces))]

    for e in expectations:
        made[e.name] = _expectation(e, names(e.density), target)
    for k, inverse in enumerate(inverses, start=1):
        made[f"quantile {k}"] = _quantile(f"_quantile_{k}", inverse, names(inverse), target)
    for d in known:
        for k, name in enumerate(names(d)):
            made[f"window {name}"] = _window(d, name, target)
            made[f"weight {name}"] = _weight(d, k, name, target)
    return list(made.values())


def _quantile(name: str, d: Density, names: list[str], target: str) -> str:
    """The inverse of the distribution function."""
    return fill(
        "special/quantile.py.jinja",
        name=name,
        arguments=_arguments(d.parameters),
        density=d.said,
        shape="constant" if d.integers else "linear",
        body="\n".join(_quantile_body(d, names, target)),
        **_given(target, "u"),
    )


def _quantile_body(d: Density, names: list[str], target: str) -> list[str]:
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
            step = f"(high_{x} - low_{x}) / real({POINTS})"
            if d.integers:
                step = f"np.maximum(real(1), np.ceil({step}))"
            rows += [
                f"    step = {step}",
                f"    before = np.exp(_log_weight_{x}(low_{x}, {p}) - peak)",
                f"    for k in range({POINTS}):",
                f"        t = low_{x} + step * real(k)",
                f"        after = np.exp(_log_weight_{x}(t + step, {p}) - peak)",
            ]
            cell = "step * before" if d.integers else "real(0.5) * step * (before + after)"
            rows.append(f"        area = {cell}")
            if again:
                rows.append("        inside = (total <= wanted) & (wanted < total + area)")
                rows.append("        share = (wanted - total) / step")
                if d.integers:
                    rows.append("        t = t + np.floor(share * step / before)")
                else:
                    rows += [
                        "        slope = after - before",
                        "        root = np.sqrt(before * before + real(2) * slope * share)",
                        "        t = t + step * (real(2) * share / (before + root))",
                    ]
                rows += _value("x", d.pieces[k].variable, target, 8)
                rows.append(f"        found = {where}(inside, x, found)")
            rows += ["        total += area", "        before = after"]
    return [*rows, "    return found"]


def _given(target: str, first: str) -> dict[str, str]:
    jitted = target == "numba"
    return {
        "decorator": JITTED if jitted else QUIET,
        "real": f"type({first})" if jitted else f"{first}.dtype.type",
    }


def _where(target: str) -> str:
    return "_where" if target == "numba" else "np.where"


def _printer(target: str) -> PythonPrinter:
    return RealElement() if target == "numba" else _RealArray()


def _arguments(names: tuple[str, ...]) -> str:
    return ", ".join(f"{x}: Array" for x in names)


def _weight(d: Density, piece: int, name: str, target: str) -> str:
    return fill(
        "special/log_weight.py.jinja",
        name=name,
        arguments=_arguments(("t", *d.parameters)),
        said=d.said,
        value="\n".join(_value("value", d.pieces[piece].log_weight, target, 4)),
        where=_where(target),
        **_given(target, "t"),
    )


def _window(d: Density, name: str, target: str) -> str:
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
    return [*rows, "    return product / mass"]


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
