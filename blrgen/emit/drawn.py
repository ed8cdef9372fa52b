"""Draws from a family as source text: a function `sample(rng, size, …)` in plain NumPy.

Numbers carry the shape of the sample; vectors by their components have one more axis,
vectors and matrices of the non-commuting algebra two more (a vector is a column).  The
parameters have no axes of the sample, variables drawn earlier do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sympy as sp

from blrgen.algebra.components import Component, Head, size_of, total
from blrgen.algebra.ranks import T, lengths_of, logdet, shape_of, trace
from blrgen.algebra.words import normal
from blrgen.emit.printers import ArrayPrinter
from blrgen.emit.shorten import shortened
from blrgen.emit.text import assignment, call
from blrgen.emit.uses import use
from blrgen.errors import InternalError, UserError
from blrgen.geometry.drawn import Step
from blrgen.geometry.integrate.primitive import Draw, draws_of
from blrgen.program import nodes as n
from blrgen.program.averages import density_in_t
from blrgen.program.density import Expectation, Weight
from blrgen.program.expand import expanded
from blrgen.program.inspect import ATOM
from blrgen.program.stable import stable_form
from blrgen.program.types import SCALAR

Expr = Any
NUMBERS = {
    "normal": "rng.standard_normal", "uniform": "rng.random", "gamma": "rng.standard_gamma",
    "loggamma": "_log_gamma", "poisson": "_poisson", "binomial": "rng.binomial",
    "vonmises": "rng.vonmises", "tilted": "_tilted",
}  # each element has a draw of its own  # fmt: skip
_VECTORS = {"categorical": "_unit_vector", "multinomial": "_counts",
            "dirichlet": "_dirichlet", "sphere": "_sphere"}  # fmt: skip
_PARAMETER = {"categorical": "levels", "multinomial": "levels", "dirichlet": "powers",
              "sphere": "slope"}  # fmt: skip
_MATRICES = {"gaussian": "_gaussian", "matrixgaussian": "_matrix_gaussian", "wishart": "_wishart"}


class Numbers(ArrayPrinter):
    """Named constants from NumPy."""

    def print_Named(self, node: n.Named) -> tuple[str, int]:
        return f"{use('np')}.{node.name}", ATOM


class Rows:
    """Lines that compute the variables of one family from its parameters."""

    def __init__(
        self,
        shape: str,
        margin: int = 4,
        names: Mapping[str, str] | None = None,
        printer: Callable[[dict[str, str]], ArrayPrinter] | None = None,
        dtype: str = "np.float64",
        first: int = 0,
        rng: str = "rng",
        plates: bool = False,
        laws: int = 0,
    ) -> None:
        self.shape, self.margin, self.dtype, self.rng = shape, margin, dtype, rng
        self.plates = plates  # parameters have axes of their own before those of one member
        self.lines: list[str] = []
        self.names = dict(names or {})  # how symbols are written
        self.printer = printer or Numbers
        self.sampled: set[Expr] = set()  # symbols that carry the axes of the sample
        self.densities: list[Weight] = []
        self.expectations: list[Expectation] = []
        self.first = first  # how many expectations the file has already
        self.laws = laws  # how many distribution functions
        self._taken = {re.split(r"\W", text)[0] for text in (*self.names.values(), shape)}
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
        """A line with an expression."""
        self.lines.append(assignment(name, text, self.margin))

    def put_call(self, name: str, function: str, arguments: list[str]) -> None:
        """A line with a call."""
        self.lines.append(call(f"{' ' * self.margin}{name} = {function}(", arguments))

    def put_number(self, name: str, e: Expr) -> None:
        """A number, over several lines where it is long."""
        node = self._node(e)
        printer = self.printer(self.names)
        for own, part in shortened([(name, node)], printer, self.margin, self._taken):
            self.put(own, printer(part))

    # steps ------------------------------------------------------------------------------
    def step(self, step: Step) -> str:
        """The lines for one variable; the name of its value."""
        x, value = step.variable, sp.sympify(step.value)
        across = self._across(x)
        for d in draws_of(value):
            inverse = d.kind == "wishart" and value == d**-1
            self._known[d] = self._draw(d.xreplace(self._known), x, across, inverse)
            if inverse:
                self._known[value] = self._known[d]
        while value.has(Draw):
            value = value.xreplace(self._known)
        drawn = self.names.get(getattr(value, "name", ""), "")
        made = self._entries if x.is_commutative else self._whole
        name = self.names[x.name] = made(step, value, drawn, across)
        self.sampled.add(x)
        return name

    def _entries(self, step: Step, value: Expr, drawn: str, across: str) -> str:
        """A number, or a vector by its components, put into the shape of the sample."""
        name = self.name(step.variable.name)
        if not drawn:
            self.put_number(name, value)
        made = self._made(drawn or name, name, step, across)
        self.lines += [" " * self.margin + line for line in made]
        return name

    def _whole(self, step: Step, value: Expr, drawn: str, across: str) -> str:
        """A vector or a matrix, which is what was drawn or a word in it."""
        name = drawn or self.name(step.variable.name)
        if not drawn:
            self.put(name, self.array(value, *(shape_of(step.variable) or ())[:1]))
        return name

    def _across(self, x: Expr) -> str:
        """The shape of independent draws for x: one more axis for a vector by components."""
        size = size_of(x)
        return self.shape if size is None else f"(*{self.shape}, {self.scalar(size)})"

    def _made(self, old: str, name: str, step: Step, across: str) -> list[str]:
        """Of the whole shape, in the dtype, inside the support."""
        lines = [f"{name} = np.broadcast_to({old}, {across}).astype({self.dtype})"]
        support = step.support
        if support.kind == "interval" and (support.lower, support.upper) != (-sp.oo, sp.oo):
            ends = ", ".join(self.scalar(e) for e in (support.lower, support.upper))
            is_open = f"{support.lower_open}, {support.upper_open}"
            lines.append(f"{name} = {use('_within')}({name}, {ends}, {is_open})")
        return lines

    # draws ------------------------------------------------------------------------------
    def _draw(self, d: Expr, x: Expr, across: str, inverse: bool = False) -> Expr:
        """The lines for one draw, and the symbol that stands for it from then on."""
        kind = d.kind
        if kind in NUMBERS:
            function, arguments = NUMBERS[kind], [self.scalar(p) for p in d.parameters]
            if kind == "vonmises":
                arguments.insert(0, "0")
            if kind == "binomial":
                arguments[0] = f"np.rint({arguments[0]}).astype(np.int64)"
            arguments.append(across)
        elif kind == "pick":
            function, arguments = "_pick", [self.rng, *self._listed(d), across]
        elif kind == "law":
            function, arguments = self._by_inverse(d, across)
        elif kind in _VECTORS:
            function, arguments = _VECTORS[kind], [self.rng, *self._vector(d, x), self.shape]
        else:
            function = "_inverse_wishart" if inverse else _MATRICES[kind]
            arguments = [self.rng, *self._matrix(d, x), self.shape]
        name = self.name(f"{kind}_{len(self._known) + 1}")
        use(function)
        if function.startswith("_") and kind in NUMBERS:
            arguments.insert(0, self.rng)
        self.put_call(name, function.replace("rng.", f"{self.rng}."), arguments)
        self.names[name] = name
        symbol = _letter(name, x, kind)
        self.sampled.add(symbol)
        return symbol

    def _listed(self, d: Expr) -> list[str]:
        """[values], [levels] of a pick."""
        return [
            f"[{', '.join(self.scalar(p) for p in d.parameters[k::2])}]" for k in (0, 1)
        ]  # fmt: skip

    def _vector(self, d: Expr, x: Expr) -> list[str]:
        """A whole vector: its parameters with as many components as it has."""
        size, own = self.scalar(x.size), list(d.parameters)
        first = [self.scalar(own.pop(0))] if d.kind == "multinomial" else []
        if self.plates:
            first = [f"np.broadcast_to({x}, (*{self.shape}, 1))[..., 0]" for x in first]
        body = self._spread(own[0], size)
        name = self.name(_PARAMETER[d.kind])
        if len(own) == 2:
            front = self._spread(own[0], f"{size} - 1")
            if self.plates:
                last = self.name("last")
                self.put(last, self._spread(own[1], "1"))
                self.put_call(name, "np.append", [front, last, "axis=-1"])
                return [*first, name]
            body = f"np.append({front}, {self.scalar(own[1])})"
        self.put(name, body)
        return [*first, name]

    def _spread(self, e: Expr, size: str) -> str:
        """A number or a vector with so many components, one for all draws or one each."""
        shape = f"(*{self.shape}, {size})" if self.plates else size
        return f"np.broadcast_to({self.scalar(e)}, {shape})"

    def _matrix(self, d: Expr, x: Expr) -> list[str]:
        """The parameters of a vector or matrix of the non-commuting algebra."""
        rows, columns = shape_of(x) or (sp.S.One, sp.S.One)
        p = d.parameters
        if d.kind == "wishart":
            return [self.scalar(p[0]), self.array(p[1], rows)]
        squares = [self.array(x, size) for x, size in zip(p[1:], (rows, columns), strict=False)]
        return [self.array(p[0], rows, columns), *squares]

    def array(self, e: Expr, *sizes: Expr) -> str:
        """A vector or matrix; a number is that times I where one size is said, else it is all."""
        e = normal(sp.sympify(e))
        if not e.is_commutative:
            return self._word(e)[0]
        shape = [self.scalar(s) for s in sizes]
        if len(sizes) > 1:
            return f"np.full(({', '.join(shape)}), {self.scalar(e)})"
        if not shape:
            raise InternalError(f"no size for {e}")
        return f"{self._factor(e)} * np.eye({shape[0]})"

    def _by_inverse(self, d: Expr, across: str) -> tuple[str, list[str]]:
        """u = F(x) solved for x by the emitted inverse of the distribution function."""
        x, exponent, low, high, whole = d.parameters
        exponent = self._letters(exponent)
        number = self.laws + len(self.densities) + 1
        name = f"law {number}"
        made, arguments = density_in_t(name, exponent, x, low, high, bool(whole))
        self.densities.append(made)
        u = f"{self.rng}.random({across})"
        function, over = self.printer(self.names).applied(f"quantile_{number}")
        given = [f"np.asarray({self.scalar(a)}, dtype=np.float64)" for a in arguments]
        return function, [*over, u, *given]

    # expressions ------------------------------------------------------------------------
    def _batched(self, e: Expr) -> bool:
        return any(s in self.sampled for s in e.free_symbols)

    def _letters(self, e: Expr) -> Expr:
        """Sums over components, traces and determinants by names of their own."""
        outer = _outermost(e)
        for f in outer:
            if f not in self._known:
                name = self.name(type(f).__name__)
                text = self._number_of(f)
                self.put(name, text)
                self.names[name] = name
                letter = self._like(f, name)
                if self._batched(f):
                    self.sampled.add(letter)
                self._known[f] = letter
        e = e.xreplace({f: self._known[f] for f in outer})
        shorter = {x: sp.Symbol(f"{x.name}_head", real=True) for x in e.atoms(Component)
                   if isinstance(x, Head)}  # fmt: skip
        for x, letter in shorter.items():
            self.names[letter.name] = f"{self.names.get(x.name, x.name)}[..., :-1]"
        return e.xreplace(shorter)

    def _like(self, f: Expr, name: str) -> Expr:
        return _entry(name, size_of(f), real=True)

    def _number_of(self, f: Expr) -> str:
        """A sum over components, a trace, a determinant or an angle."""
        if isinstance(f, total):
            inside = self._spread(f.args[0], self.scalar(f.args[1]))
            return f"np.sum({inside}, axis=-1{', keepdims=True' if self.plates else ''})"
        if isinstance(f, sp.atan2):
            return f"np.arctan2({self.scalar(f.args[0])}, {self.scalar(f.args[1])})"
        text = self.array(f.args[0])
        if isinstance(f, trace):
            return f"np.trace({text}, axis1=-2, axis2=-1)"
        return f"np.linalg.slogdet({text})[1]"

    def scalar(self, e: Expr) -> str:
        """A commuting expression as NumPy text."""
        text: str = self.printer(self.names)(self._node(e))
        return text

    def _node(self, e: Expr) -> n.Node:
        from blrgen.program.lowering import Lowering

        e = self._letters(sp.sympify(e))
        lowering = Lowering(dict.fromkeys(self.names, SCALAR))
        lowering.first = self.first + len(self.expectations)
        node = expanded(stable_form(lowering.lower(e, where="in the draws")))
        self.expectations += lowering.expectations
        return node

    def _factor(self, e: Expr) -> str:
        """A number before a matrix."""
        if self._batched(e):
            return f"np.asarray({self.scalar(e)})[..., None, None]"
        return self.printer(self.names).at(self._node(e), ATOM)

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
            front = self._factor(coefficient)
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
        """Words, and a number beside them, which is that times I."""
        number, words = e.as_independent(*(s for s in e.free_symbols if shape_of(s)))
        terms = sorted(sp.Add.make_args(words), key=sp.default_sort_key)
        parts = [self._word(a)[0] for a in terms]
        if number != 0:
            parts.append(self.array(number, *(shape_of(words) or ())[:1]))
        return " + ".join(parts), True


def _letter(name: str, x: Expr, kind: str) -> Expr:
    """A symbol for a draw: of vectors by components it has components."""
    if kind in _MATRICES:
        return sp.Symbol(name, commutative=False)
    known = {"positive": True} if kind in ("uniform", "gamma", "tilted") else {"real": True}
    return _entry(name, next(iter(lengths_of(x)), None), **known)


def _entry(name: str, size: Expr | None, **known: bool) -> Expr:
    """A number, or a vector of so many components."""
    return sp.Symbol(name, **known) if size is None else Component(name, size, **known)


def _outermost(e: Expr) -> list[Expr]:
    found: dict[Expr, None] = {}

    def walk(x: Expr) -> None:
        if isinstance(x, total | trace | logdet | sp.atan2):
            found[x] = None
        elif not isinstance(x, Draw):
            for a in x.args:
                walk(a)

    walk(e)
    return sorted(found, key=sp.default_sort_key)
