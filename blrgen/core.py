"""The frozen values that pass between the stages, from a declaration to a derivation.

`Family` and `Recipe` are what is read, `Probe` is what a rule asks of the loss, `Rule` is
an executable update with the meaning of every name in it, `Step` is one line of a
derivation, `Facts` is what rewritings must know beside the rule, and `Derivation` is the
whole of it.  Expressions are SymPy ones in the algebra of `blrgen.algebra`: commuting
symbols for scalars and elementwise quantities, non-commuting ones with a rank for vectors
and matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

Expr = Any  # a SymPy expression; SymPy is imported lazily and is untyped


@dataclass(frozen=True)
class Domain:
    """An interval, R^d, R^(n,p), SPD or -SPD; `power` is the size of a Cartesian power."""

    kind: str  # "interval" | "vector" | "matrix" | "spd" | "-spd" | "simplex"
    lower: Expr = None
    upper: Expr = None
    size: tuple[str, ...] = ()
    text: str = ""
    lower_open: bool = True  # an interval without its lower end
    upper_open: bool = True
    whole: bool = False  # whole numbers only


@dataclass(frozen=True)
class Support:
    """Where the random variable lives: a kind, its points when finite, bounds when an interval."""

    # "finite" | "interval" | "integers" | "vector" | "simplex" | "spd" | "matrix" | "joint"
    kind: str
    points: tuple[Expr, ...] = ()
    lower: Expr = None
    upper: Expr = None
    size: tuple[str, ...] = ()  # ("d",) for R^d and for {-1, 1}^d: a product over coordinates
    text: str = ""
    lower_open: bool = True  # an interval without its lower end
    upper_open: bool = True
    parts: tuple[Support, ...] = ()  # of "joint": a support for each variable


@dataclass(frozen=True)
class Parameter:
    """A natural parameter or a working one, with the chart that ties it to the others."""

    name: str
    domain: Domain
    symbol: Expr
    chart: Expr = None  # working: as a function of natural; natural: as a function of working


@dataclass(frozen=True)
class Family:
    """A declaration: statistics, base measure, support, parameters.  No calculus."""

    name: str
    title: str
    variable: Expr
    support: Support
    statistics: tuple[Expr, ...]
    base_measure: Expr
    natural: tuple[Parameter, ...]
    working: tuple[Parameter, ...] = ()
    fixed: tuple[Parameter, ...] = ()
    log_partition: Expr | None = None
    elementwise: bool = True  # False: vectors and matrices, in the non-commuting algebra
    path: str = ""
    joint: tuple[Expr, ...] = ()  # the variables where there are several; `variable` is the first
    factors: tuple[Family, ...] = ()  # of a product of independent families
    components: Expr = None  # how many components the variable has, where they are summed over
    # working parameters on the simplex, K numbers for K - 1 coordinates: no chart of the manifold
    # but another way to say a point of it, its boundary included; and the natural ones by them
    simplex: tuple[Parameter, ...] = ()
    natural_of_simplex: tuple[Expr, ...] = ()

    @property
    def variables(self) -> tuple[Expr, ...]:
        """The random variables: one, or those of a joint density."""
        return self.joint or (self.variable,)

    @property
    def supports(self) -> tuple[Support, ...]:
        """Where each variable lives."""
        return self.support.parts or (self.support,)


@dataclass(frozen=True)
class Loss:
    """A loss ℓ(θ): abstract when `expr` is None; `data` are the other names in it."""

    text: str = ""
    expr: Expr | None = None
    data: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """A named road through the approximations: data only."""

    name: str
    title: str
    family: str
    approximations: tuple[tuple[str, str | None], ...]
    loss: str = ""
    defaults: tuple[tuple[str, str], ...] = ()  # hyperparameter or state → value, as text
    citation: str = ""


@dataclass(frozen=True)
class Probe:
    """A number the caller supplies: the order-th derivative of ℓ at a point.

    at: "q" (its expectation under q), "m" (at the mean), "theta" (at a draw),
    "weighted" (E_q[weight·ℓ′], or with ℓ(k+1) − ℓ(k) where order is 0), "implicit",
    "score", or the text of a support point.
    """

    name: str
    symbol: Expr
    order: int
    at: str
    minibatch: bool = False
    meaning: str = ""  # overrides the reading made from order and place; may name {place}
    stand_in: bool = False  # no derivative of ℓ but what an approximation put in its place
    weight: Expr = None  # what the derivative of the loss is multiplied with
    text: str = ""  # unicode and LaTeX, where they do not follow from order and place
    latex: str = ""
    formula: tuple[str, str] = ("", "")  # what it stands for, where text is only its name
    of_mixture: bool = False  # a derivative of log q, q a mixture, and not of the loss
    component: str = ""  # of a mixture: the index of the one in expectation under which it is


Rank = Literal["scalar", "elementwise", "vector", "symmetric", "matrix"]


@dataclass(frozen=True)
class Quantity:
    """A name that occurs in a rule, and everything a reader or an emitter must know of it."""

    name: str
    kind: str  # "state" | "input" | "hyper" | "draw" | "counter" | "intermediate" | "data"
    # | "known": of a mixture, what follows from all components
    rank: Rank
    symbol: Expr
    meaning: str = ""
    init: Expr = None  # state: its first value (an expression in hyperparameters)
    default: Expr = None  # hyperparameter
    domain: str = ""  # e.g. "(0, oo)", "[0, 1)", "SPD", "(-oo, oo)"
    distribution: str = ""  # draw
    text: str = ""  # unicode form, e.g. "∇ℓ(m)"
    latex: str = ""
    formula: tuple[str, str] = ("", "")  # input: what the name stands for, unicode and LaTeX

    @property
    def shape(self) -> tuple[str, ...]:
        own = getattr(self.symbol, "shape", None)
        if own is not None and self.kind != "data":  # of data only the rank is known
            return tuple(str(n) for n in own if n != 1)
        return {
            "scalar": (), "elementwise": ("d",), "vector": ("d",),
            "symmetric": ("d", "d"), "matrix": ("n", "d"),
        }[self.rank]  # fmt: skip


@dataclass(frozen=True)
class Assignment:
    """name ← expr, in execution order.

    stage "draw": where the loss is probed; "estimate": a quantity that is averaged
    over draws when there are several; "update": the rest.
    """

    name: str
    expr: Expr
    stage: str = "update"


@dataclass(frozen=True)
class Rule:
    """An update: quantities and assignments; NAME_next is the next value of the state NAME."""

    quantities: tuple[Quantity, ...]
    assignments: tuple[Assignment, ...]
    posterior: tuple[tuple[str, Expr], ...] = ()  # "mean", "precision" in current states
    until: str = ""  # "fixed point" when the step is iterated to convergence
    halved: str = ""  # the step size that is halved until the step stays inside the domains
    unkept: str = ""  # why q is no posterior, and `posterior` empty; empty where it is one
    bounded: str = ""  # what must hold for its spread to be the posterior's

    def __getitem__(self, name: str) -> Quantity:
        for q in self.quantities:
            if q.name == name:
                return q
        raise KeyError(name)

    def __contains__(self, name: str) -> bool:
        return any(q.name == name for q in self.quantities)

    def of(self, *kinds: str) -> tuple[Quantity, ...]:
        return tuple(q for q in self.quantities if q.kind in kinds)

    def expr(self, name: str) -> Expr:
        for a in self.assignments:
            if a.name == name:
                return a.expr
        raise KeyError(name)


@dataclass(frozen=True)
class Equation:
    """lhs = rhs (or ≈), with `note` for a remark printed beside it."""

    lhs: Expr
    rhs: Expr
    relation: str = "="
    note: str = ""


@dataclass(frozen=True)
class Step:
    """One numbered line of a derivation."""

    title: str
    equations: tuple[Equation, ...]
    because: str
    space: str = ""  # natural | mean | working | sample
    approximation: str = ""  # the flag's name when this line is an approximation
    notation: tuple[
        tuple[str, str, str], ...
    ] = ()  # symbol name, unicode, LaTeX: valid at this line


@dataclass(frozen=True)
class Momentum:
    """What divided the mean step when the last step was first repeated in natural coordinates."""

    divisor: Expr  # D⁺, by the next states
    divisor_now: Expr  # D, the same one step earlier
    shares_rate: bool = False  # the scale keeps momentum of its own at the rate of the mean

    def map(self, change: Callable[[Expr], Expr]) -> Momentum:
        """The same with both divisors rewritten."""
        return replace(self, divisor=change(self.divisor), divisor_now=change(self.divisor_now))


@dataclass(frozen=True)
class Change:
    """An exact change of state: with `state` = `value` in the old states, two rules are one."""

    state: str  # the new state
    value: Expr  # what it is, in the states of the rule before
    before: Rule
    after: Rule


@dataclass(frozen=True)
class Facts:
    """What a rewriting must know of a derivation and cannot read off its rule."""

    probes: tuple[Probe, ...] = ()  # what is still asked of the loss
    location: str | None = None  # the state that moves θ, where there is exactly one
    scale: str | None = None  # the state that scales θ, where exactly one is learned
    family_scale: Expr = None  # the family's own parameter behind the scale
    scale_value: Expr = None  # that parameter as a function of the state that keeps it
    place: Expr = None  # where the loss is probed, where that is no mean of the posterior
    momentum: Momentum | None = None
    corrections: tuple[tuple[str, Expr], ...] = ()  # average → the weight it has gathered, 1 − βᵗ
    changes: tuple[Change, ...] = ()  # in the order in which they were made
    candidate: tuple[tuple[str, Expr], ...] = ()  # mean, precision of a q that is no posterior
    identified: tuple[str, ...] = ()  # the known algorithms that this is, once asked
    idle: tuple[Quantity, ...] = ()  # hyperparameters of that q alone, which no step asks for
    free: Expr = None  # the weight of the component that is learned, where another stands at zero


@dataclass(frozen=True)
class Mixture:
    """A candidate Σ_k π_k q_k, whose rule is that of one component and of the weights."""

    component: Family
    learned: bool = True  # whether the weights are


@dataclass(frozen=True)
class Derivation:
    """Everything derived so far: the geometry, the rule, the lines, the assumptions."""

    family: Family
    loss: Loss
    geometry: Any
    expectation: Any
    exact: Any  # the rule in natural coordinates, typed by space
    rule: Rule
    steps: tuple[Step, ...] = ()
    approximations: tuple[tuple[str, str | None], ...] = ()
    assumptions: tuple[str, ...] = ()
    facts: Facts = Facts()
    recipe: Recipe | None = None
    mixture: Mixture | None = None  # the candidate is one, of components of the geometry's family

    @property
    def candidate(self) -> tuple[tuple[str, Expr], ...]:
        """Mean and precision of q in the states, whether it is a posterior or not."""
        return self.rule.posterior or self.facts.candidate

    @property
    def added(self) -> tuple[tuple[str, str | None], ...]:
        """The approximations beside those of the recipe; all of them where there is none."""
        left = list(self.recipe.approximations) if self.recipe is not None else []
        found = []
        for a in self.approximations:
            if a in left:
                left.remove(a)
            else:
                found.append(a)
        return tuple(found)

    @property
    def known(self) -> tuple[Probe, ...]:
        """What the rule of a component asks of log q: it follows from all components."""
        return tuple(p for p in self.facts.probes if p.of_mixture and p.name in self.rule)

    @property
    def is_recipe(self) -> bool:
        """Whether the road is the very one of a recipe."""
        return self.recipe is not None and self.approximations == self.recipe.approximations

    def with_(self, **changes: Any) -> Derivation:
        return replace(self, **changes)
