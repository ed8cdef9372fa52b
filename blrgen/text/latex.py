r"""Expressions in LaTeX: \frac, \sqrt, m^{+} for the next value, S^{-1}, m^{\top}."""

from __future__ import annotations

import re

from blrgen.text.alphabet import GREEK
from blrgen.text.escape import latex_text
from blrgen.text.layout import (
    Call,
    Cases,
    Compare,
    Constant,
    Group,
    Indexed,
    Inner,
    Name,
    Node,
    Number,
    Power,
    Product,
    Real,
    Root,
    Sum,
    Total,
    Transpose,
    Words,
)
from blrgen.text.names import has_superscript, latex_name
from blrgen.text.plain import ATOM, POWER, PRODUCT, SUM
from blrgen.text.terminal import BESSEL, Terminal, vulgar

_CONSTANT = {
    "pi": r"\pi", "E": "e", "oo": r"\infty", "I": "i", "EulerGamma": r"\gamma_{E}",
    "zoo": r"\infty", "True": r"\text{true}", "False": r"\text{false}", "nan": r"\text{undefined}",
}  # fmt: skip
_RELATION = {"=": "=", "!=": r"\neq", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge"}
_CALL = {
    "gamma": r"\Gamma", "loggamma": r"\log\Gamma", "Max": r"\max", "Min": r"\min",
    "zeta": r"\zeta", "beta": r"\mathrm{B}", "trace": r"\operatorname{tr}",
}  # fmt: skip
_KNOWN = frozenset(("log", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh"))


def bracketed(text: str) -> str:
    """Round brackets, growing where the inside is tall."""
    if re.search(r"\\(frac|sqrt|sum|int|begin)", text):
        return rf"\left({text}\right)"
    return f"({text})"


class Latex(Terminal):
    """The LaTeX printer."""

    def text(self, node: Node, tight: int = SUM) -> str:
        """The node's LaTeX, in brackets when it binds more loosely than `tight`."""
        text, binding = self._visit(node)
        return text if binding >= tight else bracketed(text)

    def _number(self, n: Number) -> tuple[str, int]:
        if n.decimal:
            return n.decimal, ATOM
        return (str(n.p), ATOM) if n.q == 1 else (rf"\tfrac{{{n.p}}}{{{n.q}}}", ATOM)

    def _real(self, n: Real) -> tuple[str, int]:
        digits, _, power = n.text.partition("e")
        if not power:
            return digits, ATOM
        ten = f"10^{{{int(power)}}}"
        return (ten if digits in ("1", "1.0") else rf"{digits} \cdot {ten}"), PRODUCT

    def _name(self, n: Name) -> tuple[str, int]:
        return latex_name(n.name, self.notation), ATOM

    def _indexed(self, n: Indexed) -> tuple[str, int]:
        if n.name in self.notation and self.notation[n.name][1] != latex_name(n.name):
            text = self._name(n)[0]
            if not text.endswith("'"):
                return text, ATOM
            base = text[:-1]  # the index goes before the prime
            low = rf"{base[:-1]},{n.index}}}" if "_{" in base else f"{base}_{{{n.index}}}"
            return low + "'", ATOM
        return latex_name(n.spelled), ATOM

    def _total(self, n: Total) -> tuple[str, int]:
        head = rf"\sum_{{{n.index}=1}}^{{{self.text(n.upto)}}}"
        return f"{head} {self.text(n.of, PRODUCT)}", PRODUCT

    def _constant(self, n: Constant) -> tuple[str, int]:
        return _CONSTANT.get(n.name, rf"\text{{{latex_text(n.name)}}}"), ATOM

    def _sum(self, n: Sum) -> tuple[str, int]:
        out = ""
        for k, (sign, term) in enumerate(n.terms):
            mark = (" + " if sign > 0 else " - ") if k else ("" if sign > 0 else "-")
            out += mark + self.text(term, PRODUCT)
        return out, SUM

    def _product(self, n: Product) -> tuple[str, int]:
        prefix, top, bottom = vulgar(n)
        text = self._joined(top)
        if bottom:
            above = self.text(top[0]) if len(top) == 1 else text or "1"
            below = self.text(bottom[0]) if len(bottom) == 1 else self._joined(bottom)
            text = rf"\frac{{{above}}}{{{below}}}"
        if prefix:
            text = rf"\tfrac{{{prefix[0]}}}{{{prefix[1]}}} {text}".rstrip()
        word = self._joined(n.word)
        return " ".join(part for part in (text, word) if part), PRODUCT

    def _joined(self, factors: tuple[Node, ...], alone: int = POWER) -> str:
        out = ""
        for k, f in enumerate(factors):
            gap = self._gap(factors[k - 1], f) if k else ""
            numbers = k and isinstance(f, Number) and isinstance(factors[k - 1], Number)
            between = r" \cdot " if numbers else r" \, " if gap.strip() or gap else " "
            out += (between if k else "") + self.text(f, alone)
        return out

    def _needs_bracket(self, base: Node) -> bool:
        if isinstance(base, Name):
            text = latex_name(base.name, self.notation)
            simple = re.fullmatch(r"\\?[A-Za-z]+(\{\w\})?(_\{[^{}]*(\{[^{}]*\})?\})?'?", text)
            return has_superscript(base.name, self.notation) or not simple
        return isinstance(base, (Inner, Root))

    def _raised(self, base: Node, exponent: str) -> str:
        text = self.text(base, ATOM)
        if isinstance(base, Number) and base.q != 1:
            text = bracketed(text)
        return (bracketed(text) if self._needs_bracket(base) else text) + exponent

    def _in_line(self, n: Power) -> bool:
        return False  # exponents are raised

    def _power(self, n: Power) -> tuple[str, int]:
        return self._raised(n.base, f"^{{{self.text(n.exponent)}}}"), POWER

    def _root(self, n: Root) -> tuple[str, int]:
        return rf"\sqrt{{{self.text(n.of)}}}", ATOM

    def _transpose(self, n: Transpose) -> tuple[str, int]:
        return self._raised(n.of, r"^{\top}"), POWER

    def _compare(self, n: Compare) -> tuple[str, int]:
        return f"{self.text(n.left)} {_RELATION[n.relation]} {self.text(n.right)}", SUM - 1

    def _group(self, n: Group) -> tuple[str, int]:
        return bracketed(r",\; ".join(self.text(a) for a in n.items)), ATOM

    def _words(self, n: Node) -> tuple[str, int]:
        return rf"\text{{{latex_text(n.text)}}}" if isinstance(n, Words) else "", ATOM

    def _cases(self, n: Cases) -> tuple[str, int]:
        arms = [
            self.text(v)
            + (r" & \text{otherwise}" if c is None else rf" & \text{{if }} {self.text(c, SUM - 1)}")
            for v, c in n.arms
        ]
        return r"\begin{cases} " + r" \\ ".join(arms) + r" \end{cases}", ATOM

    def _call(self, n: Call) -> tuple[str, int]:
        args = [self.text(a, SUM - 1) for a in n.args]
        if n.name == "Abs":
            return rf"\left|{args[0]}\right|", ATOM
        if n.name == "logdet":
            return rf"\log\left|{args[0]}\right|", ATOM
        if n.name == "factorial":
            return self._raised(n.args[0], "!"), ATOM
        if n.name == "polygamma" and isinstance(n.args[0], Number):
            order = n.args[0].p
            mark = ("", "'", "''")[order] if order < 3 else f"^{{({order})}}"
            return rf"\psi{mark}{bracketed(args[1])}", ATOM
        if n.name == "E_binomial":
            law = rf"j \sim \mathrm{{Bin}}\left({args[1]}, {args[2]}\right)"
            return rf"\mathbb{{E}}\left[{args[0]} \mid {law}\right]", ATOM
        if n.name in ("E_q", "E_at"):
            mean = rf"\mathbb{{E}}{'_q' if n.name == 'E_q' else ''}\left[{args[0]}\right]"
            return mean + (bracketed(", ".join(args[1:])) if n.name == "E_at" else ""), ATOM
        if n.name in ("multigammaln", "multipolygamma"):
            return self._over_size(n)
        if n.name in BESSEL:
            return rf"{BESSEL[n.name]}_{{{args[0]}}}{bracketed(args[1])}", ATOM
        if n.name == "binomial":
            return rf"\binom{{{args[0]}}}{{{args[1]}}}", ATOM
        if n.name in ("And", "Or"):
            return (r" \text{ and } " if n.name == "And" else r" \text{ or } ").join(args), SUM - 1
        if n.name in ("Derivative", "Integral", "Sum"):
            return self._calculus(n)
        if n.name in _CALL or n.name in _KNOWN:
            head = _CALL.get(n.name, "\\" + n.name)
        else:
            short = len(n.name) == 1 or n.name in GREEK
            head = latex_name(n.name) if short else rf"\operatorname{{{latex_text(n.name)}}}"
        return head + bracketed(", ".join(args)), ATOM

    def _over_size(self, n: Call) -> tuple[str, int]:
        *order, a, size = n.args
        head = r"\log\Gamma"
        if order:
            k = order[0].p if isinstance(order[0], Number) else 0
            head = r"\psi" + ("'" * k if k < 3 else f"^{{({k})}}")
        return f"{head}_{{{self.text(size)}}}{bracketed(self.text(a))}", ATOM

    def _calculus(self, n: Call) -> tuple[str, int]:
        body = n.args[0]
        groups = [g.items for g in n.args[1:] if isinstance(g, Group)]
        names = [self.text(g[0]) for g in groups]
        if n.name == "Derivative":
            orders = [g[1].p if len(g) > 1 and isinstance(g[1], Number) else 1 for g in groups]
            total = sum(orders)
            below = " ".join(
                rf"\partial {x}" + (f"^{{{o}}}" if o > 1 else "")
                for x, o in zip(names, orders, strict=True)
            )
            power = f"^{{{total}}}" if total > 1 else ""
            return rf"\frac{{\partial{power}}}{{{below}}} {self.text(body, POWER)}", PRODUCT
        sign = r"\int" if n.name == "Integral" else r"\sum"
        heads = []
        for x, g in zip(names, groups, strict=True):
            low = f"{x} = " if n.name == "Sum" else ""
            bounds = rf"_{{{low}{self.text(g[1])}}}^{{{self.text(g[2])}}}" if len(g) > 2 else ""
            heads.append(sign + (bounds or (f"_{{{x}}}" if n.name == "Sum" else "")))
        tail = "".join(rf" \, d{x}" for x in names) if n.name == "Integral" else ""
        return f"{' '.join(heads)} {self.text(body, PRODUCT)}{tail}", PRODUCT
