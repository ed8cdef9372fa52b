"""Model texts drawn by seed: well-formed ones, of which each flag makes a class or a reason.

`drawn_text(seed)` begins with plates (crossed, nested, ragged), then priors, labels and chains,
each with arguments that are drawn from what is known so far, in its own plates or by a label;
last come what is observed, until everything unknown is seen by some of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from tests.emit.model.drawn_expressions import DOMAINS, NUMBERS, Known, Name, bracketed, indexed

PRIORS = {  # family, what it is, what its arguments are
    "real": (("gaussian", "real pos"), ("gaussian", "real pos"), ("gaussian", "const pos")),
    "pos": (("gamma", "pos pos"), ("gamma", "const+ const+"), ("inverse-gamma", "pos pos"),
            ("exponential", "pos"), ("log-normal", "real pos")),
    "share": (("beta", "pos pos"), ("beta", "const+ const+")),
}  # fmt: skip
LEAVES = (
    ("gaussian", "real pos"), ("gaussian", "real pos"), ("gaussian", "real pos"),
    ("poisson", "pos"), ("bernoulli", "share"), ("bernoulli", "eta"), ("gamma", "pos pos"),
    ("exponential", "pos"), ("geometric", "share"), ("binomial", "share n"),
    ("negative-binomial", "share pos"), ("beta", "pos pos"), ("log-normal", "real pos"),
    ("categorical", "simplex"), ("multinomial", "simplex n"), ("gaussian-full", "vector spd"),
    ("laplace", "pos const"), ("weibull", "pos const+"), ("inverse-gamma", "pos pos"),
    ("rayleigh", "pos"), ("zero-truncated-poisson", "pos"), ("gaussian-isotropic", "vector pos"),
    ("inverse-gaussian", "pos pos"), ("normal-known-mean", "pos real"), ("dirichlet", "alphas"),
)  # fmt: skip


class Text(Known):
    """A text under way."""

    def arguments(self, said: str, letters: tuple[str, ...], size: str = "") -> str:
        return ", ".join(self.expression(k, letters, size=size) for k in said.split())

    def prior(self, kind: str, plates: tuple[str, ...], size: str = "") -> None:
        """A latent, or a param, of a kind."""
        name = self.fresh({"real": "m", "pos": "s", "share": "r", "simplex": "pi",
                           "vector": "w", "spd": "L"}[kind])  # fmt: skip
        left = indexed(name, plates)
        if self.chance(0.2) and not any(self.plates[p][1] for p in plates):
            domain = {**DOMAINS, "simplex": f"simplex({size})", "vector": f"R^{size}",
                      "spd": f"SPD({size})"}[kind]  # fmt: skip
            self.lines.append(f"param {left} in {domain}")
        elif kind in PRIORS:
            family, said = self.random.choice(PRIORS[kind])
            self.lines.append(f"{left} ~ {family}({self.arguments(said, plates)})")
        elif kind == "simplex":
            self.lines.append(f"{left} ~ dirichlet({self._alphas(plates, size)})")
        elif kind == "vector":
            self.lines.append(
                f"{left} ~ gaussian-full({self._vector(plates, size)}, {self._spd(plates, size)})"
            )
        else:
            self.lines.append(f"{left} ~ wishart({self.constant('spd', (), size)}, {size} + 1)")
        self.add(Name(name, kind, plates, True, size))

    def add(self, x: Name) -> None:
        self.known.append(x)
        self.unseen.add(x.name)

    def joint(self, plates: tuple[str, ...]) -> None:
        mu, tau = self.fresh("m"), self.fresh("s")
        a = ", ".join(self.random.choice(NUMBERS[k]) for k in ("real", "pos", "pos", "pos"))
        self.lines.append(f"({indexed(mu, plates)}, {indexed(tau, plates)}) ~ normal-gamma({a})")
        for x, k in ((mu, "real"), (tau, "pos")):
            self.add(Name(x, k, plates, True))

    def label(self, plates: tuple[str, ...], k: str) -> None:
        """A label of a plate k for each of these plates; known, latent, sometimes a bernoulli."""
        name, size = self.fresh("z"), self.plates[k][0]
        left = indexed(name, plates)
        if self.chance(0.15):
            self.head.append(f"const {left} in labels({size})")
        elif size == "2" and self.chance(0.4):
            self.lines.append(f"{left} ~ bernoulli({self.expression('share', plates)})")
            self.unseen.add(name)
        else:
            self.lines.append(f"{left} ~ categorical({self._simplex(plates, size)})")
            self.unseen.add(name)
        self.labels.append((left, k))
        self.lettered[left] = plates

    def chain(self, t: str, outer: tuple[str, ...]) -> None:
        """A Gaussian chain, of numbers or vectors."""
        name, plates = self.fresh("x"), (*outer, t)
        first, now, before = (indexed(name, (*outer, x)) for x in ("1", t, f"{t}-1"))
        if self.chance(0.3):
            F = self.fresh("F")
            self.head.append(f"const {F} in R^(d,d)")
            self.lines.append(f"{first} ~ gaussian-full(zeros(d), {self._spd(outer, 'd')})")
            self.lines.append(f"{now} ~ gaussian-full({F}*{before}, {self._spd(outer, 'd')})")
            self.add(Name(name, "vector", plates, True, "d"))
            return
        by = bracketed(self.expression("real", outer, 1))
        mean = self.random.choice([before, f"{by}*{before}", f"{before} + {by}"])
        self.lines.append(f"{first} ~ gaussian({self.arguments('const pos', outer)})")
        self.lines.append(f"{now} ~ gaussian({mean}, {self.expression('pos', outer, 1)})")
        self.add(Name(name, "real", plates, True))

    def labels_chain(self, t: str, outer: tuple[str, ...], k: str) -> None:
        """A hidden Markov chain of labels of a plate k."""
        name, size = self.fresh("z"), self.plates[k][0]
        first, now, before = (indexed(name, (*outer, x)) for x in ("1", t, f"{t}-1"))
        self.prior("simplex", (), size)
        pi = self.known[-1].name
        self.prior("simplex", (k,), size)
        P = self.known[-1].name
        self.lines.append(f"{first} ~ categorical({pi})")
        self.lines.append(f"{now} ~ categorical({P}[{before}])")
        self.unseen -= {pi, P}
        self.unseen.add(name)
        self.labels.append((now, k))
        self.lettered[now] = (*outer, t)

    def linked(self, plates: tuple[str, ...]) -> None:
        """A deterministic statement."""
        kind = self.random.choice(["real", "pos", "share"])
        name = self.fresh("e")
        self.lines.append(f"{indexed(name, plates)} = {self.compound(kind, plates, 1)}")
        self.add(Name(name, kind, plates, True))

    def leaf(self, plates: tuple[str, ...]) -> None:
        """Something observed that depends on what nothing has seen yet."""
        name = self.fresh("y")
        wanted = {x.kind: x.size for x in self.known
                  if x.name in self.unseen and self.reached(x, plates)}  # fmt: skip
        fitting = [x for x in LEAVES if wanted.keys() & set(x[1].split())]
        family, said = self.random.choice(fitting or LEAVES)
        left, size = indexed(name, plates), ""
        if {"simplex", "alphas"} & set(said.split()):
            sizes = [x.size for x in self.known if x.kind == "simplex"] or ["K"]
            size = wanted.get("simplex") or self.random.choice(sizes)
        if "vector" in said:
            size = wanted.get("vector") or wanted.get("spd") or self.random.choice(["d", "p"])
        seen = "observed or missing" if self.chance(0.15) else "observed"
        bits = [
            z
            for z, k in self.labels
            if self.plates[k][0] == "2" and set(self.lettered[z]) <= set(plates)
        ]
        if bits and family == "poisson" and self.chance(0.6):
            z = self.random.choice(bits)
            self.see("", z)
            made = self.expression("pos", plates)
            first = self.random.choice(
                ["point(0)", "geometric(1/2)", f"poisson({self.expression('pos', plates)})"]
            )
            self.lines.append(f"{left} ~ choose({z}, {first}, poisson({made}))   observed")
            return
        self.lines.append(f"{left} ~ {family}({self.arguments(said, plates, size)})   {seen}")


def drawn_text(seed: int) -> str:
    """A model's text."""
    t = Text(Random(seed))
    rows = _plates(t)
    inner = [p for p in t.plates if p not in rows]
    for _ in range(t.random.randint(1, 4)):
        _unknown(t, rows, inner)
    for _ in range(4):
        plates = rows if t.chance(0.85) or t.plates[rows[-1]][1] else rows[:1]
        t.leaf(plates)
        if not any(x.name in t.unseen and t.reached(x, plates) for x in t.known):
            break
    _rest(t, rows)
    return _whole(t)


def _plates(t: Text) -> tuple[str, ...]:
    """Plates of rows, and others; those of rows are returned."""
    rows: tuple[str, ...] = ("n",)
    t.plates["n"] = ("N", "")
    roll = t.random.random()
    if roll < 0.2:
        t.plates["i"] = ("L[n]", "n")
        rows = ("n", "i")
    elif roll < 0.4:
        t.plates["j"] = (t.random.choice(["J", "3"]), "")
        rows = ("n", "j")
    if t.chance(0.7):
        t.plates["k"] = (t.random.choice(["K", "2", "3"]), "")
    if t.chance(0.25):
        t.plates["g"] = (t.random.choice(["G", "2"]), "")
    return rows


def _unknown(t: Text, rows: tuple[str, ...], inner: Sequence[str]) -> None:
    """Something unknown, with a plate or without."""
    some = tuple(p for p in inner if t.chance(0.5))
    if t.chance(0.25):
        some = rows[: t.random.randint(1, len(rows))]
    roll = t.random.random()
    if roll < 0.08:
        t.joint(some)
    elif roll < 0.3 and inner:
        k = t.random.choice(list(inner))
        t.prior("simplex", tuple(p for p in some if p != k), t.plates[k][0])
        t.label(rows[: t.random.randint(1, len(rows))], k)
        t.prior(t.random.choice(["real", "pos", "share"]), (k,))
    elif roll < 0.38:
        t.chain(rows[-1], rows[:-1])
    elif roll < 0.44 and inner:
        k = t.random.choice(list(inner))
        t.labels_chain(rows[-1], rows[:-1], k)
        t.prior(t.random.choice(["real", "pos", "share"]), (k,))
    elif roll < 0.5 and t.known:
        t.linked(some)
    elif roll < 0.6:
        t.prior("vector", some, t.random.choice(["p", "d"]))
    elif roll < 0.64:
        t.prior("spd", some, "d")
    else:
        t.prior(t.random.choice(["real", "real", "pos", "pos", "share"]), some)


def _rest(t: Text, rows: tuple[str, ...]) -> None:
    """Leaves for what nothing observed depends on yet."""
    for z, k in t.labels:
        name = z.split("[")[0]
        if name in t.unseen:
            t.prior("real", (k,))
            t.unseen -= {name, t.known[-1].name}
            mean = f"{t.known[-1].name}[{z}]"
            t.lines.append(
                f"{t.fresh('y')}[{','.join(t.lettered[z])}] ~ gaussian({mean}, 1)   observed"
            )
    for x in [x for x in t.known if x.name in t.unseen]:
        plates = (*rows, *(p for p in x.plates if p not in rows))
        at, y = indexed(x.name, x.plates), indexed(t.fresh("y"), plates)
        made = {
            "real": f"gaussian({at}, 1)", "pos": f"poisson({at})", "share": f"bernoulli({at})",
            "simplex": f"categorical({at})", "vector": f"gaussian-full({at}, eye({x.size}))",
            "spd": f"gaussian-full(zeros({x.size}), {at})",
        }[x.kind]  # fmt: skip
        t.lines.append(f"{y} ~ {made}   observed")


def _whole(t: Text) -> str:
    """The lines in order; plates that nothing uses are left out."""
    for head in t.head[::-1]:
        name = re.split(r"[ \[]", head)[1]
        if len(re.findall(rf"\b{name}\b", "\n".join([*t.head, *t.lines]))) == 1:
            t.head.remove(head)
    body = "\n".join([*t.head, *t.lines])
    plates = []
    for letter, (size, outer) in t.plates.items():
        used = any(letter in x.replace("-1", "").split(",")
                   for part in body.split("[")[1:] for x in [part.split("]")[0]])  # fmt: skip
        if used or any(outer == letter for _, outer in t.plates.values()):
            plates.append(f"plate {letter} in {size}")
    return "\n".join([*plates, *t.head, *t.lines]) + "\n"
