"""Which known algorithm a derivation is, or which is nearest and what it lacks.

Two rules are the same algorithm when, under a map of states and hyperparameters, every
next state is proved equal.  The map is searched among names, 1 − name, and the values 0
and 1 for hyperparameters that only one side has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations, product
from typing import Any

import sympy as sp

from blrgen.algebra.components import put
from blrgen.approximate.tools.road import derive
from blrgen.core import Derivation, Quantity, Rule
from blrgen.decide.equal import equal
from blrgen.decide.proof import Proof
from blrgen.rule.expand import domains_of, expanded

Expr = Any
_MAPS = 3000  # hyperparameter maps tried for one recipe
_STAGES = ("draw",)


@dataclass(frozen=True)
class Match:
    """A known algorithm, the level of the proof, and the map from its names to ours."""

    name: str
    level: str
    states: tuple[tuple[str, str], ...]
    hyper: tuple[tuple[str, str], ...]
    note: str = ""

    def line(self) -> str:
        renamed = [f"{a} = {b}" for a, b in (*self.states, *self.hyper) if a != b]
        text = f"{self.name} ({self.level})" + (f" with {', '.join(renamed)}" if renamed else "")
        return f"{text}; {self.note}" if self.note else text


@dataclass(frozen=True)
class Identification:
    """All matches; when there is none, the nearest recipes with what to add and drop."""

    said: str
    matches: tuple[Match, ...]
    nearest: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()

    def __str__(self) -> str:
        if self.matches:
            return "\n".join([f"{self.said}\nis", *("  " + m.line() for m in self.matches)])
        rows = [f"{self.said}\nis none of the known algorithms; nearest:"]
        for name, add, drop in self.nearest:
            parts = [f"add {' '.join(add)}"] if add else []
            parts += [f"drop {' '.join(drop)}"] if drop else []
            rows.append(
                f"  {name}: {'; '.join(parts) or 'the same approximations in another order'}"
            )
        return "\n".join(rows)


def identify(d: Derivation) -> Identification:
    """Compare a derivation with every recipe, live."""
    from blrgen.read.recipe import read_recipes

    recipes = read_recipes()
    found: list[Match] = []
    for name in recipes:
        match = match_rules(d, _known(name), name)
        if match is not None:
            found.append(match)
    found = [m for m in found if not m.note] or found
    found.sort(key=lambda m: len([1 for a, b in (*m.states, *m.hyper) if a != b]))
    nearest = () if found else _nearest(d, recipes)
    return Identification(_said(d), tuple(found), nearest)


def with_identified(d: Derivation) -> Derivation:
    """The derivation with the names of what it is as a fact; a bare recipe is itself."""
    own = d.recipe if d.is_recipe else None
    names = (own.name,) if own is not None else tuple(m.name for m in identify(d).matches)
    return d.with_(facts=replace(d.facts, identified=names))


@cache
def _known(name: str) -> Derivation:
    """The derivation of a recipe; nothing a process does can change it."""
    return derive(name)


def _said(d: Derivation) -> str:
    flags = " ".join(_flag(a) for a in d.approximations)
    return f"{d.family.name} {flags}".strip()


def _flag(request: tuple[str, str | None]) -> str:
    return f"--{request[0]}" if request[1] is None else f"--{request[0]} {request[1]}"


def _nearest(
    d: Derivation, recipes: Any
) -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    """Recipes of the same candidate by how many approximations differ."""
    ours = list(d.approximations)
    rows = []
    for name, recipe in recipes.items():
        if recipe.family != d.family.name:
            continue
        theirs = list(recipe.approximations)
        add = tuple(_flag(a) for a in theirs if a not in ours)
        drop = tuple(_flag(a) for a in ours if a not in theirs)
        rows.append((len(add) + len(drop), name, add, drop))
    rows.sort()
    return tuple((name, add, drop) for _, name, add, drop in rows[:3])


def match_rules(d: Derivation, known: Derivation, name: str) -> Match | None:
    """A proof that two derivations give the same algorithm, or None."""
    ours, theirs = d.rule, known.rule
    if d.geometry.ring.elementwise != known.geometry.ring.elementwise:
        return None
    if (ours.until, ours.halved) != (theirs.until, theirs.halved) or not _same_probes(d, known):
        return None
    if len(ours.of("state")) != len(theirs.of("state")):
        return None
    left, right = expanded(ours), expanded(theirs)
    right |= {f"@{a.name}": a.expr for a in theirs.assignments if a.stage in _STAGES}
    left |= {f"@{a.name}": a.expr for a in ours.assignments if a.stage in _STAGES}
    for states in _state_maps(d, known):
        if not _same_starts(ours, theirs, states):
            continue
        for hyper in _hyper_maps(ours, theirs):
            level = _level(left, right, states, hyper, ours, theirs)
            if level is not None:
                return Match(
                    name, level, tuple((t.name, o.name) for t, o in states),
                    tuple((q.name, str(e)) for q, e in hyper), _batch_note(d, known),
                )  # fmt: skip
    return None


def _same_probes(ours: Derivation, theirs: Derivation) -> bool:
    """The loss must be asked the same, at the same place, whatever that place is called."""

    def asked(d: Derivation) -> list[tuple[str, int, str, bool]]:
        return sorted(
            (p.name, p.order, p.at, bool(p.meaning)) for p in d.facts.probes if p.name in d.rule
        )

    return asked(ours) == asked(theirs)


def _batch_note(d: Derivation, known: Derivation) -> str:
    """The same update may be fed by full gradients or by minibatches."""

    def minibatch(x: Derivation) -> bool:
        return any(p.minibatch for p in x.facts.probes)

    if minibatch(d) == minibatch(known):
        return ""
    return "on minibatches" if minibatch(d) else "on full gradients, not minibatches"


def _same_starts(ours: Rule, theirs: Rule, states: list[tuple[Quantity, Quantity]]) -> bool:
    """Averages must start at the same place, unless a hyperparameter says where."""
    for t, o in states:
        a, b = sp.sympify(t.init), sp.sympify(o.init)
        if a.is_number and b.is_number and (a == 0) != (b == 0):
            return False
    return True


def _state_maps(d: Derivation, known: Derivation) -> Iterator[list[tuple[Quantity, Quantity]]]:
    """(theirs, ours): by name where names agree, else by role, else any of equal rank."""
    ours, theirs = d.rule.of("state"), known.rule.of("state")
    if {q.name for q in ours} == {q.name for q in theirs}:
        yield [(t, d.rule[t.name]) for t in theirs]
        return
    for chosen in permutations(ours):
        pairs = list(zip(theirs, chosen, strict=True))
        if all(t.rank == o.rank and _role(known, t) == _role(d, o) for t, o in pairs):
            yield pairs


def _role(d: Derivation, q: Quantity) -> str:
    if q.name == d.facts.location:
        return "location"
    return "scale" if q.name == d.facts.scale else "other"


def _hyper_maps(ours: Rule, theirs: Rule) -> Iterator[list[tuple[Quantity, Expr]]]:
    """Values of their hyperparameters in ours: same names first, then everything short."""
    mine, wanted = ours.of("hyper"), theirs.of("hyper")
    have = {q.name: q.symbol for q in mine}
    free = [q for q in wanted if q.name not in have]
    if not free and len(mine) == len(wanted):
        yield [(q, have[q.name]) for q in wanted]
        return
    spare = [q.symbol for q in mine if q.name not in {w.name for w in wanted}]
    choices = [*spare, *[1 - x for x in spare], sp.S.One, sp.S.Zero]
    count = 0
    for values in product(choices, repeat=len(free)):
        used = [x for v in values for x in v.free_symbols]
        if set(used) != set(spare) or len(used) != len(set(used)):
            continue
        count += 1
        if count > _MAPS:
            return
        table = dict(zip(free, values, strict=True))
        yield [(q, table.get(q, have.get(q.name))) for q in wanted]


def _level(
    left: dict[str, Expr],
    right: dict[str, Expr],
    states: list[tuple[Quantity, Quantity]],
    hyper: list[tuple[Quantity, Expr]],
    ours: Rule,
    theirs: Rule,
) -> str | None:
    """The weakest level over all states (and draws), or None where one is refuted."""
    table = {t.symbol: o.symbol for t, o in states} | {q.symbol: e for q, e in hyper}
    table |= {
        q.symbol: ours[q.name].symbol for q in theirs.of("input", "draw", "data") if q.name in ours
    }
    pairs = [(left[o.name], right[t.name]) for t, o in states]
    pairs += [(left[k], right[k]) for k in right if k.startswith("@") and k in left]
    if {k for k in left if k.startswith("@")} != {k for k in right if k.startswith("@")}:
        return None
    levels = []
    for a, b in pairs:
        proof: Proof = equal(a, put(b, table), domains_of(ours))
        if not proof.proved:
            return None
        levels.append(proof.level)
    return "random-exact" if "random-exact" in levels else "identity"
