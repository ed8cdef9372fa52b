"""Domains as text → the condition that emitted code checks."""

from __future__ import annotations

import re

from blrgen.emit.uses import use

_BOUND = r"[+-]?(?:oo|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\d+/\d+)"
_INTERVAL = re.compile(rf"\s*([(\[])\s*({_BOUND})\s*,\s*({_BOUND})\s*([)\]])\s*")


def condition(value: str, domain: str) -> str | None:
    """A Python condition that holds inside the interval and fails for NaN; None if no interval."""
    match = _INTERVAL.fullmatch(domain or "(-oo, oo)") or _INTERVAL.fullmatch(_in_numbers(domain))
    if match is None:
        return None
    opening, low, high, closing = match.groups()
    left = f"{_bound(low)} {'<' if opening == '(' else '<='} "
    right = f" {'<' if closing == ')' else '<='} {_bound(high)}"
    return f"{left}{value}{right}"


def _bound(text: str) -> str:
    if text.endswith("oo"):
        name = f"{use('math')}.inf"
        return f"-{name}" if text.startswith("-") else name
    return text.lstrip("+")


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
