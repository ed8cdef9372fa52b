"""Colour on a terminal, only when asked for."""

from __future__ import annotations

_STYLE = {"bold": "1", "dim": "2", "mark": "33", "head": "1;36", "good": "32", "bad": "31"}


class Paint:
    """Colours, when asked for."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, style: str) -> str:
        return f"\033[{_STYLE[style]}m{text}\033[0m" if self.colour and text else text
