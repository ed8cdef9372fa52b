"""Products of matrices, and NumPy's and SciPy's linear algebra, on arrays of known lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.making import arrayed
from blrgen.validate.reading.table import meaning
from blrgen.validate.reading.values import Array, List, Num, Text, Whole


def matrix(mc: Machine, x: Any, *ranks: int) -> Array:
    """A vector or a matrix of numbers, of known lengths."""
    a = arrayed(mc, x)
    if a.generic:
        raise mc.sizes("a product of matrices")
    if a.kind != "f":
        raise mc.refuse("products of truth values or of whole numbers")
    if ranks and a.rank not in ranks:
        raise mc.refuse("an array of this rank in linear algebra")
    return a


def square(mc: Machine, x: Any) -> Array:
    """A square matrix."""
    a = matrix(mc, x, 2)
    if a.data.shape[0] != a.data.shape[1]:
        raise mc.raises("a matrix that is not square")
    return a


def dot(mc: Machine, a: Any, b: Any) -> Node:
    """Σ aᵢ bᵢ as one node; what is 0 or 1 is left out."""
    g = mc.graph
    pairs = []
    for x, y in zip(a, b, strict=True):
        if x.number == 0 or y.number == 0:
            continue
        pairs.append((x, y))
    if not pairs:
        return g.number(0)
    if len(pairs) == 1:
        x, y = pairs[0]
        if x.number == 1 or y.number == 1:
            one: Node = y if x.number == 1 else x
            return one
        return g.arithmetic("mul", x, y)
    nodes = [n for p in pairs for n in p]
    return g.make("dot", nodes, count=g.elementwise or all(n.number is not None for n in nodes))


def matmul(mc: Machine, a: Any, b: Any) -> Any:
    """a @ b of vectors and matrices."""
    for v in (a, b):
        if isinstance(v, Num | Whole):
            raise mc.refuse("a product of matrices with a number")
    x, y = matrix(mc, a, 1, 2), matrix(mc, b, 1, 2)
    left = x.data.reshape(1, -1) if x.rank == 1 else x.data
    right = y.data.reshape(-1, 1) if y.rank == 1 else y.data
    if left.shape[1] != right.shape[0]:
        raise mc.raises("matrices that do not fit")
    mc.spend(left.size * right.shape[1] // 8)
    out = np.empty((left.shape[0], right.shape[1]), dtype=object)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = dot(mc, left[i], right[:, j])
    if x.rank == 1 and y.rank == 1:
        n = out[0, 0]
        return Num(n, n.number is not None)
    if x.rank == 1:
        return Array(out[0])
    return Array(out[:, 0] if y.rank == 1 else out)


@meaning(
    "numpy.matmul",
    "numpy.dot",
    "array.dot",
    text="the product of vectors and matrices",
    example=("np.matmul(X, x)", "np.dot(x, X)", "X.dot(X)"),
)
def _dot(mc: Machine, a: Any, b: Any, /) -> Any:
    return matmul(mc, a, b)


@meaning("numpy.inner", "numpy.vdot", text="aᵀ b of two vectors", example="x + {name}(x, y)")
def _inner(mc: Machine, a: Any, b: Any, /) -> Any:
    return matmul(mc, matrix(mc, a, 1), matrix(mc, b, 1))


@meaning("numpy.outer", text="a bᵀ of two vectors", example="np.outer(x, y)")
def _outer(mc: Machine, a: Any, b: Any, /) -> Any:
    x, y = matrix(mc, a, 1), matrix(mc, b, 1)
    out = np.empty((len(x.data), len(y.data)), dtype=object)
    for i, p in enumerate(x.data):
        for j, q in enumerate(y.data):
            out[i, j] = mc.graph.arithmetic("mul", p, q)
    return Array(out)


@meaning(
    "numpy.trace",
    "array.trace",
    text="Σ of the diagonal",
    example=("x + np.trace(X)", "x + X.trace()"),
)
def _trace(mc: Machine, a: Any, /) -> Any:
    from blrgen.validate.reading.reductions import added

    n = added(mc, list(np.diag(matrix(mc, a, 2).data)))
    return Num(n, n.number is not None)


@meaning(
    "numpy.einsum",
    text="Σ over letters that the right side of -> leaves out, or that stand there twice",
    example="np.einsum('ij,j->i', X, x)",
)
def _einsum(mc: Machine, subscripts: Any, /, *operands: Any) -> Any:
    if not isinstance(subscripts, Text) or "." in subscripts.text:
        raise mc.refuse("np.einsum without letters")
    left, arrow, right = subscripts.text.replace(" ", "").partition("->")
    if not left.replace(",", "").isalpha() or (right and not right.isalpha()):
        raise mc.raises("subscripts that do not fit")
    if not arrow:  # letters that stand there once, in the order of the alphabet
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    terms = left.split(",")
    parts = [matrix(mc, x) for x in operands]
    if len(terms) != len(parts) or any(len(t) != p.rank for t, p in zip(terms, parts, strict=True)):
        raise mc.raises("subscripts that do not fit")
    sizes: dict[str, int] = {}
    for t, p in zip(terms, parts, strict=True):
        for letter, n in zip(t, p.data.shape, strict=True):
            if sizes.setdefault(letter, n) != n:
                raise mc.raises("shapes that do not fit")
    if len(set(right)) < len(right) or not set(right) <= set(sizes):
        raise mc.raises("subscripts that do not fit")
    return _contracted(mc, terms, parts, right, sizes)


@meaning(
    "numpy.tensordot",
    text="Σ over a number of axes, last of one and first of the other, or over pairs of axes",
    example="np.tensordot(X, x, axes=1)",
)
def _tensordot(mc: Machine, a: Any, b: Any, axes: Any = None) -> Any:
    x, y = matrix(mc, a), matrix(mc, b)
    first, second = _summed(mc, Whole(2) if axes is None else axes, x.rank)
    letters = [chr(97 + k) for k in range(x.rank + y.rank)]
    left, right = letters[: x.rank], letters[x.rank :]
    if len(first) != len(second) or not all(
        -z.rank <= k < z.rank for z, ks in ((x, first), (y, second)) for k in ks
    ):
        raise mc.raises("axes that do not fit")
    for i, j in zip(first, second, strict=True):
        if x.data.shape[i] != y.data.shape[j]:
            raise mc.raises("shapes that do not fit")
        right[j] = left[i]
    kept = [c for c in (*left, *right) if (c in left) != (c in right)]
    sizes = dict(zip([*left, *right], [*x.data.shape, *y.data.shape], strict=True))
    return _contracted(mc, ["".join(left), "".join(right)], [x, y], "".join(kept), sizes)


def _summed(mc: Machine, axes: Any, rank: int) -> tuple[list[int], list[int]]:
    """The axes of both sides that are summed over."""
    if isinstance(axes, Whole):
        n = mc.position(axes)
        if not 0 <= n <= rank:
            raise mc.raises("axes that do not fit")
        return list(range(rank - n, rank)), list(range(n))
    sides = axes.items if isinstance(axes, List) else axes
    if not isinstance(sides, tuple | list) or len(sides) != 2:
        raise mc.refuse("keyword axes= of np.tensordot")
    out = []
    for side in sides:
        ks = side.items if isinstance(side, List) else side if isinstance(side, tuple) else (side,)
        if not all(isinstance(k, Whole) and not k.mark for k in ks):
            raise mc.refuse("keyword axes= of np.tensordot")
        out.append([k.value for k in ks])
    return out[0], out[1]


def _contracted(
    mc: Machine, terms: list[str], parts: list[Array], right: str, sizes: dict[str, int]
) -> Any:
    """Σ of products; of one array without a sum the same memory, as in NumPy."""
    if len(parts) == 1 and set(terms[0]) == set(right):
        return Array(np.einsum(f"{terms[0]}->{right}", parts[0].data))
    from blrgen.validate.reading.reductions import added, multiplied

    inner = sorted(set(sizes) - set(right))
    out = np.empty([sizes[c] for c in right], dtype=object)
    mc.spend(int(np.prod([float(n) for n in sizes.values()])))
    for place in np.ndindex(*out.shape):
        at = dict(zip(right, place, strict=True))
        found = []
        for rest in np.ndindex(*[sizes[c] for c in inner]):
            where = {**at, **dict(zip(inner, rest, strict=True))}
            factors = [
                p.data[tuple(where[c] for c in t)] for t, p in zip(terms, parts, strict=True)
            ]
            found.append(multiplied(mc, factors))
        out[place] = added(mc, found)
    if not right:
        one: Node = out.item()
        return Num(one, one.number is not None)
    return Array(out)
