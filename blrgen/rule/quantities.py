"""The names a rule may use, with their meaning, range and default, in one table.

Probes (what the caller evaluates) get their reading from what they are: the order of
the derivative, where it is taken, and whether on a minibatch.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.core import Probe, Quantity
from blrgen.geometry.geometry import Geometry

Expr = Any
TIME = sp.Symbol("t", integer=True, positive=True)

_HYPER: dict[str, tuple[str, str, str]] = {
    # name: default, domain, meaning
    "rho": ("1/10", "[0, 1]", "step size of the rule"),
    "alpha": ("1/1000", "[0, oo)", "step size of the mean"),
    "beta": ("1/100", "[0, 1]", "step size of the scale"),
    "beta1": ("9/10", "[0, 1)", "decay of the gradient average"),
    "beta2": ("999/1000", "[0, 1)", "decay of the curvature average"),
    "gamma": ("9/10", "[0, 1)", "momentum: how much of the last step is repeated"),
    "delta": ("1/10000", "[0, oo)", "precision of the Gaussian prior (weight decay)"),
    "N": ("1", "(0, oo)", "effective number of examples"),
    "c": ("1/100000000", "[0, oo)", "small constant that keeps the divisor from zero"),
    "tau": ("1", "(0, oo)", "temperature of the relaxation"),
    "h0": ("1", "(0, oo)", "first value of the curvature average"),
    "lam0": ("0", "(-oo, oo)", "natural parameter of the prior"),
    "pi": ("1/2", "(0, 1]", "weight of the component that is learned"),
    "clip": ("oo", "(0, oo]", "largest step of a coordinate, before the step size"),
}


def hyper(name: str, *, default: str | None = None, meaning: str = "") -> Quantity:
    """A hyperparameter from the table (or a new one, with everything given)."""
    value, domain, text = _HYPER.get(name, ("1", "(0, oo)", ""))
    given = default if default is not None else value
    return Quantity(
        name=name,
        kind="hyper",
        rank="scalar",
        symbol=hyper_symbol(name),
        meaning=meaning or text,
        default=sp.oo if given == "oo" else sp.Rational(given),
        domain=domain,
    )


def hyper_symbol(name: str) -> Expr:
    """The symbol of a hyperparameter; a range that starts at zero makes it positive."""
    domain = _HYPER.get(name, ("", "(0, oo)", ""))[1]
    positive = domain.startswith(("(0", "[0"))
    return sp.Symbol(name, **({"positive": True} if positive else {"real": True}))


def state(
    geometry: Geometry, x: Expr, *, init: Expr, meaning: str, domain: str = "(-oo, oo)"
) -> Quantity:
    """A state of the rank of its symbol."""
    return Quantity(
        name=x.name,
        kind="state",
        rank=geometry.ring.rank(x),
        symbol=x,
        meaning=meaning,
        init=init,
        domain=domain,
    )


def probe_quantity(probe: Probe, geometry: Geometry, mean: Expr = None) -> Quantity:
    """A probe as an input, with its reading; `mean` is the candidate's as the rule writes it."""
    coordinates = geometry.ring.elementwise and bool(geometry.family.support.size)
    text, latex, meaning = reading(probe, geometry.ring.elementwise, coordinates, mean)
    return Quantity(
        name=probe.name,
        kind="input",
        rank="scalar" if _is_value(probe) else geometry.ring.rank(probe.symbol),
        symbol=probe.symbol,
        meaning=meaning,
        domain="(-oo, oo)",
        text=text,
        latex=latex,
        formula=probe.formula,
    )


def _is_value(probe: Probe) -> bool:
    """Whether it is one number a component: the loss or log q, at its mean or expected."""
    return probe.order == 0 and bool(probe.component) and probe.at in _PLACE


def step_counter() -> Quantity:
    """t: the number of the step, from 1."""
    return Quantity("t", "counter", "scalar", TIME, "number of the step, from 1",
                    domain="integers >= 1")  # fmt: skip


def place_of(q: Quantity) -> int:
    """Where a quantity stands among its kind: the table's order; what moves θ, u, then scales.

    The first state is the one an emitted class updates in the caller's arrays.
    """
    if q.kind == "hyper":
        return list(_HYPER).index(q.name) if q.name in _HYPER else len(_HYPER)
    if q.kind != "state":
        return 0
    if q.name == "u":
        return 1
    return 0 if q.meaning in ("mean", "parameter", "natural parameter") else 2


def component_mark(of: str) -> str:
    """The index of a component as it is written low: ₖ, ₁."""
    return of.translate(str.maketrans("0123456789k", "₀₁₂₃₄₅₆₇₈₉ₖ"))


_DERIVATIVE = {
    0: ("ℓ", r"\ell", "the loss"),
    1: ("∇ℓ", r"\nabla\ell", "the gradient of the loss"),
    2: ("∇²ℓ", r"\nabla^2\ell", "the Hessian of the loss"),
}
_OF_MIXTURE = {
    0: ("log q", r"\log q", "log q"),
    1: ("∇log q", r"\nabla\log q", "the gradient of log q"),
    2: ("∇²log q", r"\nabla^2\log q", "the Hessian of log q"),
}
_PLACE = {
    "q": ("", "", "in expectation under q"),
    "m": ("({mean})", "({mean})", "at the mean {mean}"),
    "theta": ("(θ)", r"(\theta)", "at theta"),
    "mask": ("(z∘m)", r"(z \circ m)", "in expectation over z, weighted with z/π"),
}


def _place(at: str, mean: Expr) -> tuple[str, str, str]:
    """Where the loss is probed, in unicode, LaTeX and English."""
    text, latex, english = _PLACE.get(at, ("", "", ""))
    if at != "m":
        return text, latex, english
    from blrgen.text.expression import latex as in_latex
    from blrgen.text.expression import unicode

    short = mean is not None and not mean.args
    name, spelled = (unicode(mean), in_latex(mean)) if short else ("mean", r"\mathrm{mean}")
    sentence = english.replace("{mean}", name if short else "").rstrip()
    return text.replace("{mean}", name), latex.replace("{mean}", spelled), sentence


def reading(probe: Probe, elementwise: bool, coordinates: bool, mean: Expr) -> tuple[str, str, str]:
    """(unicode, LaTeX, English) of a probe, e.g. (∇ℓ(m), …, "the gradient … at the mean m")."""
    if probe.meaning:
        place = _place(probe.at, mean)[2]
        text, latex = probe.text or probe.name, probe.latex or probe.name
        return text, latex, probe.meaning.replace("{place}", place)
    if probe.order == 0 and not _is_value(probe):
        at = probe.at.replace("-", "−")
        text, where = f"𝔼[ℓ|{at}]", f"expected loss with this coordinate fixed at {at}"
        return text, rf"\mathbb{{E}}[\ell \mid {probe.at}]", where
    symbol, latex, english = (_OF_MIXTURE if probe.of_mixture else _DERIVATIVE)[probe.order]
    if probe.order == 2 and elementwise:
        subject = "log q" if probe.of_mixture else "the loss"
        english = (
            f"the diagonal of the Hessian of {subject}"
            if coordinates
            else f"the second derivative of {subject}"
        )
    place, place_latex, where = _place(probe.at, mean)
    if probe.minibatch and not probe.of_mixture:
        symbol, latex = {
            0: ("ℓ̂", r"\hat\ell"), 1: ("ĝ", r"\hat g"), 2: ("Ĥ", r"\hat H"),
        }[probe.order]  # fmt: skip
        if elementwise and probe.order == 2:
            symbol, latex = "ĥ", r"\hat h"
        english = english.replace("the ", "a minibatch estimate of the ", 1)
    if probe.at == "mask":
        inside = (f"(z/π){symbol}{place}", rf"(z/\pi){latex}{place_latex}")
        return f"𝔼_z[{inside[0]}]", rf"\mathbb{{E}}_z[{inside[1]}]", f"{english}, {where}"
    if probe.at == "q":
        low = component_mark(probe.component)
        tex = f"{{q_{probe.component}}}" if low else "q"
        where = where.replace("under q", f"under q{low}")
        return f"𝔼_q{low}[{symbol}]", rf"\mathbb{{E}}_{tex}[{latex}]", f"{english}, {where}"
    return symbol + place, latex + place_latex, f"{english}, {where}"
