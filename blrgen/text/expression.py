r"""Expressions in four notations: one order, chosen in `layout`, four spellings.

`ascii` is read back by SymPy to the same value (see `plain` for the locals it
needs); `unicode`, `latex` and `mathml` are for people.  `notation` maps the name
of a symbol to how it is written: ``{"g": ("∇ℓ(m)", r"\nabla\ell(m)")}``.
"""

from __future__ import annotations

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
