"""What a rule keeps, reads and draws, as typed variables; its entry points are parts of it."""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.program.axes.nodes import Let, ref
from blrgen.program.density import BinomialMean, Expectation
from blrgen.program.nodes import Node, names
from blrgen.program.types import Type


@dataclass(frozen=True)
class Variable:
    """A name, what it is, and what a reader or a caller must know of it."""

    name: str
    kind: str  # state | input | hyper | draw | counter | intermediate | data | size
    type: Type
    meaning: str = ""
    init: Node | None = None
    default: Node | None = None
    domain: str = ""
    distribution: str = ""
    lower: Node | None = None  # state: the ends of its domain, where it has any
    upper: Node | None = None
    gap: Node | None = None  # state or constant: see `definite`, by its entry at i, j

    @property
    def definite(self) -> Node | None:
        """What must be positive definite, if anything: the variable, or what its domain says."""
        return ref(self.name, "i", "j") if self.gap is None and self.domain == "SPD" else self.gap


@dataclass(frozen=True)
class Program:
    """What a rule stores, reads and draws, and the names of what it computes."""

    variables: tuple[Variable, ...]
    made: tuple[tuple[str, Type], ...] = ()  # what is assigned, and its type
    reads: frozenset[str] = frozenset()  # what assignments read
    probe: str = ""  # where the loss is evaluated, if not at the parameters
    posterior: tuple[tuple[str, Node], ...] = ()  # at letters of their axes
    inner: tuple[Let, ...] = ()  # what they name, in its order
    until: str = ""
    halved: str = ""  # the hyperparameter that is halved until the step stays inside
    expectations: tuple[Expectation, ...] = ()  # without a closed form; called by their names
    binomial_means: tuple[BinomialMean, ...] = ()  # likewise
    fading: tuple[str, ...] = ()  # states that may be 0 where they are denormal

    def __getitem__(self, name: str) -> Variable:
        for v in self.variables:
            if v.name == name:
                return v
        raise KeyError(name)

    def __contains__(self, name: str) -> bool:
        return any(v.name == name for v in self.variables)

    def of(self, *kinds: str) -> tuple[Variable, ...]:
        return tuple(v for v in self.variables if v.kind in kinds)

    @property
    def scope(self) -> dict[str, Type]:
        """The type of every name."""
        return {v.name: v.type for v in self.variables} | dict(self.made)

    @property
    def axes(self) -> set[str]:
        """The names of the sizes of all axes."""
        return {x for v in self.variables for x in v.type.shape}

    @property
    def parameter(self) -> Variable:
        """The state that the caller's arrays hold: what the posterior mean is a function of."""
        states = self.of("state")
        inside = [x for key, e in self.posterior if key == "mean" for x in names(e)]
        held = [v for v in states if v.name in inside]
        arrays = [v for v in states if v.type.shape]
        return held[0] if len(held) == 1 else (arrays or states)[0]


def fresh(name: str, taken: set[str]) -> str:
    """`name`, or the next of name_2, name_3, … after those that are taken."""
    return name if name not in taken else numbered(f"{name}_", 2, taken)


def numbered(stem: str, first: int, taken: set[str]) -> str:
    """The stem with the next number after those that are taken, found by bisection."""
    if f"{stem}{first}" not in taken:
        return f"{stem}{first}"
    step = 1
    while f"{stem}{first + step}" in taken:
        step *= 2
    low, high = first + step // 2, first + step  # taken, free
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if f"{stem}{middle}" in taken else (low, middle)
    return f"{stem}{high}"
