"""Sums over the places of vectors and matrices as products: Σᵢⱼ xᵢ Sᵢⱼ yⱼ is xᵀSy.

A place is summed as a product where it stands in just two slots of factors, and nowhere
else; chains of such factors begin at a vector, or at a matrix with a place that is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from blrgen.algebra.indexed.values import Index, Range

_POWER = "⁰¹²³⁴⁵⁶⁷⁸⁹"


@dataclass(frozen=True)
class Piece:
    """A factor: its text; of a vector or matrix what it is called without its places."""

    text: str
    below: bool = False
    base: str = ""
    slots: tuple[Index, ...] = ()
    symmetric: bool = False
    times: int = 1  # how often it stands there, squares twice
    hidden: tuple[Index, ...] = ()  # letters that stand elsewhere in it
    names: Mapping[Index, str] = field(default_factory=dict)


def contracted(
    pieces: Sequence[Piece], bound: Sequence[Range]
) -> tuple[list[Piece], set[Index]]:  # fmt: skip
    """(factors with products in place of sums, the letters that are still summed)."""
    letters = _summed(pieces, bound)
    flat = [
        replace(p, times=1) for p in pieces for _ in range(p.times if _joins(p, letters) else 1)
    ]
    left = [p for p in flat if not _joins(p, letters)]
    links = [p for p in flat if _joins(p, letters)]
    made: list[Piece] = []
    while links:
        made.append(_chain(links, letters))
    return [*left, *_squares(made)], {r.index for r in bound} - letters


def _squares(made: Sequence[Piece]) -> list[Piece]:
    """Equal products as powers."""
    texts = [p.text for p in made]
    return [p if texts.count(p.text) == 1 else Piece(f"({p.text}){_POWER[texts.count(p.text)]}")
            for k, p in enumerate(made) if p.text not in texts[:k]]  # fmt: skip


def _joins(p: Piece, letters: set[Index]) -> bool:
    return bool(p.slots) and not p.below and any(i in letters for i in p.slots)


def _summed(pieces: Sequence[Piece], bound: Sequence[Range]) -> set[Index]:
    """Letters over their whole axis that stand in exactly two slots."""
    found = set()
    for r in bound:
        if r.low or r.high:
            continue
        i = r.index
        slots = sum(p.times * p.slots.count(i) for p in pieces if not p.below)
        elsewhere = any(i in p.hidden for p in pieces)
        elsewhere |= any(i in p.slots and p.below for p in pieces)
        if slots == 2 and not elsewhere:
            found.add(i)
    squares = [p for p in pieces if p.times > 1 and p.slots]
    for p in squares:  # a square whose places are not all summed as products stays one
        if not set(p.slots) <= found or len(p.slots) > 1:
            found -= set(p.slots)
    return found


@dataclass(frozen=True)
class _Word:
    """A vector or matrix in a product."""

    base: str
    vector: bool
    symmetric: bool
    turned: bool = False

    @property
    def text(self) -> str:
        return f"{self.base}ᵀ" if self.turned else self.base

    def other(self) -> _Word:
        """Transposed."""
        return self if self.symmetric and not self.vector else replace(self, turned=not self.turned)


def _word(p: Piece, turned: bool) -> _Word:
    word = _Word(p.base, len(p.slots) == 1, p.symmetric)
    return word.other() if turned else word


def _chain(links: list[Piece], letters: set[Index]) -> Piece:
    """One product, taken out of the links: from a vector, or from a place that is left."""
    start = next((p for p in links if len(p.slots) == 1), None)
    start = start or next((p for p in links if not set(p.slots) <= letters), links[0])
    links.remove(start)
    names = dict(start.names)
    opening: Index | None = None
    here: Index | None = start.slots[0]
    words = [_word(start, True)]
    if len(start.slots) == 2:
        inner = 1 if start.slots[1] in letters else 0
        opening, here = start.slots[1 - inner], start.slots[inner]
        words = [_word(start, inner == 0)]
    while here in letters and here != opening:
        partner = next(p for p in links if here in p.slots)
        links.remove(partner)
        names |= partner.names
        side = partner.slots.index(here)
        words.append(_word(partner, len(partner.slots) == 2 and side == 1))
        here = partner.slots[1 - side] if len(partner.slots) == 2 else None
    return Piece(_said(words, opening, here, names, letters))


def _said(
    words: list[_Word], opening: Index | None, here: Index | None, names: Mapping[Index, str],
    letters: set[Index],
) -> str:  # fmt: skip
    """xᵀSy, (Wh)ᵢ, (AB)ᵢⱼ or tr(AB)."""
    from blrgen.text.plates import subscripted

    whole = " ".join(w.text for w in words)
    if opening is None and here is None:
        return whole
    if opening is not None and opening in letters:
        return f"tr({whole})"
    if opening is None:
        assert here is not None
        back = " ".join(w.other().text for w in reversed(words))  # (xᵀA)ᵀ = Aᵀx
        return subscripted(f"({back})", [names[here]])
    last = [names[opening]] if here is None else [names[opening], names[here]]
    return subscripted(f"({whole})", last)
