r"""Expressions with indices in LaTeX: \tfrac{1}{2} \sum_{n} z_{n,k} x_{n}^{2}.

Letters and bound names are those of `indexed`, which says the same as plain text.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from blrgen.algebra.indexed.functions import PI
from blrgen.algebra.indexed.moving import move_index, moved
from blrgen.algebra.indexed.values import COLUMN, ROW, Atom, Expression, Index, Range, Term
from blrgen.text.indexed import Named, Names, fresh_letter, in_order
from blrgen.text.names import latex_name

_CALL = {"log": r"\log", "exp": r"\exp", "lgamma": r"\log\Gamma"}


class IndexedLatex:
    """The printer: the letters of axes, and what expectations are of."""

    def __init__(self, letters: Mapping[str, str], statistics: Named) -> None:
        self.letters, self.statistics = letters, statistics

    def __call__(self, e: Expression) -> str:
        """The expression with its free letters as they are."""
        return self.sum(e, {i.name: i.name for i in e.letters})

    def sum(self, e: Expression, names: Names) -> str:
        """Terms with their signs, positive ones first."""
        found = "" if e.terms else "0"
        for term, c in in_order(e):
            sign = "-" if c < 0 else "+"
            text = self.term(term, abs(c), names)
            found += f" {sign} {text}" if found else f"{'-' if c < 0 else ''}{text}"
        return found

    def term(self, term: Term, c: Fraction, names: Names) -> str:
        """A fraction, behind the sums that it is under."""
        names = dict(names)
        for r in term.bound:
            names[r.name] = fresh_letter(r, self.letters, names)
        above = [self.factor(a, p, names) for a, p in term.factors if p > 0]
        below = [self.factor(a, -p, names) for a, p in term.factors if p < 0]
        front = "".join(f"{self.over(r, names)} " for r in term.bound)
        if c != 1 and not below:
            number = (
                str(c) if c.denominator == 1 else rf"\tfrac{{{c.numerator}}}{{{c.denominator}}}"
            )
            return " ".join([number, front + r" \, ".join(above)]) if above else front + number
        if c.numerator != 1 or not above:
            above.insert(0, str(c.numerator))
        if c.denominator != 1:
            below.insert(0, str(c.denominator))
        top, bottom = (r" \, ".join(x) for x in (above, below))
        return front + (rf"\frac{{{top}}}{{{bottom}}}" if below else top)

    def over(self, r: Range, names: Names) -> str:
        r"""\sum_{n}, or where it is cut \sum_{t=2}^{T-1}."""
        name = latex_name(names[r.name])
        if not r.low and not r.high:
            return rf"\sum_{{{name}}}"
        end = f"{r.axis}-{r.high}" if r.high else r.axis
        return rf"\sum_{{{name}={r.low + 1}}}^{{{end}}}"

    def factor(self, a: Atom, p: Fraction, names: Names) -> str:
        """An atom to a power."""
        text = self.atom(a, names)
        if p == Fraction(1, 2):
            return rf"\sqrt{{{text}}}"
        if a.kind == "sum" or (p != 1 and a.kind not in ("symbol", "size")):
            text = rf"\left({text}\right)"
        if p == 1:
            return text
        return f"{text}^{{{p}}}" if a.kind == "sum" or "_" not in text else f"{{{text}}}^{{{p}}}"

    def atom(self, a: Atom, names: Names) -> str:
        """A symbol with its places, a function, a comparison."""
        places = ",".join(place_latex(i, names) for i in a.indices)
        if a.kind == "symbol":
            name = "pi" if a.name == PI.name else a.name
            if name in self.statistics:
                return self.mean(name, a, names)
            return f"{{{latex_name(name)}}}_{{{places}}}" if places else latex_name(name)
        if a.kind == "size":
            return latex_name(a.name)
        if a.kind == "delta":
            left, right = (place_latex(i, names) for i in a.indices)
            return f"[{left} = {right}]"
        if a.kind == "guard":
            low, high = a.cut
            i = place_latex(a.indices[0], names)
            left = f"{low} < " if low else ""
            return f"[{left}{i}" + (rf" \le {a.indices[0].axis} - {high}]" if high else "]")
        if a.kind == "sum":
            return self.sum(a.arguments[0], names)
        if a.kind == "matrix":
            inner = self.sum(a.arguments[0], names | {ROW: "", COLUMN: ""})
            inner = inner.replace("_{,}", "").replace(",,}", "}")
            if a.name == "logdet":
                return rf"\log\left|{inner}\right|"
            return rf"\left({inner}\right)^{{-1}}" + (f"_{{{places}}}" if places else "")
        words = _CALL.get(a.name, rf"\operatorname{{{a.name.replace('_', ' ')}}}")
        inside = ", ".join(self.sum(e, names) for e in a.arguments)
        return rf"{words}\left({inside}\right)"

    def mean(self, name: str, a: Atom, names: Names) -> str:
        """E[T], or E[T | z_n = k], at the places of its symbol."""
        mean = self.statistics[name]
        moves = dict(zip(mean.places, a.indices, strict=True))
        text = self.sum(moved(mean.value, moves), names)
        labels = []
        for label, places in mean.given:
            *front, last = [place_latex(move_index(i, moves), names) for i in places]
            where = f"_{{{','.join(front)}}}" if front else ""
            labels.append(f"{latex_name(label)}{where} = {last}")
        bar = rf" \mid {', '.join(labels)}" if labels else ""
        return rf"\mathbb{{E}}\left[{text}{bar}\right]"


def place_latex(i: Index, names: Names) -> str:
    """An index as it is typeset: k_{2}, 1, t-1."""
    if i.literal:
        return i.text
    name = names.get(i.name, i.name)
    plain = name.rstrip("'")
    text = latex_name(plain) + name[len(plain) :] if plain else ""
    return f"{text}{i.shift:+d}" if i.shift else text
