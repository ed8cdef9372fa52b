"""Data against a model: sizes, shapes, labels, missing values, supports, domains.

Every size is said by an array's axis or given by its name; what two arrays say of one size
must agree.  Labels count from 0, or are rows with a single 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blrgen.errors import did_you_mean
from blrgen.read.model.given import Unreadable
from blrgen.read.model.inside import first_outside
from blrgen.read.model.known import Known
from blrgen.read.model.layout import Extent, arrays, lengths
from blrgen.read.model.mistakes import Mistake, Mistakes
from blrgen.read.model.ranges import Finding, check_at_sizes
from blrgen.read.model.values import Choose, Const, Domain, Draw, Model, Node, Place, Point

Array = Any
_LABELS = "labels count from 0, or are rows with a single 1"
NOWHERE = Place()


def check_data(
    model: Model, given: Mapping[str, Any]
) -> tuple[tuple[Mistake, ...], tuple[Finding, ...]]:
    """All mistakes in data, constants and sizes, in the order of the text."""
    found = DataCheck(model, given)
    found.run()
    return found.mistakes.in_order(), ()


class DataCheck:
    """One look at all arrays of a model."""

    def __init__(self, model: Model, given: Mapping[str, Any]) -> None:
        self.model, self.given = model, dict(given)
        self.mistakes = Mistakes()
        self.arrays = arrays(model)
        self.ragged = lengths(model)
        self.sizes: dict[str, tuple[int, str]] = {}  # size → (value, which array said so)
        self.totals: dict[str, tuple[int, str]] = {}  # ragged size → (sum, which array said so)
        self.values: dict[str, Array] = {}

    def run(self) -> None:
        self.unknown()
        for name in self.model.sizes:
            if name in self.given:
                self.given_size(name)
        usable = []
        for name, (owner, axes) in self.arrays.items():
            if name in self.given:
                if (value := self.numbers(name, owner)) is not None:
                    usable.append((name, owner, axes, value))
            elif not isinstance(owner, Const) or owner.default is None:
                kind = "a constant" if isinstance(owner, Const) else "data"
                self.wrong("data", owner, name, f"{name} is missing", f"it is {kind} of the model",
                           f'give it: --data {name}=FILE.csv, or "{name}" in the JSON')  # fmt: skip
        for name, owner, axes, value in usable:
            self.shape(name, owner, axes, value)
        self.missing_sizes()
        for name, owner, _, _ in usable:
            if name in self.values:
                self.content(name, owner, self.values[name])
        if not self.mistakes.found:
            check_at_sizes(self.model, {n: v for n, (v, _) in self.sizes.items()}, self.mistakes)

    def wrong(
        self, kind: str, owner: Const | Node | None, name: str, text: str, why: str = "",
        instead: str = "",
    ) -> None:  # fmt: skip
        place = owner.place if owner is not None else NOWHERE
        self.mistakes.note(kind, place, text, why=why, instead=instead,
                           node=owner.name if owner is not None else name)  # fmt: skip

    def unknown(self) -> None:
        known = {*self.arrays, *self.model.sizes}
        for name in self.given:
            if name not in known:
                self.wrong("data", None, name, f"the model has no {name[:60]!r}",
                           "it is no constant, no size and not observed",
                           did_you_mean(name[:60], known))  # fmt: skip

    def numbers(self, name: str, owner: Const | Node) -> Array | None:
        """The array as numbers, or a mistake."""
        import numpy as np

        if isinstance(self.given[name], Unreadable):
            self.wrong("data", owner, name, f"{name} is no array of numbers", self.given[name].why)
            return None
        value = np.asarray(self.given[name])
        if value.dtype.kind not in "fiub":
            self.wrong("data", owner, name, f"{name} is not made of numbers",
                       f"its type is {value.dtype}")  # fmt: skip
            return None
        missing = isinstance(owner, Node) and owner.missing
        bad = ~np.isfinite(value) if not missing else np.isinf(value)
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            what = "missing" if np.isnan(value[at]) else "infinite"
            how = ""
            if what == "missing" and isinstance(owner, Node):
                how = f"write observed or missing behind the statement of {owner.name}"
            self.wrong("data", owner, name, f"{name}{_at(at)} is {what}", "not a number", how)
            return np.where(bad, np.nan, value)
        return value

    def given_size(self, name: str) -> None:
        import numpy as np

        if isinstance(self.given[name], Unreadable):
            self.wrong("data", None, name, f"{name} is no number", self.given[name].why)
            return
        value = np.asarray(self.given[name])
        whole = value.dtype.kind in "fiu" and bool((value == np.floor(value)).all())
        if not whole or value.size == 0 or bool((value < (0 if name in self.ragged else 1)).any()):
            self.wrong("data", None, name, f"the size {name} is no whole number from 1")
        elif name in self.ragged:
            if value.ndim != 1:
                self.wrong("data", None, name, f"{name} is one length for each element",
                           f"given: {_shape(value.shape)}", f'"{name}": [3, 5, 4]')  # fmt: skip
                return
            self.totals[name] = (int(value.sum()), f"the lengths {name}")
            outer = self.ragged[name]
            if outer in self.ragged:
                self.totals.setdefault(outer, (len(value), name))
            elif not outer.isdigit():
                self.say(outer, len(value), name, None)
        elif value.ndim:
            self.wrong("data", None, name, f"the size {name} is one number",
                       f"given: {_shape(value.shape)}")  # fmt: skip
        else:
            self.sizes[name] = (int(value), "")

    def say(self, name: str, value: int, by: str, owner: Const | Node | None) -> bool:
        """An array says a size; False where it is none, or another said otherwise."""
        if value < 1:
            self.wrong("data", owner, by, f"{by} has no elements along {name}",
                       "a size is 1 or more")  # fmt: skip
            return False
        before, who = self.sizes.setdefault(name, (value, by))
        if before != value:
            why = f"{name} = {before} " + (f"by {who}" if who else "is given")
            self.wrong("data", owner, by, f"{by} has {value} along {name}, which is {before}",
                       why, "their lengths must agree")  # fmt: skip
        return before == value

    def shape(self, name: str, owner: Const | Node, axes: tuple[Extent, ...], value: Array) -> None:
        """The array has the axes of its name; labels are made rows with a single 1."""
        domain = self.domain(owner, name)
        as_labels = domain.kind == "labels" or domain.kind == "one-hot"
        if as_labels and value.ndim == len(axes) - (domain.kind == "one-hot"):
            axes = axes[: value.ndim]
        elif domain.kind == "labels" and value.ndim == len(axes) + 1 and domain.labels:
            axes = (*axes, Extent(domain.labels))
        if value.ndim != len(axes):
            wants = f"({', '.join(map(str, axes))})" if axes else "one number"
            self.wrong("data", owner, name, f"{name} has the wrong shape: {_shape(value.shape)}",
                       f"the model says {wants}",
                       "a ragged plate is flat, with the lengths under the size's name"
                       if any(a.flat for a in axes) else "")  # fmt: skip
            return
        fits = [self.axis(a, n, name, owner) for a, n in zip(axes, value.shape, strict=True)]
        if all(fits):
            self.values[name] = value

    def axis(self, axis: Extent, n: int, name: str, owner: Const | Node) -> bool:
        size = axis.size
        if axis.flat:
            before, who = self.totals.setdefault(size.name, (n, name))
            if before != n:
                self.wrong("data", owner, name, f"{name} has {n} elements along {size.name}, "
                           f"which has {before}", f"by {who}")  # fmt: skip
            return before == n
        if size.name:
            return self.say(size.name, n - size.number, name, owner)
        if n != size.number:
            self.wrong("data", owner, name, f"{name} has {n} elements where the model says "
                       f"{size.number}")  # fmt: skip
        return n == size.number

    def missing_sizes(self) -> None:
        """Lengths of ragged plates are given; other sizes are said by an array, or given."""
        for name in self.ragged:
            if name not in self.given:
                self.wrong("data", None, name, f"the lengths {name} are missing",
                           "a ragged plate needs one for each outer element",
                           f'"{name}": [3, 5, 4]')  # fmt: skip
        if self.mistakes.found:
            return  # an array that is missing or wrong may be the one that says it
        for name in self.model.sizes:
            if name not in self.ragged and name not in self.sizes:
                self.wrong("data", None, name, f"no array says the size {name}", "",
                           f"give it: --set {name}=3")  # fmt: skip

    def domain(self, owner: Const | Node, name: str) -> Domain:
        if isinstance(owner, Const):
            return owner.domain
        return owner.domains[owner.names.index(name)]

    def content(self, name: str, owner: Const | Node, value: Array) -> None:
        """Every element in its domain or support."""
        domain = self.domain(owner, name)
        if domain.kind in ("labels", "one-hot") and self.labels(name, owner, domain, value):
            return
        known = Known(self.model, self.values, {n: v for n, (v, _) in self.sizes.items()})
        bad = first_outside(value, domain, lambda e: known.number(e, owner.letters))
        if bad is None or (isinstance(owner, Node) and self.chosen(owner, value, bad[0])):
            return
        at, why = bad
        shown = value[at] if at or not value.ndim else value
        text = f"{name}{_at(at)} = {_short(shown)} is not in {domain.text}"
        kind = "domain" if isinstance(owner, Const) else "support"
        if isinstance(owner, Node) and owner.draws:
            text = f"{name}{_at(at)} = {_short(shown)} cannot come from {owner.draws[0].family}"
            why = f"its values are in {domain.text}; {why}"
        self.wrong(kind, owner, name, text, why)

    def chosen(self, node: Node, value: Array, at: tuple[int, ...]) -> bool:
        """Whether all elements are in some branch of a choice; an element on one is enough."""
        import numpy as np

        made = node.statements[-1].made
        if not isinstance(made, Choose):
            return False
        known = Known(self.model, self.values, {n: v for n, (v, _) in self.sizes.items()})
        inside = np.isnan(np.asarray(value, dtype=float))
        for branch in made.branches:
            if isinstance(branch, Point):
                point = known.number(branch.value, node.letters)
                inside |= value == point if point is not None else True
            elif isinstance(branch, Draw):
                domain = known.support(branch)
                each = [first_outside(v, domain, lambda e: known.number(e, ())) is None
                        for v in np.ravel(value)]  # fmt: skip
                inside |= np.array(each).reshape(value.shape)
        return bool(inside.all())

    def labels(self, name: str, owner: Const | Node, domain: Domain, value: Array) -> bool:
        """Whole numbers from 0; True where the array holds such and was looked at."""
        import numpy as np

        size = domain.labels if domain.kind == "labels" else domain.shape[0]
        plates = len(self.arrays[name][1]) - (domain.kind == "one-hot")
        if value.ndim != plates or size is None:
            if domain.kind == "labels":
                rows = Domain("one-hot", (domain.labels,), text=domain.text)  # type: ignore[arg-type]
                bad = first_outside(value, rows, lambda e: None)
                if bad is not None:
                    self.wrong(
                        "data", owner, name, f"{name}{_at(bad[0])} is no label", bad[1], _LABELS
                    )
            return domain.kind == "labels"
        said = not size.name or size.name in self.sizes
        many = size.number + (self.sizes[size.name][0] if size.name and said else 0)
        bad = ~np.isnan(value.astype(float)) & ((value != np.floor(value)) | (value < 0))
        if said:
            bad |= value >= many
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            kind = "data" if isinstance(owner, Const) else "support"
            self.wrong(kind, owner, name, f"{name}{_at(at)} = {_short(value[at])} is no label",
                       "labels are whole numbers from 0" + f" to {many - 1}" * said,
                       "count from 0" if said and value[at] == many else _LABELS)  # fmt: skip
        return True


def _at(at: tuple[int, ...]) -> str:
    """The place in the array, counted from 0 as arrays are."""
    return f"[{', '.join(map(str, at))}]" if at else ""


def _short(value: Any) -> str:
    import numpy as np

    flat = np.ravel(np.asarray(value))
    inside = ", ".join(f"{v:.6g}" for v in flat[:4].astype(float))
    return inside if flat.size == 1 else f"[{inside}{', …' * (flat.size > 4)}]"


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})" if shape else "one number"
