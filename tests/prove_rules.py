"""Rules written from the paper for testing the prover, without the engine that derives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import positive, scalar, symmat, vec
from blrgen.core import Assignment, Quantity, Rule

UNIT, POSITIVE, REAL = "(0, 1)", "(0, oo)", "(-oo, oo)"
T = sp.Symbol("t", integer=True, positive=True)


def quantities(kinds: Mapping[str, str]) -> tuple[Quantity, ...]:
    """'m': 'state elementwise (-oo, oo)' → quantities."""
    out = []
    for name, text in kinds.items():
        kind, rank, domain = text.split(maxsplit=2)
        symbol: Any
        if rank == "vector":
            symbol = vec(name)
        elif rank == "symmetric":
            symbol = symmat(name)
        elif kind == "counter":
            symbol = T
        else:
            symbol = positive(name) if domain in (POSITIVE, UNIT) else scalar(name)
        out.append(Quantity(name, kind, rank, symbol, domain=domain))
    return tuple(out)


def rule(
    kinds: Mapping[str, str],
    assignments: Mapping[str, str],
    stages: Mapping[str, str] | None = None,
) -> Rule:
    """A rule from SymPy text over the declared names (test data of our own, not user text)."""
    found = quantities(kinds)
    names: dict[str, Any] = {q.name: q.symbol for q in found}
    out = []
    for name, text in assignments.items():
        expr = eval(text, {"__builtins__": {}, "sqrt": sp.sqrt, "Min": sp.Min, "Max": sp.Max,
                           "tanh": sp.tanh,
                           "half": sp.Rational(1, 2), "one": sp.S.One}, names)  # fmt: skip
        out.append(Assignment(name, expr, (stages or {}).get(name, "update")))
        names[name] = (
            scalar(name)
            if expr.is_commutative
            else (symmat(name) if name.startswith("S") else vec(name))
        )
    return Rule(found, tuple(out))


STATE = f"state elementwise {REAL}"
SCALE = f"state elementwise {POSITIVE}"
GRADIENT = f"input elementwise {REAL}"
RATE, NUMBER = f"hyper scalar {UNIT}", f"hyper scalar {POSITIVE}"
COUNTER = "counter scalar [1, oo)"

ADAM = rule(
    {"m": STATE, "u": STATE, "s": SCALE, "g": GRADIENT, "alpha": NUMBER, "beta1": RATE,
     "beta2": RATE, "c": NUMBER, "t": COUNTER},
    {"u_next": "beta1*u + (1 - beta1)*g", "s_next": "beta2*s + (1 - beta2)*g**2",
     "m_next": "m - alpha*(u_next/(1 - beta1**t))/(sqrt(s_next/(1 - beta2**t)) + c)"},
)  # fmt: skip
OGN = rule(
    {"m": STATE, "s": SCALE, "g": GRADIENT, "h": f"input elementwise {POSITIVE}",
     "rho": RATE, "delta": NUMBER},
    {"s_next": "(1 - rho)*s + rho*(h + delta)", "m_next": "m - rho*g/s_next"},
)  # fmt: skip
IVON = rule(
    {"m": STATE, "u": STATE, "h": STATE, "g": GRADIENT,
     "eps": f"draw elementwise {REAL}", "alpha": NUMBER, "beta1": RATE, "beta2": RATE,
     "delta": NUMBER, "N": NUMBER, "h0": NUMBER, "c": NUMBER, "t": COUNTER},
    {"theta": "m + eps/sqrt(N*(h + delta))", "h_hat": "sqrt(N*(h + delta))*eps*g",
     "u_next": "beta1*u + (1 - beta1)*g",
     "h_next": "beta2*h + (1 - beta2)*h_hat + half*(1 - beta2)**2*(h - h_hat)**2/(h + delta)",
     "m_next": "m - alpha*(h0 + delta)"
               "*Min(Max((u_next/(1 - beta1**t) + delta*m)/(h_next + delta), -c), c)"},
    {"theta": "draw", "h_hat": "estimate"},
)  # fmt: skip
VON_FULL = rule(
    {"m": f"state vector {REAL}", "S": "state symmetric SPD", "g": f"input vector {REAL}",
     "H": f"input symmetric {REAL}", "rho": RATE},
    {"S_next": "(1 - rho)*S + rho*H", "m_next": "m - rho*S_next**-1*g"},
)  # fmt: skip
IBLR = rule(
    {"m": f"state vector {REAL}", "S": "state symmetric SPD", "g": f"input vector {REAL}",
     "H": f"input symmetric {REAL}", "rho": RATE},
    {"S_next": "S + rho*(H - S) + half*rho**2*(H - S)*S**-1*(H - S)", "m_next": "m - rho*S**-1*g"},
)  # fmt: skip
