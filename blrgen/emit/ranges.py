"""Domains as text → the intervals between numbers that emitted code checks."""

from __future__ import annotations

import re
from fractions import Fraction

_BOUND = r"[+-]?(?:oo|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\d+/\d+)"
_INTERVAL = re.compile(rf"\s*([(\[])\s*({_BOUND})\s*,\s*({_BOUND})\s*([)\]])\s*")


def interval(domain: str) -> str | None:
    """The interval with ends that `float` reads: [0, inf); None where it is none."""
    match = _INTERVAL.fullmatch(domain or "(-oo, oo)") or _INTERVAL.fullmatch(_in_numbers(domain))
    if match is None:
        return None
    opening, low, high, closing = match.groups()
    return f"{opening}{_bound(low)}, {_bound(high)}{closing}"


def _bound(text: str) -> str:
    if "/" in text:
        return repr(float(Fraction(text)))
    return text.lstrip("+").replace("oo", "inf")


def _in_numbers(domain: str) -> str:
    """An interval between expressions such as −π or √2, its ends as numbers."""
    from blrgen.errors import UserError
    from blrgen.read.domain import read_domain

    try:
        known = read_domain(domain, {})
    except UserError:  # ends in names that are not known here
        return ""
    if known.kind != "interval" or not (known.lower.is_number and known.upper.is_number):
        return ""
    low, high = (
        ("-oo" if e.is_negative else "oo") if e.is_infinite else repr(float(e))
        for e in (known.lower, known.upper)
    )
    opening, closing = "(" if known.lower_open else "[", ")" if known.upper_open else "]"
    return f"{opening}{low}, {high}{closing}"
