"""How a name is written: m_next is m⁺, beta1 is β₁, h_hat is ĥ."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from blrgen.text.alphabet import ACCENT, COMMAND, GREEK, MARK, SUBSCRIPT, SUPERSCRIPT
from blrgen.text.escape import latex_text, printable

Notation = Mapping[str, tuple[str, str]]  # symbol name → (unicode, LaTeX)


@dataclass(frozen=True)
class Parts:
    """A name taken apart: base letter or word, index, accents, and the time mark."""

    base: str
    index: str = ""
    accents: tuple[str, ...] = ()
    mark: str = ""


def parts(name: str) -> Parts | None:
    """The parts of an identifier in the shared naming; None for any other text."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        return None
    first, *rest = [p for p in name.split("_") if p]
    letters = first.rstrip("0123456789")
    index, accents, mark = [first[len(letters) :]] if letters != first else [], [], ""
    for word in rest:
        if word in ACCENT:
            accents.append(word)
        elif word in MARK:
            mark += MARK[word]
        else:
            index.append(word)
    return Parts(letters, ",".join(index), tuple(accents), mark)


def unicode_name(name: str, notation: Notation | None = None) -> str:
    """β₁, m⁺, ĥ, θ_prior."""
    if notation and name in notation:
        return printable(notation[name][0])
    p = parts(name)
    if p is None:
        return printable(name)
    text = GREEK.get(p.base, p.base)
    for accent in p.accents:
        text = unicodedata.normalize("NFC", text + ACCENT[accent][0])
    if p.index:
        short = all(len(w) == 1 or w.isdigit() for w in p.index.split(","))
        words = p.index.split(",")  # of a numbered vector, λ₁ₖ, they need no comma
        joined = "".join(words) if len(words) == 2 and words[0].isdigit() else p.index
        low = short and all(c in SUBSCRIPT for c in joined)
        text += "".join(SUBSCRIPT[c] for c in joined) if low else "_" + p.index
    return text + "".join(SUPERSCRIPT[c] for c in p.mark)


def latex_name(name: str, notation: Notation | None = None) -> str:
    r"""\beta_{1}, m^{+}, \hat{h}, \theta_{\mathrm{prior}}."""
    if notation and name in notation:
        text, spelled = notation[name]
        return spelled or latex_text(text)
    p = parts(name)
    if p is None:
        return r"\text{" + latex_text(name) + "}"
    if p.base in GREEK:
        text = "\\" + COMMAND.get(p.base, p.base)
    else:
        text = p.base if len(p.base) == 1 else rf"\mathrm{{{p.base}}}"
    for accent in p.accents:
        text = rf"\{ACCENT[accent][1]}{{{text}}}"
    if p.index:
        upright = any(len(w) > 1 and not w.isdigit() for w in p.index.split(","))
        text += rf"_{{\mathrm{{{latex_text(p.index)}}}}}" if upright else f"_{{{p.index}}}"
    return text + (f"^{{{p.mark}}}" if p.mark else "")


def has_superscript(name: str, notation: Notation | None = None) -> bool:
    """True for m⁺: a power of it needs brackets."""
    if notation and name in notation:
        return "^" in notation[name][1]
    p = parts(name)
    return p is not None and bool(p.mark)
