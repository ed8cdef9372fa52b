"""A `Rule` of SymPy expressions → a `Program`; the last place that sees SymPy.

One method a SymPy class.  A sum is ordered for reading (what is kept first, what
is taken off last); a product becomes coefficient · numerator / denominator.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from blrgen.algebra.components import Component
from blrgen.algebra.ranks import vec
from blrgen.core import Assignment, Quantity, Rule
from blrgen.errors import InternalError, UserError
from blrgen.program import nodes as n
from blrgen.program.averages import AverageLowering
from blrgen.program.draws import distribution
from blrgen.program.expectations import with_covariances
from blrgen.program.exponentials import logs_of_totals
from blrgen.program.matrices import MatrixLowering, is_negative
from blrgen.program.program import (
    ELEMENTWISE,
    LINEAR,
    PHASES,
    Phase,
    Program,
    Statement,
    Variable,
)
from blrgen.program.special import CALLS as SPECIAL
from blrgen.program.special import opened, special_forms
from blrgen.program.types import SCALAR, Type, check, elementwise, infer, matrix, symmetric, vector

Expr = Any

_CALLS = {
    "exp": "exp", "log": "log", "tanh": "tanh", "sinh": "sinh", "cosh": "cosh", "sin": "sin",
    "cos": "cos", "atanh": "atanh", "Abs": "abs", "sign": "sign", "Max": "max", "Min": "min",
    "floor": "floor", "log1p": "log1p", "expm1": "expm1",
}  # fmt: skip
MOST_DEEP = 8  # differences inside one another; more terms taken off are one flat sum
_RELATIONS = {
    "StrictLessThan": "<", "LessThan": "<=", "StrictGreaterThan": ">", "GreaterThan": ">=",
    "Equality": "==", "Unequality": "!=",
}  # fmt: skip


def lower(rule: Rule) -> Program:
    """The program of a rule, statements in the order of its assignments, unoptimised."""
    return lowered(rule)[0]


def lowered(rule: Rule) -> tuple[Program, dict[str, Callable[..., Expr]]]:
    """The program of a rule, and what its expectations without a closed form mean."""
    rule = with_noise(rule)
    variables = _variables(rule)
    types = {v.name: v.type for v in variables}
    _one_number_over_draws(rule, types)
    matrices = any(v.type.rank in ("vector", "symmetric", "matrix") for v in variables)
    lowering = Lowering(types, counts(rule))
    statements: dict[str, list[Statement]] = {phase: [] for phase in PHASES}
    inputs = frozenset(q.name for q in rule.of("input"))
    for a in opened(rule.assignments, inputs):
        if a.name in types and rule_kind(rule, a.name) != "intermediate":
            raise InternalError(f"{a.name} is assigned, but it is already a quantity")
        if a.stage not in statements:
            raise InternalError(f"unknown stage {a.stage!r} of the assignment to {a.name}")
        _identifier(a.name)
        expr = lowering.lower(a.expr, where=f"in the assignment to {a.name}")
        statements[a.stage].append(_statement(a.name, expr, types))
    phases = [_phase(name, statements[name], rule) for name in PHASES]
    posterior = tuple(
        (key, lowering.lower(e, where=f"in the posterior {key}")) for key, e in rule.posterior
    )
    program = Program(
        variables,
        tuple(p for p in phases if p.scalars or p.body),
        LINEAR if matrices else ELEMENTWISE,
        posterior,
        rule.until,
        rule.halved,
        tuple(lowering.expectations),
        tuple(lowering.binomial_means),
    )
    return program, lowering.meanings


def counts(rule: Rule) -> dict[Expr, n.Node]:
    """The size of the rule's vectors by the length of the array that the caller holds."""
    kept = rule.of("state", "input", "hyper")
    held = [q.symbol for q in kept if isinstance(q.symbol, Component)]
    found: dict[Expr, n.Node] = {}
    for x in held:
        size, more = x.size.as_coeff_Add()[::-1]
        if size.is_Symbol and more.is_Integer:
            found.setdefault(size, n.Count(n.Sym(x.name), -int(more), size.name))
    sizes = {x.size for x in held}
    if len(sizes) > 1:
        raise UserError(
            f"vectors of sizes {' and '.join(sorted(map(str, sizes)))} are not emitted together",
            how="one size for all vectors that the rule keeps or reads",
        )
    return found


def _one_number_over_draws(rule: Rule, types: dict[str, Type]) -> None:
    """An input that is one number beside arrays has no place to be summed over draws."""
    mixed = any(types[q.name].rank == "elementwise" for q in rule.of("state"))
    for q in rule.of("input"):
        if mixed and rule.of("draw") and types[q.name] == SCALAR:
            raise UserError(
                f"{q.name}, one number for all components, is not averaged over draws",
                why="emitted classes average arrays only",
                how="--delta, which needs no draws",
            )


def with_noise(rule: Rule) -> Rule:
    """A draw θ ~ N(mean, P⁻¹) in terms of standard noise: θ = mean + P^−½ ε."""
    q = dict(rule.posterior)
    drawn = [d for d in rule.of("draw") if d.rank == "vector" and not distribution(d.distribution)]
    if not drawn:
        return rule
    if "mean" not in q or "precision" not in q or len(drawn) > 1 or "eps" in rule:
        raise UserError(f"no target can draw from {drawn[0].distribution}")
    (theta,) = drawn
    eps = vec("eps")
    noise = Quantity("eps", "draw", "vector", eps, "standard normal noise", distribution="N(0, I)")
    probe = replace(theta, kind="intermediate", distribution="")
    others = tuple(probe if x.name == theta.name else x for x in rule.quantities)
    at = q["mean"] + q["precision"] ** sp.Rational(-1, 2) * eps
    first = Assignment(theta.name, at, "draw")
    return replace(rule, quantities=(*others, noise), assignments=(first, *rule.assignments))


def rule_kind(rule: Rule, name: str) -> str:
    """What a name is in the rule; an undeclared result counts as an intermediate."""
    return rule[name].kind if name in rule else "intermediate"


def _statement(name: str, expr: n.Node, types: dict[str, Type]) -> Statement:
    """Typed by the state or quantity it is the next value of, or by inference."""
    found = infer(expr, types)
    state = name.removesuffix("_next") if name.endswith("_next") else name
    target = types.get(name, types.get(state, found))
    if target.rank == "symmetric" and found.rank == "matrix" and found.is_square:
        expr = n.Symmetrize(expr)
    check(expr, target, types, name)
    types[name] = target
    return Statement(name, expr, target)


def _phase(name: str, statements: list[Statement], rule: Rule) -> Phase:
    writes = tuple(
        (q.name, f"{q.name}_next")
        for q in rule.of("state")
        if any(s.name == f"{q.name}_next" for s in statements)
    )
    if name == "draw" and statements:
        probe = statements[-1].name  # where the loss is evaluated
        writes = ((probe, probe),)
    return Phase(name, (), tuple(statements), writes)


def _variables(rule: Rule) -> tuple[Variable, ...]:
    """Quantities as variables; a rule of scalars only acts on every element of an array."""
    states = rule.of("state")
    if not states:
        raise InternalError("a rule without a state updates nothing")
    spread = all(q.rank == "scalar" for q in states)
    _no_vectors_beside(rule, spread)
    rows = any(q.rank == "matrix" and q.kind == "data" for q in rule.quantities)
    found = []
    sizes = {s: SCALAR for s in sizes_of(rule)}
    for q in rule.quantities:
        _identifier(q.name)
        kind = _type(q, spread, rows)
        known = {p.name: _type(p, spread, rows) for p in rule.of("hyper", "state")}
        lowering = Lowering(sizes | known)
        init = lowering.lower(q.init, where=f"initial {q.name}") if _is_given(q.init) else None
        default = lowering.lower(q.default, where=q.name) if _is_given(q.default) else None
        if q.kind == "state" and init is not None and kind.rank == "symmetric":
            init = n.mul(init, n.Identity(kind.shape[0]))
        if default is not None and kind.rank == "symmetric":
            default = n.mul(default, n.Identity(kind.shape[0]))
        held = q.kind == "hyper" and kind.rank == "elementwise"  # a vector of known constants
        if held:
            default = None
        found.append(
            Variable(
                q.name,
                "state" if held else q.kind,
                kind,
                q.meaning,
                init,
                default,
                q.domain,
                q.distribution,
                *_ends(q, rule, lowering),
            )
        )
    found += _sizes(rule, found)
    if "t" not in rule:
        found.append(Variable("t", "counter", SCALAR, "counts steps from 1"))
    return tuple(found)


def _no_vectors_beside(rule: Rule, spread: bool) -> None:
    """A rule that keeps numbers only acts on arrays of them, and has no place for a vector."""
    vectors = [q.name for q in rule.quantities if q.rank == "elementwise" and q.kind != "state"]
    if spread and vectors:
        raise UserError(
            f"the rule keeps numbers only and reads the vector {vectors[0]}: it is not emitted",
            why="an emitted class that keeps numbers updates arrays of them, element by element",
            how="`blrgen derive` has the rule, also as JSON that SymPy reads",
        )


def _made_of_names(domain: str) -> bool:
    """Whether an interval has ends that are no numbers."""
    return bool(set(re.findall(r"[A-Za-z]\w*", domain)) - {"oo", "pi"})


def sizes_of(rule: Rule) -> tuple[str, ...]:
    """The names that stand for sizes of vectors and matrices and are no quantities."""
    found: set[str] = set()
    for q in rule.quantities:
        found |= {
            s.name for n in getattr(q.symbol, "shape", ()) for s in sp.sympify(n).free_symbols
        }
        found |= {s.name for s in sp.sympify(q.init or 0).free_symbols if _counts(s)}
    for a in rule.assignments:
        found |= {s.name for s in a.expr.free_symbols if _counts(s)}
    return tuple(sorted(found - {q.name for q in rule.quantities} - {"t"}))


def _counts(s: Expr) -> bool:
    return bool(s.is_commutative and s.is_integer and s.is_positive)


def _sizes(rule: Rule, variables: list[Variable]) -> list[Variable]:
    """The sizes that numbers are computed from."""
    ranked = ("vector", "symmetric", "matrix")
    held = [v for v in variables if v.kind in ("state", "hyper") and v.type.rank in ranked]
    arrays = {x for v in held for x in v.type.shape}
    used = {s.name for a in rule.assignments for s in a.expr.free_symbols}
    starts = [sp.sympify(x) for q in rule.quantities for x in (q.init, q.default) if _is_given(x)]
    used |= {s.name for x in starts for s in x.free_symbols}
    used |= {x for v in variables for e in (v.lower, v.upper) if e is not None for x in n.names(e)}
    told = arrays & used - {s.name for s in counts(rule)}
    found = [Variable(x, "size", SCALAR) for x in sizes_of(rule) if x in told]
    if any(v.type.rank in ranked for v in variables):
        return found
    words = "how many components the variable has"  # no array of the rule says it
    free = used - {s.name for s in counts(rule)}
    made = [Variable(x, "hyper", SCALAR, words, domain="[1, oo)") for x in sizes_of(rule)]
    return [*found, *(v for v in made if v.name in free)]


def _ends(
    q: Quantity, rule: Rule, lowering: Lowering
) -> tuple[n.Node | None, n.Node | None, n.Node | None]:
    """The ends of an interval, in constants and other states, and what must be definite."""
    if q.kind not in ("state", "hyper") or not q.domain:
        return None, None, None
    from blrgen.read.domain import read_domain

    names = {p.name: p.symbol for p in rule.of("state", "hyper") if p.name != q.name}
    names |= {s: sp.Symbol(s, integer=True, positive=True) for s in sizes_of(rule)}
    where = f"the domain of {q.name}"
    try:
        domain = read_domain(q.domain, names)
    except UserError:  # ends in what the rule does not keep
        return None, None, None
    if domain.kind in ("spd", "-spd"):
        apart = q.symbol if domain.lower is None else q.symbol - domain.lower
        return None, None, lowering.lower(apart if domain.kind == "spd" else -apart, where=where)
    number = q.kind == "hyper" and q.rank != "elementwise"
    if domain.kind != "interval" or (number and not _made_of_names(q.domain)):
        return None, None, None
    lower, upper = (
        None if sp.sympify(b).is_infinite else lowering.lower(b, where=where)
        for b in (domain.lower, domain.upper)
    )
    return lower, upper, None


def _is_given(x: Expr) -> bool:
    return x is not None


def _type(q: Quantity, spread: bool, rows: bool) -> Type:
    if q.rank == "scalar":
        arrays = ("state", "input", "draw", "intermediate")
        return elementwise() if spread and q.kind in arrays else SCALAR
    if q.rank == "elementwise":
        return elementwise()
    own = getattr(q.symbol, "shape", None)
    if own is not None and q.kind != "data":
        rows_, columns = (str(s).replace(" ", "") for s in own)
        if q.rank == "vector":
            return vector(rows_)
        return symmetric(rows_) if q.rank == "symmetric" else matrix(rows_, columns)
    if q.rank == "vector":
        return vector("n" if q.kind == "data" and rows else "d")
    if q.rank == "symmetric":
        return symmetric()
    if q.rank == "matrix":
        return matrix("n", "d") if q.kind == "data" else matrix("d", "d")
    raise InternalError(f"unknown rank {q.rank!r} of {q.name}")


def _identifier(name: str) -> None:
    """Names end up in emitted code: plain ASCII identifiers only."""
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
        raise UserError(
            f"{name!r} cannot be a name in a program",
            why="it is not a plain Python identifier",
            how="use ASCII letters, digits and underscores, and no Python keyword",
        )


class Lowering(MatrixLowering, AverageLowering):
    """SymPy → nodes, by a method a class; `types` says what the known names are."""

    def __init__(self, types: dict[str, Type], counts: Mapping[Expr, n.Node] | None = None) -> None:
        self.types = types
        self.counts = counts or {}  # sizes of vectors, as what counts them
        self.where = ""
        self.expectations = []
        self.binomial_means = []
        self.meanings = {}
        self._named = {}

    def lower(self, x: Expr, where: str = "") -> n.Node:
        """The node for an expression; `where` is for messages."""
        self.where = where or self.where
        x = logs_of_totals(with_covariances(sp.sympify(x, strict=True)))
        return self.visit(special_forms(x))

    def visit(self, x: Expr) -> n.Node:
        if x.is_commutative is False:
            return self.visit_word(x)
        for cls in type(x).__mro__:
            method = getattr(self, f"visit_{cls.__name__}", None)
            if method is not None:
                return method(x)  # type: ignore[no-any-return]
        name = type(x).__name__
        if name in _CALLS:
            return n.Call(_CALLS[name], tuple(self.visit(a) for a in self.ordered(x)))
        if name in SPECIAL:
            return n.Call(SPECIAL[name], tuple(self.visit(a) for a in x.args))
        if name in _RELATIONS:
            return n.Compare(_RELATIONS[name], self.visit(x.lhs), self.visit(x.rhs))
        raise UserError(
            f"no target can compute {name} in {x}",
            where=self.where,
            how="known functions: " + ", ".join(sorted({*_CALLS, *SPECIAL, "polygamma"})),
        )

    def number(self, x: Expr) -> n.Node:
        """What a matrix is multiplied by."""
        return self.visit(special_forms(x))

    def ordered(self, x: Expr) -> list[Expr]:
        """Arguments in an order that does not depend on the hash seed."""
        if isinstance(x, sp.Max | sp.Min):
            return sorted(x.args, key=sp.default_sort_key)
        return list(x.args)

    def visit_total(self, x: Expr) -> n.Node:
        """Σ_k over the arrays' elements."""
        inside = self.visit(x.args[0])
        if infer(inside, self.types).rank != "elementwise":
            raise UserError(
                f"{x} is a sum over components that the rule keeps nowhere",
                where=self.where,
                why="emitted code has vectors where a state or an input is one",
                how="`blrgen derive` has the rule, also as JSON that SymPy reads",
            )
        return n.Total(inside)

    def visit_Symbol(self, x: Expr) -> n.Node:
        if x in self.counts:
            return self.counts[x]
        if x.name not in self.types:
            raise UserError(
                f"unknown name {x.name} in an expression",
                where=self.where,
                why="known names: " + ", ".join(self.types),
            )
        return n.Sym(x.name)

    def visit_Rational(self, x: Expr) -> n.Node:
        return n.Const(Fraction(int(x.p), int(x.q)))

    def visit_Float(self, x: Expr) -> n.Node:
        return n.Const(Fraction(str(x)))

    def visit_Pi(self, x: Expr) -> n.Node:
        return n.Named("pi")

    def visit_Exp1(self, x: Expr) -> n.Node:
        return n.Named("e")

    def visit_Infinity(self, x: Expr) -> n.Node:
        return n.Named("inf")

    def visit_NegativeInfinity(self, x: Expr) -> n.Node:
        return n.Neg(n.Named("inf"))

    def visit_Add(self, x: Expr) -> n.Node:
        """Positive terms first, arrays before scalars, short before long."""
        terms = sorted(x.args, key=self.reading_order)
        plus = [self.visit(a) for a in terms if not is_negative(a)]
        minus = [self.visit(-a) for a in terms if is_negative(a)]
        if not plus:
            return n.neg(n.add(*minus))
        if len(minus) > MOST_DEEP:
            return n.add(*plus, *map(n.neg, minus))
        result = n.add(*plus)
        for term in minus:
            result = n.Sub(result, term)
        return result

    def reading_order(self, x: Expr) -> tuple[Any, ...]:
        above = any(self.types.get(s.name, SCALAR) != SCALAR for s in x.free_symbols)
        return (is_negative(x), not above, sp.count_ops(x), sp.default_sort_key(x))

    def visit_Mul(self, x: Expr) -> n.Node:
        """Coefficient · numerator / denominator, the sign outside.

        A rational coefficient is a factor where it is exact in binary, otherwise
        its denominator divides: x/3 is rounded once, 0.333…·x twice.
        """
        if is_negative(x):
            return n.neg(self.visit(-x))
        coefficient, rest = x.as_coeff_Mul()
        top, bottom = [], []
        for a in sorted(sp.Mul.make_args(rest), key=self.factor_order):
            if is_root_of_inverse(a):
                bottom.append(n.sqrt(self.visit(a.base.base ** (-a.base.exp))))
            elif a.is_Pow and is_negative(a.exp):
                bottom.append(self.visit(a.base ** (-a.exp)))
            else:
                top.append(self.visit(a))
        binary = coefficient.is_Rational and not bottom and coefficient.q & (coefficient.q - 1) == 0
        if binary or not coefficient.is_Rational:
            top.insert(0, self.visit(coefficient))
        else:
            top.insert(0, n.Const.of(int(coefficient.p)))
            bottom.insert(0, n.Const.of(int(coefficient.q)))
        return n.div(n.mul(*top), n.mul(*bottom))

    def factor_order(self, x: Expr) -> tuple[Any, ...]:
        above = any(self.types.get(s.name, SCALAR) != SCALAR for s in x.free_symbols)
        return (above, not x.is_number, sp.count_ops(x), sp.default_sort_key(x))

    def visit_Pow(self, x: Expr) -> n.Node:
        base, exponent = x.base, x.exp
        if is_negative(exponent):
            return n.div(n.ONE, self.visit(base ** (-exponent)))
        if is_root_of_inverse(x):
            return n.div(n.ONE, n.sqrt(self.visit(base.base ** (-base.exp))))
        if exponent == sp.Rational(1, 2):
            return n.sqrt(self.visit(base))
        if exponent.is_Integer:
            turned = exponent.is_even and base.is_Add and base.as_coeff_Add()[0] == -1
            return n.Pow(self.visit(-base if turned else base), int(exponent))  # (1 − β)²
        if exponent.is_Rational and exponent.q == 2:
            whole = self.visit(base ** (exponent - sp.Rational(1, 2)))
            return n.mul(whole, n.sqrt(self.visit(base)))
        return n.Call("pow", (self.visit(base), self.visit(exponent)))

    def visit_Piecewise(self, x: Expr) -> n.Node:
        (first, condition), *rest = x.args
        if condition == sp.true:
            return self.visit(first)
        if not rest:
            raise UserError(f"{x} has no value where {condition} fails", where=self.where)
        return n.Select(self.visit(condition), self.visit(first), self.visit(x.func(*rest)))

    def visit_polygamma(self, x: Expr) -> n.Node:
        """ψ and its derivatives, of a whole order."""
        order, argument = x.args
        if not order.is_Integer or order < 0 or order > 20:
            raise UserError(f"no target can compute {x}", where=self.where, why=f"order {order}")
        name = {0: "digamma", 1: "trigamma"}.get(int(order), f"polygamma_{order}")
        return n.Call(name, (self.visit(argument),))

    def visit_multipolygamma(self, x: Expr) -> n.Node:
        """ψ_d and its derivatives, of a whole order; the size is known at run time."""
        order, *rest = x.args
        if not order.is_Integer or order < 0 or order > 20:
            raise UserError(f"no target can compute {x}", where=self.where, why=f"order {order}")
        return n.Call(f"multipolygamma_{order}", tuple(self.visit(a) for a in rest))

    def visit_log_total(self, x: Expr) -> n.Node:
        """log(Σ exp(f) + exp(c))."""
        level, _, *more = x.args
        return n.LogTotal(self.visit(level), *map(self.visit, more))

    def visit_bessel_ratio(self, x: Expr) -> n.Node:
        return self._at_root("bessel_quotient", x)

    def visit_bessel_drop(self, x: Expr) -> n.Node:
        return self._at_root("bessel_bend", x)

    def visit_bessel_slope_of(self, x: Expr) -> n.Node:
        return self._at_root("bessel_slope", x)

    def _at_root(self, name: str, x: Expr) -> n.Node:
        """A function of s = κ² as one of κ."""
        order, s = x.args
        return n.Call(name, (self.visit(order), self.visit(sp.sqrt(s))))

    def visit_steadier(self, x: Expr) -> n.Node:
        """Two forms of one number; the one with the smaller terms."""
        new, plain, size, before = (self.visit(a) for a in x.args)
        return n.Select(n.Compare("<", size, before), new, plain, same=True)

    def visit_trigamma_gap(self, x: Expr) -> n.Node:
        """x − 1/ψ′(x) as x (ψ′(x) − 1/x)/ψ′(x)."""
        a = self.visit(x.args[0])
        above = n.mul(a, n.Call("trigamma_rest", (a,)))
        return n.div(above, n.Call("trigamma", (a,)))

    def visit_uniform_cumulant(self, x: Expr) -> n.Node:
        """The derivatives of log((eˣ − 1)/x), each a function of its own."""
        order, argument = x.args
        if not order.is_Integer or order > 9:
            raise UserError(f"no target can compute {x}", where=self.where, why=f"order {order}")
        return n.Call(f"uniform_cumulant_{order}", (self.visit(argument),))

    def visit_Heaviside(self, x: Expr) -> n.Node:
        return n.Select(n.Compare(">", self.visit(x.args[0]), n.ZERO), n.ONE, n.ZERO)


def is_root_of_inverse(x: Expr) -> bool:
    """√(1/y), which is written 1/√y: the same wherever either is real."""
    half = x.is_Pow and x.exp == sp.Rational(1, 2)
    return bool(half and x.base.is_Pow and x.base.exp == -1)
