"""Axes and their letters, and arrays that are given, drawn by seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from blrgen.program.axes import nodes as a
from tests.program.axes.drawn_expressions import Expressions, Known

LENGTHS = {
    "N": (1, 2, 3, 5, 7, 9), "K": (1, 2, 3, 4), "d": (1, 2, 3), "T": (1, 2, 3, 5),
    "W": (0,), "O": (0,), 2: (2,),
}  # fmt: skip


class Given(Expressions):
    """What a program is given, with values."""

    def __init__(self, seed: int) -> None:
        rng = Random(seed)
        self.numbers = np.random.default_rng(seed)
        lengths: dict[a.Size, int] = {k: rng.choice(v) for k, v in LENGTHS.items()}
        if rng.random() < 0.04:
            lengths["N"] = 0
        super().__init__(rng, self.all_letters(rng), lengths)
        self.given: list[a.Quantity] = []
        self.values: dict[str, Any] = {}
        self.count = 0

    def all_letters(self, rng: Random) -> list[a.Letter]:
        """Several over one axis, backward ones, and ragged ones."""
        made = [a.Letter(x, "N") for x in "nm"[: rng.choice((1, 2))]]
        made += [a.Letter(x, "K") for x in "kh"[: rng.choice((1, 2))]]
        made += [a.Letter(x, "d") for x in "ijl"[: rng.choice((1, 2, 3, 3))]]
        if rng.random() < 0.55:
            made += [a.Letter("t", "T"), a.Letter("u", "T", down=True), a.Letter("s", "T")]
        if rng.random() < 0.3:
            made += [a.Letter(x, 2) for x in "ab"]
        if rng.random() < 0.35:
            made += [a.Letter(x, "W", "n", "ptr") for x in "wv"[: rng.choice((1, 2))]]
        return made

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def all_given(self) -> None:
        ragged = [x for x in self.letters if x.under]
        if ragged:
            self.pointers()
        sizes: list[a.Size] = list(dict.fromkeys(x.size for x in self.letters if not x.under))
        for size in sizes:  # whoever has a letter has something to read
            self.array(self.axes(sizes, first=size))
        for _ in range(self.rng.choice((1, 2, 3))):
            self.array(self.axes(sizes))
        self.array(())
        for _ in range(self.rng.choice((0, 1, 2))):
            self.labels(sizes)
        if ragged:
            self.array(("N", "W"))
            if self.rng.random() < 0.5:
                self.array((self.rng.choice(sizes), "N", "W"))
            if self.rng.random() < 0.6:
                self.labels(sizes, ("N", "W"))
        for structure in ("spd", "lower", "sym"):
            if self.rng.random() < 0.4:
                self.matrix(structure, sizes)

    def axes(self, sizes: list[a.Size], first: a.Size = "") -> tuple[a.Size, ...]:
        count = self.rng.choice((1, 1, 2, 2, 3))
        found = [first] if first != "" else []
        found += [self.rng.choice(sizes) for _ in range(count - len(found))]
        self.rng.shuffle(found)
        return tuple(found)

    def shape(self, sizes: Sequence[a.Size]) -> list[int]:
        out = []
        for p, x in enumerate(sizes):
            if not self.is_over_ragged(sizes, p):
                out.append(self.lengths[x])
        return out

    def hold(self, q: a.Quantity, value: Any, positive: bool = False) -> None:
        self.given.append(q)
        self.values[q.name] = value
        self.known[q.name] = Known(q.name, q.sizes, q.structure, positive, q.labels)

    def array(self, sizes: tuple[a.Size, ...]) -> None:
        positive = self.rng.random() < 0.3
        value = self.numbers.normal(size=self.shape(sizes))
        value = 0.3 + np.abs(value) if positive else value
        name = self.name("p" if positive else "x" if sizes else "c")
        self.hold(a.Quantity(name, sizes), value if sizes else float(value), positive)

    def labels(self, sizes: list[a.Size], on: tuple[a.Size, ...] = ()) -> None:
        of = [x for x in sizes if self.lengths[x]]
        to = self.rng.choice(of)
        on = on or (self.rng.choice(sizes),)
        value = self.numbers.integers(0, self.lengths[to], self.shape(on))
        self.hold(a.Quantity(self.name("z"), on, labels=to), value)

    def matrix(self, structure: str, sizes: list[a.Size]) -> None:
        size = self.rng.choice([x for x in sizes if x in ("d", "K", 2)])
        d = self.lengths[size]
        batch = (self.rng.choice(sizes),) if self.rng.random() < 0.4 else ()
        root = self.numbers.normal(size=(*self.shape(batch), d, d))
        value = root @ np.swapaxes(root, -1, -2) / d + np.eye(d)
        if structure == "lower":
            value = np.tril(root) * 0.5 + np.eye(d) * 1.5
        elif structure == "sym":
            value = root + np.swapaxes(root, -1, -2)
        self.hold(a.Quantity(self.name("S"), (*batch, size, size), structure), value)

    def pointers(self) -> None:
        rows = [self.rng.choice((0, 1, 2, 3)) for _ in range(self.lengths["N"])]
        if self.rng.random() < 0.5:
            rows = [max(1, x) for x in rows]
        self.ragged_full = all(rows)
        self.lengths["W"], self.lengths["O"] = sum(rows), len(rows) + 1
        self.given.append(a.Quantity("ptr", ("O",)))
        self.values["ptr"] = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
