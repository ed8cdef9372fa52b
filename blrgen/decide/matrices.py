"""Equations between vectors and matrices: normal form for every size, fields for d = 1…6."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import sympy as sp
from mpmath import mp

from blrgen.algebra.ranks import DIM, SymMat, T, Vec, logdet, trace
from blrgen.decide import modular
from blrgen.decide.budget import UNITS, TooLarge
from blrgen.decide.domain import range_of
from blrgen.decide.field import (
    Mod,
    Number,
    Rows,
    add,
    determinant,
    identity,
    invert,
    multiply,
    scale,
    transpose,
)
from blrgen.decide.fractions import Unsupported
from blrgen.decide.proof import Proof
from blrgen.decide.words import identical_words
from blrgen.value.evaluate import Undefined, evaluate

Expr = Any
SIZES = (1, 2, 3, 4, 5, 6)
TRIALS = 3
ONES = Vec("1⃗", commutative=False)  # the vector of ones: what NumPy adds with a scalar


def equal_matrices(left: Expr, right: Expr, domains: Mapping[Expr, str], *, claim: str) -> Proof:
    """As `blrgen.decide.equal.equal`, for expressions with vectors and matrices."""
    from blrgen.decide.equal import seed_of

    seed = seed_of(left, right)
    refuted = _refute(left, right, domains, seed, (1, 1, 2, 2, 3), claim)
    if refuted:
        return refuted
    try:
        if identical_words(left, right, domains, 2 * UNITS):
            detail = "the difference is zero in non-commutative normal form, for every d"
            return Proof("identity", claim, detail)
        why = "the normal form did not reach zero"
    except (TooLarge, Unsupported, NotImplementedError) as error:
        why = f"no normal form {error}".rstrip()
    try:
        bound = agree(left, right, domains, seed)
    except modular.NoModel as error:
        bound, why = "", f"{why}; no finite-field model of {error}"
    if bound:
        detail = "equal for random matrices over a prime field at d = 1…6"
        return Proof("random-exact", claim, detail, bound=bound)
    refuted = _refute(left, right, domains, seed + 1, (1, 2, 3, 4, 4, 4), claim)
    return refuted or Proof("numeric", claim, f"{why}; equal to 30 digits at d = 1…4: no proof")


class Model:
    """Values of expressions for matrices of one size over one kind of number."""

    def __init__(
        self, d: int, scalar: Callable[[Expr, dict[Expr, Number]], Number],
        symbol: Callable[[Expr], Rows], log: Callable[[Number], Number],
    ) -> None:  # fmt: skip
        self.d, self._scalar, self._symbol, self._log = d, scalar, symbol, log
        self.known: dict[Expr, Number | Rows] = {}

    def value(self, e: Expr) -> Number | Rows:
        """A number, or rows; a number in a sum with rows is that multiple of the identity."""
        if e not in self.known:
            self.known[e] = self.scalar(e) if e.is_commutative else self._rows(e)
        return self.known[e]

    def scalar(self, e: Expr) -> Number:
        special: dict[Expr, Number] = {s: size_at(s, self.d) for s in sizes_in(e)}
        for a in sorted(e.atoms(trace, logdet), key=sp.default_sort_key):
            special[a] = self._special(a)
        return self._scalar(e, special)

    def _special(self, a: Expr) -> Number:
        inner = self.rows(a.args[0])
        if isinstance(a, logdet):
            return self._log(determinant(inner))
        return sum((inner[i][i] for i in range(len(inner))), start=0)

    def rows(self, e: Expr, like: Rows | None = None) -> Rows:
        x = self.value(e)
        if isinstance(x, tuple):
            return x
        if like is not None and len(like) != len(like[0]):
            raise modular.NoModel("a scalar added to a vector")
        return identity(len(like) if like is not None else self.d, x)

    def _rows(self, e: Expr) -> Number | Rows:
        if e.is_Symbol:
            return self._symbol(e)
        if isinstance(e, T):
            return transpose(self.rows(e.args[0]))
        if e.is_Add:
            parts = [self.value(a) for a in e.args]
            like = next((x for x in parts if isinstance(x, tuple)), None)
            out: Rows | None = None
            for a in e.args:
                rows = self.rows(a, like)
                if out is not None and (len(rows), len(rows[0])) != (len(out), len(out[0])):
                    raise modular.NoModel("a sum of different ranks")
                out = rows if out is None else add(out, rows)
            return out
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow and e.exp.is_Integer:
            base = self.rows(e.base)
            if e.exp < 0:
                base = invert(base)[0]
            out = base
            for _ in range(abs(int(e.exp)) - 1):
                out = multiply(out, base)
            return out
        raise modular.NoModel(type(e).__name__)

    def _product(self, e: Expr) -> Number | Rows:
        coefficient, word = e.args_cnc()
        out: Number | Rows = self.rows(word[0])
        for a in word[1:]:
            right = self.rows(a)
            if isinstance(out, tuple) and len(out[0]) == len(right):
                out = multiply(out, right)
            else:
                raise modular.NoModel("a product of ranks that do not fit")
        c = self.scalar(sp.Mul(*coefficient))
        return scale(c, out)


def sizes_in(*expressions: Expr) -> list[Expr]:
    """The symbols that stand for sizes: d, and other whole numbers, except the step counter."""
    free = set().union(*(e.free_symbols for e in expressions))
    counts = {s for s in free if s.is_commutative and s.is_integer and s.is_positive}
    return sorted({DIM} | {s for s in counts if s.name != "t"}, key=lambda s: s.name)


class Named(int):
    """A size that knows the others by their names."""

    names: Mapping[str, int]

    def __new__(cls, names: Mapping[str, int]) -> Named:
        made = super().__new__(cls, names.get("d", max(names.values())))
        made.names = dict(names)
        return made


def size_at(n: Expr, d: int) -> int:
    """A size as a number where d is one; others are other numbers, so that none are mixed up."""
    n = sp.sympify(n)
    if isinstance(d, Named) and all(s.name in d.names for s in n.free_symbols):
        return int(n.xreplace({s: sp.Integer(d.names[s.name]) for s in n.free_symbols}))
    named = {s: d if s == DIM else d + 1 + sum(map(ord, s.name)) % 3 for s in n.free_symbols}
    return int(n.xreplace({s: sp.Integer(k) for s, k in named.items()}))


def at_size(domains: Mapping[Expr, str], d: int) -> dict[Expr, str]:
    """Domains whose ends are made of sizes, with numbers for these: (d - 1, oo) as (2, oo)."""
    from blrgen.errors import UserError
    from blrgen.read.domain import read_domain

    found = dict(domains)
    for s, text in domains.items():
        words = set(re.findall(r"[A-Za-z]\w*", text)) - {"oo"}
        if not words or not text.startswith(("(", "[")):
            continue
        names = {w: sp.Symbol(w, integer=True, positive=True) for w in words}
        try:
            domain = read_domain(text, names)
        except UserError:
            continue
        ends = [
            b if b.is_infinite else sp.sympify(b).xreplace(
                {x: sp.Integer(size_at(x, d)) for x in names.values()}
            )
            for b in (domain.lower, domain.upper)
        ]  # fmt: skip
        known = {getattr(x, "name", x) for x in domains}
        if all(b.is_number for b in ends) and not words & known:
            found[s] = f"{text[0]}{ends[0]}, {ends[1]}{text.rstrip()[-1]}"
    return found


def difference(model: Model, left: Expr, right: Expr) -> tuple[Rows, Rows]:
    """Both sides as rows of the same shape."""
    a, b = model.value(left), model.value(right)
    if isinstance(a, tuple) and isinstance(b, tuple) and (len(a), len(a[0])) != (len(b), len(b[0])):
        raise modular.NoModel("sides of different shape")
    if isinstance(a, tuple) != isinstance(b, tuple):
        return model.rows(left, b if isinstance(b, tuple) else None), model.rows(
            right, a if isinstance(a, tuple) else None
        )
    if not isinstance(a, tuple):
        return ((a,),), ((b,),)
    return a, b


# random-exact -----------------------------------------------------------------------------
def modular_model(d: int, domains: Mapping[Expr, str], random: Random) -> Model:
    """Random matrices over the prime field; scalars as in `blrgen.decide.modular`."""
    point = modular.Point(random, at_size(domains, d))
    symbols: dict[Expr, Rows] = {}

    def scalar(e: Expr, special: dict[Expr, Number]) -> Mod:
        for a, x in special.items():
            point.memo[a] = Mod.lift(x).v
        return Mod(point.value(e))

    def symbol(s: Expr) -> Rows:
        if s not in symbols:
            symbols[s] = random_rows(s, d, lambda: Mod(random.randrange(modular.P)), Mod(1))
        return symbols[s]

    return Model(d, scalar, symbol, lambda x: Mod(point.function(("logdet", Mod.lift(x).v))))


def random_rows(s: Expr, d: int, draw: Callable[[], Number], one: Number) -> Rows:
    """Random entries in the shape of a symbol's rank."""
    if s == ONES:
        return ((one,),) * d
    height, width = (size_at(n, d) for n in s.shape)
    rows = [[draw() for _ in range(width)] for _ in range(height)]
    if isinstance(s, SymMat):
        rows = [[rows[min(i, j)][max(i, j)] for j in range(width)] for i in range(height)]
    return tuple(map(tuple, rows))


def agree(left: Expr, right: Expr, domains: Mapping[Expr, str], seed: int) -> str:
    """The error bound when both sides agree over the field at every size, else ''."""
    random = Random(seed)
    for d in SIZES:
        done = 0
        for _ in range(TRIALS + 20):
            try:
                model = modular_model(d, domains, random)
                a, b = difference(model, left, right)
            except modular.Unlucky:
                continue
            if a != b:
                return ""
            done += 1
            if done == TRIALS:
                break
        if done < TRIALS:
            return ""
    size = matrix_degree(left - right, SIZES[-1])
    return f"({size}/2^127)^{TRIALS} at each size d = 1…6"


def matrix_degree(e: Expr, d: int) -> int:
    """A bound for the degree of any entry's numerator: an inverse counts d times its base."""
    if not e.args:
        return 0 if e.is_number else 1
    if e.is_Mul or e.is_Add:  # a common denominator adds the terms' degrees
        return sum(matrix_degree(a, d) for a in e.args)
    if e.is_Pow and e.exp.is_Integer:
        n = abs(int(e.exp)) * matrix_degree(e.base, d)
        return n * d if e.exp < 0 and not e.is_commutative else n
    return sum(matrix_degree(a, d) for a in e.args)


# numbers ----------------------------------------------------------------------------------
def numeric_model(
    d: int, domains: Mapping[Expr, str], random: Random, point: dict[Expr, Any]
) -> Model:
    """Random rational matrices, positive definite where declared, at mpmath's precision."""
    domains = at_size(domains, d)

    def scalar(e: Expr, special: dict[Expr, Number]) -> Any:
        values = {
            s: mpmath.mpf(v.numerator) / v.denominator
            for s, v in _scalars(e, domains, random, point).items()
        }
        values.update({a: mpmath.mpf(x) for a, x in special.items()})
        return evaluate(e, values)

    def symbol(s: Expr) -> Rows:
        if s not in point:
            point[s] = _definite(s, d, domains, random)
        return tuple(tuple(mpmath.mpf(x.numerator) / x.denominator for x in r) for r in point[s])

    return Model(d, scalar, symbol, lambda x: mpmath.log(abs(x)))


def _scalars(
    e: Expr, domains: Mapping[Expr, str], random: Random, point: dict[Expr, Any]
) -> dict[Expr, Fraction]:
    sizes = sizes_in(e)
    names = sorted(
        (s for s in e.free_symbols if s.is_commutative and s not in sizes), key=lambda s: s.name
    )
    for s in names:
        if s not in point:
            point[s] = range_of(s, domains).sample(random)
    return {s: point[s] for s in names}


def _definite(s: Expr, d: int, domains: Mapping[Expr, str], random: Random) -> Rows:
    rows = random_rows(s, d, lambda: Fraction(random.randint(-9, 9), 4), Fraction(1))
    text = domains.get(s, domains.get(s.name, ""))
    if isinstance(s, SymMat) and "SPD" in text:
        rows = add(multiply(rows, rows), identity(len(rows), Fraction(1, 2)))
        rows = scale(Fraction(-1), rows) if text.startswith("-") else rows
    return rows


def _refute(
    left: Expr,
    right: Expr,
    domains: Mapping[Expr, str],
    seed: int,
    sizes: tuple[int, ...],
    claim: str,
) -> Proof | None:
    from blrgen.decide.equal import DIGITS, MORE_DIGITS, TOLERANCE

    random = Random(seed)
    for d in sizes:
        point: dict[Expr, Any] = {}
        found = []
        for digits in (DIGITS, MORE_DIGITS):
            with mp.workdps(digits):
                try:
                    model = numeric_model(d, domains, random, point)
                    a, b = difference(model, left, right)
                except modular.NoModel as error:
                    if "shape" in str(error):
                        return Proof("refuted", claim, str(error), point=(("d", str(d)),))
                    break
                except (Undefined, modular.Unlucky, ZeroDivisionError, TypeError):
                    break
                size = max(abs(x) for r in (*a, *b) for x in r)
                gap = max(
                    abs(x - y) for r, s in zip(a, b, strict=True) for x, y in zip(r, s, strict=True)
                )
                if gap <= TOLERANCE * size:
                    break
                found.append((a, b, gap))
        if len(found) == 2 and found[1][2] > found[0][2] / 2:
            values = tuple(
                (str(s), _text(v)) for s, v in sorted(point.items(), key=lambda x: str(x[0]))
            )
            return Proof(
                "refuted", claim, f"the two sides differ for matrices of size d = {d}",
                point=(("d", str(d)), *values), left=_text(found[0][0]), right=_text(found[0][1]),
            )  # fmt: skip
    return None


def _text(v: Any) -> str:
    if isinstance(v, tuple):
        if len(v[0]) == 1:
            v = (tuple(r[0] for r in v),)
        rows = ["[" + ", ".join(map(_text, r)) + "]" for r in v]
        return rows[0] if len(rows) == 1 else "[" + ", ".join(rows) + "]"
    return str(v) if isinstance(v, Fraction) else mpmath.nstr(v, 12)
