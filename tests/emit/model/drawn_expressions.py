"""Names and expressions of model texts that are drawn: what may stand where, safe in its domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

GREATEST = 2  # how deep expressions go
NUMBERS = {
    "real": ("0", "1", "-1/2", "3"),
    "pos": ("1", "2", "1/2", "3"),
    "share": ("1/2", "1/3"),
}
DOMAINS = {"real": "R", "pos": "(0, oo)", "share": "(0, 1)"}


@dataclass(frozen=True)
class Name:
    """Something that may stand in an expression."""

    name: str
    kind: str  # real, pos, share, simplex, vector, spd, matrix
    plates: tuple[str, ...] = ()
    unknown: bool = False
    size: str = ""  # of a vector or a simplex


@dataclass
class Known:
    """What a text under way knows, and expressions of it."""

    random: Random
    plates: dict[str, tuple[str, str]] = field(default_factory=dict)  # letter: size, outer
    lines: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    known: list[Name] = field(default_factory=list)
    labels: list[tuple[str, str]] = field(default_factory=list)  # "z[n]" and the plate it picks
    lettered: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of labels
    unseen: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    count: int = 0

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def picks(self, options: Sequence[Name]) -> Name:
        """One, rather one that nothing has used yet."""
        new = [x for x in options if x.name in self.unseen]
        open_ = [x for x in options if x.unknown]
        some = new if new and self.chance(0.9) else open_ if open_ and self.chance(0.6) else options
        return self.random.choice(some)

    # -- names ----------------------------------------------------------------------------------

    def reached(self, x: Name, letters: tuple[str, ...]) -> str | None:
        """The name with its indices in a statement of these letters."""
        indices = []
        for p in x.plates:
            by = [
                z
                for z, plate in self.labels
                if plate == p and set(self.lettered[z]) <= set(letters)
            ]
            if by and (p not in letters or self.chance(0.3)):
                indices.append(self.random.choice(by))
            elif p in letters:
                indices.append(p)
            elif self.plates[p][0].isdigit() and self.chance(0.2):
                indices.append(str(self.random.randint(1, int(self.plates[p][0]))))
            else:
                return None
        return x.name + (f"[{','.join(indices)}]" if indices else "")

    def named(
        self, kind: str, letters: tuple[str, ...], size: str = "", unknown: bool = True
    ) -> str:
        """A name of this kind that can be reached; none is ""."""
        options = [x for x in self.known if x.kind == kind and x.size == size
                   and (unknown or not x.unknown) and self.reached(x, letters)]  # fmt: skip
        if not options:
            return ""
        x = self.picks(options)
        made = None
        while made is None:
            made = self.reached(x, letters)
        self.see(x.name, made)
        return made

    def see(self, name: str, made: str) -> None:
        self.unseen.discard(name)
        self.used.add(name)
        for z, _ in self.labels:
            if z in made:
                self.unseen.discard(z.split("[")[0])

    def constant(self, kind: str, letters: tuple[str, ...], size: str = "") -> str:
        """A constant of its own, with or without a default."""
        name = self.fresh("c")
        plates = tuple(p for p in letters if self.chance(0.4) and self.whole(p, letters))
        if not self.closed(plates):
            plates = ()
        domain = {**DOMAINS, "simplex": f"simplex({size})", "vector": f"R^{size}",
                  "spd": f"SPD({size})", "alphas": f"(0, oo)^{size}"}[kind]  # fmt: skip
        default = ""
        if kind in NUMBERS and not plates and self.chance(0.5):
            default = " = " + self.random.choice(NUMBERS[kind])
        self.head.append(f"const {indexed(name, plates)} in {domain}{default}")
        self.known.append(Name(name, kind, plates, size=size))
        return indexed(name, plates)

    def whole(self, p: str, letters: tuple[str, ...]) -> bool:
        return not self.plates[p][1] or self.plates[p][1] in letters

    def closed(self, plates: tuple[str, ...]) -> bool:
        """A ragged plate stands behind its outer one."""
        return all(not self.plates[p][1] or self.plates[p][1] in plates for p in plates)

    # -- expressions ------------------------------------------------------------------------------

    def expression(self, kind: str, letters: tuple[str, ...], deep: int = 0, size: str = "") -> str:
        """An expression of a kind, safe in its domain."""
        if kind in ("vector", "spd", "simplex", "alphas"):
            return getattr(self, f"_{kind}")(letters, size)
        if kind == "const":
            return self.random.choice(NUMBERS["real"])
        if kind == "const+":
            return self.random.choice(NUMBERS["pos"])
        if kind == "n":
            return str(self.random.randint(1, 4))
        if kind == "eta":
            return "eta = " + self.expression("real", letters)
        roll = self.random.random()
        if roll < 0.7 or deep >= GREATEST:
            made = self.named(kind, letters)
            if made:
                return made
        if roll < 0.8 or deep >= GREATEST:
            if self.chance(0.5):
                return self.constant(kind, letters)
            return self.random.choice(NUMBERS[kind])
        return self.compound(kind, letters, deep + 1)

    def compound(self, kind: str, letters: tuple[str, ...], deep: int) -> str:
        def a(k: str) -> str:
            return self.expression(k, letters, deep)

        forms: dict[str, Sequence[Callable[[], str]]] = {
            "real": (
                lambda: f"{a('real')} + {a('real')}",
                lambda: f"{self.constant('real', letters)}*{bracketed(a('real'))}",
                lambda: f"{bracketed(a('real'))} - {bracketed(a('real'))}",
                lambda: f"{bracketed(a('real'))}*{bracketed(a('real'))}",
                lambda: f"log({a('pos')})",
                lambda: a("pos"),
                lambda: self.product(letters) or a("real"),
            ),
            "pos": (
                lambda: f"{bracketed(a('pos'))}*{bracketed(a('pos'))}",
                lambda: f"1/{bracketed(a('pos'))}",
                lambda: f"{a('pos')} + {a('pos')}",
                lambda: f"exp({a('real')})",
                lambda: f"{bracketed(a('pos'))}/{bracketed(a('pos'))}",
                lambda: f"{bracketed(a('real'))}**2 + {self.random.choice(NUMBERS['pos'])}",
                lambda: f"sqrt({a('pos')})",
            ),
            "share": (
                lambda: f"1/(1 + exp({bracketed(a('real'))}))",
                lambda: f"1 - {bracketed(a('share'))}",
                lambda: f"{bracketed(a('share'))}*{bracketed(a('share'))}",
                lambda: f"exp(-{bracketed(a('pos'))})",
            ),
        }
        return self.random.choice(forms[kind])()

    def product(self, letters: tuple[str, ...]) -> str:
        size = self.random.choice(["p", "d"])
        x = self.named("vector", letters, size)
        return f"dot({x}, {self.expression('vector', letters, size=size)})" if x else ""

    def _vector(self, letters: tuple[str, ...], size: str) -> str:
        made = self.named("vector", letters, size) if self.chance(0.7) else ""
        other = "p" if size == "d" else "d"
        if made and self.chance(0.2):
            return f"{made} + {self.constant('vector', letters, size)}"
        if not made and self.chance(0.4):
            x = self.named("vector", letters, other)
            if x:
                F = self.fresh("F")
                self.head.append(
                    f"{self.random.choice(['const', 'const', 'param'])} {F} in R^({size},{other})"
                )
                return f"{F}*{x}"
        return made or (
            self.constant("vector", letters, size) if self.chance(0.3) else f"zeros({size})"
        )

    def _spd(self, letters: tuple[str, ...], size: str) -> str:
        made = self.named("spd", letters, size) if self.chance(0.7) else ""
        return made or self.random.choice([
            lambda: f"eye({size})",
            lambda: f"{bracketed(self.expression('pos', letters, 1))}*eye({size})",
            lambda: self.constant("spd", letters, size),
            lambda: f"inv({self.constant('spd', letters, size)})",
        ])()  # fmt: skip

    def _alphas(self, letters: tuple[str, ...], size: str) -> str:
        if self.chance(0.5):
            return f"ones({size})"
        return self.constant("alphas", letters, size)

    def _simplex(self, letters: tuple[str, ...], size: str) -> str:
        return self.named("simplex", letters, size) or self.constant("simplex", letters, size)


def indexed(name: str, plates: Sequence[str]) -> str:
    """The name in its plates."""
    return f"{name}[{','.join(plates)}]" if plates else name


def bracketed(e: str) -> str:
    """A sum in brackets."""
    plain = e.replace("_", "").isalnum() or (e.endswith(("]", ")")) and not {*" */"} & {*e})
    return e if plain else f"({e})"
