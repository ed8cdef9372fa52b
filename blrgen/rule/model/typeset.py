r"""The lines of a model's derivation in LaTeX, in the order of `lines`."""

from __future__ import annotations

from collections.abc import Iterator

from blrgen.algebra.indexed.values import Index
from blrgen.expect.blocks.values import Block, Part
from blrgen.expect.sites.values import Site
from blrgen.rule.model.lines import brought, letters_of, natural_name
from blrgen.rule.model.values import Equation, ModelDerivation, PointUpdate, Update
from blrgen.text.indexed import Mean
from blrgen.text.indexed_latex import IndexedLatex, place_latex
from blrgen.text.names import latex_name


def typeset(d: ModelDerivation) -> tuple[str, ...]:
    """One text a line of the derivation."""
    return tuple(_Typeset(d).lines())


class _Typeset:
    def __init__(self, d: ModelDerivation) -> None:
        self.d = d
        means = {
            s.name: Mean(s.places, s.value, tuple((g.symbol.name, g.places) for g in s.given))
            for s in d.statistics
        }
        self.say = IndexedLatex(letters_of(d.model), means)

    def lines(self) -> Iterator[str]:
        """Log joint, sites, blocks, elements of a filter, sums, points, objective."""
        d = self.d
        for f in d.factors:
            yield rf"\log p({_names(f.node)}) = {self.say(f.total)}"
        for site in d.sites:
            yield from self.site(site)
        for u in d.updates:
            for part in u.block.parts:
                yield f"{self.say(part.statistic.value)} : {self.say(part.coefficient)}"
            for part in u.block.parts:
                yield self.update(u, part)
        for x in d.arrivals:
            yield from (f"{self.say(statistic)} : {self.say(e)}" for statistic, e in brought(d, x))
            yield f"1 : {self.say(x.rest)}"
        yield from map(self.equation, d.sums)
        for p in d.points:
            yield from self.point(p)
        yield from self.objective()

    def site(self, s: Site) -> Iterator[str]:
        """f and its predictor, and what stands for it in the blocks' updates."""
        u, f, at = latex_name(s.variable.name), latex_name(s.name), _at(s.places)
        if s.inner:
            yield from self.elements(s)
            return
        yield f"{f}({u}) = {self.say(s.function)}"
        yield f"{{{u}}}{at} = {self.say(s.line)}"
        if s.own is not None:
            names = ", ".join(f"{{{latex_name(x.name)}}}{at}" for x in s.firsts)
            yield rf"{names} = \operatorname{{Cov}}[T, T]^{{-1}} \operatorname{{Cov}}[T, {f}]"
            return
        whole = rf"\mathbb{{E}}\left[{u}\right]"
        if s.average is not None:
            yield (rf"\mathbb{{E}}\left[{f}\right] = {self.say(s.average)}, \quad {u}_m = {whole}, "
                   rf"\; {u}_v = \operatorname{{Var}}\left[{u}\right]")  # fmt: skip
        slopes = [rf"\mathbb{{E}}\left[{f}^{{{x}}}\right]" for x in (r"\prime", r"\prime\prime")]
        for r, e in zip(s.firsts, s.means, strict=True):
            mean = whole if len(s.means) == 1 else rf"\left({self.say(e)}\right)"
            yield f"{{{latex_name(r.name)}}}{at} = {slopes[0]} - {slopes[1]} \\, {mean}"
        yield rf"{{{latex_name(s.second.name)}}}{at} = \tfrac{{1}}{{2}} {slopes[1]}"

    def elements(self, s: Site) -> Iterator[str]:
        """The same of a predictor with elements u_k."""
        u, f, k, last = (latex_name(x) for x in (
            s.variable.name, s.name, s.inner[0].name, s.inner[-1].name))  # fmt: skip
        one, both = (_at(s.letters_of(x)) for x in (s.firsts[0], s.second))
        second = f"{{{latex_name(s.second.name)}}}{both}"
        yield f"{f}({u}) = {self.say(s.function)}"
        yield f"{{{u}}}{one} = {self.say(s.line)}"
        total = rf"\textstyle\sum_{{{last}}} " if len(s.inner) == 2 else ""
        for r, e in zip(s.firsts, s.means, strict=True):
            mean = rf"\mathbb{{E}}\left[{{{u}}}_{{{last}}}\right]"
            mean = mean if len(s.means) == 1 else rf"\left({self.say(s.at_last(e))}\right)"
            slope = rf"\mathbb{{E}}\left[\partial_{{{k}}} {f}\right]"
            yield rf"{{{latex_name(r.name)}}}{one} = {slope} - 2 {total}{second} \, {mean}"
        bend = rf"\mathbb{{E}}\left[\partial_{{{k}}} \partial_{{{last}}} {f}\right]"
        yield rf"{second} = \tfrac{{1}}{{2}} {bend}"

    def update(self, u: Update, part: Part) -> str:
        """λ = what it becomes, or (1 − ρ) λ + ρ (that)."""
        name, text = self.natural(u.block, part), self.say(part.expected)
        if not u.rate or not u.scaled:
            return f"{name} = {text}"
        rate = latex_name(u.rate)
        return rf"{name} = (1 - {rate}) {name} + {rate} \left({text}\right)"

    def natural(self, block: Block, part: Part) -> str:
        """The natural parameter that goes with a statistic; of a pair its statistic itself."""
        s = part.statistic
        if len(s.positions) > 1:
            return rf"\operatorname{{pair}}\left({self.say(s.value)}\right)"
        name = natural_name(self.d, block, part).partition("[")[0].partition("(")[0]
        upper = f"^{{({_names(','.join(s.nodes))})}}" if len(block.nodes) > 1 else ""
        return f"{{{latex_name(name)}}}{upper}{_at(s.places)}"

    def equation(self, e: Equation) -> str:
        return f"{{{latex_name(e.target)}}}{_at(e.places)} = {self.say(e.value)}"

    def point(self, u: PointUpdate) -> Iterator[str]:
        """Solved, as a linear system, or what is solved by Newton steps."""
        yield from map(self.equation, u.equations)
        if u.system is not None:
            for row, right in zip(u.system.matrix, u.system.right, strict=True):
                shared = set(u.system.shared)
                sides = []
                for x, m in zip(u.system.unknowns, row, strict=True):
                    over = ",".join(f"{i.text}'" for i in x.places if i not in shared)
                    inner = ",".join(i.text if i in shared else f"{i.text}'" for i in x.places)
                    at = f"_{{{inner}}}" if inner else ""
                    product = rf"\left({self.say(m)}\right) {{{latex_name(x.name)}}}{at}"
                    sides.append(rf"\sum_{{{over}}} {product}" if over else product)
                yield f"{' + '.join(sides)} = {self.say(right)}"
        if u.stationary is not None:
            yield from (f"0 = {self.say(g)}" for g in u.stationary.slope)

    def objective(self) -> Iterator[str]:
        """E[log p] of every statement, the entropy of every block with a q."""
        drawn = any(u.drawn for u in self.d.updates)
        for f, e in zip(self.d.factors, self.d.expected_factors, strict=True):
            left = rf"\log p({_names(f.node)})"
            left = left if drawn else rf"\mathbb{{E}}\left[{left}\right]"
            yield f"{left} = {self.say(e)}"
        for u in self.d.updates:
            if not u.drawn:
                base = r" - \mathbb{E}[\log h]" if u.block.base else ""
                yield (rf"\mathcal{{H}}\left(q({_names(u.block.name)})\right) = "
                       rf"A(\eta) - \langle \eta, \mathbb{{E}}[T] \rangle{base}")  # fmt: skip


def _names(node: str) -> str:
    return ", ".join(map(latex_name, node.split(",")))


def _at(places: tuple[Index, ...]) -> str:
    return f"_{{{','.join(place_latex(i, {}) for i in places)}}}" if places else ""
