"""Numbers that runtime functions hold as constants: what computes each, and their rewriting.

`CONSTANTS` says which helper computes a constant; those of random numbers come from
`blrgen.emit.polynomials`.  `python -m blrgen.emit.special.numbers [--check]` computes all of
them, to fifty digits, and rewrites (or compares) the lines of `blrgen/runtime/`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path

from blrgen.emit import polynomials
from blrgen.emit.special.helpers import BUILDERS
from blrgen.emit.text import WIDTH
from blrgen.paths import package_dir

Value = float | tuple[float, ...] | tuple[tuple[float, ...], ...]
FIFTH = Fraction(1, 5)

# constant → (helper, key among its values)
CONSTANTS: Mapping[str, tuple[str, str]] = {
    "DIGAMMA_HIGH": ("_digamma", "high"),
    "DIGAMMA_MIDDLE": ("_digamma", "middle"),
    "DIGAMMA_LOW": ("_digamma", "low"),
    "DIGAMMA_SERIES": ("_digamma", "series"),
    "TRIGAMMA_SERIES": ("_trigamma", "series"),
    "TRIGAMMA_REST_SERIES": ("_trigamma_rest", "series"),
    "LOG_MINUS_DIGAMMA_SERIES": ("_log_minus_digamma", "series"),
    "EULER": ("_inverse_digamma", "euler"),
    "INVERSE_DIGAMMA_SERIES": ("_inverse_digamma", "series"),
    "STIRLING": ("_loggamma", "stirling"),
    "LOGGAMMA_FIRST": ("_loggamma", "first"),
    "LOGGAMMA_SECOND": ("_loggamma", "second"),
    "LOGGAMMA_CONSTANT": ("_loggamma", "constant"),
    "HALF_LOG_TWO_PI": ("_log_beta", "half_log_two_pi"),
    "BESSEL_QUOTIENT_RATIO": ("_bessel_quotient", "ratio"),
    "BESSEL_SLOPE_RATIO": ("_bessel_slope", "ratio"),
    "BESSEL_SLOPE_SLOPE": ("_bessel_slope", "slope"),
    "LOG_BESSELI_TABLE": ("_log_besseli", "table"),
    "TWO_PI": ("_log_besseli", "two_pi"),
    "MULTIGAMMALN_CONSTANT": ("_multigammaln", "constant"),
    "BESSELK_WEIGHT_SERIES": ("_besselk_weight", "series"),
    "TURN": ("_log1mexp", "turn"),
    "LOG_TWO": ("_log1mexp", "log_two"),
    "SINH_FIRST_SINH_SINGLE": ("_sinh", "first_sinh_single"),
    "SINH_SINH_SINGLE": ("_sinh", "sinh_single"),
    "SINH_FIRST_SINH_DOUBLE": ("_sinh", "first_sinh_double"),
    "SINH_SINH_DOUBLE": ("_sinh", "sinh_double"),
    "SINH_FIRST_COSH_SINGLE": ("_sinh", "first_cosh_single"),
    "SINH_COSH_SINGLE": ("_sinh", "cosh_single"),
    "SINH_FIRST_COSH_DOUBLE": ("_sinh", "first_cosh_double"),
    "SINH_COSH_DOUBLE": ("_sinh", "cosh_double"),
    "LOG_TWO_HIGH": ("_octaves", "log_two_high"),
    "LOG_TWO_LOW": ("_octaves", "log_two_low"),
    "INVERSE_LOG_TWO": ("_octaves", "inverse_log_two"),
    "RISE_FIRST_SINGLE": ("_rise", "first_single"),
    "RISE_SINGLE": ("_rise", "single"),
    "RISE_FIRST_DOUBLE": ("_rise", "first_double"),
    "RISE_DOUBLE": ("_rise", "double"),
    "ROOT_HALF": ("_binades", "root_half"),
    "LOG_SUM_FIRST_SINGLE": ("_log_sum", "first_single"),
    "LOG_SUM_SINGLE": ("_log_sum", "single"),
    "LOG_SUM_FIRST_DOUBLE": ("_log_sum", "first_double"),
    "LOG_SUM_DOUBLE": ("_log_sum", "double"),
    "TWO_OVER_ROOT_PI": ("_erf", "two_over_root_pi"),
    "ERFCX_NODES": ("_erfcx", "nodes"),
    "ERFCX_EDGE": ("_erfcx", "edge"),
    "ERFCX_PERIOD": ("_erfcx", "period"),
    "INVERSE_ROOT_PI": ("_erfcx", "inverse_root_pi"),
}


def _polynomial(make: Callable[[str], Iterable[float]], real: str) -> tuple[float, ...]:
    """Coefficients from the highest power down, as the type has them."""
    return tuple(float(polynomials.literal(c, real)) for c in reversed(list(make(real))))


def _minus_two_artanh(real: str) -> list[float]:
    """−2 log((1 + s)/(1 − s))/s in s²: what log u is made of."""
    return [-4 * c for c in polynomials.atanh_over_x(real, FIFTH)]


def _log_odds(real: str) -> list[float]:
    """log((1 + s)/(1 − s))/s in s²."""
    return [2 * c for c in polynomials.atanh_over_x(real, FIFTH)]


# constant of random numbers, without its dtype → its coefficients
POLYNOMIALS: Mapping[str, Callable[[str], Iterable[float]]] = {
    "ARTANH": _minus_two_artanh,
    "LOG_ODDS": _log_odds,
    "SINE": polynomials.sine_over_x,
    "COSINE": polynomials.cosine,
}
_REALS = {"SINGLE": ("float32", 23), "DOUBLE": ("float64", 52)}


def computed() -> Iterator[tuple[str, Value]]:
    """Every constant with its value."""
    for name, (helper, key) in CONSTANTS.items():
        yield name, value_of(BUILDERS[helper]().values[key])
    for name, make in POLYNOMIALS.items():
        for size, (real, _) in _REALS.items():
            yield f"{name}_{size}", _polynomial(make, real)
    for size, (real, mantissa) in _REALS.items():
        log_two = polynomials.log_2()
        yield f"LOG_TWO_OF_BITS_{size}", float(polynomials.literal(log_two / 2**mantissa, real))


def value_of(text: str) -> Value:
    """Numbers that were laid out as the entries of a tuple, or one number."""
    text = text.strip()
    found: Value = ast.literal_eval(f"({text})" if text.endswith(",") else text)
    return found


def statement(name: str, value: Value) -> str:
    """NAME = value, as many numbers a line as fit."""
    line = f"{name} = {value!r}"
    if isinstance(value, float) or len(line) <= WIDTH:
        return line
    rows, row = [], "   "
    for x in value:
        if len(row) + len(f" {x!r},") > WIDTH:
            rows.append(row)
            row = "   "
        row += f" {x!r},"
    return "\n".join([f"{name} = (", *rows, row, ")  # fmt: skip"])


def rewritten(source: str, values: Mapping[str, Value]) -> str:
    """A module with the constants that it has set to these values."""
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in values:
                new = statement(name, values[name]).split("\n")
                lines[node.lineno - 1 : node.end_lineno] = new
    return "\n".join(lines)


def held(source: str) -> dict[str, Value]:
    """The constants of a module that are numbers or tuples of them."""
    found: dict[str, Value] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                continue
            if isinstance(value, float | tuple):
                found[node.targets[0].id] = value
    return found


def modules() -> list[Path]:
    """The files of the runtime."""
    return sorted((package_dir() / "runtime").glob("*.py"))


def main(arguments: list[str]) -> int:
    """Rewrite, or with --check compare; exit code 1 when something differs."""
    values, differ = dict(computed()), []
    for path in modules():
        old = path.read_text(encoding="utf-8")
        new = rewritten(old, values)
        if new != old:
            differ.append(path.name)
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    print("\n".join(differ) or "the numbers are what computes them")
    return 1 if "--check" in arguments and differ else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
