"""A model's algorithm as the section of a paper: numbered steps, a heading for every block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import normalize

from blrgen.algebra.components import Component
from blrgen.algebra.indexed.values import Expression, Index
from blrgen.expect.blocks.values import Block
from blrgen.expect.factors.names import table_of
from blrgen.geometry import kept_geometry
from blrgen.program.model.blocks import member_of
from blrgen.program.model.member import Member
from blrgen.program.model.titles import TITLES
from blrgen.read.model.spell import lines as statements
from blrgen.rule.model.lines import brought, letters_of
from blrgen.rule.model.values import Arrival, Equation, ModelDerivation, PointUpdate, Update
from blrgen.show.derivation import terminal_columns
from blrgen.show.geometry.rows import Writer
from blrgen.show.model_sites import Sites, listed
from blrgen.show.page import Formula, is_matrix
from blrgen.show.paint import Paint
from blrgen.show.text import INDENT, broken
from blrgen.text.alphabet import SUBSCRIPT
from blrgen.text.escape import printable
from blrgen.text.indexed import Mean
from blrgen.text.names import unicode_name
from blrgen.text.plates import Spoken, subscripted
from blrgen.text.table import pad, table, width, wrap
from blrgen.text.terminal import Terminal

_BY = {"em": "expectation maximization", "online-em": "online expectation maximization"}
_JOINED = {
    "banded": "a Gaussian over {axis} whose precision has a band of neighbours",
    "dense": "one Gaussian over all of {axis}",
    "joint": "one Gaussian over its nodes",
    "labels": "a chain of labels over {axis}",
}


def derivation_text(d: ModelDerivation, columns: int | None = None, *, colour: bool = False) -> str:
    """The whole page, at most so many columns wide."""
    return ModelPage(d, columns or terminal_columns(), Paint(colour)).text()


class ModelPage:
    """The page of one derivation, section by section."""

    def __init__(self, d: ModelDerivation, columns: int, paint: Paint) -> None:
        self.d, self.columns, self.paint = d, columns, paint
        self.number = 0
        means = {
            s.name: Mean(s.places, s.value, tuple((g.symbol.name, g.places) for g in s.given))
            for s in d.statistics
        }
        known = table_of(d.model).variables
        ranks = {k: len(v.shape) for k, v in known.items() if v.shape and not v.symbol.one_hot}
        self.say = Spoken(letters_of(d.model), means, ranks)
        self.sites = Sites(self)

    def text(self) -> str:
        """The sections in their order."""
        sections = [self.head(), self.joint(), self.edges(), *map(self.sites.site, self.d.sites)]
        for u in self.d.updates:
            sections += [self.conditional(u), self.update(u)]
        sections += map(self.element, self.d.arrivals)
        if self.d.sums:
            sections.append(self.sums())
        sections += [self.point(u) for u in self.d.points]
        sections += [self.objective(), self.choices()]
        return "\n\n".join(x for x in sections if x) + "\n"

    # -- layout ------------------------------------------------------------------------
    def section(self, title: str, rows: Sequence[str], because: str = "", mark: str = "") -> str:
        """(3)  Title [mark], its rows, and why."""
        self.number += 1
        number = pad(f"({self.number})", len(INDENT))
        tail = self.paint(f"  [{printable(mark)}]", "mark") if mark else ""
        head = self.paint(number, "dim") + self.paint(printable(title), "bold") + tail
        notes = [self.paint(x, "dim") for x in wrap(because, self.columns - len(INDENT))]
        return "\n".join([head, *(f"{INDENT}{r}".rstrip() for r in (*rows, *notes))])

    def equations(self, pairs: Sequence[tuple[str, str]], sign: str = "=") -> list[str]:
        """Equations aligned at their sign, long ones broken at a sum."""
        room = self.columns - len(INDENT)
        edge = max((width(x) for x, _ in pairs if width(x) <= room // 3), default=0)
        rows: list[str] = []
        for left, right in pairs:
            lead = f"{pad(left, edge)} {sign} "
            if width(left) > room // 3 and width(lead + right) > room:
                front, *rest = broken(f"{left} {sign}", room)
                rows += [front, *rest]
                lead = "    "
            first, *more = broken(right, room - width(lead))
            rows += [lead + first, *(" " * width(lead) + x for x in more)]
        return rows

    def at(self, name: str, places: Sequence[Index]) -> str:
        return subscripted(unicode_name(name), [i.text for i in places])

    # -- sections ------------------------------------------------------------------------
    def head(self) -> str:
        """The model, the algorithm, the schedule, in a paragraph."""
        d = self.d
        title = f"{d.model.name}: {_BY.get(d.algorithm, TITLES.get(d.algorithm, d.algorithm))}"
        body = [x for _, x in statements(d.model)]
        rows = [
            self.paint(printable(title), "head"),
            "",
            *wrap(" ".join(self.words()), self.columns),
        ]
        return "\n".join([*rows, "", *(f"{INDENT}{printable(x)}" for x in body)])

    def words(self) -> Iterator[str]:
        """Sentences on what is known, what is found, and in which order."""
        d = self.d
        nodes = {k: [self.named(n.name) for n in d.model.nodes if n.kind == k]
                 for k in ("observed", "latent")}  # fmt: skip
        points = [self.named(x) for u in d.points for x in u.names]
        blocks = [self.named(u.block.name) for u in d.updates]
        yield f"Observed: {listed(nodes['observed'])}."
        if blocks:
            if any(u.drawn for u in d.updates):
                yield f"Drawn: {listed(blocks)}."
            else:
                yield (
                    f"Each of {listed(blocks)} has a q of its own."
                    if len(blocks) > 1
                    else (f"q is over {blocks[0]}.")
                )
        if points:
            yield f"{listed(points)}: found as point{'s' if len(points) > 1 else ''}."
        if d.batch:
            yield f"A step sees M of the {d.batch} rows."
        order = [*blocks, *points]
        if len(order) > 1:
            yield f"One step visits {', then '.join(order)}."

    def named(self, node: str) -> str:
        return ", ".join(unicode_name(x) for x in node.split(","))

    def joint(self) -> str:
        pairs = [(f"log p({self.named(f.node)})", self.say(f.total)) for f in self.d.factors]
        return self.section("The log joint is the sum of", self.equations(pairs),
                            "of each statement ⟨η(arguments), T⟩ − A(η) + log h of its family, "
                            "summed over its plates")  # fmt: skip

    def edges(self) -> str:
        """Which edges are conjugate, and which term breaks one."""
        rows = [(f"{self.named(e.parent)} → {self.named(e.child)}",
                 "conjugate" if e.conjugate else f"not conjugate: {e.term}")
                for e in self.d.edges]  # fmt: skip
        if not rows:
            return ""
        because = ("conjugate: log p of the child is linear in the statistics of the parent's "
                   "family, so that dividing by them leaves no remainder")  # fmt: skip
        return self.section("Edges", table(rows, columns=self.columns - len(INDENT)).splitlines(),
                            because)  # fmt: skip

    def conditional(self, u: Update) -> str:
        b = u.block
        given = ", ".join(f"{unicode_name(g.symbol.name)}" for g in b.given)
        bar = f" given {given}" if given else ""
        rows = self.equations([(self.say(p.statistic.value), self.say(p.coefficient))
                               for p in b.parts], ":")  # fmt: skip
        how = _JOINED.get(b.kind, "each element by itself").format(axis=b.axis)
        because = (f"in {b.family}, {how}: beside each statistic its coefficient in the log "
                   "joint; multiplied back they leave nothing over (identity)")  # fmt: skip
        own = {x for node in b.nodes for x in self.d.model.node(node).names}
        stood = [s for s in self.d.sites if own & set(s.nodes)]
        if stood:
            words = ", ".join(
                f"{self.sites.tangent(s, frozenset(own))} for {unicode_name(s.name)}" for s in stood
            )
            because += f", with {words}"
        return self.section(f"Full conditional of {self.named(b.name)}{bar}", rows, because)

    def element(self, x: Arrival) -> str:
        """What comes with one element of a chain, and what a step does with it."""
        pairs = [(self.say(s), self.say(e)) for s, e in brought(self.d, x)]
        rows = self.equations([*pairs, ("1", self.say(x.rest))], ":")
        if x.place:
            return self.section(f"What element {x.place} brings", rows)
        because = ("of its own statements, what is seen being the element's alone; a step adds "
                   "these to what is known of the last elements, and integrates the oldest out: "
                   "what that adds is log p of what is seen given the past")  # fmt: skip
        return self.section("What a later element brings", rows, because)

    def update(self, u: Update) -> str:
        """Natural parameters, then what people call them, and the expectations."""
        b = u.block
        rows = self.equations([(self.natural(b, k), self.say(p.expected))
                               for k, p in enumerate(b.parts)])  # fmt: skip
        member = member_of(self.d.model, b) if b.kind == "element" else None
        if member is not None:
            rows += self.working(member, means=not u.drawn)
        because = "the coefficients, expected under all other blocks"
        if u.drawn:
            because = f"the coefficients at the other blocks' values; then a draw from {b.family}"
        if member is not None and member.family.working and not member.one_hot:
            because += f"; parameters of {'this law' if u.drawn else 'q'} have a tilde"
        if u.scaled:
            because += (f"; sums over {u.scaled} count {u.scaled}/M times, and each parameter is "
                        f"mixed, {self.letter} ← (1 − ρₜ) {self.letter} + ρₜ this")  # fmt: skip
        if u.local:
            rounds = f"at most {self.d.inner} times" if self.d.inner else "to the fixed point"
            because += f"; repeated {rounds} within a step"
        title = f"Draw of {self.named(b.name)}" if u.drawn else f"Update of q({self.named(b.name)})"
        mark = "ρ = ρₜ" if u.scaled else (u.rate or "rho = 1").replace("rho", "ρ")
        return self.section(title, rows, because, "draw" if u.drawn else mark)

    def natural(self, b: Block, k: int) -> str:
        """λ₁ₖ; of a pair its statistic."""
        s = b.parts[k].statistic
        if len(s.positions) > 1:
            return f"pair {self.say(s.value)}"
        base = self.letter + self.digit(b, s.positions[0])
        node = f"({self.named(','.join(s.nodes))})" if len(b.nodes) > len(s.nodes) else ""
        return subscripted(base + node, [i.text for i in s.places])

    def digit(self, b: Block, position: int) -> str:
        """₁, where there are several natural parameters."""
        several = any(p.statistic.positions != (0,) for p in b.parts
                      if len(p.statistic.positions) == 1)  # fmt: skip
        return SUBSCRIPT[str(position + 1)] if several else ""

    @property
    def letter(self) -> str:
        """What natural parameters are called: no name of the model."""
        model = self.d.model
        known = {c.name for c in model.constants} | {x for n in model.nodes for x in n.names}
        taken = {unicode_name(x)[:1] for x in known}
        return next((x for x in "ληϑξ" if x not in taken), "Λ")

    def working(self, member: Member, means: bool = True) -> list[str]:
        """Parameters of q with a tilde by natural ones, and E[T] in them."""
        if member.one_hot:
            (t,) = member.statistics
            eta, k = self.natural(member.block, 0), t.places[-1].text
            share = f"exp({eta})/{subscripted('Σ', [k])} exp({eta})"
            text = self.say(t.value)
            return self.equations([(f"𝔼[{text}]" if means else f"p({text} = 1)", share)])
        g = kept_geometry(member.family)
        writer = Writer(g)
        names = {p.name: (self.letter + self.digit(member.block, k), "")
                 for k, p in enumerate(member.family.natural)}  # fmt: skip
        names |= {p.name: (tilde(unicode_name(p.name)), "") for p in member.family.working}

        parts = [p for p in (*member.family.natural, *member.family.working)
                 if isinstance(p.symbol, Component)]  # fmt: skip
        shown = {k: v for k, v in names.items() if k not in {p.name for p in parts}}

        def said(f: Formula, *, left: bool = False) -> str:
            side = f.left if left else f.right
            text = Terminal({**f.names, **shown}, writer.reading).text(side)
            for p in parts:  # these have a place of their own behind the name
                text = text.replace(unicode_name(p.name), names[p.name][0])
            return text

        working = g.working if member.family.working else ()
        chart = [
            writer.equal(x.name, g.working_of_natural[x], matrix=is_matrix(x)) for x in working
        ]
        mean = [writer.equal(f"mu{writer.index(k)}", e, matrix=writer.square(k))
                for k, e in enumerate(g.mean_in_working)]  # fmt: skip
        pairs = [(said(form, left=True), said(form)) for form in chart]
        if means:
            pairs += [(f"𝔼[{self.say(t.value)}]", said(form))
                      for t, form in zip(member.statistics, mean, strict=True)]  # fmt: skip
        return self.equations(pairs)

    def sums(self) -> str:
        rows = self.equations([(self.at(e.target, e.places), self.say(e.value))
                               for e in self.d.sums])  # fmt: skip
        because = "sums over rows of data and expectations alone"
        if self.d.rate:
            because += (
                ", each averaged over steps: s ← (1 − ρₜ) s + ρₜ (N/M) Σ over the step's rows"
            )
        return self.section("Expected statistics", rows, because)

    def point(self, u: PointUpdate) -> str:
        title = f"Argmax of 𝔼[log p] over {listed([self.named(x) for x in u.names])}"
        return self.section(title, self.solved(u), u.because, f"delta, {u.mode}")

    def solved(self, u: PointUpdate) -> list[str]:
        """The equations of a point: solved, linear, or to be solved by Newton steps."""
        if u.system is not None:
            shared = set(u.system.shared)
            rows = []
            for g, row in enumerate(u.system.matrix):
                sides = [self.side(m, x.name, x.places, shared)
                         for x, m in zip(u.system.unknowns, row, strict=True)]  # fmt: skip
                rows.append((" + ".join(sides), self.say(u.system.right[g])))
            return self.equations(rows)
        if u.stationary is not None:
            return self.equations([("0", self.say(g)) for g in u.stationary.slope])
        return self.equations([self.equation(e) for e in u.equations])

    def equation(self, e: Equation) -> tuple[str, str]:
        return self.at(e.target, e.places), self.say(e.value)

    def side(self, m: Expression, name: str, places: Sequence[Index], shared: set[Index]) -> str:
        """Σⱼ′ (M) xⱼ′."""
        over = [f"{i.text}′" for i in places if i not in shared]
        inner = [i.text if i in shared else f"{i.text}′" for i in places]
        factor = self.say(m)
        factor = f"({factor})" if " " in factor else factor
        product = f"{factor} {subscripted(unicode_name(name), inner)}"
        return f"{subscripted('Σ', over)} {product}" if over else product

    def objective(self) -> str:
        """E[log p] of every statement, and entropies."""
        if any(u.drawn for u in self.d.updates):
            return self.section("The objective is the log joint at the values", [],
                                "every constant counted")  # fmt: skip
        pairs = [(f"𝔼[log p({self.named(f.node)})]", self.say(e)) for f, e in
                 zip(self.d.factors, self.d.expected_factors, strict=True)]  # fmt: skip
        for u in self.d.updates:
            base = " − 𝔼[log h]" if u.block.base else ""
            pairs.append(
                (
                    f"𝓗(q({self.named(u.block.name)}))",
                    f"A({self.letter}) − ⟨{self.letter}, 𝔼[T]⟩{base}",
                )
            )
        return self.section("The objective is the sum of", self.equations(pairs),
                            "every constant counted; maximised over the first block")  # fmt: skip

    def choices(self) -> str:
        """The named approximations: why, under which condition, from where."""
        room = self.columns - len(INDENT) - 2
        rows = []
        for c in self.d.choices:
            nodes = ", ".join(self.named(x) for x in c.nodes)
            rows.append(f"{c.name.replace('rho', 'ρ')}: {nodes}")
            rows += [f"  {x}" for x in wrap(f"{c.reason}; if {c.condition} ({c.source})", room)]
        return self.section("What is chosen", rows) if rows else ""


def tilde(name: str) -> str:
    """A parameter of q: m̃, beside the model's own m."""
    return normalize("NFC", f"{name[0]}\u0303{name[1:]}")
