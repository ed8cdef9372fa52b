"""Notations looked at from outside: what LaTeX would stumble over, what an expression is worth."""

from __future__ import annotations

import operator
import re
from functools import reduce

import sympy as sp

from blrgen.algebra.ranks import DIM, T, logdet, trace

KNOWN = set(
    re.findall(
        r"\w+",
        """
        documentclass usepackage setlength parindent allowdisplaybreaks title author
        date begin end maketitle section paragraph par hfill textit texttt text tag item
        quad qquad frac tfrac sqrt left right cdot log exp sin cos tan sinh cosh tanh
        max min binom operatorname mathbb mathcal mathrm mathrel hat bar tilde dot partial
        nabla ell top infty int sum prod leftarrow to approx neq le ge equiv propto in
        notin subset mapsto Rightarrow Leftrightarrow sim succ succeq circ times div pm
        langle rangle surd setminus forall exists odot ll gg mid emptyset blacksquare
        graphicx newcommand fitted sbox displaystyle ifdim wd linewidth resizebox usebox else fi
        vert alpha beta gamma delta varepsilon epsilon zeta eta theta vartheta iota
        kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega Gamma Delta
        Theta Lambda Xi Pi Sigma Phi Psi Omega textbackslash textasciicircum
        textasciitilde textless textgreater textbar ldots
        """,
    )
)


def latex_faults(text: str) -> list[str]:
    """What a LaTeX engine would stumble over, as far as a small parser can tell."""
    faults: list[str] = []
    stack: list[str] = []
    dollars = 0
    for token in re.findall(r"\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\[A-Za-z]+|\\.|[{}$%]", text):
        if token.startswith((r"\begin", r"\end")):
            name = token[token.index("{") : -1]
            if token.startswith(r"\begin"):
                stack.append(name)
            elif not stack or stack.pop() != name:
                faults.append(f"{token} without its beginning")
        elif token == "{":
            stack.append("{")
        elif token == "}":
            if not stack or stack.pop() != "{":
                faults.append("} without {")
        elif token in (r"\left", r"\right"):
            if token == r"\left":
                stack.append("left")
            elif not stack or stack.pop() != "left":
                faults.append(r"\right without \left")
        elif token == "$":
            dollars += 1
        elif token == "%":
            faults.append("an unescaped comment sign")
        elif token[1:].isalpha() and token[1:] not in KNOWN:
            faults.append(f"unknown command {token}")
    faults += [f"{s} is never closed" for s in stack]
    faults += ["an odd number of dollars"] if dollars % 2 else []
    if re.search(r"\^\{[^{}]*\}\^", text):
        faults.append("double superscript")
    if re.search(r"_\{[^{}]*\}_", text):
        faults.append("double subscript")
    strange = sorted({c for c in text if ord(c) > 0x17F or (c < " " and c != "\n")})
    return faults + [f"character U+{ord(c):04X}" for c in strange]


def value_of(e: sp.Expr, values: dict[str, sp.Expr]) -> sp.Expr:
    """The value of e at named values, d = 2; a number beside matrices is that many identities."""
    if e == DIM:
        return sp.Integer(2)
    if isinstance(e, sp.Symbol):
        return values[e.name]
    if e.is_Number:
        return e
    if isinstance(e, T):
        return value_of(e.args[0], values).T
    if isinstance(e, trace):
        return value_of(e.args[0], values).trace()
    if isinstance(e, logdet):
        return sp.log(value_of(e.args[0], values).det())
    if e.is_Pow:
        return value_of(e.base, values) ** value_of(e.exp, values)
    if isinstance(e, (sp.Function, sp.Max, sp.Min)):
        return e.func(*[value_of(a, values) for a in e.args])
    parts = [value_of(a, values) for a in e.args]
    if e.is_Add:
        if any(isinstance(p, sp.MatrixBase) for p in parts):
            parts = [p if isinstance(p, sp.MatrixBase) else p * sp.eye(2) for p in parts]
        return reduce(operator.add, parts)
    assert e.is_Mul, e
    return reduce(operator.mul, parts)
