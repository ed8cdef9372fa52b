"""All names of a model before any expression is read: the order of the text is free."""

from __future__ import annotations

from blrgen.read.model import raw
from blrgen.read.model.domains import replaced, said_shape
from blrgen.read.model.draws import first_family, own_sizes
from blrgen.read.model.families import own_shape
from blrgen.read.model.groups import Group, targets
from blrgen.read.model.indices import left_letters
from blrgen.read.model.mistakes import Broken
from blrgen.read.model.scope import Axis, Entry, Scope
from blrgen.read.model.values import Place, Size


class Declarer:
    """Enters plates, sizes, constants, params and nodes into the scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope, self.mistakes = scope, scope.mistakes
        self.groups: list[Group] = []
        self.taken: dict[str, tuple[str, Place]] = {}

    def declare(self, statements: list[raw.RawStatement]) -> None:
        """Families, then plates and sizes, then names with values."""
        for s in statements:
            if isinstance(s, raw.RawFamily):
                self.scope.families.declare(s)
        for s in statements:
            if isinstance(s, raw.RawPlate):
                self.plate(s)
        self.order_of_plates()
        for s in statements:
            if isinstance(s, raw.RawConst | raw.RawParam):
                self.given(s)
            elif isinstance(s, raw.RawRandom | raw.RawLink):
                self.gather(s)
        for number, group in enumerate(self.groups):
            group.number = number
            self.node(group)
        self.arguments()

    def take(self, name: str, what: str, place: Place) -> bool:
        """Give a name away, once."""
        if name in self.taken:
            before, where = self.taken[name]
            line = f" on line {where.line}" if where != place else ""
            self.mistakes.note(
                "duplicate", place, f"{name} is already {before}{line}",
                instead="give one of them another name", node=name,
            )  # fmt: skip
            return False
        self.taken[name] = (what, place)
        return True

    def plate(self, said: raw.RawPlate) -> None:
        if not self.take(said.letter, "a plate's letter", said.place):
            return
        per = said.per[0][0] if said.per else ""
        if len(said.per) > 1:
            self.mistakes.note(
                "index", said.per[1][1], "a ragged size has one index",
                why="its length is given for each element of one plate",
                instead="lay the elements flat: plate n in N, and for each plate that they lie in "
                "a label, as in const g[n] in labels(G)",
            )  # fmt: skip
        if per:
            self.scope.ragged[said.size.name] = per
        try:
            size = self.scope.size(said.size, plate=True)
        except Broken:
            size = Size("", 1)
        self.scope.axes[said.letter] = Axis(
            said.letter, Size(size.name, size.number, per), (per,) if per else (), said
        )

    def order_of_plates(self) -> None:
        """The letters that a ragged plate counts in are plates, and not in a circle."""
        for axis in self.scope.axes.values():
            seen, outer = [axis.letter], axis.size.per
            place = axis.said.per[0][1] if axis.said.per else axis.said.place
            while outer:
                if outer in seen:
                    self.mistakes.note("cycle", place, f"the plate {axis.letter} counts in itself")
                    for letter in seen:
                        inside = self.scope.axes[letter]
                        inside.size, inside.outer = Size(inside.size.name), ()
                    break
                if outer not in self.scope.axes:
                    if outer not in self.scope.failed:
                        self.mistakes.note(
                            "unknown-name", place, f"{outer} is no plate",
                            instead=f"declare it: plate {outer} in {outer.upper()}",
                        )  # fmt: skip
                    axis.size, axis.outer = Size(axis.size.name), ()
                    break
                seen.append(outer)
                self.scope.axes[outer].used = True
                outer = self.scope.axes[outer].size.per
            else:
                axis.outer = tuple(seen[:0:-1])
        for axis in self.scope.axes.values():
            size = axis.size
            others = [a for a in self.scope.axes.values() if a.size.name == size.name and size.name]
            if any(bool(a.size.per) != bool(size.per) for a in others) and size.per:
                self.mistakes.note(
                    "size", axis.said.size.place, f"{size.name} is one size elsewhere, here one "
                    f"for each {size.per}", instead="give one of them another name",
                )  # fmt: skip

    def given(self, said: raw.RawConst | raw.RawParam) -> None:
        """A constant or a param."""
        kind = "const" if isinstance(said, raw.RawConst) else "param"
        name = said.target.name
        self.mistakes.node = name
        if not self.take(name, f"a {'constant' if kind == 'const' else kind}", said.place):
            return
        entry = Entry(name, kind, said.place)
        self.scope.entries[name] = entry
        try:
            letters = self.letters(said.target)
            entry.letters = tuple(x for x in letters if isinstance(x, str))
            if len(entry.letters) < len(letters):
                raise self.mistakes.broken(
                    "index", said.place, f"{name} is declared for a single element",
                    instead="declare it along a plate, or without an index",
                )  # fmt: skip
            entry.shape = said_shape(self.scope, said.domain)
            if said.domain.kind == "labels":
                if kind == "param":
                    raise self.mistakes.broken(
                        "domain", said.domain.place, "a param cannot be a label",
                        why="points move; a label is a latent categorical or a constant",
                        instead=f"write {name} ~ categorical(…)",
                    )  # fmt: skip
                entry.label = self.scope.size(said.domain.sizes[0])
            if kind == "param" and said.domain.kind in ("integers", "points"):
                raise self.mistakes.broken(
                    "domain", said.domain.place, "a param cannot be a whole number",
                    why="points move; only constants and latents are whole",
                )  # fmt: skip
        except Broken:
            entry.broken = True

    def letters(self, target: raw.RawTarget) -> tuple[str | int, ...]:
        """The left side's indices; each a letter of a plate or one whole number, none twice."""
        found: list[str | int] = []
        read = left_letters(target.indices, dict(self.scope.axes))
        for i, said in zip(read, target.indices, strict=True):
            place = getattr(said, "place", target.place)
            if i is None:
                raise self.unfit(target, said, place)
            if isinstance(i, str):
                self.scope.axes[i].used = True
                if i in found:
                    raise self.mistakes.broken(
                        "index", place, f"{target.name} runs along {i} twice",
                        instead="declare a second plate over the same size, with its own letter",
                    )  # fmt: skip
                self.stands_inside(target, i, found, place)
            found.append(i)
        return tuple(found)

    def stands_inside(
        self, target: raw.RawTarget, i: str, before: list[str | int], place: Place
    ) -> None:
        """What is ragged stands right behind what it is ragged under."""
        outer = self.scope.axes[i].outer
        missing = [o for o in outer if o not in before]
        if missing:
            whole = ", ".join([*map(str, before), *missing, i])
            raise self.mistakes.broken(
                "index", place, f"{i} counts inside {missing[0]}, which is missing",
                instead=f"write {target.name}[{whole}]",
            )  # fmt: skip
        if outer and before[-1] != outer[-1]:
            at = before.index(outer[-1]) + 1
            rest = left_letters(target.indices, dict(self.scope.axes))[len(before) + 1 :]
            whole = ", ".join(map(str, [*before[:at], i, *before[at:], *rest]))
            raise self.mistakes.broken(
                "index", place, f"{i} counts inside {outer[-1]}, and stands right behind it",
                why="a ragged plate is flat in arrays, one row after the other",
                instead=f"write {target.name}[{whole}]",
            )  # fmt: skip

    def unfit(self, target: raw.RawTarget, said: raw.RawIndex, place: Place) -> Broken:
        if isinstance(said, raw.RawRef) and not said.indices:
            near = f"declare it: plate {said.name} in {said.name.upper()}"
            if said.name in self.scope.failed:
                return Broken(said.name)
            kind = "index" if self.scope.is_known(said.name) else "unknown-name"
            return self.mistakes.broken(
                kind, place, f"{said.name} is no plate, and {target.name} cannot run along it",
                instead=near if kind == "unknown-name" else "write the letter of a plate",
            )  # fmt: skip
        return self.mistakes.broken(
            "index", place, f"this cannot be an index of {target.name} on the left",
            why="a statement makes all elements along a plate, or one of a chain's first",
            instead="write a plate's letter, or a whole number from 1",
        )  # fmt: skip

    def gather(self, said: raw.RawRandom | raw.RawLink) -> None:
        """Statements of the same names are one node."""
        targets = said.targets if isinstance(said, raw.RawRandom) else (said.target,)
        names = tuple(t.name for t in targets)
        for group in self.groups:
            if group.names == names:
                group.statements.append(said)
                return
        free = [self.take(t.name, "a node", t.place) for t in targets]
        if all(free):
            self.groups.append(Group(names, [said]))

    def node(self, group: Group) -> None:
        """The entries of a node: its kind, its letters, and the shapes that its family gives."""
        self.mistakes.node = group.name
        first = group.statements[0]
        link = isinstance(first, raw.RawLink)
        observed = isinstance(first, raw.RawRandom) and first.observed
        group.kind = "deterministic" if link else "observed" if observed else "latent"
        group.missing = isinstance(first, raw.RawRandom) and first.missing
        for name, place in zip(group.names, group.places, strict=True):
            entry = Entry(name, group.kind, place, group=group.number)
            self.scope.entries[name] = entry
            group.entries.append(entry)
        for said in group.statements:
            self.mark(said)
        try:
            self.alike(group)
            group.find_letters(self.letters, self.scope)
            for entry in group.entries:
                entry.letters = group.letters
            if not link:
                self.shapes(group)
        except Broken:
            group.broken = True
            for entry in group.entries:
                entry.broken = True

    def mark(self, said: raw.RawRandom | raw.RawLink) -> None:
        """The plates on the left of a statement are used, whatever is wrong with it."""
        for target in targets(said):
            for letter in left_letters(target.indices, dict(self.scope.axes)):
                if isinstance(letter, str):
                    self.scope.axes[letter].used = True

    def alike(self, group: Group) -> None:
        """All statements of a node say the same of it."""
        for said in group.statements:
            link = isinstance(said, raw.RawLink)
            observed = not isinstance(said, raw.RawLink) and said.observed
            missing = not isinstance(said, raw.RawLink) and said.missing
            if isinstance(said, raw.RawLink) and said.observed:
                raise self.mistakes.broken(
                    "measure", said.place, f"{group.name} is deterministic and cannot be observed",
                    why="a deterministic node has no density",
                    instead="write its distribution with ~, or leave observed out",
                )  # fmt: skip
            if link != (group.kind == "deterministic"):
                raise self.mistakes.broken(
                    "duplicate", said.place, f"{group.name} is made twice: by = and by ~",
                    instead="give one of them another name",
                )  # fmt: skip
            if observed != (group.kind == "observed") or missing != group.missing:
                raise self.mistakes.broken(
                    "duplicate", said.place,
                    f"{group.name} is {'observed' if observed else 'latent'} here, elsewhere "
                    f"{'observed' if group.kind == 'observed' else 'latent'}"
                    + (" (or missing)" if missing != group.missing else ""),
                    why="all statements of a node are observed alike",
                    instead="write the same behind each of them",
                )  # fmt: skip

    def shapes(self, group: Group) -> None:
        """Fresh sizes for what the first family makes; whether it can be an index."""
        first = group.statements[0]
        assert isinstance(first, raw.RawRandom)
        said = first_family(first.made)
        if said is None:
            if isinstance(first.made, raw.RawChoose):
                self.mistakes.note(
                    "measure", first.made.place, "a node of point masses alone has no distribution",
                    instead="write a family for one of the labels",
                )  # fmt: skip
            raise Broken(group.name)  # what a single point is wrong for is said where it is read
        signature = self.scope.families.get(said.family, said.place)
        if signature is None:
            raise Broken(said.family)
        supports = signature.family.supports
        if len(supports) != len(group.names):
            return  # said where the draw is read
        own = {n: self.scope.sizes.fresh() for n in own_sizes(signature.family)}
        for entry, support in zip(group.entries, supports, strict=True):
            entry.shape = replaced(own_shape(support.size), own)
            if support.kind == "one-hot":
                entry.label = entry.shape[0]
            elif support.kind == "finite" and [int(p) for p in support.points] == [0, 1]:
                entry.label, entry.binary = (
                    (Size("", 2), True) if not entry.shape else (None, False)
                )

    def arguments(self) -> None:
        """Sizes, constants and data become arguments of the constructor."""
        names = [(n, p, "") for n, p in self.scope.size_names.items()]
        names += [
            (e.name, e.place, e.name)
            for e in self.scope.entries.values() if e.kind in ("const", "observed")
        ]  # fmt: skip
        for name, place, node in names:
            if name in self.scope.size_names and name in self.taken:
                what, where = self.taken[name]
                if not node:
                    self.mistakes.note(
                        "duplicate", max(place, where), f"{name} is both a size and {what}",
                        instead="a size is a name of its own: plate n in N", node=name,
                    )  # fmt: skip
            elif why := self.scope.argument_clash(name):
                self.mistakes.note(
                    "duplicate", place, f"{name!r} cannot name data, a constant or a size",
                    why=why, instead="choose another name", node=node,
                )  # fmt: skip
