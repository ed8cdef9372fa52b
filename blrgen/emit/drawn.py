"""Draws from a family as source text: a function `sample(rng, size, …)` in plain NumPy.

Numbers carry the shape of the sample; vectors by their components have one more axis,
vectors and matrices of the non-commuting algebra two more (a vector is a column).  The
parameters have no axes of the sample, variables drawn earlier do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from blrgen.algebra.components import Component, total
from blrgen.algebra.ranks import T, logdet, shape_of, trace
from blrgen.algebra.words import normal
from blrgen.core import Support
from blrgen.emit.printers import ArrayPrinter
from blrgen.emit.templates import fill
from blrgen.emit.text import assignment
from blrgen.errors import InternalError, UserError
from blrgen.geometry.drawn import Step
from blrgen.geometry.integrate.draws import WHOLE, Draw, draws_of
from blrgen.program.density import Density, Expectation
from blrgen.program.expand import expanded
from blrgen.program.stable import stable_form
from blrgen.program.types import SCALAR

Expr = Any
NUMBERS = {
    "normal": "rng.standard_normal({shape})",
    "uniform": "rng.random({shape})",
    "gamma": "rng.standard_gamma({0}, {shape})",
    "loggamma": "_log_gamma(rng, {0}, {shape})",
    "poisson": "_poisson(rng, {0}, {shape})",
    "binomial": "rng.binomial({0}, {1}, {shape})",
    "vonmises": "rng.vonmises(0, {0}, {shape})",
    "tilted": "_tilted(rng, {0}, {shape})",
}  # each element has a draw of its own
_VECTORS = {"categorical": "_unit_vector", "multinomial": "_counts",
            "dirichlet": "_dirichlet", "sphere": "_sphere"}  # fmt: skip
_MATRICES = {"gaussian": "_gaussian", "matrixgaussian": "_matrix_gaussian", "wishart": "_wishart"}
_HELPERS = (
    "_log_gamma", "_tilted", "_poisson", "_pick", "_unit_vector", "_counts", "_dirichlet",
    "_sphere", "_gaussian", "_matrix_gaussian", "_bartlett", "_wishart", "_inverse_wishart",
    "_inside",
)  # fmt: skip


@cache
def _text(name: str) -> str:
    return fill(f"draws/{name.lstrip('_')}.py.jinja")


def drawing_helpers(code: str) -> list[str]:
    """The texts of the functions for drawing that the code calls, and those they call."""
    texts: dict[str, str] = {}
    waiting = [code]
    while waiting:
        for name in re.findall(r"(?<![\w.])(_[a-z]\w*)\(", waiting.pop(0)):
            if name in _HELPERS and name not in texts:
                texts[name] = _text(name)
                waiting.append(texts[name])
    return list(texts.values())


class Rows:
    """Lines that compute the variables of one family from its parameters."""

    def __init__(self, shape: str, margin: int = 4) -> None:
        self.shape, self.margin = shape, margin
        self.lines: list[str] = []
        self.names: dict[str, str] = {}  # how symbols are written
        self.sampled: set[Expr] = set()  # symbols that carry the axes of the sample
        self.densities: list[Density] = []
        self.expectations: list[Expectation] = []
        self._taken: set[str] = set()
        self._known: dict[Expr, Expr] = {}  # draws and sums that have a name

    # names ------------------------------------------------------------------------------
    def name(self, wanted: str) -> str:
        """A name that no line has used."""
        k, found = 1, wanted
        while found in self._taken:
            k += 1
            found = f"{wanted}_{k}"
        self._taken.add(found)
        return found

    def reserve(self, names: Iterable[str]) -> None:
        """Names that stand for something else."""
        self._taken |= set(names)

    def put(self, name: str, text: str) -> None:
        self.lines.append(assignment(name, text, self.margin))

    # steps ------------------------------------------------------------------------------
    def step(self, step: Step) -> str:
        """The lines for one variable; the name of its value."""
        x, value = step.variable, sp.sympify(step.value)
        across = self._across(x)
        for d in draws_of(value):
            if d not in self._known and not self._inverted(d, value):
                self._known[d] = self._draw(d.xreplace(self._known), x, across)
        for inverse in sorted(value.atoms(sp.Pow), key=str):
            if isinstance(inverse.base, Draw) and inverse.base.kind == "wishart":
                self._known[inverse] = self._draw(inverse.base, x, across, inverse=True)
        while value.has(Draw):
            value = value.xreplace(self._known)
        name = self.name(x.name)
        self.names[x.name] = name
        self.put(name, self._value(value, x, across, step.support))
        self.sampled.add(x)
        return name

    def _inverted(self, d: Expr, value: Expr) -> bool:
        """Whether a Wishart draw stands only under an inverse."""
        return d.kind == "wishart" and value == d**-1

    def _across(self, x: Expr) -> str:
        """The shape of independent draws for x: one more axis for a vector by components."""
        if not isinstance(x, Component):
            return self.shape
        return f"(*{self.shape}, {self.scalar(x.size)})"

    def _value(self, value: Expr, x: Expr, across: str, support: Support) -> str:
        if not x.is_commutative:
            return self.word(value, x)
        text = f"np.asarray({self.scalar(value)}, dtype=np.float64)"
        if isinstance(x, Component) and support.kind not in ("interval", "vector"):
            return text
        text = f"np.broadcast_to({text}, {across})"
        if support.kind != "interval":
            return text
        return self.inside(text, support)

    def inside(self, text: str, support: Support) -> str:
        """Rounded to a number that belongs to the interval."""
        low, high = support.lower, support.upper
        if low == -sp.oo and high == sp.oo:
            return text
        ends = [self.scalar(e) for e in (low, high)]
        return f"_inside({text}, {', '.join(ends)}, {support.lower_open}, {support.upper_open})"

    # draws ------------------------------------------------------------------------------
    def _draw(self, d: Expr, x: Expr, across: str, inverse: bool = False) -> Expr:
        kind = d.kind
        name = self.name(f"{kind}_{len(self._known) + 1}")
        if kind in _MATRICES:
            symbol = sp.Symbol(name, commutative=False)
            self.put(name, self._matrix_draw(d, x, inverse))
        else:
            symbol = _letter(name, x if across != self.shape else None, kind)
            if kind in _VECTORS:
                text = self._vector_draw(d, x)
            elif kind == "pick":
                text = self._pick(d, across)
            elif kind == "law":
                text = self._by_inverse(d, across)
            else:
                args = [self.scalar(p) for p in d.parameters]
                text = NUMBERS[kind].format(*args, shape=across)
            self.put(name, text)
        self.names[name] = name
        self.sampled.add(symbol)
        return symbol

    def _pick(self, d: Expr, across: str) -> str:
        values, levels = (
            ", ".join(self.scalar(p) for p in d.parameters[k::2]) for k in (0, 1)
        )  # fmt: skip
        return f"_pick(rng, [{values}], [{levels}], {across})"

    def _vector_draw(self, d: Expr, x: Expr) -> str:
        """A whole vector: its parameters with as many components as it has."""
        size = self.scalar(x.size)
        first, rest = (self.scalar(d.parameters[0]) + ", ", d.parameters[1:]) if (
            d.kind == "multinomial"
        ) else ("", d.parameters)  # fmt: skip
        if len(rest) == 2:
            body = f"np.append(np.broadcast_to({self.scalar(rest[0])}, {size} - 1), {self.scalar(rest[1])})"
        else:
            body = f"np.broadcast_to({self.scalar(rest[0])}, {size})"
        levels = self.name("levels" if d.kind in ("categorical", "multinomial") else "powers")
        if d.kind == "sphere":
            levels = self.name("a")
        self.put(levels, body)
        return f"{_VECTORS[d.kind]}(rng, {first}{levels}, {self.shape})"

    def _matrix_draw(self, d: Expr, x: Expr, inverse: bool) -> str:
        rows, columns = shape_of(x) or (sp.S.One, sp.S.One)
        p = d.parameters
        if d.kind == "wishart":
            args = [self.scalar(p[0]), self.word(p[1], x)]
        elif d.kind == "gaussian":
            args = [self._column(p[0], rows), self._square(p[1], rows)]
        else:
            args = [
                self.word(p[0], x) if not p[0].is_commutative else self.scalar(p[0]),
                self._square(p[1], rows), self._square(p[2], columns),
            ]  # fmt: skip
        name = "_inverse_wishart" if inverse else _MATRICES[d.kind]
        return f"{name}(rng, {', '.join(args)}, {self.shape})"

    def _column(self, b: Expr, rows: Expr) -> str:
        if b.is_commutative:  # no linear term
            return f"np.full(({self.scalar(rows)}, 1), {self.scalar(b)})"
        return self.word(b, None)

    def _square(self, p: Expr, rows: Expr) -> str:
        if not p.is_commutative:
            return self.word(p, None)
        unit = f"np.eye({self.scalar(rows)})"
        text = self.scalar(p)
        return f"{_spread(text) if self._batched(p) else f'({text})'} * {unit}"

    def _by_inverse(self, d: Expr, across: str) -> str:
        """u = F(x) solved for x by the emitted inverse of the distribution function."""
        x, exponent, low, high, whole = d.parameters
        exponent = self._letters(exponent)
        from blrgen.program.averages import density_in_t

        made, arguments = density_in_t(
            f"law {len(self.densities) + 1}", exponent, x, low, high, bool(whole)
        )
        self.densities.append(made)
        args = [f"np.asarray({self.scalar(a)}, dtype=np.float64)" for a in arguments]
        return f"_quantile_{len(self.densities)}({', '.join([f'rng.random({across})', *args])})"

    # expressions ------------------------------------------------------------------------
    def _batched(self, e: Expr) -> bool:
        return any(s in self.sampled for s in e.free_symbols)

    def _letters(self, e: Expr) -> Expr:
        """Sums over components, traces and determinants by names of their own."""
        outer = _outermost(e)
        for f in outer:
            if f not in self._known:
                body = f.args[0]
                if isinstance(f, total):
                    name, text = self.name("total"), f"np.sum({self._spread_out(f)}, axis=-1)"
                elif isinstance(f, trace):
                    name = self.name("trace")
                    text = f"np.trace({self.word(body, None)}, axis1=-2, axis2=-1)"
                else:
                    name, text = self.name("logdet"), f"np.linalg.slogdet({self.word(body, None)})[1]"
                self.put(name, text)
                self.names[name] = name
                letter = sp.Symbol(name, real=True)
                if self._batched(f):
                    self.sampled.add(letter)
                self._known[f] = letter
        e = e.xreplace({f: self._known[f] for f in outer})
        shorter = {x: sp.Symbol(f"{x.name}_head", real=True) for x in e.atoms(Component)
                   if self._is_head(x)}  # fmt: skip
        for x, letter in shorter.items():
            self.names[letter.name] = f"{self.names.get(x.name, x.name)}[..., :-1]"
        return e.xreplace(shorter)

    def _is_head(self, x: Component) -> bool:
        from blrgen.algebra.components import Head

        return isinstance(x, Head)

    def _spread_out(self, f: Expr) -> str:
        return f"np.broadcast_to({self.scalar(f.args[0])}, {self.scalar(f.args[1])})"

    def scalar(self, e: Expr) -> str:
        """A commuting expression as NumPy text."""
        e = self._letters(sp.sympify(e))
        from blrgen.program.lower import Lowering

        lowering = Lowering(dict.fromkeys(self.names, SCALAR))
        lowering.first = len(self.expectations)
        node = expanded(stable_form(lowering.lower(e, where="in the draws")))
        self.expectations += lowering.expectations
        text: str = ArrayPrinter(self.names)(node)
        return text

    def word(self, e: Expr, x: Expr | None) -> str:
        """An expression of vectors and matrices; a number beside matrices is that times I."""
        e = normal(sp.sympify(e))
        if e.is_commutative:
            shape = shape_of(x) if x is not None else None
            if shape is None:
                raise InternalError(f"no size for {e}")
            return self._square(e, shape[0])
        text, _ = self._word(e)
        return text

    def _word(self, e: Expr) -> tuple[str, bool]:
        """(text, whether it is a sum or product that wants brackets)."""
        if e.is_Add:
            return self._word_sum(e)
        if e.is_Mul:
            scalars, word = e.args_cnc()
            parts = [self._closed(a) for a in word]
            text = " @ ".join(parts)
            coefficient = sp.Mul(*scalars)
            if coefficient == 1:
                return text, len(parts) > 1
            front = self.scalar(coefficient)
            front = _spread(front) if self._batched(coefficient) else f"({front})"
            return f"{front} * ({text})" if len(parts) > 1 else f"{front} * {text}", True
        if isinstance(e, T):
            return f"np.swapaxes({self._word(e.args[0])[0]}, -1, -2)", False
        if e.is_Pow and e.exp.is_Integer:
            base = self._word(e.base)[0]
            if e.exp == -1:
                return f"np.linalg.inv({base})", False
            return f"np.linalg.matrix_power({base}, {int(e.exp)})", False
        if e.is_Symbol:
            return self.names[e.name], False
        raise UserError(f"no target can compute {e}", where="in the draws")

    def _closed(self, e: Expr) -> str:
        text, open_ = self._word(e)
        return f"({text})" if open_ or e.is_Add else text

    def _word_sum(self, e: Expr) -> tuple[str, bool]:
        words = [a for a in e.args if not a.is_commutative]
        number = sp.Add(*[a for a in e.args if a.is_commutative])
        parts = [self._word(a)[0] for a in sorted(words, key=sp.default_sort_key)]
        if number != 0:
            rows = next(s for s in map(shape_of, words) if s is not None)[0]
            parts.append(self._square(number, rows))
        return " + ".join(parts), True


def _spread(text: str) -> str:
    return f"np.asarray({text})[..., None, None]"


def _letter(name: str, x: Expr | None, kind: str) -> Expr:
    positive = kind in ("uniform", "gamma", "tilted") or None
    if x is None:
        return sp.Symbol(name, real=True, positive=positive)
    return Component(name, x.size, **({"positive": True} if positive else {}))


def _outermost(e: Expr) -> list[Expr]:
    found: dict[Expr, None] = {}

    def walk(x: Expr) -> None:
        if isinstance(x, (total, trace, logdet)):
            found[x] = None
        elif not isinstance(x, Draw):
            for a in x.args:
                walk(a)

    walk(e)
    return sorted(found, key=sp.default_sort_key)
