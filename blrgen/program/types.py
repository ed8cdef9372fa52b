"""Axes and structures, and the checker that infers them.

The type of a value is its axes, by the names of their sizes, and what is known of the last
two: `number`, `[d]`, `[n, d]`, `[d, d] sym`, `[d, d] lower`; `[each]` are the entries of arrays
of any shape.  A number beside an array with one axis stands at every place of it; what a product
sums over is one axis on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program import wholes


class TypeMismatch(InternalError):
    """An expression whose parts do not fit, or do not fit where it is assigned."""


@dataclass(frozen=True)
class Type:
    """The names of the sizes of its axes, and the structure on the last two."""

    shape: tuple[str, ...] = ()
    structure: str = "dense"  # dense | sym | lower, as of quantities; truth: no number

    def __str__(self) -> str:
        if not self.shape:
            return "truth" if self == TRUTH else "number"
        return f"[{', '.join(self.shape)}]" + f" {self.structure}" * (self.structure != "dense")

    @property
    def is_square(self) -> bool:
        """Whether its last two axes are one."""
        return len(self.shape) == 2 and self.shape[0] == self.shape[1]

    @property
    def is_symmetric(self) -> bool:
        """Whether it is known to equal its transpose."""
        return self.structure == "sym"


SCALAR = Type()
TRUTH = Type((), "truth")
EACH = "each"  # the axis of the entries of arrays of any shape, on which a rule acts one by one
ENTRIES = Type((EACH,))


def vector(size: str = "d") -> Type:
    """An array with one axis."""
    return Type((size,))


def symmetric(size: str = "d") -> Type:
    """A square matrix that equals its transpose."""
    return Type((size, size), "sym")


def matrix(rows: str, columns: str) -> Type:
    """A matrix without structure."""
    return Type((rows, columns))


Scope = Mapping[str, Type]


class Memory(dict[str, Type]):
    """A scope that remembers the type of every tree; names may be added, never changed."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.known: dict[n.Node, Type] = {}


def infer(node: n.Node, scope: Scope) -> Type:
    """The type of an expression in which `scope` gives every symbol's."""
    if not isinstance(scope, Memory):
        return _infer(node, scope)
    if node not in scope.known:
        scope.known[node] = _infer(node, scope)
    return scope.known[node]


def _infer(node: n.Node, scope: Scope) -> Type:
    if isinstance(node, n.Ref):
        if node.name not in scope:
            raise TypeMismatch(f"unknown name {node.name!r}; known: {', '.join(scope)}")
        return scope[node.name]
    method = _RULES.get(type(node))
    if method is None:
        raise InternalError(f"no type rule for {type(node).__name__}")
    return method(node, scope)


def check(node: n.Node, target: Type, scope: Scope, name: str = "") -> None:
    """Refuse an expression that cannot be assigned to something of type `target`."""
    found = infer(node, scope)
    spread = found == SCALAR and target == ENTRIES
    if not (found == target or spread or (found.shape == target.shape and target == _plain(found))):
        from blrgen.program.inspect import text

        raise TypeMismatch(
            f"{name or 'an expression'} does not have the type it is assigned to\n"
            f"  expression       {text(node)}\n"
            f"  expression type  {found}\n"
            f"  target type      {target}"
        )


def _plain(t: Type) -> Type:
    """The same axes, with nothing known of them."""
    return Type(t.shape)


def _mismatch(node: n.Node, left: Type, right: Type) -> TypeMismatch:
    from blrgen.program.inspect import text

    return TypeMismatch(
        f"cannot combine the parts of {text(node)}\n  left type   {left}\n  right type  {right}"
    )


def _joined(node: n.Node, types: list[Type]) -> Type:
    """Parts of a sum: axes of the same names, and numbers at every place of one axis.

    A number beside a matrix is refused: it might be meant as that multiple of the identity.
    """
    arrays = [t for t in types if t.shape]
    first, *rest = arrays or types
    for t in types:
        spread = t == SCALAR and len(first.shape) == 1
        if not (spread or (t.shape == first.shape and (first == TRUTH) == (t == TRUTH))):
            raise _mismatch(node, first, t)
    return first if all(t == first for t in rest) else _plain(first)


def _parts(node: n.Node, scope: Scope) -> list[Type]:
    return [infer(c, scope) for c in node.children]


def _entrywise(node: n.Node, scope: Scope) -> Type:
    """A function of entries; one of a matrix might be meant as the matrix's function."""
    joined = _joined(node, _parts(node, scope))
    if len(joined.shape) > 1:
        raise _mismatch(node, joined, vector())
    return joined


def _sum(node: n.Node, scope: Scope) -> Type:
    return _known(node, _joined(node, _parts(node, scope)), scope)


def _known(node: n.Node, found: Type, scope: Scope) -> Type:
    """The type with what words in symbols tell of its structure."""
    turned = found.is_square and _is_symmetric(node, scope)
    return Type(found.shape, "sym") if turned else found


def _product(node: n.Node, scope: Scope) -> Type:
    """Entry by entry along one axis; a matrix is scaled by numbers alone."""
    types = _parts(node, scope)
    matrices = [t for t in types if len(t.shape) > 1]
    if not matrices:
        return _joined(node, types)
    if len(matrices) > 1 or types.count(SCALAR) < len(types) - 1:
        raise _mismatch(node, types[0], types[1])
    return matrices[0]


def _quotient(node: n.Node, scope: Scope) -> Type:
    top, bottom = _parts(node, scope)
    if len(top.shape) < 2:
        return _joined(node, [top, bottom])
    if bottom != SCALAR:
        raise _mismatch(node, top, bottom)
    return top


def _matmul(node: n.Node, scope: Scope) -> Type:
    """The last axis of the left part and the first of the right one are one, and summed over."""
    left, right = _parts(node, scope)
    if len(left.shape) != 2 or left.shape[1:] != right.shape[:1]:
        raise _mismatch(node, left, right)
    return _known(node, Type((*left.shape[:1], *right.shape[1:])), scope)


def _solve(node: n.Node, scope: Scope) -> Type:
    left, right = _parts(node, scope)
    if not left.is_square or left.shape[1:] != right.shape[:1]:
        raise _mismatch(node, left, right)
    return _plain(right)


def _transpose(node: n.Node, scope: Scope) -> Type:
    (arg,) = _parts(node, scope)
    if len(arg.shape) != 2:
        raise _mismatch(node, arg, matrix("n", "d"))
    return Type(arg.shape[::-1], "sym" if arg.is_symmetric else "dense")


def _outer(node: n.Node, scope: Scope) -> Type:
    left, right = _parts(node, scope)
    if len(left.shape) != 1 or len(right.shape) != 1:
        raise _mismatch(node, left, right)
    return _known(node, Type(left.shape + right.shape), scope)


def _trace(node: n.Node, scope: Scope) -> Type:
    (arg,) = _parts(node, scope)
    if not arg.is_square:
        raise _mismatch(node, arg, matrix("d", "d"))
    return SCALAR


def _symmetrize(node: n.Node, scope: Scope) -> Type:
    _trace(node, scope)
    return Type(_parts(node, scope)[0].shape, "sym")


def _total(node: n.Node, scope: Scope) -> Type:
    """A number made of all entries along one axis."""
    arg = infer(node.children[0], scope)
    if len(arg.shape) != 1:
        raise _mismatch(node, arg, vector())
    return SCALAR


def _compare(node: n.Node, scope: Scope) -> Type:
    _entrywise(node, scope)
    return TRUTH


def _select(node: n.Node, scope: Scope) -> Type:
    condition, yes, no = node.children
    if infer(condition, scope) != TRUTH:
        raise _mismatch(node, infer(condition, scope), TRUTH)
    parts = [infer(c, scope) for c in (*condition.children, yes, no)]
    return _joined(node, parts)


_RULES = {
    n.Const: lambda node, scope: SCALAR,
    n.Named: lambda node, scope: SCALAR,
    wholes.Identity: lambda node, scope: symmetric(node.size),
    n.Add: _sum, n.Sub: _sum, n.Mul: _product, n.Div: _quotient,
    n.Neg: lambda node, scope: infer(node.arg, scope),
    n.Pow: _entrywise, n.Call: _entrywise, n.Compare: _compare, n.Select: _select,
    wholes.MatMul: _matmul, wholes.Solve: _solve, wholes.HalfSolve: _solve,
    wholes.HalfProduct: _matmul,
    wholes.Transpose: _transpose, wholes.Outer: _outer,
    wholes.Trace: _trace, wholes.Symmetrize: _symmetrize,
    wholes.Total: _total, wholes.LogTotal: _total, wholes.Count: _total,
}  # fmt: skip


def _is_symmetric(node: n.Node, scope: Scope) -> bool:
    """Whether the expression equals its transpose, term by term, as words in symbols."""
    words = _words(node, scope)
    return words is not None and sorted(words) == sorted(_turned(w) for w in words)


Letter = tuple[str, bool]  # a matrix's printed form and whether it is transposed
Word = tuple[str, tuple[Letter, ...]]  # a scalar coefficient's printed form and a product


def _turned(word: Word) -> Word:
    coefficient, letters = word
    return coefficient, tuple((name, name[0] != "=" and not t) for name, t in reversed(letters))


def _words(node: n.Node, scope: Scope) -> list[Word] | None:
    """The matrix as a sum of products of letters; "=" marks a symmetric letter."""
    if isinstance(node, n.Add | n.Sub):
        parts = [_words(c, scope) for c in node.children]
        if any(p is None for p in parts):
            return None
        first, *rest = [p for p in parts if p is not None]
        negative = isinstance(node, n.Sub)
        return first + [("-" * negative + c, w) for p in rest for c, w in p]
    if isinstance(node, n.Neg):
        inner = _words(node.arg, scope)
        return None if inner is None else [("-" + c, w) for c, w in inner]
    if isinstance(node, n.Mul):
        return _scaled(node.args, "*", scope)
    if isinstance(node, n.Div):
        return _scaled((node.top, node.bottom), "/", scope)
    if isinstance(node, wholes.MatMul):
        return _product_of_words(_words(node.left, scope), _words(node.right, scope))
    if isinstance(node, wholes.Solve):
        return _product_of_words([("", ((f"=({node.arg})^-1", False),))], _words(node.right, scope))
    if isinstance(node, wholes.Transpose):
        inner = _words(node.arg, scope)
        return None if inner is None else [_turned(w) for w in inner]
    if isinstance(node, wholes.Identity):
        return [("", ())]
    if isinstance(node, wholes.Outer):
        return [("", ((str(node.left), False), (str(node.right), True)))]
    mark = "=" if infer(node, scope).is_symmetric else "+"
    return [("", ((mark + str(node), False),))]


def _scaled(parts: tuple[n.Node, ...], operator: str, scope: Scope) -> list[Word] | None:
    scalars = [p for p in parts if infer(p, scope) == SCALAR]
    rest = [p for p in parts if p not in scalars]
    inner = _words(rest[0], scope) if len(rest) == 1 else None
    extra = operator + operator.join(sorted(map(str, scalars)))
    return None if inner is None else [(c + extra, w) for c, w in inner]


def _product_of_words(left: list[Word] | None, right: list[Word] | None) -> list[Word] | None:
    if left is None or right is None:
        return None
    return [(f"{a}{c}", b + d) for a, b in left for c, d in right]
