r"""Expressions in four notations: one order, chosen in `layout`, four spellings.

`ascii` is read back by SymPy to the same value (see `plain` for the locals it
needs); `unicode`, `latex` and `mathml` are for people.  `notation` maps the name
of a symbol to how it is written: ``{"g": ("∇ℓ(m)", r"\nabla\ell(m)")}``.
"""

from __future__ import annotations

import re
from typing import Any

from blrgen.text.latex import Latex
from blrgen.text.layout import Reading, arrange, in_cases
from blrgen.text.mathml import MathML
from blrgen.text.names import Notation
from blrgen.text.plain import Plain
from blrgen.text.terminal import Terminal

Expr = Any


def ascii(
    expr: Expr, *, reading: Reading | None = None, matrix: bool = False, first: str = ""
) -> str:
    """Readable by ``sympy.sympify(text, locals=...)`` to exactly the same value.

    `matrix` says that the expression stands for a square matrix, so that a bare
    scalar c is written ``c*Identity(d)``.
    """
    return Plain().text(arrange(in_cases(expr), reading, matrix, first))


def unicode(
    expr: Expr,
    notation: Notation | None = None,
    *,
    reading: Reading | None = None,
    matrix: bool = False,
) -> str:
    """One line of mathematics for a terminal."""
    return Terminal(notation, reading).text(arrange(expr, reading, matrix), -1)


def latex(
    expr: Expr,
    notation: Notation | None = None,
    *,
    reading: Reading | None = None,
    matrix: bool = False,
) -> str:
    """LaTeX for math mode."""
    return Latex(notation, reading).text(arrange(expr, reading, matrix), -1)


def mathml(
    expr: Expr,
    notation: Notation | None = None,
    *,
    reading: Reading | None = None,
    matrix: bool = False,
) -> str:
    """Presentation MathML, without the enclosing <math> element."""
    return MathML(notation, reading).text(arrange(expr, reading, matrix), -1)


def number_text(value: Expr) -> str:
    """A default as people write it: 0.001, 1e-8, 1, oo; another expression as it is."""
    if value is None:
        return ""
    if not getattr(value, "is_Rational", False):
        return ascii(value)
    if value.q == 1:
        return str(value.p)
    decimal = repr(float(value))
    short = re.sub(r"e-0*(\d+)$", r"e-\1", re.sub(r"\.0(?=e|$)", "", decimal))
    return short if len(short) <= 8 else ascii(value)
