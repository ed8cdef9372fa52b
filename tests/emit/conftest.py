"""Rules written by hand from the paper, and a direct evaluation of any rule by NumPy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from blrgen.algebra.ranks import T, mat, positive, scalar, symmat, trace, vec
from blrgen.core import (
    Assignment,
    Derivation,
    Family,
    Loss,
    Quantity,
    Recipe,
    Rule,
    Step,
    Support,
)

t = sp.Symbol("t", integer=True, positive=True)
HALF = sp.Rational(1, 2)
RATE = {"alpha": (sp.Rational(1, 10), "(0, oo)"), "beta1": (sp.Rational(9, 10), "[0, 1)"),
        "beta2": (sp.Rational(99, 100), "[0, 1)"), "c": (sp.Rational(1, 10**8), "[0, oo)"),
        "rho": (sp.Rational(1, 5), "(0, 1]"), "delta": (sp.Rational(1, 100), "[0, oo)"),
        "N": (sp.Integer(50), "(0, oo)"), "tau": (sp.Integer(1), "(0, oo)"),
        "h0": (sp.Integer(1), "(0, oo)")}  # fmt: skip


def hypers(*names: str) -> list[Quantity]:
    return [
        Quantity(
            x, "hyper", "scalar", positive(x), f"the {x}", default=RATE[x][0], domain=RATE[x][1]
        )
        for x in names
    ]


def state(name: str, rank: str = "elementwise", symbol: Any = None, **more: Any) -> Quantity:
    return Quantity(name, "state", rank, scalar(name) if symbol is None else symbol, name, **more)


def given(
    name: str, rank: str = "elementwise", symbol: Any = None, kind: str = "input"
) -> Quantity:
    return Quantity(name, kind, rank, scalar(name) if symbol is None else symbol, f"the {name}")


def noise(distribution: str) -> Quantity:
    return Quantity("eps", "draw", "elementwise", scalar("eps"), "noise", distribution=distribution)


def adam() -> Rule:
    m, u, g, un = (scalar(x) for x in ("m", "u", "g", "u_next"))
    s, sn, a, b1, b2, c = (positive(x) for x in ("s", "s_next", "alpha", "beta1", "beta2", "c"))
    return Rule(
        (state("m"), state("u", init=sp.S.Zero), state("s", symbol=s, init=sp.S.Zero),
         given("g"), *hypers("alpha", "beta1", "beta2", "c")),
        (Assignment("u_next", b1 * u + (1 - b1) * g),
         Assignment("s_next", b2 * s + (1 - b2) * g**2),
         Assignment("m_next", m - a * (un / (1 - b1**t)) / (sp.sqrt(sn / (1 - b2**t)) + c))),
        (("mean", m),),
    )  # fmt: skip


def ivon() -> Rule:
    m, u, g, eps, hh, un = (scalar(x) for x in ("m", "u", "g", "eps", "h_hat", "u_next"))
    h, hn = scalar("h"), scalar("h_next")
    a, b1, b2, d, n = (positive(x) for x in ("alpha", "beta1", "beta2", "delta", "N"))
    return Rule(
        (state("m"), state("u", init=sp.S.Zero), state("h", symbol=h, init=positive("h0")),
         given("g"), noise("N(0, I)"), *hypers("alpha", "beta1", "beta2", "delta", "N", "h0")),
        (Assignment("theta", m + eps / sp.sqrt(n * (h + d)), "draw"),
         Assignment("h_hat", sp.sqrt(n * (h + d)) * eps * g, "estimate"),
         Assignment("u_next", b1 * u + (1 - b1) * g),
         Assignment("h_next", b2 * h + (1 - b2) * hh + HALF * (1 - b2)**2 * (h - hh)**2 / (h + d)),
         Assignment("m_next", m - a * (un / (1 - b1**t) + d * m) / (hn + d))),
        (("mean", m), ("precision", n * (h + d))),
    )  # fmt: skip


def bayesbinn() -> Rule:
    lam, g, eps, theta, mu = (scalar(x) for x in ("lam", "g", "eps", "theta", "mu"))
    rho, tau = positive("rho"), positive("tau")
    return Rule(
        (state("lam"), given("g"), noise("Logistic(0, 1/2)"), *hypers("rho", "tau")),
        (Assignment("theta", sp.tanh((lam + eps) / tau), "draw"),
         Assignment("mu", sp.tanh(lam)),
         Assignment("lam_next", (1 - rho) * lam - rho * g * (1 - theta**2) / (tau * (1 - mu**2)))),
        (("mean", sp.tanh(lam)),),
    )  # fmt: skip


def _full(*rest: Quantity, init: Any = sp.S.One) -> tuple[Quantity, ...]:
    m, S = vec("m"), symmat("S")
    return (state("m", "vector", m), state("S", "symmetric", S, init=init, domain="SPD"), *rest)


def _gH() -> tuple[Quantity, ...]:
    return given("g", "vector", vec("g")), given("H", "symmetric", symmat("H"))


def von() -> Rule:
    m, S, g, H, Sn, rho = (
        vec("m"),
        symmat("S"),
        vec("g"),
        symmat("H"),
        symmat("S_next"),
        positive("rho"),
    )
    return Rule(
        _full(*_gH(), *hypers("rho")),
        (Assignment("S_next", (1 - rho) * S + rho * H), Assignment("m_next", m - rho * Sn**-1 * g)),
        (("mean", m), ("precision", S)),
    )


def iblr() -> Rule:
    m, S, g, H, rho = vec("m"), symmat("S"), vec("g"), symmat("H"), positive("rho")
    G = H - S
    return Rule(
        _full(*_gH(), *hypers("rho")),
        (Assignment("S_next", S + rho * G + HALF * rho**2 * G * S**-1 * G),
         Assignment("m_next", m - rho * S**-1 * g)),
        (("mean", m), ("precision", S)),
    )  # fmt: skip


def laplace() -> Rule:
    m, S, g, H, Sn = vec("m"), symmat("S"), vec("g"), symmat("H"), symmat("S_next")
    return Rule(
        _full(*_gH()),
        (Assignment("S_next", H), Assignment("m_next", m - Sn**-1 * g)),
        (("mean", m), ("precision", S)),
        "fixed point",
    )


def ridge() -> Rule:
    X, y, Sn, d = mat("X"), vec("y"), symmat("S_next"), positive("delta")
    return Rule(
        _full(given("X", "matrix", X, "data"), given("y", "vector", y, "data"), *hypers("delta")),
        (Assignment("S_next", T(X) * X + d), Assignment("m_next", Sn**-1 * T(X) * y)),
        (("mean", vec("m")), ("precision", symmat("S"))),
    )


def full_draws() -> Rule:
    """VON with draws: Ĥ from the reparameterised score, averaged over draws."""
    m, S, g, theta = vec("m"), symmat("S"), vec("g"), vec("theta")
    Hh, Sn, rho = symmat("H_hat"), symmat("S_next"), positive("rho")
    outer = S * (theta - m) * T(g)
    return Rule(
        _full(given("g", "vector", g), Quantity("theta", "draw", "vector", theta, "the draw",
              distribution="N(m, (S)**(-1))"), *hypers("rho")),
        (Assignment("H_hat", (outer + T(outer)) / 2, "estimate"),
         Assignment("S_next", (1 - rho) * S + rho * Hh + rho),
         Assignment("m_next", m - rho * Sn**-1 * g)),
        (("mean", m), ("precision", S)),
    )  # fmt: skip


def family(kind: str) -> Family:
    binary = kind == "finite"
    support = Support(kind, points=(sp.Integer(-1), sp.Integer(1)) if binary else (), text=kind)
    return Family("hand-made", "hand-made candidate", scalar("theta"), support, (), sp.S.One, ())


def derivation(rule: Rule, title: str = "Hand made", kind: str = "vector") -> Derivation:
    steps = (
        Step(
            "Delta",
            (),
            "the expectation is replaced by the value at the mean",
            approximation="delta",
        ),
    )
    return Derivation(family(kind), Loss(), None, None, None, rule, steps, (("delta", None),),
                      recipe=Recipe("hand-made", title, "hand-made", ()))  # fmt: skip


# -- direct evaluation -------------------------------------------------------------

_NUMPY = {"exp": np.exp, "log": np.log, "tanh": np.tanh, "sign": np.sign, "Abs": np.abs,
          "cosh": np.cosh, "sinh": np.sinh, "Max": np.maximum, "Min": np.minimum}  # fmt: skip


def evaluate(x: Any, env: dict[str, Any], size: int) -> Any:
    """A SymPy expression by NumPy, node by node, with explicit inverses."""
    if x.is_Symbol:
        return env[x.name]
    if x.is_number:
        return float(x) if not x.is_infinite else np.inf
    if isinstance(x, T):
        return evaluate(x.args[0], env, size).T
    if isinstance(x, trace):
        word = evaluate(x.args[0], env, size)
        return np.trace(word) if np.ndim(word) == 2 else word
    args = [evaluate(a, env, size) for a in x.args]
    if x.is_Add:
        square = any(np.shape(a) == (size, size) for a in args) and not x.is_commutative
        total = 0.0
        for a in args:
            total = total + (a * np.eye(size) if square and np.ndim(a) == 0 else a)
        return total
    if x.is_Mul:
        return _product(x, env, size)
    if x.is_Pow and not x.base.is_commutative:
        return (
            np.linalg.matrix_power(np.linalg.inv(args[0]), -int(x.exp))
            if x.exp < 0
            else args[0] @ args[0]
        )
    if x.is_Pow:
        return args[0] ** args[1]
    name = type(x).__name__
    result = args[0] if name in ("Max", "Min") else _NUMPY[name](args[0])
    for a in args[1:]:
        result = _NUMPY[name](result, a)
    return result


def _product(x: Any, env: dict[str, Any], size: int) -> Any:
    scalars, word = x.args_cnc()
    total: Any = 1.0
    for a in scalars:
        total = total * evaluate(a, env, size)
    if not word:
        return total
    values = [evaluate(a, env, size) for a in word]
    columns = [
        v.reshape(-1, 1) if v.ndim == 1 and not isinstance(a, T) else v
        for a, v in zip(word, values, strict=True)
    ]
    columns = [v.reshape(1, -1) if v.ndim == 1 else v for v in columns]
    product = columns[0]
    for v in columns[1:]:
        product = product @ v
    return total * (product.reshape(-1) if product.shape[1] == 1 and size != 1 else product)


def direct_step(rule: Rule, env: dict[str, Any], size: int) -> dict[str, Any]:
    """Every assignment in order; the names and values of all of them."""
    env = dict(env)
    for a in rule.assignments:
        env[a.name] = np.asarray(evaluate(a.expr, env, size), dtype=float)
    return env


RULES = {f.__name__: f for f in (adam, ivon, bayesbinn, von, iblr, laplace, ridge, full_draws)}


@pytest.fixture(scope="session")
def hand() -> SimpleNamespace:
    """The rules by name, and what makes derivations of them and evaluates them."""
    return SimpleNamespace(
        rules=RULES, derivation=derivation, direct_step=direct_step, evaluate=evaluate
    )
