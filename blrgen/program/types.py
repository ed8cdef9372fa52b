"""Ranks and shapes, and the checker that infers them.

A type is a rank with symbolic sizes: `scalar`, `elementwise(d)`, `vector(d)`,
`symmetric(d, d)`, `matrix(n, d)`, and `factor(d, d)` for a triangular factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from blrgen.errors import InternalError
from blrgen.program import nodes as n


class TypeMismatch(InternalError):
    """An expression whose parts do not fit, or do not fit where it is assigned."""


@dataclass(frozen=True)
class Type:
    """A rank and the names of its sizes."""

    rank: str
    shape: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.rank + (f"({', '.join(self.shape)})" if self.shape else "")

    @property
    def is_square(self) -> bool:
        return self.rank in ("symmetric", "matrix") and self.shape[0] == self.shape[1]


SCALAR = Type("scalar")
TRUTH = Type("truth")


def elementwise(size: str = "d") -> Type:
    """An array on which everything acts element by element."""
    return Type("elementwise", (size,))


def vector(size: str = "d") -> Type:
    """A column."""
    return Type("vector", (size,))


def symmetric(size: str = "d") -> Type:
    """A square matrix that equals its transpose."""
    return Type("symmetric", (size, size))


def matrix(rows: str, columns: str) -> Type:
    """A matrix without structure."""
    return Type("matrix", (rows, columns))


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
    if isinstance(node, n.Sym):
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
    fits = found == target or (target.rank == "elementwise" and found == SCALAR)
    fits = fits or (target.rank == "matrix" and found == Type("symmetric", target.shape))
    if not fits:
        from blrgen.program.inspect import text

        raise TypeMismatch(
            f"{name or 'an expression'} does not have the type it is assigned to\n"
            f"  expression       {text(node)}\n"
            f"  expression type  {found}\n"
            f"  target type      {target}"
        )


def _mismatch(node: n.Node, left: Type, right: Type) -> TypeMismatch:
    from blrgen.program.inspect import text

    return TypeMismatch(
        f"cannot combine the parts of {text(node)}\n  left type   {left}\n  right type  {right}"
    )


def _joined(node: n.Node, types: list[Type]) -> Type:
    """The type of a sum or an entrywise function: one shape, scalars spread over elements."""
    result = types[0]
    for t in types[1:]:
        if t == result or (t == SCALAR and result.rank == "elementwise"):
            continue
        if result == SCALAR and t.rank == "elementwise":
            result = t
        elif t.shape == result.shape and {t.rank, result.rank} == {"symmetric", "matrix"}:
            result = Type("matrix", t.shape)
        else:
            raise _mismatch(node, result, t)
    return result


def _entrywise(node: n.Node, scope: Scope) -> Type:
    joined = _joined(node, [infer(c, scope) for c in node.children])
    if joined.rank not in ("scalar", "elementwise"):
        raise _mismatch(node, joined, elementwise())
    return joined


def _sum(node: n.Node, scope: Scope) -> Type:
    joined = _joined(node, [infer(c, scope) for c in node.children])
    if joined.rank == "matrix" and joined.is_square and _is_symmetric(node, scope):
        return Type("symmetric", joined.shape)
    return joined


def _product(node: n.Node, scope: Scope) -> Type:
    types = [infer(c, scope) for c in node.children]
    above = [t for t in types if t.rank not in ("scalar", "elementwise")]
    if not above:
        return _joined(node, types)
    others = [t for t in types if t.rank in ("scalar", "elementwise")]
    if len(above) > 1 or any(t != SCALAR for t in others):
        raise _mismatch(node, types[0], types[1])
    return above[0]


def _quotient(node: n.Node, scope: Scope) -> Type:
    top, bottom = (infer(c, scope) for c in node.children)
    if top.rank in ("scalar", "elementwise"):
        return _joined(node, [top, bottom])
    if bottom != SCALAR:
        raise _mismatch(node, top, bottom)
    return top


def _matmul(node: n.Node, scope: Scope) -> Type:
    left, right = (infer(c, scope) for c in node.children)
    if len(left.shape) != 2 or not right.shape or right.rank == "elementwise":
        raise _mismatch(node, left, right)
    if left.shape[1] != right.shape[0]:
        raise _mismatch(node, left, right)
    if right.rank == "vector":
        return vector(left.shape[0])
    shape = (left.shape[0], right.shape[1])
    return Type("symmetric" if _is_symmetric(node, scope) else "matrix", shape)


def _solve(node: n.Node, scope: Scope) -> Type:
    left, right = (infer(c, scope) for c in node.children)
    square = len(left.shape) == 2 and left.shape[0] == left.shape[1]
    if not square or not right.shape or right.shape[0] != left.shape[1]:
        raise _mismatch(node, left, right)
    return right if right.rank == "vector" else Type("matrix", right.shape)


def _factor(node: n.Node, scope: Scope) -> Type:
    arg = infer(node.children[0], scope)
    if arg.rank != "symmetric":
        raise _mismatch(node, arg, symmetric())
    return Type("factor", arg.shape)


def _transpose(node: n.Node, scope: Scope) -> Type:
    arg = infer(node.children[0], scope)
    if len(arg.shape) != 2:
        raise _mismatch(node, arg, matrix("n", "d"))
    return Type(arg.rank, arg.shape[::-1])


def _outer(node: n.Node, scope: Scope) -> Type:
    left, right = (infer(c, scope) for c in node.children)
    if left.rank != "vector" or right.rank != "vector":
        raise _mismatch(node, left, right)
    same = node.children[0] == node.children[1]
    return Type("symmetric" if same else "matrix", left.shape + right.shape)


def _dot(node: n.Node, scope: Scope) -> Type:
    left, right = (infer(c, scope) for c in node.children)
    if left.rank != "vector" or left != right:
        raise _mismatch(node, left, right)
    return SCALAR


def _trace(node: n.Node, scope: Scope) -> Type:
    arg = infer(node.children[0], scope)
    if not arg.is_square:
        raise _mismatch(node, arg, matrix("d", "d"))
    return SCALAR


def _symmetrize(node: n.Node, scope: Scope) -> Type:
    _trace(node, scope)
    return Type("symmetric", infer(node.children[0], scope).shape)


def _total(node: n.Node, scope: Scope) -> Type:
    arg = infer(node.children[0], scope)
    if arg.rank != "elementwise":
        raise _mismatch(node, arg, elementwise())
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
    n.Identity: lambda node, scope: symmetric(node.size),
    n.Add: _sum, n.Sub: _sum, n.Mul: _product, n.Div: _quotient,
    n.Neg: lambda node, scope: infer(node.arg, scope),
    n.Pow: _entrywise, n.Call: _entrywise, n.Compare: _compare, n.Select: _select,
    n.MatMul: _matmul, n.Solve: _solve, n.HalfSolve: _solve,
    n.LowerSolve: _solve, n.HalfProduct: _matmul,
    n.Factor: _factor, n.Transpose: _transpose, n.Outer: _outer, n.Dot: _dot,
    n.Trace: _trace, n.Symmetrize: _symmetrize, n.Total: _total, n.LogTotal: _total,
    n.Count: _total,
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
    if isinstance(node, n.MatMul):
        return _product_of_words(_words(node.left, scope), _words(node.right, scope))
    if isinstance(node, n.Solve):
        return _product_of_words([("", ((f"=({node.arg})^-1", False),))], _words(node.right, scope))
    if isinstance(node, n.Transpose):
        inner = _words(node.arg, scope)
        return None if inner is None else [_turned(w) for w in inner]
    if isinstance(node, n.Identity):
        return [("", ())]
    if isinstance(node, n.Outer):
        return [("", ((str(node.left), False), (str(node.right), True)))]
    mark = "=" if infer(node, scope).rank == "symmetric" else "+"
    return [("", ((mark + str(node), False),))]


def _scaled(parts: tuple[n.Node, ...], operator: str, scope: Scope) -> list[Word] | None:
    scalars = [p for p in parts if infer(p, scope).rank == "scalar"]
    rest = [p for p in parts if p not in scalars]
    inner = _words(rest[0], scope) if len(rest) == 1 else None
    extra = operator + operator.join(sorted(map(str, scalars)))
    return None if inner is None else [(c + extra, w) for c, w in inner]


def _product_of_words(left: list[Word] | None, right: list[Word] | None) -> list[Word] | None:
    if left is None or right is None:
        return None
    return [(f"{a}{c}", b + d) for a, b in left for c, d in right]
