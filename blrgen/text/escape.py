"""Foreign text made safe in every format: names and prose may come from the user.

Nothing reaches a page without passing through here: control characters, which a
terminal would obey, become visible; LaTeX, Markdown and HTML specials are escaped.
LaTeX typesets pieces of prose that are formulas, such as ρ∇_μ(𝔼_q[ℓ]), as mathematics.
"""

from __future__ import annotations

import html
import re
import unicodedata
from itertools import groupby

from blrgen.text.alphabet import COMMAND, GREEK, SUBSCRIPT, SUPERSCRIPT


def printable(text: str) -> str:
    """One line, with control and unassigned characters, which a terminal may obey, made visible."""
    return "".join(c if c.isprintable() else _visible(c) for c in text)


def _visible(c: str) -> str:
    return " " if c.isspace() else f"\\u{ord(c):04x}" if ord(c) > 255 else f"\\x{ord(c):02x}"


_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
    "–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''", "…": r"\ldots{}",
}  # fmt: skip
_LATEX_MATH = {
    "ℓ": r"\ell", "∇": r"\nabla", "∂": r"\partial", "∘": r"\circ", "·": r"\cdot", "×": r"\times",
    "÷": r"\div", "−": "-", "±": r"\pm", "≈": r"\approx", "≠": r"\neq", "≤": r"\le", "≥": r"\ge",
    "≡": r"\equiv", "∝": r"\propto", "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "→": r"\to",
    "←": r"\leftarrow", "↦": r"\mapsto", "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow",
    "∞": r"\infty", "√": r"\surd", "Σ": r"\Sigma", "∑": r"\sum", "∏": r"\prod", "∫": r"\int",
    "⟨": r"\langle", "⟩": r"\rangle", "‖": r"\|", "½": r"\tfrac{1}{2}", "¼": r"\tfrac{1}{4}",
    "⅓": r"\tfrac{1}{3}", "¾": r"\tfrac{3}{4}", "𝓗": r"\mathcal{H}", "𝓝": r"\mathcal{N}",
    "𝒩": r"\mathcal{N}", "ℋ": r"\mathcal{H}", "𝔼": r"\mathbb{E}", "ℝ": r"\mathbb{R}",
    "⊤": r"\top", "∼": r"\sim", "≻": r"\succ", "⪰": r"\succeq", "∖": r"\setminus",
    "∥": r"\|", "∀": r"\forall", "∃": r"\exists", "⊙": r"\odot", "′": r"'", "∗": "*", "≔": ":=",
    "≪": r"\ll", "≫": r"\gg", "°": r"^{\circ}", "∅": r"\emptyset", "∎": r"\blacksquare",
    "⋅": r"\cdot", "⁄": "/", "ϕ": r"\phi", "ϵ": r"\epsilon", "ϑ": r"\vartheta", "µ": r"\mu",
}  # fmt: skip
_LATEX_MATH |= {letter: "\\" + COMMAND.get(n, n) for n, letter in GREEK.items() if n != "ell"}
_UP = {v: k for k, v in SUPERSCRIPT.items()} | {"ᵀ": "⊤"}
_DOWN = {v: k for k, v in SUBSCRIPT.items() if k != ","}
_COMBINING = {"\u0302": "hat", "\u0304": "bar", "\u0303": "tilde", "\u0307": "dot"}


_FUNCTIONS = ("exp", "log", "cosh", "sinh", "tanh", "tr", "max", "min")
_FORMULA = re.compile(r"[A-Za-z0-9()\[\],.;:+\-*/=|'<>{}^_]")


def latex_text(text: str) -> str:
    """Text mode LaTeX for any string: specials escaped, formulas in prose typeset as such."""
    clean = unicodedata.normalize("NFC", printable(text))
    words = re.split(r"( +)", clean)
    return "".join(_formula(w) or _join_modes([_latex_character(c) for c in w]) for w in words)


def _formula(word: str) -> str:
    """A word that is a formula, in math mode; empty when it is not one."""
    core = word.rstrip(",.;:")
    rest = core
    for f in _FUNCTIONS:
        rest = re.sub(rf"(?<![A-Za-z]){f}(?![A-Za-z])", "", rest)
    mathematical = any(c in _LATEX_MATH or c in _UP or c in _DOWN for c in core)
    shaped = all(_FORMULA.match(c) or _mathematical(c) for c in core)
    braces = re.sub(r"[\^_]\{[^{}]*\}", "", core)
    if not mathematical or not shaped or re.search(r"[A-Za-z]{2}|_[A-Za-z]{2}", rest):
        return ""
    if re.search(r"[{}^]|_(?![A-Za-z0-9α-ωΑ-Ω])|_.[_A-Za-z0-9]", braces):
        return ""
    spelled = "".join(
        _run(mode, "".join(c for _, c in group))
        for mode, group in groupby(((_mode(c), c) for c in core), key=lambda pair: pair[0])
    )
    spelled = re.sub(r"_(\\?[A-Za-z0-9]+)", r"_{\1}", spelled)
    spelled = re.sub(r"_\{([^{}]*)\}_\{([^{}]*)\}", r"_{\1_{\2}}", spelled)  # q₁ below a letter
    return f"${spelled.strip()}$" + word[len(core) :]


def _mathematical(c: str) -> bool:
    return c in _LATEX_MATH or c in _UP or c in _DOWN or bool(_accented(c))


def _mode(c: str) -> str:
    return "^" if c in _UP else "_" if c in _DOWN else "text" if _FORMULA.match(c) else "math"


def _run(mode: str, run: str) -> str:
    """A run of characters of one mode, inside math mode."""
    if mode == "text":
        known = "|".join(f for f in _FUNCTIONS if f != "tr")
        return re.sub(rf"(?<![A-Za-z])({known})(?![A-Za-z])", r"\\\1", run)
    if mode == "math":
        return "".join((_accented(c) or _math_letter(c)) + " " for c in run)
    inside = "".join(_math_letter(_UP[c] if mode == "^" else _DOWN[c]) + " " for c in run)
    return f"{mode}{{{inside.strip().replace('- 1', '-1')}}}"


def _join_modes(pieces: list[tuple[str, str]]) -> str:
    """Neighbours in math mode share one pair of dollars, neighbouring exponents one brace."""
    out, math = "", ""
    for mode, group in groupby(pieces, key=lambda piece: piece[0]):
        contents = [content for _, content in group]
        if mode == "text":
            out += (f"${math}$" if math else "") + "".join(contents)
            math = ""
        elif mode == "math":
            math += (" " if math else "") + " ".join(contents)
        else:
            math += ("" if math else "{}") + f"{mode}{{{' '.join(contents)}}}"
    return out + (f"${math}$" if math else "")


def _math_letter(c: str) -> str:
    return _LATEX_MATH.get(c, c)


def _accented(c: str) -> str:
    """ĝ as an accent; empty for a letter without one that mathematics uses."""
    base, *marks = list(unicodedata.normalize("NFD", c))
    if not marks or not base.isascii() or any(m not in _COMBINING for m in marks):
        return ""
    for m in marks:
        base = rf"\{_COMBINING[m]}{{{base}}}"
    return base


def _latex_character(c: str) -> tuple[str, str]:
    """(mode, LaTeX) of one character of prose; what LaTeX lacks is named by its code point."""
    if c in _LATEX_SPECIAL:
        return "text", _LATEX_SPECIAL[c]
    if c in _LATEX_MATH:
        return "math", _LATEX_MATH[c]
    if c in _UP or c in _DOWN:
        return ("^", _math_letter(_UP[c])) if c in _UP else ("_", _math_letter(_DOWN[c]))
    if " " <= c <= "~":
        return "text", c
    if _accented(c):
        return "math", _accented(c)
    if "\u00c0" <= c <= "\u017f":
        return "text", c  # Latin letters, which every LaTeX with UTF-8 input knows
    if c in _COMBINING:
        return "text", ""
    plain = unicodedata.normalize("NFKD", c)
    if plain.isascii() and plain.isalnum():
        return "text", plain
    return "text", f"(U+{ord(c):04X})"


def markdown_text(text: str) -> str:
    """Prose in Markdown: characters with a meaning there are escaped."""
    safe = re.sub(r"([\\`*_\[\]$|~#])", r"\\\1", printable(text))
    return safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def html_text(text: str) -> str:
    """Prose and attribute values in HTML."""
    return html.escape(printable(text), quote=True)


_INDEXED = re.compile(
    r"(?<![A-Za-z0-9_])([A-Za-zα-ωΑ-Ω∇∂𝓗𝔼²]+)_([A-Za-zα-ω])([₀-₉]?)(?![A-Za-z0-9_])"
)


def html_prose(text: str) -> str:
    """Prose in HTML, with E_q and ∇_μ as subscripts."""
    return _INDEXED.sub(r"\1<sub>\2\3</sub>", html_text(text))
