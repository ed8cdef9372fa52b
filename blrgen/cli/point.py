"""NAME=VALUE,… as a mapping; a value is a number, or a list of numbers or of such lists."""

from __future__ import annotations

import json
import math

from blrgen.errors import UserError

TYPE_CHECKING = False  # as type checkers read it; `typing` itself costs 5 ms
if TYPE_CHECKING:
    from typing import Any

_DEEPEST = 3


def point(text: str, flag: str = "--at", *, exact: bool = False) -> dict[str, Any]:
    """The values by name, in the order given; `exact` keeps all the digits of a decimal."""
    found: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in _parts(text))):
        name, equals, value = (x.strip() for x in part.partition("="))
        number = _decimal(value) if exact and value[:1] != "[" else _value(value)
        if not equals or not name.isidentifier() or number is None:
            raise UserError(
                f"{part!r:.80} is not NAME=VALUE with a finite number",
                where=flag,
                how=f"for example {flag} eta1=0.3,eta2=-2, or eta=[0.1,0.2] for a vector",
            )
        if name in found:
            raise UserError(f"{name} is given twice", where=flag)
        found[name] = number
    return found


def _parts(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "[") - (c == "]")
        if c == "," and depth <= 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _value(text: str) -> Any:
    """A finite number or nested lists of them; None when it is neither."""
    if not text.startswith("["):
        try:
            number = float(text)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if _is_table(found, _DEEPEST) else None


def _decimal(text: str) -> Any:
    """The fraction that a decimal number is; None when it is none of moderate size."""
    from decimal import Decimal, InvalidOperation
    from fractions import Fraction

    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    small = number.is_finite() and len(text) < 400 and abs(number.adjusted()) < 400
    return Fraction(number) if small else None


def _is_table(value: Any, depth: int) -> bool:
    if isinstance(value, list):
        return depth > 0 and bool(value) and all(_is_table(v, depth - 1) for v in value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)
