"""Expressions in presentation MathML, which browsers show without any script."""

from __future__ import annotations

import re

from blrgen.text.escape import html_text
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
    Unit,
    Words,
)
from blrgen.text.names import parts, unicode_name
from blrgen.text.plain import ATOM, POWER, PRODUCT, SUM
from blrgen.text.terminal import _CALL, _CONSTANT, _RELATION, BESSEL, Terminal, vulgar

THIN = '<mspace width="0.17em"/>'


def row(*items: str) -> str:
    """Several elements as one."""
    return "<mrow>" + "".join(items) + "</mrow>"


def operator(sign: str) -> str:
    """An operator, fence or separator."""
    return f"<mo>{html_text(sign)}</mo>"


def identifier(text: str) -> str:
    """A letter or a word."""
    return f"<mi>{html_text(text)}</mi>"


def fenced(inner: str, left: str = "(", right: str = ")") -> str:
    """The element between brackets, which grow where the inside is tall."""
    tall = "" if re.search("<(mfrac|msqrt|mtable)", inner) else ' stretchy="false"'
    opening = f'<mo form="prefix"{tall}>{html_text(left)}</mo>'
    return row(opening, inner, f'<mo form="postfix"{tall}>{html_text(right)}</mo>')


def spelled(text: str) -> str:
    """A notation such as ∇_μ₁ 𝔼_q[ℓ], given as text, with its indices as subscripts."""
    if shaped := re.fullmatch(r"([A-Z])?([^\W\d_₀-₉])([₀-₉]*)(′?)", text):
        letter, over, index, prime = shaped.groups()
        return _scripts(letter or over, index, (over if letter else "") + prime)
    out, at = [], 0
    for found in re.finditer(r"(\S²?)_(\w[₀-₉]*)", text):
        if text[at : found.start()]:
            out.append(identifier(text[at : found.start()].strip()))
        out.append(f"<msub>{identifier(found[1])}{identifier(found[2])}</msub>")
        at = found.end()
    if at == 0:
        return identifier(text)
    return row(*out, identifier(text[at:].strip()) if text[at:].strip() else "")


def _scripts(base: str, index: str, over: str) -> str:
    """A letter with an index below and a mark above."""
    digits = index.translate(str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789"))
    low, high = f"<mn>{digits}</mn>", operator(over) if over == "′" else identifier(over)
    if index and over:
        return f"<msubsup>{identifier(base)}{low}{high}</msubsup>"
    if index:
        return f"<msub>{identifier(base)}{low}</msub>"
    return f"<msup>{identifier(base)}{high}</msup>" if over else identifier(base)


class MathML(Terminal):
    """The MathML printer."""

    def text(self, node: Node, tight: int = SUM) -> str:
        """The node's markup, in brackets when it binds more loosely than `tight`."""
        text, binding = self._visit(node)
        return text if binding >= tight else fenced(text)

    def _number(self, n: Number) -> tuple[str, int]:
        if n.q == 1 or n.decimal:
            return f"<mn>{n.decimal or n.p}</mn>", ATOM
        return f"<mfrac><mn>{n.p}</mn><mn>{n.q}</mn></mfrac>", ATOM

    def _real(self, n: Real) -> tuple[str, int]:
        return f"<mn>{n.text}</mn>", ATOM

    def _name(self, n: Name) -> tuple[str, int]:
        p = parts(n.name)
        if n.name in self.notation or p is None or not (p.index or p.mark):
            return spelled(unicode_name(n.name, self.notation)), ATOM
        accents = "".join("_" + a for a in p.accents)
        base = identifier(unicode_name(p.base + accents))
        index = identifier(p.index) if not p.index.isdigit() else f"<mn>{p.index}</mn>"
        marks = row(*[operator("+" if m == "+" else "−") for m in p.mark])
        if p.index and p.mark:
            return f"<msubsup>{base}{index}{marks}</msubsup>", ATOM
        return (f"<msub>{base}{index}</msub>" if p.index else f"<msup>{base}{marks}</msup>"), ATOM

    def _indexed(self, n: Indexed) -> tuple[str, int]:
        if n.name in self.notation and self.notation[n.name][0] != unicode_name(n.name):
            text = unicode_name(n.name, self.notation)
            if not text.endswith("′"):
                return self._name(n)
            low = row(*[identifier(part) for part in (text[1:-1], n.index) if part])
            return f"<msubsup>{identifier(text[0])}{low}{operator('′')}</msubsup>", ATOM
        return self._name(Name(n.spelled))

    def _total(self, n: Total) -> tuple[str, int]:
        below = row(identifier(n.index), operator("="), "<mn>1</mn>")
        head = f"<munderover>{operator('∑')}{below}{self.text(n.upto)}</munderover>"
        return row(head, self.text(n.of, PRODUCT)), PRODUCT

    def _constant(self, n: Constant) -> tuple[str, int]:
        return identifier(_CONSTANT.get(n.name, n.name)), ATOM

    def _unit(self, n: Unit) -> tuple[str, int]:
        return identifier("I"), ATOM

    def _words(self, n: Node) -> tuple[str, int]:
        return f"<mtext>{html_text(n.text)}</mtext>" if isinstance(n, Words) else "", ATOM

    def _sum(self, n: Sum) -> tuple[str, int]:
        out = []
        for k, (sign, term) in enumerate(n.terms):
            if k or sign < 0:
                out.append(operator("+" if sign > 0 else "−"))
            out.append(self.text(term, PRODUCT))
        return row(*out), SUM

    def _product(self, n: Product) -> tuple[str, int]:
        prefix, top, bottom = vulgar(n)
        text = self._joined(top)
        if bottom:
            above = self.text(top[0]) if len(top) == 1 else text or "<mn>1</mn>"
            below = self.text(bottom[0]) if len(bottom) == 1 else self._joined(bottom)
            text = f"<mfrac>{row(above)}{row(below)}</mfrac>"
        lead = self._number(Number(*prefix))[0] if prefix else ""
        if prefix and self._kind((*top, *n.word)[0]) in ("call", "words"):
            lead += THIN
        return row(lead, text, self._joined(n.word)), PRODUCT

    def _joined(self, factors: tuple[Node, ...], alone: int = POWER) -> str:
        out = ""
        for k, f in enumerate(factors):
            gap = self._gap(factors[k - 1], f) if k else ""
            between = {"·": operator("·"), " ": THIN}.get(gap, "")
            out += between + self.text(f, alone)
        return out

    def _raised(self, base: Node, exponent: str) -> str:
        text = self.text(base, ATOM)
        text = fenced(text) if self._needs_bracket(base) else text
        return f"<msup>{row(text)}{row(exponent)}</msup>"

    def _in_line(self, n: Power) -> bool:
        return False  # exponents are raised

    def _power(self, n: Power) -> tuple[str, int]:
        return self._raised(n.base, self.text(n.exponent)), POWER

    def _root(self, n: Root) -> tuple[str, int]:
        return f"<msqrt>{self.text(n.of)}</msqrt>", ATOM

    def _transpose(self, n: Transpose) -> tuple[str, int]:
        return self._raised(n.of, identifier("⊤")), POWER

    def _inner(self, n: Inner) -> tuple[str, int]:
        return row(self._joined(n.word)), ATOM

    def _compare(self, n: Compare) -> tuple[str, int]:
        return row(self.text(n.left), operator(_RELATION[n.relation]), self.text(n.right)), SUM - 1

    def _listed(self, nodes: tuple[Node, ...]) -> str:
        out = ""
        for k, a in enumerate(nodes):
            out += (operator(",") if k else "") + self.text(a, SUM - 1)
        return row(out)

    def _group(self, n: Group) -> tuple[str, int]:
        return fenced(self._listed(n.items)), ATOM

    def _cases(self, n: Cases) -> tuple[str, int]:
        rows = "".join(
            f"<mtr><mtd>{self.text(v)}</mtd><mtd>"
            + ("<mtext>otherwise</mtext>" if c is None else "<mtext>if </mtext>" + self.text(c, -1))
            + "</mtd></mtr>"
            for v, c in n.arms
        )
        return row(operator("{"), f"<mtable>{rows}</mtable>"), ATOM

    def _call(self, n: Call) -> tuple[str, int]:
        inside = self._listed(n.args)
        if n.name == "Abs":
            return fenced(inside, "|", "|"), ATOM
        if n.name == "logdet":
            return row(identifier("log"), fenced(inside, "|", "|")), ATOM
        if n.name == "factorial":
            return row(self.text(n.args[0], ATOM), operator("!")), ATOM
        if n.name == "polygamma" and isinstance(n.args[0], Number):
            order = n.args[0].p
            mark = operator("′" * order) if order < 3 else row(fenced(f"<mn>{order}</mn>"))
            head = f"<msup>{identifier('ψ')}{mark}</msup>" if order else identifier("ψ")
            return row(head, fenced(self._listed(n.args[1:]))), ATOM
        if n.name == "E_binomial":
            law = row(identifier("Bin"), fenced(self._listed(n.args[1:])))
            given = row(operator("|"), identifier("j"), operator("~"), law)
            return row(identifier("𝔼"), fenced(row(self.text(n.args[0]), given), "[", "]")), ATOM
        if n.name in ("E_q", "E_at"):
            letter = identifier("𝔼")
            head = f"<msub>{letter}{identifier('q')}</msub>" if n.name == "E_q" else letter
            mean = row(head, fenced(self.text(n.args[0]), "[", "]"))
            at = (fenced(self._listed(n.args[1:])),) if n.name == "E_at" else ()
            return row(mean, *at) if at else mean, ATOM
        if n.name in ("multigammaln", "multipolygamma"):
            return self._over_size(n)
        if n.name in BESSEL:
            head = f"<msub>{identifier(BESSEL[n.name])}{row(self.text(n.args[0]))}</msub>"
            return row(head, fenced(self.text(n.args[1]))), ATOM
        if n.name == "binomial":
            above, below = (row(self.text(a)) for a in n.args)
            return fenced(f'<mfrac linethickness="0">{above}{below}</mfrac>'), ATOM
        if n.name in ("And", "Or"):
            word = f"<mtext> {n.name.lower()} </mtext>"
            return row(word.join(self.text(a, SUM - 1) for a in n.args)), SUM - 1
        if n.name in ("Derivative", "Integral", "Sum"):
            return self._calculus(n)
        return row(identifier(_CALL.get(n.name, n.name)), fenced(inside)), ATOM

    def _over_size(self, n: Call) -> tuple[str, int]:
        *order, a, size = n.args
        k = order[0].p if order and isinstance(order[0], Number) else 0
        letter = identifier("ψ") if order else identifier("Γ")
        below = row(self.text(size))
        head = f"<msub>{letter}{below}</msub>"
        if k:
            head = f"<msubsup>{letter}{below}{operator('′' * k)}</msubsup>"
        lead = [] if order else [identifier("log")]
        return row(*lead, head, fenced(self.text(a))), ATOM

    def _calculus(self, n: Call) -> tuple[str, int]:
        body = n.args[0]
        groups = [g.items for g in n.args[1:] if isinstance(g, Group)]
        names = [self.text(g[0]) for g in groups]
        d = operator("∂")
        if n.name == "Derivative":
            orders = [g[1].p if len(g) > 1 and isinstance(g[1], Number) else 1 for g in groups]
            total = sum(orders)
            above = f"<msup>{d}<mn>{total}</mn></msup>" if total > 1 else d
            below = "".join(
                d + (f"<msup>{row(x)}<mn>{o}</mn></msup>" if o > 1 else x)
                for x, o in zip(names, orders, strict=True)
            )
            return row(f"<mfrac>{above}{row(below)}</mfrac>", self.text(body, POWER)), PRODUCT
        sign = operator("∫" if n.name == "Integral" else "∑")
        heads = [
            f"<munderover>{sign}{row(self.text(g[1]))}{row(self.text(g[2]))}</munderover>"
            if len(g) > 2
            else f"<munder>{sign}{row(x)}</munder>"
            for x, g in zip(names, groups, strict=True)
        ]
        return row(*heads, self.text(body, PRODUCT)), PRODUCT
