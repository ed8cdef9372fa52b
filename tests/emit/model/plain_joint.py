"""The log joint of a model's text by plain loops, with the densities of SciPy.

Nothing of blrgen is used: the text is split into statements, expressions are read by Python's own
parser, every element is visited in turn.  Labels count from 0 in arrays, ragged plates are flat.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import special, stats

Arrays = Mapping[str, Any]
STATEMENT = re.compile(r"^(?P<left>[^~=]*?)(?P<sign>~|=)(?P<made>.*?)(?P<seen>\bobserved.*)?$")


def log_joint(text: str, values: Arrays, sizes: Mapping[str, int]) -> float:
    """Σ log p over all elements of all statements; lengths are among the values."""
    return Joint(text, values, sizes).total()


class Joint:
    """A text with a value for everything."""

    def __init__(self, text: str, values: Arrays, sizes: Mapping[str, int]) -> None:
        self.values = {k: np.asarray(v) for k, v in values.items()}
        self.sizes = dict(sizes)
        self.plates: dict[str, tuple[str, str]] = {}
        self.random: list[tuple[list[ast.expr], ast.Call, bool]] = []
        self.links: list[tuple[ast.expr, ast.expr]] = []
        self.letters: dict[str, tuple[str, ...]] = {}
        for line in text.splitlines():
            self.read(line.split("#")[0].strip())

    def read(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "plate":
            letter, _, bound = rest.split(None, 2)
            size, _, outer = bound.strip("]").partition("[")
            self.plates[letter] = size, outer
        elif word in ("const", "param"):
            left, _, domain = rest.partition(" in ")
            name, letters = split(left)
            self.letters[name] = letters
            if "=" in domain and name not in self.values:
                self.values[name] = np.asarray(self.value(parsed(domain.partition("=")[2]), {}))
        elif line:
            found = STATEMENT.match(line)
            assert found
            left, made = parsed(found["left"]), parsed(found["made"])
            every = list(left.elts) if isinstance(left, ast.Tuple) else [left]
            for x in every:
                name, letters = split(ast.unparse(x))
                if all(i in self.plates for i in letters):
                    self.letters[name] = letters
            if found["sign"] == "~":
                assert isinstance(made, ast.Call)
                self.random.append((every, made, "missing" in (found["seen"] or "")))
            else:
                self.links.append((left, made))

    # -- elements -------------------------------------------------------------------------------

    def size(self, letter: str, at: Mapping[str, int]) -> int:
        size, outer = self.plates[letter]
        if outer:
            return int(self.values[size][at[outer]])
        return int(size) if size.isdigit() else self.sizes[size]

    def places(self, letters: tuple[str, ...], at: dict[str, int]) -> Any:
        if not letters:
            yield dict(at)
            return
        for i in range(self.size(letters[0], at)):
            yield from self.places(letters[1:], {**at, letters[0]: i})

    def total(self) -> float:
        heads = [x for every, _, _ in self.random for x in every[:1]]
        own = {ast.unparse(x) for x in heads}
        found = 0.0
        for every, made, missing in self.random:
            name, letters = split(ast.unparse(every[0]))
            loops = tuple(x for x in letters if not x.isdigit())
            apart = [s for s in (split(x)[1] for x in own if split(x)[0] == name)
                     if any(x.isdigit() for x in s)]  # fmt: skip
            for at in self.places(loops, {}):
                here = [at.get(x, int(x) - 1 if x.isdigit() else 0) for x in letters]
                if loops == letters and any(
                    all(not x.isdigit() or int(x) - 1 == i for x, i in zip(s, here, strict=True))
                    for s in apart
                ):
                    continue
                xs = [self.value(x, at) for x in every]
                if missing and np.isnan(np.asarray(xs[0], float)).any():
                    continue
                found += self.density(made, xs, at)
        return found

    def density(self, made: ast.Call, xs: list[Any], at: Mapping[str, int]) -> float:
        name = word(made.func)
        if name == "choose":
            branch = made.args[1 + int(self.value(made.args[0], at))]
            assert isinstance(branch, ast.Call)
            return self.density(branch, xs, at)
        args = [self.value(x, at) for x in made.args]
        more = {str(k.arg): self.value(k.value, at) for k in made.keywords}
        return float(DENSITIES[name](*xs, *args, **more))

    # -- expressions ------------------------------------------------------------------------------

    def value(self, e: ast.expr, at: Mapping[str, int]) -> Any:
        match e:
            case ast.Constant():
                return float(e.value)
            case ast.UnaryOp():
                return -self.value(e.operand, at)
            case ast.BinOp():
                a, b = self.value(e.left, at), self.value(e.right, at)
                if isinstance(e.op, ast.Mult):
                    return a @ b if np.ndim(a) == 2 and np.ndim(b) == 1 else a * b
                return OPERATIONS[type(e.op)](a, b)
            case ast.Call():
                name = word(e.func)
                if name in ("zeros", "ones", "eye"):
                    sizes = [int(self.extent(x)) for x in e.args]
                    return getattr(np, name)(sizes[0] if name == "eye" else sizes)
                return FUNCTIONS[name](*(self.value(x, at) for x in e.args))
            case ast.Name():
                return self.element(e.id, (), at)
            case ast.Subscript():
                indices = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
                return self.element(word(e.value), indices, at)
        raise AssertionError(ast.dump(e))

    def extent(self, e: ast.expr) -> int:
        match e:
            case ast.Constant():
                return int(e.value)  # type: ignore[arg-type]
            case ast.Name():
                return self.sizes[e.id]
            case ast.BinOp():
                return int(OPERATIONS[type(e.op)](self.extent(e.left), self.extent(e.right)))
        raise AssertionError(ast.dump(e))

    def element(self, name: str, indices: Any, at: Mapping[str, int]) -> Any:
        if name not in self.values and name in self.sizes and not indices:
            return self.sizes[name]
        if name not in self.values:
            left, made = next(x for x in self.links if split(ast.unparse(x[0]))[0] == name)
            letters = split(ast.unparse(left))[1]
            places = [self.index(i, at) for i in indices]
            return self.value(made, dict(zip(letters, places, strict=True)))
        x, letters = self.values[name], self.letters.get(name, ())
        places = [self.index(i, at) for i in indices]
        flat: list[int] = []
        for letter, place in zip(letters, places, strict=False):
            size, outer = self.plates[letter]
            if outer:
                row = flat.pop()
                place += int(np.sum(self.values[size][:row]))
            flat.append(place)
        flat += places[len(letters) :]
        found = x[tuple(flat)]
        return found

    def index(self, e: ast.expr, at: Mapping[str, int]) -> int:
        match e:
            case ast.Constant():
                return int(e.value) - 1  # type: ignore[arg-type]
            case ast.Name() if e.id in at:
                return at[e.id]
            case ast.BinOp():
                shift = int(e.right.value)  # type: ignore[attr-defined]
                return at[word(e.left)] + (shift if isinstance(e.op, ast.Add) else -shift)
        return int(self.value(e, at))


def parsed(text: str) -> ast.expr:
    """An expression; the hyphen of a family's name is none of Python."""
    made = re.sub(r"\b([a-z]+(?:-[a-z]+)+)(?=\s*\()", lambda m: m[1].replace("-", "_"), text)
    return ast.parse(made.strip(), mode="eval").body


def word(e: ast.expr) -> str:
    assert isinstance(e, ast.Name)
    return e.id


def split(text: str) -> tuple[str, tuple[str, ...]]:
    """A name and its indices."""
    name, _, inside = text.strip().partition("[")
    return name, tuple(x.strip() for x in inside.rstrip("]").split(",") if x.strip())


OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b,
    ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: a**b,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "dot": np.dot, "inv": np.linalg.inv,
    "diag": np.diag, "sum": np.sum, "tanh": np.tanh, "erf": special.erf, "abs": np.abs,
    "log1p": np.log1p,
}  # fmt: skip


def _bernoulli(x: Any, p: Any = None, eta: Any = None) -> Any:
    if eta is not None:
        return x * eta - np.logaddexp(0, eta)
    return math.log(p) if x == 1 else math.log1p(-p)


def _normal(x: Any, m: Any, S: Any) -> Any:
    gap = x - m
    return -gap @ S @ gap / 2 + np.linalg.slogdet(S)[1] / 2 - len(x) / 2 * math.log(2 * math.pi)


def _normal_gamma(x: Any, tau: Any, m: Any, kappa: Any, a: Any, b: Any) -> Any:
    first = stats.norm.logpdf(x, m, 1 / math.sqrt(kappa * tau))
    return first + stats.gamma.logpdf(tau, a, scale=1 / b)


def _wishart(x: Any, V: Any, n: Any) -> Any:
    return stats.wishart.logpdf(x, df=n, scale=V)


def _multinomial(x: Any, p: Any, n: Any) -> Any:
    return special.gammaln(n + 1) - special.gammaln(x + 1).sum() + special.xlogy(x, p).sum()


def _cut_poisson(x: Any, rate: Any) -> Any:
    return stats.poisson.logpmf(x, rate) - math.log(-math.expm1(-rate))


DENSITIES: dict[str, Callable[..., Any]] = {
    "gaussian": lambda x, m, v: stats.norm.logpdf(x, m, math.sqrt(v)),
    "normal_known_mean": lambda x, v, m: stats.norm.logpdf(x, m, math.sqrt(v)),
    "gaussian_full": _normal,
    "gaussian_isotropic": lambda x, m, v: stats.norm.logpdf(x, m, math.sqrt(v)).sum(),
    "gamma": lambda x, a, b: stats.gamma.logpdf(x, a, scale=1 / b),
    "inverse_gamma": lambda x, a, b: stats.invgamma.logpdf(x, a, scale=b),
    "exponential": lambda x, rate: stats.expon.logpdf(x, scale=1 / rate),
    "log_normal": lambda x, m, v: stats.lognorm.logpdf(x, math.sqrt(v), scale=math.exp(m)),
    "beta": lambda x, a, b: stats.beta.logpdf(x, a, b),
    "dirichlet": lambda x, a: stats.dirichlet.logpdf(x, a),
    "categorical": lambda x, p: np.log(p[int(x)]),
    "bernoulli": _bernoulli,
    "poisson": lambda x, rate: stats.poisson.logpmf(x, rate),
    "geometric": lambda x, p: stats.geom.logpmf(x + 1, p),
    "binomial": lambda x, p, n: stats.binom.logpmf(x, n, p),
    "negative_binomial": lambda x, p, r: stats.nbinom.logpmf(x, r, p),
    "multinomial": _multinomial,
    "laplace": lambda x, b, c: stats.laplace.logpdf(x, c, b),
    "weibull": lambda x, scale, k: stats.weibull_min.logpdf(x, k, scale=scale),
    "rayleigh": lambda x, sigma: stats.rayleigh.logpdf(x, scale=sigma),
    "zero_truncated_poisson": _cut_poisson,
    "inverse_gaussian": lambda x, m, s: stats.invgauss.logpdf(x, m / s, scale=s),
    "wishart": _wishart,
    "normal_gamma": _normal_gamma,
    "point": lambda x, c: 0.0 if x == c else -math.inf,
}  # fmt: skip
