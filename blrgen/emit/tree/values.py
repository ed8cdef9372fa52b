"""Expressions with indices → expressions on whole arrays.

x[n,i] - mu[k,i]  among n, k, i    →    x[:, None, :] - mu
sum(n, r[n,k] * x[n,i])            →    np.einsum("nk,ni->ki", r, x)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from blrgen.emit.tree import nodes as t
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.expand import expanded

OWN = ("sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "tanh", "sinh", "cosh", "atanh",
       "abs", "sign", "floor", "max", "min", "pow")  # fmt: skip


LAWS = {"normal": "_normals", "logistic": "_logistics", "uniform": "_uniforms"}


@dataclass(frozen=True)
class Valued:
    """An expression, and the letters of its axes."""

    node: n.Node
    letters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Labels:
    """Indices that are labels by their position, their axes, and whether others are between."""

    nodes: dict[int, n.Node]
    letters: tuple[str, ...]
    begins: int
    apart: bool


class Values:
    """Expressions, where some letters are bound to a loop's index."""

    def __init__(self, program: a.Program, name: str) -> None:
        self.program, self.name = program, name
        self.letters = {x.name: x for x in program.letters}
        self.sizes = program.sizes
        self.ragged = {x.size: x for x in program.letters if x.under}
        self.bound: tuple[str, ...] = ()
        self.each: set[str] = set()  # those of them whose loop is no recurrence
        self.taken = taken(program)
        self.makers = {s.name: s for s in program.lets}
        self.before: dict[str, str] = {}
        self.strip: a.Size = ""  # the axis of rows that are done in strips
        self.left: tuple[str, ...] = ()
        self.around = dict(around(program.body))
        self.local = _local(program, self.around, dict(paths(program.body)))
        self.inside = {s.name for x in program.body if isinstance(x, a.Seq) for s in a.lets((x,))}

    def stored(self, sizes: Sequence[a.Size]) -> list[a.Size]:
        drop = [p - 1 for p, x in enumerate(sizes) if x in self.ragged]
        return [x for p, x in enumerate(sizes) if p not in drop]

    def size(self, letter: str) -> n.Node:
        size = self.letters[letter].size
        return t.Whole(size) if isinstance(size, int) else t.name(size)

    def aligned(self, v: Valued, letters: Sequence[str]) -> n.Node:
        """The value with its axes among those of the letters."""
        order = [x for x in letters if x in v.letters]
        if len(order) != len(v.letters):
            raise InternalError(f"axes {v.letters} among {tuple(letters)}")
        node = v.node
        if tuple(order) != v.letters:
            node = t.Turned(node, tuple(v.letters.index(x) for x in order))
        there = tuple(x in v.letters for x in letters)
        while there and not there[0]:
            there = there[1:]
        return node if all(there) else t.Spread(node, there)

    def joined(self, e: n.Node) -> Valued:
        """An entrywise expression: every part among the axes of all."""
        e = expanded(e) if isinstance(e, n.Call) else e
        letters = tuple(x for x in self.order(a.free(e)) if x not in self.bound)

        def on(x: n.Node) -> n.Node:
            whole = self.word(x)
            if whole is not None:
                return self.aligned(whole, letters)
            x = expanded(x) if isinstance(x, n.Call) else x
            x = x.rebuilt(on)
            if isinstance(x, n.Call) and x.name not in OWN and not x.name.startswith("_"):
                return n.Call(f"_{x.name}", x.args)
            return x

        return Valued(on(e), letters)

    def word(self, e: n.Node) -> Valued | None:
        """What is no arithmetic entry by entry."""
        apart = isinstance(e, a.Ref | a.Red | a.Lin | a.Is | a.Extent | a.Draw)
        return self.expr(e) if apart else None

    def order(self, letters: Sequence[str]) -> list[str]:
        """As on the left side of the equation, then the others."""
        return [
            *(x for x in self.left if x in letters),
            *(x for x in letters if x not in self.left),
        ]

    def expr(self, e: n.Node) -> Valued:
        if isinstance(e, a.Ref):
            return self.ref(e)
        if isinstance(e, a.Red):
            return self.red(e)
        if isinstance(e, a.Lin):
            return self.lin(e)
        if isinstance(e, a.Draw):
            return self.drawn(e)
        if isinstance(e, a.Extent):
            return Valued(t.Real(t.name(e.axis)))
        if isinstance(e, a.Is):
            left, right = self.value_of(e.left), self.value_of(e.right)
            letters = tuple(dict.fromkeys((*left.letters, *right.letters)))
            same = n.Compare("==", self.aligned(left, letters), self.aligned(right, letters))
            return Valued(n.Select(same, n.ONE, n.ZERO), letters)
        return self.joined(e)

    def drawn(self, e: a.Draw) -> Valued:
        """As many numbers of the law as there are places, from a generator of the key."""
        letters = tuple(x for i in e.index for x in a.free(i))
        if e.law not in LAWS or len(letters) != len(e.index) or set(letters) & set(self.bound):
            raise InternalError(f"no array of draws from {e.law}")
        sizes = tuple(map(self.size, letters))
        shape = sizes[0] if len(sizes) == 1 else t.Apply("", sizes)
        like = t.Apply("np.empty", (shape, t.name("real")))
        rng = t.Apply("np.random.default_rng", (t.name(e.key.name),))
        return Valued(t.Apply(LAWS[e.law], (rng, like)), letters)

    def value_of(self, i: n.Node) -> Valued:
        """An index as an array of places."""
        if isinstance(i, a.At):
            return self.ref(i.ref)
        if isinstance(i, a.Ix) and i.letter not in self.bound:
            every = t.Apply("np.arange", (self.size(i.letter),))
            rows = bool(self.letters[i.letter].under)
            return Valued(t.Part(every, (t.name(i.letter),)) if rows else every, (i.letter,))
        return Valued(self.place(i))

    def place(self, i: n.Node) -> n.Node:
        if isinstance(i, a.Ix):
            return t.name(i.letter)
        if isinstance(i, a.Lag):
            return t.plus(t.name(i.letter), t.Whole(i.by))
        if isinstance(i, a.Num):
            return t.Whole(i.value)
        if isinstance(i, a.Last):
            return t.last_of(i.letter)
        raise InternalError(f"no place: {type(i).__name__}")

    def ref(self, r: a.Ref) -> Valued:
        """The axes that are free; numbers first, then rows, then labels."""
        lag = any(isinstance(i, a.Lag) and i.letter in self.bound for i in r.index)
        name = self.before.get(r.name, r.name) if lag else r.name
        sizes = self.sizes[r.name]
        drop = [p - 1 for p, x in enumerate(sizes) if x in self.ragged]
        index = [i for p, i in enumerate(r.index) if p not in drop]
        apart = name != r.name or r.name in self.local
        if apart:
            made = self.makers[r.name].letters
            index = [i for x, i in zip(made, r.index, strict=True) if x not in self.around[r.name]]
        letters: list[str] = []
        own: list[str] = []  # those that are no labels'
        first: list[n.Node] = []
        labels: list[n.Node] = []
        named = self.labels(index)
        for p, i in enumerate(index):
            if isinstance(i, a.Ix) and i.letter not in self.bound:
                under = self.letters[i.letter].under
                first.append(t.name(i.letter) if under and not apart else t.Span())
                labels.append(t.Span())
                letters.append(i.letter)
                own.append(i.letter)
            elif isinstance(i, a.At):
                first.append(t.Span())
                labels.append(named.nodes[p])
                letters += named.letters if p == named.begins else ()
            else:
                first.append(self.place(i))
        if named.apart:  # then the library has their axes first
            letters = [*named.letters, *own]
        node: n.Node = t.name(name)
        for chosen in (first, labels):
            while chosen and chosen[-1] == t.Span():
                chosen.pop()
            if chosen:
                node = t.Part(node, tuple(chosen))
        if len(set(letters)) < len(letters):
            return self.diagonal(node, letters)
        return Valued(node, tuple(letters))

    def labels(self, index: Sequence[n.Node]) -> Labels:
        """Indices that are labels, each among the axes of all of them."""
        at = {p: self.ref(i.ref) for p, i in enumerate(index) if isinstance(i, a.At)}
        letters = tuple(dict.fromkeys(x for v in at.values() for x in v.letters))
        nodes = {p: self.aligned(v, letters) if len(at) > 1 else v.node for p, v in at.items()}
        spans = {p for p, i in enumerate(index)
                 if isinstance(i, a.Ix) and i.letter not in self.bound}  # fmt: skip
        begins = min(at, default=0)
        apart = any(begins < p < max(at) for p in spans) if at else False
        return Labels(nodes, letters, begins, apart)

    def diagonal(self, node: n.Node, letters: list[str]) -> Valued:
        once = tuple(dict.fromkeys(letters))
        return Valued(
            t.Apply("np.einsum", (t.Quoted(f"{self.axes(letters)}->{self.axes(once)}"), node)), once
        )

    def axes(self, letters: Iterable[str]) -> str:
        """The letters as einsum wants them: one character each."""
        known = list(self.letters)
        plain = all(len(x) == 1 for x in known)
        return "".join(x if plain else chr(97 + known.index(x)) for x in letters)

    def red(self, e: a.Red) -> Valued:
        over = tuple(x for x in e.letters if x not in self.bound)
        if e.op == "sum":
            product = self.product(e.arg, over)
            if product is not None:
                return product
        if e.op == "lse":
            return self.log_sum(e)
        v = self.expr(n.Call("log", (e.arg,)) if e.op == "sumlog" else e.arg)
        idle = [x for x in over if x not in v.letters]
        if idle and e.op != "max":  # so many that are alike
            v = replace(v, node=n.mul(*(t.Real(self.size(x)) for x in idle), v.node))
        over = tuple(x for x in over if x not in idle)
        if not over:
            return v
        kept = tuple(x for x in v.letters if x not in over)
        places = [p for p, x in enumerate(v.letters) if x in over]
        axis = str(places[0]) if len(places) == 1 else str(tuple(places))
        options = () if not kept else (("axis", axis),)
        if e.op == "max" and any(self.letters[x].under for x in over):  # a row may be empty
            options = (*options, ("initial", "-np.inf"))
        word = "np.max" if e.op == "max" else "np.sum"
        return Valued(t.Apply(word, (v.node,), options), kept)

    def log_sum(self, e: a.Red) -> Valued:
        """Of one axis, as the library has it."""
        whole = Valued(t.Apply("np.logaddexp.reduce", (self.expr(e.arg).node,)))
        if e.more is None:
            return whole
        return Valued(t.Apply("np.logaddexp", (whole.node, self.expr(e.more).node)))

    def product(self, e: n.Node, over: tuple[str, ...]) -> Valued | None:
        """Σ of a product of entries."""
        factors = list(e.args) if isinstance(e, n.Mul) else [e]
        plain = [f for f in factors if a.free(f)]
        if len(plain) < 2 or len({x for f in plain for x in a.free(f)}) < 2:
            return None  # a sum over one axis is added up in pairs, with more digits
        parts = [self.expr(f) for f in plain]
        numbers = [self.expr(f).node for f in factors if f not in plain]
        letters = tuple(dict.fromkeys(x for p in parts for x in p.letters))
        kept = tuple(x for x in letters if x not in over)
        spec = ",".join(self.axes(p.letters) for p in parts) + "->" + self.axes(kept)
        many = len(parts) > 2 or len(letters) > 3  # worth a look for a product of matrices
        flat = len(letters) == 3 and all(len(p.letters) == 2 for p in parts)
        many |= flat and self.strip in {self.letters[x].size for x in over}
        options = (("optimize", "True"),) if many else ()
        whole = t.Apply("np.einsum", (t.Quoted(spec), *(p.node for p in parts)), options)
        return Valued(n.mul(*numbers, whole), kept)

    def lin(self, e: a.Lin) -> Valued:
        """The library's, on stacks of matrices."""
        matrix = tuple(x for i in e.args[0].index[-2:] for x in a.free(i))
        own = a.own_letters(e)
        parts = [self.expr(x) for x in e.args]
        batch = tuple(
            dict.fromkeys(x for p in parts for x in p.letters if x not in (*matrix, *own))
        )
        first = self.aligned(parts[0], (*batch, *matrix))
        if e.op == "logdet":
            pair = t.Apply("np.linalg.slogdet", (first,))
            return Valued(t.Part(pair, (t.Whole(1),)), batch)
        if len(parts) == 1:
            word = "np.linalg.cholesky" if e.op == "chol" else "np.linalg.inv"
            return Valued(t.Apply(word, (first,)), (*batch, *own))
        if e.op == "ltsolve":
            first = t.Apply("np.swapaxes", (first, t.Whole(-1), t.Whole(-2)))
        right = self.aligned(parts[1], (*batch, *own))
        if len(own) == 2:
            return Valued(n.Call("_solved_or_nan", (first, right)), (*batch, *own))
        column = n.Call("_solved_or_nan", (first, t.Part(right, (t.Rest(), t.Added()))))
        return Valued(t.Part(column, (t.Rest(), t.Whole(0))), (*batch, *own))


def around(
    body: tuple[a.Statement, ...], outer: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For every equation the letters of the loops around it."""
    for s in body:
        if isinstance(s, a.Let):
            yield s.name, outer
        else:
            yield from around(s.body, (*outer, s.letter))


def paths(
    body: tuple[a.Statement, ...], outer: tuple[int, ...] = ()
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """For every equation the places of the loops around it: equal in one and the same loop."""
    for k, s in enumerate(body):
        if isinstance(s, a.Let):
            yield s.name, outer
        else:
            yield from paths(s.body, (*outer, k))


def _local(
    program: a.Program,
    around: dict[str, tuple[str, ...]],
    paths: dict[str, tuple[int, ...]],
) -> set[str]:
    """What is read only in the loops in which it is made, at their own indices.

    Of what has a value before the first index also one step back, and behind its loop the last.
    """
    made = {s.name: s for s in program.lets if around[s.name]}
    kept = {*program.outs, *(y for _, y in program.writes)}
    kept |= {s.stop for s in recurrences(program.body)}
    kept |= {s.name for s in program.lets if s.at}  # terms are added to an array that is there
    for s in program.lets:
        for r in (r for e in s.expressions for r in a.refs(e) if r.name in made):
            if not _is_near(r, made[r.name], around[r.name], paths[s.name], paths[r.name]):
                kept.add(r.name)
    return {x for x, s in made.items() if x not in kept and set(around[x]) <= set(s.letters)}


def _is_near(
    r: a.Ref, maker: a.Let, outer: tuple[str, ...], path: tuple[int, ...], made: tuple[int, ...]
) -> bool:
    """Whether the value that was made last is the one that is read."""
    at = dict(zip(maker.letters, r.index, strict=True))
    *most, own = outer
    if any(at.get(x) != a.Ix(x) for x in most):
        return False
    if path[: len(outer)] == made:
        lag = isinstance(at.get(own), a.Lag) and maker.init is not None
        return lag or at.get(own) == a.Ix(own)
    return path[: len(most)] == made[:-1] and at.get(own) == a.Last(own)


def recurrences(body: tuple[a.Statement, ...]) -> Iterator[a.Seq]:
    """All recurrences, those inside of others too."""
    for s in body:
        if isinstance(s, a.Seq):
            yield s
            yield from recurrences(s.body)
