"""The laws that noise can have: a standard one, shifted and scaled by rational numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

LAWS = {"N": "normal", "normal": "normal", "Logistic": "logistic", "U": "uniform"}
_NUMBER = r"[+-]?\d+(?:/\d+|\.\d+)?"
_CHANCE = re.compile(r"Bernoulli\((\w+)\)")
_TEXT = re.compile(rf"(\w+)\(\s*({_NUMBER})\s*,\s*({_NUMBER}|I)\s*\)")


@dataclass(frozen=True)
class Law:
    """location + scale · (standard normal, logistic, or uniform on (0, 1)); or 1 with a chance."""

    name: str
    location: Fraction = Fraction(0)
    scale: Fraction = Fraction(1)
    chance: str = ""  # of a Bernoulli variable: the hyperparameter that is its probability of 1


def distribution(text: str) -> Law | None:
    """N(0, 1), N(0, I), Logistic(0, 1/2), U(0, 1), Bernoulli(pi) …; None for anything else.

    The second number is a variance for N, a scale for Logistic and the upper end for U.
    """
    if chance := _CHANCE.fullmatch(text.strip()):
        return Law("bernoulli", chance=chance[1])
    match = _TEXT.fullmatch(text.strip())
    if match is None or match[1] not in LAWS:
        return None
    name, first = LAWS[match[1]], Fraction(match[2])
    second = Fraction(1) if match[3] == "I" else Fraction(match[3])
    if name == "normal":
        return Law(name) if first == 0 and second == 1 else None
    if name == "uniform":
        return Law(name, first, second - first)
    return Law(name, first, second)
