"""Expressions with indices as people write them: −½ Σₙₖ 𝔼[zₙₖ] (xₙ − μₖ)ᵀ … without stars.

What a sum does not run over stands before it; sums over the places of vectors and matrices
are products, xₙᵀSₖ⁻¹xₙ; terms over one denominator stand over one line; log 2 and log π with
the same factors are log(2π).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from blrgen.algebra.indexed.build import moved
from blrgen.algebra.indexed.functions import PI
from blrgen.algebra.indexed.moving import move_index
from blrgen.algebra.indexed.values import COLUMN, ROW, Atom, Expression, Index, Range, Term
from blrgen.text.alphabet import SUBSCRIPT, SUPERSCRIPT
from blrgen.text.contract import Piece, contracted
from blrgen.text.indexed import Mean
from blrgen.text.names import unicode_name

Names = Mapping[str, str]  # letters of sums → what is written
Powers = Sequence[tuple[Atom, Fraction]]
_SPARE = "ijlmrsuv"
_VULGAR = {(1, 2): "½", (1, 3): "⅓", (1, 4): "¼", (2, 3): "⅔", (3, 4): "¾"}
_FUNCTIONS = {"lgamma": "log Γ", "digamma": "ψ", "abs": "abs"}


@dataclass(frozen=True)
class Spoken:
    """A model's words: letters of axes, what expectations are of, which names are arrays.

    `ranks` are 1 and 2 for vectors and matrices; labels are none.
    """

    letters: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[str, Mean] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)

    def __call__(self, e: Expression) -> str:
        """The expression in one line."""
        return self.sum(e, {i.name: i.name for i in e.letters})

    # -- sums of terms -----------------------------------------------------------------
    def sum(self, e: Expression, names: Names) -> str:
        """Terms with a plus first, those over one denominator together."""
        if not e.terms:
            return "0"
        groups: dict[str, list[tuple[bool, str]]] = {}
        for term, c in sorted(with_logs(e.terms), key=lambda x: x[1] < 0):
            above, below = self.term(term, abs(c), names)
            groups.setdefault(below, []).append((c < 0, above))
        parts: list[tuple[bool, str]] = []
        for below, found in groups.items():
            if below and len(found) > 1:
                parts.append((False, f"({joined(found)})/{below}"))
            else:
                parts += [(sign, _over(above, below)) for sign, above in found]
        return joined(sorted(parts, key=lambda x: x[0]))

    def term(self, term: Term, c: Fraction, names: Names) -> tuple[str, str]:
        """(what stands above the line, what stands below)."""
        bound = {r.index for r in term.bound}
        within = [f for f in term.factors if bound & set(f[0].letters)]
        before = [f for f in term.factors if f not in within]
        inner = dict(names)
        for r in term.bound:
            inner[r.name] = self.fresh(r, inner)
        pieces, left = contracted([self.piece(a, p, inner) for a, p in within], term.bound)
        over = " ".join(self.words(pieces, above=True))
        under = self.words(pieces, above=False)
        outer = [self.piece(a, p, names) for a, p in before]
        if under:
            over = _over(over or "1", _below(under))
        runs = self.runs([r for r in term.bound if r.index in left], inner)
        whole = [
            *self.words(outer, above=True),
            *([f"{runs} {over}" if runs else over] if over else []),
        ]
        below = self.words(outer, above=False)
        number, c = _number(c, bool(whole))
        if c.denominator != 1:
            below = [str(c.denominator), *below]
        return " ".join([*number, *whole]), _below(below)

    def words(self, pieces: Sequence[Piece], *, above: bool) -> list[str]:
        """The factors above the line, or those below with positive powers."""
        return _spaced([x.text for x in pieces if x.below != above])

    def runs(self, ranges: Sequence[Range], names: Names) -> str:
        """Σₙₖ, or with ends Σ_{t>1}."""
        if not ranges:
            return ""
        texts = [_run(r, names[r.name]) for r in ranges]
        return subscripted("Σ", sorted(texts, key=len))

    def fresh(self, r: Range, names: Names) -> str:
        """The model's own letter, with a prime where it is taken."""
        own = self.letters.get(r.axis)
        used = set(names.values())
        spare = [x for x in _SPARE if x not in self.letters.values()]
        candidates = (
            [own, own + "′", own + "″", own + "‴"] if own else [*spare, *(x + "′" for x in spare)]
        )
        return next(x for x in candidates if x not in used)

    # -- factors -----------------------------------------------------------------------
    def piece(self, a: Atom, p: Fraction, names: Names) -> Piece:
        """A factor to its power, with what it is as a vector or a matrix."""
        text = self.atom(a, names)
        rank, base = self.array(a, names) if p in (1, 2) else (0, "")
        slots = a.indices[len(a.indices) - rank :] if rank else ()
        symmetric = a.symmetric or (a.symbol is not None and a.symbol.symmetric)
        hidden = tuple(i for i in a.letters if i not in slots)
        hidden += tuple(i.base for i in a.indices[: len(a.indices) - rank] if rank)
        ending = {slots[k]: names.get(slots[k].name, slots[k].text) for k in range(len(slots))}
        return Piece(raised(text, abs(p), a.kind == "sum"), p < 0, base, slots, symmetric,
                     int(p) if rank else 1, hidden, ending)  # fmt: skip

    def array(self, a: Atom, names: Names) -> tuple[int, str]:
        """(rank, the text without its places) of a vector or matrix; 0 of all else."""
        if a.kind == "matrix" and a.name == "inv":
            return 2, f"{self.inside(a.arguments[0], names)}⁻¹"
        if a.kind != "symbol":
            return 0, ""
        if a.name in self.statistics:
            return self.mean_array(self.statistics[a.name], a, names)
        rank = self.ranks.get(a.name, 0)
        if any(i.literal or i.shift for i in a.indices[len(a.indices) - rank :]):
            return 0, ""
        front = a.indices[: len(a.indices) - rank]
        return rank, self.symbol(a.name, front, names)

    def mean_array(self, mean: Mean, a: Atom, names: Names) -> tuple[int, str]:
        """𝔼[hₙ] of a vector, where the expectation is of its places alone."""
        if mean.given or len(mean.value.terms) != 1:
            return 0, ""
        ((term, c),) = mean.value.terms
        if c != 1 or term.bound or len(term.factors) != 1 or term.factors[0][1] != 1:
            return 0, ""
        inner = term.factors[0][0]
        rank = self.ranks.get(inner.name, 0) if inner.kind == "symbol" else 0
        if not rank or inner.indices != mean.places:
            return 0, ""
        return rank, f"𝔼[{self.symbol(inner.name, a.indices[: len(a.indices) - rank], names)}]"

    def inside(self, m: Expression, names: Names) -> str:
        """A matrix of which the row and the column are open."""
        inner = {**names, ROW: "", COLUMN: ""}
        if len(m.terms) == 1:
            ((term, c),) = m.terms
            if c == 1 and not term.bound and len(term.factors) == 1 and term.factors[0][1] == 1:
                a = term.factors[0][0]
                if a.kind == "symbol" and {i.name for i in a.indices[-2:]} == {ROW, COLUMN}:
                    if a.name in self.statistics:
                        mean = self.array(a, inner)
                        return mean[1] or f"({self.sum(m, inner)})"
                    return self.symbol(a.name, a.indices[:-2], names)
        return f"({self.sum(m, inner)})"

    def atom(self, a: Atom, names: Names) -> str:
        """An atom to the first power."""
        match a.kind:
            case "symbol":
                if a.name in self.statistics:
                    return self.mean(self.statistics[a.name], a, names)
                return self.symbol(a.name, a.indices, names)
            case "size":
                return a.name
            case "delta":
                return f"[{_place(a.indices[0], names)} = {_place(a.indices[1], names)}]"
            case "guard":
                return _gate(a, names)
            case "sum":
                return self.sum(a.arguments[0], names)
            case "matrix":
                whole = self.inside(a.arguments[0], names)
                if a.name == "logdet":
                    return f"log det {whole}"
                return subscripted(f"({whole}⁻¹)", [_place(i, names) for i in a.indices])
        return self.function(a, names)

    def function(self, a: Atom, names: Names) -> str:
        """log πₖ without brackets around one symbol."""
        inner = ", ".join(self.sum(e, names) for e in a.arguments)
        simple = len(a.arguments) == 1 and _is_symbol(a.arguments[0])
        simple |= len(a.arguments) == 1 and inner.isdigit()
        if a.name == "multigammaln":
            return f"log Γ_{self.sum(a.arguments[1], names)}({self.sum(a.arguments[0], names)})"
        name = _FUNCTIONS.get(a.name, a.name)
        return f"{name} {inner}" if name == "log" and simple else f"{name}({inner})"

    def symbol(self, name: str, places: Sequence[Index], names: Names) -> str:
        """A name at its places; what a ragged row has, and what was seen, as brackets."""
        kind, colon, rest = name.partition(":")
        texts = [x for i in places if (x := _place(i, names))]
        if colon and kind == "exists":
            return f"[{texts[-1]} ≤ {subscripted(rest, texts[:-1])}]"
        if colon:
            return f"[{subscripted(unicode_name(rest), texts)} {kind}]"
        return subscripted("π" if name == PI.name else unicode_name(name), texts)

    def mean(self, mean: Mean, a: Atom, names: Names) -> str:
        """𝔼[T], or 𝔼[T ∣ zₙ = k]."""
        moves = dict(zip(mean.places, a.indices, strict=True))
        text = self.sum(moved(mean.value, moves), names)
        labels = []
        for name, places in mean.given:
            *front, last = [_place(move_index(i, moves), names) for i in places]
            labels.append(f"{subscripted(unicode_name(name), front)} = {last}")
        return f"𝔼[{text} ∣ {', '.join(labels)}]" if labels else f"𝔼[{text}]"


def with_logs(terms: Sequence[tuple[Term, Fraction]]) -> list[tuple[Term, Fraction]]:
    """c log π + 4c log 2 + 3c log 5 as c log(2000π)."""
    found = list(terms)
    for term, c in terms:
        pi = next((a for a, p in term.factors if p == 1 and _log_of(a) == PI.name), None)
        if pi is None:
            continue
        rest = [f for f in term.factors if f[0] != pi]
        number = Fraction(1)
        for other, d in list(found):
            log = next((a for a, p in other.factors if p == 1 and _log_of(a).isdigit()), None)
            same = log is not None and rest == [f for f in other.factors if f[0] != log]
            if log is None or not same or term.bound != other.bound or (d / c).denominator != 1:
                continue
            number *= Fraction(_log_of(log)) ** (d / c).numerator
            found.remove((other, d))
        shown = "π" if number == 1 else f"{number}π" if number.denominator == 1 else f"{number} π"
        both = Atom("symbol", f"log({shown})")
        found[found.index((term, c))] = (Term((*rest, (both, Fraction(1))), term.bound), c)
    return found


def _log_of(a: Atom) -> str:
    """What a logarithm of one number is of."""
    if a.kind != "function" or a.name != "log":
        return ""
    number = a.arguments[0].number
    return str(number) if number is not None else (PI.name if _is_pi(a.arguments[0]) else "")


def _is_pi(e: Expression) -> bool:
    return _is_symbol(e) and e.terms[0][0].factors[0][0].name == PI.name


def _is_symbol(e: Expression) -> bool:
    if len(e.terms) != 1:
        return False
    ((term, c),) = e.terms
    return c == 1 and not term.bound and len(term.factors) == 1 and (
        term.factors[0][0].kind == "symbol" and term.factors[0][1] == 1
    )  # fmt: skip


def joined(parts: Sequence[tuple[bool, str]]) -> str:
    """a − b + c."""
    text = ""
    for minus, part in parts:
        sign = ("− " if minus else "+ ") if text else ("−" if minus else "")
        text += f" {sign}{part}" if text else f"{sign}{part}"
    return text


def subscripted(base: str, places: Sequence[str]) -> str:
    """xₙᵢ, W_di, z_{t−1,k}, rate_max[k]."""
    if not places:
        return base
    whole = "".join(places)
    if all(c in SUBSCRIPT and c != "," for c in whole) and all(len(x) == 1 for x in places):
        return base + "".join(SUBSCRIPT[c] for c in whole)
    if "_" in base or base[-1] in "₀₁₂₃₄₅₆₇₈₉":
        return f"{base}[{','.join(places)}]"
    if all(len(x) == 1 for x in places):
        return f"{base}_{whole}"
    return f"{base}_{{{','.join(places)}}}"


def raised(text: str, p: Fraction, is_sum: bool) -> str:
    """A factor to a positive power."""
    if is_sum or (p != 1 and " " in text and not text.startswith("𝔼[")):
        text = f"({text})"
    if p == Fraction(1, 2):
        return f"√{text if len(text) == 1 or text.startswith('(') else f'({text})'}"
    if p == 1:
        return text
    return text + "".join(SUPERSCRIPT[c] for c in str(p)) if p.denominator == 1 else f"{text}^({p})"


def _spaced(words: Sequence[str]) -> list[str]:
    """Names first, functions and products behind them, brackets that are 0 or 1 last."""
    return sorted(words, key=lambda x: 2 if x[0] == "[" else (" " in x and x[0] != "𝔼") or "(" in x)


def _over(above: str, below: str) -> str:
    if not below:
        return above
    whole = (
        above
        if " " not in above or (above.startswith("𝔼[") and above.endswith("]"))
        else f"({above})"
    )
    return f"{whole}/{below}"


def _below(words: Sequence[str]) -> str:
    if not words:
        return ""
    text = " ".join(words)
    single = len(words) == 1 and " " not in text
    return text if single or (len(words) == 1 and text.startswith("(")) else f"({text})"


def _number(c: Fraction, more: bool) -> tuple[list[str], Fraction]:
    """(the number in front, what of it is left for below the line)."""
    vulgar = _VULGAR.get((c.numerator, c.denominator))
    if vulgar and more:
        return [vulgar], Fraction(1)
    if c.numerator != 1 and c.denominator != 1 and more:
        return [f"{c.numerator}/{c.denominator}"], Fraction(1)
    return ([str(c.numerator)] if c.numerator != 1 or not more else []), Fraction(1, c.denominator)


def _run(r: Range, name: str) -> str:
    if r.low and r.high:
        return f"{r.low}<{name}≤{r.axis}−{r.high}"
    if r.low:
        return f"{name}>{r.low}"
    return f"{name}≤{r.axis}−{r.high}" if r.high else name


def _gate(a: Atom, names: Names) -> str:
    low, high = a.cut
    i = _place(a.indices[0], names)
    end = f" ≤ {a.indices[0].axis} − {high}" if high else ""
    return f"[{i} > {low}]" if low and not high else f"[{f'{low} < ' if low else ''}{i}{end}]"


def _place(i: Index, names: Names) -> str:
    if i.literal:
        return i.text
    name = names.get(i.name, i.name).lstrip("`").replace("'", "′")
    return f"{name}{'+' if i.shift > 0 else '−'}{abs(i.shift)}" if i.shift else name
