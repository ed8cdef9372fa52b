"""Expressions as one line of unicode mathematics: (1 − ρ)s + ρh, √s⁺, (S⁺)⁻¹g."""

from __future__ import annotations

import re
import unicodedata

from blrgen.text.alphabet import SUBSCRIPT, SUPERSCRIPT
from blrgen.text.escape import printable
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
    Reading,
    Real,
    Root,
    Sum,
    Total,
    Transpose,
    Unit,
)
from blrgen.text.names import Notation, has_superscript, unicode_name
from blrgen.text.plain import ATOM, POWER, PRODUCT, SUM, Plain

_VULGAR = {(1, 2): "½", (1, 3): "⅓", (1, 4): "¼", (3, 4): "¾", (2, 3): "⅔", (1, 8): "⅛"}
_CONSTANT = {"pi": "π", "E": "e", "oo": "∞", "I": "i", "EulerGamma": "γ_E", "zoo": "∞"}
_RELATION = {"=": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥"}
_CALL = {
    "gamma": "Γ", "loggamma": "log Γ", "Max": "max", "Min": "min", "zeta": "ζ", "beta": "B",
    "trace": "tr",
}  # fmt: skip
BESSEL = {"besseli": "I", "besselk": "K", "besselj": "J", "bessely": "Y"}
_LOW = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"


class Terminal(Plain):
    """The unicode printer; `notation` overrides how a name is written."""

    def __init__(self, notation: Notation | None = None, reading: Reading | None = None) -> None:
        self.notation = notation or {}
        self.reading = reading or Reading()

    def _number(self, n: Number) -> tuple[str, int]:
        if (n.p, n.q) in _VULGAR:
            return _VULGAR[n.p, n.q], ATOM
        return (n.decimal, ATOM) if n.decimal else super()._number(n)

    def _real(self, n: Real) -> tuple[str, int]:
        return n.text.replace("-", "−"), ATOM

    def _name(self, n: Name) -> tuple[str, int]:
        return unicode_name(n.name, self.notation), ATOM

    def _indexed(self, n: Indexed) -> tuple[str, int]:
        if n.name in self.notation and self.notation[n.name][0] != unicode_name(n.name):
            text = self._name(n)[0]
            return (text[:-1] + SUBSCRIPT[n.index] + "′" if text.endswith("′") else text), ATOM
        return unicode_name(n.spelled), ATOM

    def _total(self, n: Total) -> tuple[str, int]:
        return f"Σ{SUBSCRIPT[n.index]} {self.text(n.of, PRODUCT)}", PRODUCT

    def _constant(self, n: Constant) -> tuple[str, int]:
        return _CONSTANT.get(n.name, n.name), ATOM

    def _unit(self, n: Unit) -> tuple[str, int]:
        return "I", ATOM

    def _sum(self, n: Sum) -> tuple[str, int]:
        out = ""
        for k, (sign, term) in enumerate(n.terms):
            mark = (" + " if sign > 0 else " − ") if k else ("" if sign > 0 else "−")
            out += mark + self.text(term, PRODUCT)
        return out, SUM

    def _product(self, n: Product) -> tuple[str, int]:
        prefix, top, bottom = vulgar(n)
        text = self._joined(top)
        if bottom:
            below = self._joined(bottom, alone=PRODUCT + 1)
            text = f"{text or '1'}/" + (below if len(bottom) == 1 else f"({below})")
            if n.word:
                text = f"({text})"
        if prefix:
            follows = self._kind((*top, *n.word)[0])
            text = _VULGAR[prefix] + (" " if follows in ("call", "words") else "") + text
        if not n.word:
            return text, PRODUCT
        word = self._joined(n.word)
        gap = self._gap(top[-1], n.word[0]) if top and not bottom else ""
        return text + gap + word, PRODUCT

    def _joined(self, factors: tuple[Node, ...], alone: int = POWER) -> str:
        out = ""
        for k, f in enumerate(factors):
            out += (self._gap(factors[k - 1], f) if k else "") + self.text(f, alone)
        return out

    def _gap(self, left: Node, right: Node) -> str:
        """What stands between two factors: nothing, a space, or a dot where it could mislead."""
        a, b = self._kind(left), self._kind(right)
        if isinstance(left, Power) and self._in_line(left):
            return "·"
        if a == "number":
            return "·" if b == "number" else " " if b in ("words", "call") else ""
        if b == "number" or a in ("root", "call"):
            return "·"
        if b == "bracket":
            called = isinstance(left, Name) and not self._is_weight(left)
            return "·" if a == "words" or (a == "letter" and called) else ""
        return " " if "words" in (a, b) or b == "call" else ""

    def _in_line(self, n: Power) -> bool:
        """Whether the exponent is written as ^(…): what follows must not look like part of it."""
        inside = self.text(n.exponent).replace("−", "-").replace(" ", "")
        return not all(c in SUPERSCRIPT or c in _GREEK_UP for c in inside)

    def _is_weight(self, node: Node) -> bool:
        return isinstance(node, Name) and self.reading.is_hyper(node.name)

    def _kind(self, node: Node) -> str:
        """number, letter, words (longer text), bracket, root or call."""
        if isinstance(node, Number):
            return "number"
        if isinstance(node, Name):
            return "letter" if is_letter(unicode_name(node.name, self.notation)) else "words"
        if isinstance(node, (Constant, Unit)):
            return "letter"
        if isinstance(node, Real):
            return "call"
        if isinstance(node, (Power, Transpose)):
            inner = node.base if isinstance(node, Power) else node.of
            if isinstance(inner, Name) and self._needs_bracket(inner):
                return "bracket"
            kind = self._kind(inner)
            return "letter" if kind == "root" else kind
        if isinstance(node, Root):
            return "root"
        if isinstance(node, Inner):
            return "words"
        return "call" if isinstance(node, (Call, Cases)) else "bracket"

    def _needs_bracket(self, base: Node) -> bool:
        if isinstance(base, Name):
            text = unicode_name(base.name, self.notation)
            return has_superscript(base.name, self.notation) or not (
                is_letter(text) or re.fullmatch(r"\w+|[E𝔼]_?\w*\[.*\]|\w\u0302?\(\w+\)", text)
            )
        return isinstance(base, Inner)

    def _raised(self, base: Node, exponent: str) -> str:
        text = self.text(base, ATOM)
        return (f"({text})" if self._needs_bracket(base) else text) + exponent

    def _power(self, n: Power) -> tuple[str, int]:
        inside = self.text(n.exponent).replace("−", "-").replace(" ", "")
        if isinstance(n.exponent, Number) and n.exponent.q != 1:
            return self._raised(n.base, f"^({n.exponent.p}/{n.exponent.q})"), POWER
        if all(c in SUPERSCRIPT or c in _GREEK_UP for c in inside):
            raised = "".join(_GREEK_UP.get(c) or SUPERSCRIPT[c] for c in inside)
            return self._raised(n.base, raised), POWER
        return self._raised(n.base, "^" + self.text(n.exponent, ATOM)), POWER

    def _root(self, n: Root) -> tuple[str, int]:
        inside = self.text(n.of, ATOM)
        if isinstance(n.of, (Name, Number, Constant)) and re.search(r"\W", inside.strip(_LOW)):
            plain = isinstance(n.of, Name) and is_letter(inside.rstrip("⁺⁻"))
            inside = inside if plain else f"({inside})"
        return "√" + inside, ATOM

    def _transpose(self, n: Transpose) -> tuple[str, int]:
        return self._raised(n.of, "ᵀ"), POWER

    def _inner(self, n: Inner) -> tuple[str, int]:
        return self._joined(n.word), ATOM

    def _compare(self, n: Compare) -> tuple[str, int]:
        return f"{self.text(n.left)} {_RELATION[n.relation]} {self.text(n.right)}", SUM - 1

    def _group(self, n: Group) -> tuple[str, int]:
        return "(" + ", ".join(self.text(a) for a in n.items) + ")", ATOM

    def _words(self, n: Node) -> tuple[str, int]:
        return printable(n.text), ATOM  # type: ignore[attr-defined]

    def _cases(self, n: Cases) -> tuple[str, int]:
        arms = [
            f"{self.text(v)} {'otherwise' if c is None else 'if ' + self.text(c, SUM - 1)}"
            for v, c in n.arms
        ]
        return "{" + "; ".join(arms) + "}", ATOM

    def _call(self, n: Call) -> tuple[str, int]:
        args = [self.text(a, SUM - 1) for a in n.args]
        if n.name == "Abs":
            return f"|{args[0]}|", ATOM
        if n.name == "logdet":
            return f"log|{args[0]}|", ATOM
        if n.name == "factorial":
            return self._raised(n.args[0], "!"), ATOM
        if n.name == "polygamma" and isinstance(n.args[0], Number):
            order = n.args[0].p
            mark = ("", "′", "″")[order] if order < 3 else f"⁽{SUPERSCRIPT[str(order)[0]]}⁾"
            return f"ψ{mark}({args[1]})", ATOM
        if n.name == "E_q":
            return f"𝔼_q[{args[0]}]", ATOM
        if n.name == "E_binomial":
            return f"𝔼[{args[0]} | j ~ Bin({args[1]}, {args[2]})]", ATOM
        if n.name == "E_at":
            return f"𝔼[{args[0]}]({', '.join(args[1:])})", ATOM
        if n.name in ("multigammaln", "multipolygamma"):
            return self._over_size(n)
        if n.name in BESSEL:
            return f"{BESSEL[n.name]}{self._order(n.args[0])}({args[1]})", ATOM
        if n.name == "binomial":
            return f"C({args[0]}, {args[1]})", ATOM
        if n.name in ("And", "Or"):
            return f" {n.name.lower()} ".join(args), SUM - 1
        if n.name in ("Derivative", "Integral", "Sum"):
            return self._calculus(n)
        return f"{_CALL.get(n.name, unicode_name(n.name))}({', '.join(args)})", ATOM

    def _over_size(self, n: Call) -> tuple[str, int]:
        """log Γ_d(a), ψ_d(a), ψ′_d(a)."""
        *order, a, size = n.args
        head = "log Γ"
        if order:
            k = order[0].p if isinstance(order[0], Number) else 0
            head = "ψ" + (("", "′", "″")[k] if k < 3 else f"⁽{SUPERSCRIPT[str(k)[0]]}⁾")
        return f"{head}_{self.text(size, ATOM)}({self.text(a)})", ATOM

    def _order(self, n: Node) -> str:
        text = self.text(n).replace(" ", "")
        low = text.replace("−", "-")
        short = all(c in SUBSCRIPT for c in low)
        return "".join(SUBSCRIPT[c] for c in low) if short else f"_({text})"

    def _calculus(self, n: Call) -> tuple[str, int]:
        """∂f/∂x, ∫ f dx and ∑ f, with their limits."""
        body = n.args[0]
        groups = [g.items for g in n.args[1:] if isinstance(g, Group)]
        if n.name == "Derivative":
            orders = [g[1] if len(g) > 1 else Number(1) for g in groups]
            total = sum(o.p if isinstance(o, Number) else 1 for o in orders)
            below = "".join(
                f"∂{self.text(g[0])}" + (self._up(o) if o != Number(1) else "")
                for g, o in zip(groups, orders, strict=True)
            )
            power = self._up(Number(total)) if total > 1 else ""
            return f"∂{power}{self.text(body, ATOM)}/{below}", PRODUCT
        names = [self.text(g[0]) for g in groups]
        bounds = [f"[{self.text(g[1])}, {self.text(g[2])}]" if len(g) > 2 else "" for g in groups]
        if n.name == "Integral":
            signs, tail = "".join("∫" + b for b in bounds), " ".join("d" + x for x in names)
            return f"{signs} {self.text(body, PRODUCT)} {tail}", PRODUCT
        signs = " ".join(f"∑_{x}{b}" for x, b in zip(names, bounds, strict=True))
        return f"{signs} {self.text(body, PRODUCT)}", PRODUCT

    def _up(self, n: Node) -> str:
        text = self.text(n)
        if not all(c in SUPERSCRIPT for c in text):
            return f"^{text}"
        return "".join(SUPERSCRIPT[c] for c in text)


_GREEK_UP = {"β": "ᵝ", "γ": "ᵞ", "δ": "ᵟ", "θ": "ᶿ", "φ": "ᵠ", "χ": "ᵡ"}


def vulgar(n: Product) -> tuple[tuple[int, int] | None, tuple[Node, ...], tuple[Node, ...]]:
    """A product's leading ½ taken off where a hand would write it there; then top and bottom."""
    if not n.bottom or not isinstance(n.bottom[0], Number):
        return None, n.top, n.bottom
    numbered = bool(n.top) and isinstance(n.top[0], Number)
    p = n.top[0].p if numbered else 1  # type: ignore[attr-defined]
    rest, below = n.top[1:] if numbered else n.top, n.bottom[1:]
    if (number := Number(p, n.bottom[0].p)).decimal:
        return None, (number, *rest), below
    sums_below = bool(below) and all(isinstance(b, Sum) for b in below)
    if (p, n.bottom[0].p) in _VULGAR and (rest or n.word) and (not below or (rest and sums_below)):
        return (p, n.bottom[0].p), rest, below
    return None, n.top, n.bottom


def is_letter(text: str) -> bool:
    """One letter, with whatever index, accent or mark: β₁, ĥ, m⁺."""
    base = [c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)]
    return len("".join(base).strip(_LOW + "⁺⁻′")) <= 1
