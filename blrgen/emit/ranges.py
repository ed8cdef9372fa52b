"""Domains as text → the condition that emitted code checks."""

from __future__ import annotations

import re

_BOUND = r"[+-]?(?:oo|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\d+/\d+)"
_INTERVAL = re.compile(rf"\s*([(\[])\s*({_BOUND})\s*,\s*({_BOUND})\s*([)\]])\s*")


def condition(value: str, domain: str) -> str | None:
    """A Python condition that holds inside the interval and fails for NaN; None if no interval."""
    match = _INTERVAL.fullmatch(domain or "(-oo, oo)")
    if match is None:
        return None
    opening, low, high, closing = match.groups()
    left = f"{_bound(low)} {'<' if opening == '(' else '<='} "
    right = f" {'<' if closing == ')' else '<='} {_bound(high)}"
    return f"{left}{value}{right}"


def _bound(text: str) -> str:
    if text.endswith("oo"):
        return "-math.inf" if text.startswith("-") else "math.inf"
    return text.lstrip("+")
