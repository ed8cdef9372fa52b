"""Raw expressions → resolved ones: every name looked up, every shape computed.

Shapes: numbers go with anything; vectors meet component by component; matrix times vector and
matrix times matrix are Σ_j a[i,j] b[j,…].  A matrix and a number are not added: which of
A + c·1 and A + c·eye is meant, the text has to say.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import NoReturn

from blrgen.errors import did_you_mean
from blrgen.read.family import list_families
from blrgen.read.functions import FUNCTIONS
from blrgen.read.model import raw
from blrgen.read.model.calls import MODEL_FUNCTIONS, call
from blrgen.read.model.elsewhere import FUNCTIONS as FUNCTIONS_ELSEWHERE
from blrgen.read.model.indices import Around, resolve_indices
from blrgen.read.model.magnitude import beyond_doubles
from blrgen.read.model.mistakes import Broken, every
from blrgen.read.model.scope import Scope
from blrgen.read.model.unify import shape_words
from blrgen.read.model.values import (
    Expr,
    Label,
    MatrixProduct,
    Negation,
    Number,
    Place,
    Power,
    Product,
    Ref,
    Shape,
    Size,
    SizeOf,
    Sum,
)
from blrgen.read.suggest import other_name

MAX_PRODUCTS = 80


class Resolver:
    """Resolves expressions inside one statement."""

    def __init__(self, scope: Scope, around: Around) -> None:
        self.scope, self.around = scope, around
        self.products = 0  # of matrices so far: each stands inside the next

    def read(self, e: raw.RawExpr) -> Expr:
        """The expression, which is no number beyond what programs compute with."""
        found = self.resolved(e)
        if beyond_doubles(found):
            self.wrong("domain", e.place, "a number beyond those in double precision",
                       why="those that programs compute with are between 1e-300 and 1e300, or 0",
                       how="choose other units")  # fmt: skip
        return found

    def resolved(self, e: raw.RawExpr) -> Expr:
        match e:
            case raw.RawNumber(value=value):
                return Number(value, (), e.place)
            case raw.RawInfinity():
                self.wrong("domain", e.place, "infinity is not a number",
                           why="oo stands only at the end of an interval")  # fmt: skip
            case raw.RawRef():
                return self.ref(e)
            case raw.RawCall():
                return self.call(e)
            case raw.RawNegation(arg=arg):
                inner = self.read(arg)
                if isinstance(inner, Number):
                    return Number(-inner.value, (), e.place)
                return Negation(inner, inner.shape, e.place)
            case raw.RawPower(base=base, exponent=exponent):
                return self.power(e, *every(self.read, (base, exponent)))
            case raw.RawOps(parts=parts, additive=additive):
                values = every(self.read, [p for _, p in parts])
                signed = [(sign, v) for (sign, _), v in zip(parts, values, strict=True)]
                return self.sum(signed, e.place) if additive else self.product(signed, e.place)

    def wrong(self, kind: str, place: Place, text: str, why: str = "", how: str = "") -> NoReturn:
        raise self.scope.mistakes.broken(kind, place, text, why=why, instead=how)

    def ref(self, e: raw.RawRef) -> Expr:
        scope = self.scope
        if not e.indices and e.name in scope.size_names and e.name not in scope.entries:
            if e.name in scope.ragged:
                self.wrong("index", e.place, f"{e.name} is a size for each "
                           f"{scope.ragged[e.name]}: one number is not one of them")  # fmt: skip
            return SizeOf(Size(e.name), (), e.place)
        entry = scope.entry(e.name, e.place)
        if entry.shape is None:
            self.around.need(entry, e.place)
        shape = entry.shape
        if entry.broken or shape is None:
            raise Broken(e.name)
        if entry.kind == "const" and entry.domain is not None and entry.domain.kind == "labels":
            self.wrong("index", e.place, f"{e.name} holds labels, which are indices, not numbers",
                       how=f"use it as one: mu[{_shown(e)}]")  # fmt: skip
        indices, left = resolve_indices(self, e, entry, shape)
        return Ref(e.name, indices, left, e.place)

    def label(self, e: raw.RawRef) -> Label:
        """A reference that says which element: a labels constant, a categorical, a bernoulli."""
        own = f"{e.name[:80]}[{', '.join(self.around.bound)}]" if e.indices else e.name[:80]
        how = f"write what label it is: {own} ~ categorical(…), or const {own} in labels(G)"
        entry = self.scope.entry(e.name, e.place, how)
        if entry.shape is None:
            self.around.need(entry, e.place)
        if entry.broken or entry.shape is None:
            raise Broken(e.name)
        if entry.label is None:
            self.wrong(
                "index", e.place, f"{e.name} is no label and cannot be an index",
                why="an index is a plate's letter, a whole number from 1, t-1, a constant in "
                "labels(G), or a categorical or bernoulli node",
                how=f"declare it so: const {e.name} in labels(G)" if entry.kind == "const" else "",
            )  # fmt: skip
        indices, left = resolve_indices(self, e, entry, entry.shape, whole=True)
        return Label(Ref(e.name, indices, left, e.place), entry.binary, e.place)

    def label_size(self, e: raw.RawRef) -> Size:
        found = self.scope.entries[e.name].label
        assert found is not None
        return found

    def call(self, e: raw.RawCall) -> Expr:
        name = e.function
        if name not in FUNCTIONS and name not in MODEL_FUNCTIONS:
            if self.scope.is_known(name):
                how = f"write {name}*(…) for a product, {name}[…] for an element"
            elif name in list_families():
                how = f"a distribution stands behind ~: {self.around.own[0]} ~ {name}(…)"
            else:
                form = f"write {FUNCTIONS_ELSEWHERE[name]}" if name in FUNCTIONS_ELSEWHERE else ""
                how = (
                    form
                    or other_name(name)
                    or did_you_mean(name[:80], {*FUNCTIONS, *MODEL_FUNCTIONS})
                )
            for arg in e.args:
                self.quietly(arg)
            self.wrong("unknown-name", e.place, f"unknown function {name[:80]!r}",
                       why="before ( a word is a function", how=how)  # fmt: skip
        return call(self, e)

    def quietly(self, e: raw.RawExpr) -> None:
        """Read for the mistakes in it."""
        with suppress(Broken):
            self.read(e)

    def power(self, e: raw.RawPower, base: Expr, exponent: Expr) -> Expr:
        if exponent.shape:
            self.wrong("size", exponent.place, f"the exponent is {shape_words(exponent.shape)}",
                       how="an exponent is a number")  # fmt: skip
        if len(base.shape) > 1:
            self.wrong("size", base.place, "a matrix has no powers here",
                       how="write A*A for the product, inv(A) for the inverse")  # fmt: skip
        return Power(base, exponent, base.shape, e.place)

    def sum(self, parts: list[tuple[str, Expr]], place: Place) -> Expr:
        shape: Shape = ()
        for _, v in parts:
            shape = self.met(shape, v, parts, "added")
        if len(shape) > 1:
            for _, v in parts:
                if not v.shape:
                    self.wrong("size", v.place, "a number and a matrix cannot be added",
                               why=f"the others are {self.words(shape)}",
                               how="write c*eye(d) for a multiple of the identity")  # fmt: skip
        return Sum(tuple(_signed(sign, v) for sign, v in parts), shape, place)

    def met(self, shape: Shape, v: Expr, parts: list[tuple[str, Expr]], verb: str) -> Shape:
        """The shape of what there is with one more beside it."""
        if not v.shape or not shape:
            return v.shape or shape
        if not self.scope.sizes.fit(shape, v.shape):
            self.wrong("size", v.place, f"{self.words(shape)} and {self.words(v.shape)} cannot be "
                       f"{verb}", why="what stands before this has another shape")  # fmt: skip
        return shape

    def words(self, shape: Shape) -> str:
        return shape_words(self.scope.sizes.shape(shape))

    def product(self, parts: list[tuple[str, Expr]], place: Place) -> Expr:
        """Left to right; numbers and vectors gather until a matrix stands on the left."""
        factors: list[Expr] = []
        shape: Shape = ()
        for sign, v in parts:
            if sign == "/":
                v = self.reciprocal(v)
            if len(shape) == 2 and v.shape:
                left = factors[0] if len(factors) == 1 else Product(tuple(factors), shape, place)
                factors = [self.matrix_product(left, v, place)]
                shape = factors[0].shape
                continue
            if len(shape) == 1 and len(v.shape) == 2:
                self.wrong(
                    "size", v.place, "a vector times a matrix",
                    why=f"on the left stands {self.words(shape)}, here {self.words(v.shape)}",
                    how="write transpose(A)*x, or outer(x, y) for a matrix",
                )  # fmt: skip
            shape = self.met(shape, v, parts, "multiplied component by component")
            if factors and isinstance(v, Number) and isinstance(last := factors[-1], Number):
                factors[-1] = Number(last.value * v.value, (), last.place)
                continue
            factors.append(v)
        return factors[0] if len(factors) == 1 else Product(tuple(factors), shape, place)

    def reciprocal(self, v: Expr) -> Expr:
        if len(v.shape) > 1:
            self.wrong("size", v.place, "division by a matrix", how="multiply by inv(…)")
        if isinstance(v, Number):
            if v.value == 0:
                self.wrong("domain", v.place, "division by zero")
            return Number(1 / v.value, (), v.place)
        return Power(v, Number(Fraction(-1), (), v.place), v.shape, v.place)

    def matrix_product(self, a: Expr, b: Expr, place: Place) -> Expr:
        self.products += 1
        if self.products > MAX_PRODUCTS:
            self.wrong(
                "syntax", b.place, "too many products of matrices",
                why=f"at most {MAX_PRODUCTS} in a statement", how="name a part of it: A = …",
            )  # fmt: skip
        if not self.scope.sizes.same(a.shape[1], b.shape[0]):
            rows = self.scope.sizes.find(b.shape[0])
            self.wrong(
                "size", b.place, f"{self.words(a.shape)} times {self.words(b.shape)}",
                why=f"the matrix has {self.scope.sizes.find(a.shape[1])} columns, "
                f"what it multiplies {rows} rows",
            )  # fmt: skip
        return MatrixProduct(a, b, (a.shape[0], *b.shape[1:]), place)


def _signed(sign: str, v: Expr) -> Expr:
    if sign == "+":
        return v
    return Number(-v.value, (), v.place) if isinstance(v, Number) else Negation(v, v.shape, v.place)


def _shown(e: raw.RawRef) -> str:
    return f"{e.name}[…]" if e.indices else e.name
