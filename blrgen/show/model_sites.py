"""What of a log joint is no statistic, on the page of a model: its predictor and its tangent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from blrgen.expect.sites.values import Site
from blrgen.text.names import unicode_name

if TYPE_CHECKING:
    from blrgen.show.model_page import ModelPage


class Sites:
    """Says sites on a page, which lays them out and spells expressions."""

    def __init__(self, page: ModelPage) -> None:
        self.page, self.at, self.say = page, page.at, page.say

    def tangent(self, s: Site, own: frozenset[str] | None = None) -> str:
        """r u + s u², what has the gradient of E[f]."""
        names = frozenset(s.nodes) if own is None else own
        u = unicode_name(s.variable.name)
        if s.inner and len(s.parts) == 1:
            k, last = s.inner[0].name, s.inner[-1].name
            return (f"Σ {self.at(s.firsts[0].name, s.inner[:1])} {u}[{k}] + "
                    f"Σ {self.at(s.second.name, s.inner)} {u}[{k}] {u}[{last}]")  # fmt: skip
        if s.own is None and len(s.parts) == 1:
            r, t = (unicode_name(x.name) for x in s.symbols)
            return f"{r} {u} + {t} {u}²"
        pairs = [(unicode_name(x.name), self.say(t)) for x, t in s.tangent(names)]
        return " + ".join(f"{x} ({t})" if " + " in t else f"{x} {t}" for x, t in pairs)

    def site(self, s: Site) -> str:
        """What is no statistic: f, its predictor, and the gradient of its expectation."""
        if s.inner:
            return self.elements(s)
        f, u = unicode_name(s.name), unicode_name(s.variable.name)
        pairs = [
            (f"{f}({u})", self.say(s.function)),
            (self.at(u, s.places), self.say(s.line)),
        ]
        because = f"expectations by {s.route}: {s.because}"
        if s.own is not None:
            names = ", ".join(self.at(x.name, s.places) for x in s.firsts)
            pairs.append((names, f"Cov[T, T]⁻¹ Cov[T, {f}]"))
            return self.sited(s, pairs, f"{because}. {self.tangent(s)} has the gradient of "
                              f"𝔼[{f}] (∇_μ = F⁻¹ ∇_λ)")  # fmt: skip
        if s.average is not None:
            pairs.append((f"𝔼[{f}]", self.say(s.average)))
            because += f"; {u}_m and {u}_v are 𝔼[{u}] and Var[{u}]"
        for r, e in zip(s.firsts, s.means, strict=True):
            mean = f"𝔼[{u}]" if len(s.means) == 1 else self.say(e)
            mean = f"({mean})" if " + " in mean else mean
            pairs.append((self.at(r.name, s.places), f"𝔼[{f}′] − 𝔼[{f}″] {mean}"))
        pairs.append((self.at(s.second.name, s.places), f"½ 𝔼[{f}″]"))
        which = (
            f"{self.tangent(s)} has" if len(s.parts) == 1 else "r v + s v², v a block's part, has"
        )
        return self.sited(s, pairs, f"{because}. {which} the gradient of 𝔼[{f}] in every mean "
                          "parameter (Bonnet, Price)")  # fmt: skip

    def elements(self, s: Site) -> str:
        """The same of a predictor with elements u_k."""
        f, u = unicode_name(s.name), unicode_name(s.variable.name)
        k, last = s.inner[0].name, s.inner[-1].name
        one, both = (s.letters_of(x) for x in (s.firsts[0], s.second))
        second, total = self.at(s.second.name, both), "Σ " if len(s.inner) == 2 else ""
        pairs = [
            (f"{f}({u})", self.say(s.function)),
            (self.at(u, one), self.say(s.line)),
        ]
        for r, e in zip(s.firsts, s.means, strict=True):
            mean = f"𝔼[{u}[{last}]]" if len(s.means) == 1 else f"({self.say(s.at_last(e))})"
            right = f"𝔼[∂{f}/∂{u}[{k}]] − 2 {total}{second} {mean}"
            pairs.append((self.at(r.name, one), right))
        pairs.append((second, f"½ 𝔼[∂²{f}/∂{u}[{k}]∂{u}[{last}]]"))
        apart = "; its elements are apart under q" if len(s.inner) == 1 else ""
        which = self.tangent(s) if len(s.parts) == 1 else "Σ r v + Σ s v v, v a block's part,"
        because = (f"expectations by {s.route}: {s.because}{apart}. {which} has the gradient of "
                   f"𝔼[{f}] in every mean parameter (Bonnet, Price)")  # fmt: skip
        return self.sited(s, pairs, because)

    def sited(self, s: Site, pairs: Sequence[tuple[str, str]], because: str) -> str:
        """The section of a site."""
        f = unicode_name(s.name)
        nodes = listed([self.page.named(x) for x in s.nodes])
        title = f"{f}, no statistic of {nodes}, in log p({self.page.named(s.child)})"
        return self.page.section(title, self.page.equations(pairs), because)


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    *front, last = words or ("nothing",)
    return f"{', '.join(front)} and {last}" if front else last
