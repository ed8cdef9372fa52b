"""Functions of a site in stable forms, with what they share written once."""

from __future__ import annotations

from blrgen.program import nodes as n
from blrgen.program.stable import stable_form


def stable_at(e: n.Node) -> n.Node:
    """The expression where nothing overflows or cancels that need not."""
    return n.transform(stable_form(e), _of_one_exponential)


def _of_one_exponential(x: n.Node) -> n.Node:
    """softplus and logistic in e^−|x|, which f, f' and f'' then share; neither overflows."""
    if not isinstance(x, n.Call) or x.name not in ("softplus", "logistic"):
        return x
    (arg,) = x.args
    turned = isinstance(arg, n.Neg)
    arg = arg.arg if isinstance(arg, n.Neg) else arg
    small = n.Call("exp", (n.neg(n.Call("abs", (arg,))),))
    if x.name == "softplus":
        above = n.Call("max", (n.neg(arg) if turned else arg, n.ZERO))
        return n.add(above, n.Call("log1p", (small,)))
    below = n.Compare("<", arg, n.ZERO)
    top = n.Select(below, n.ONE, small) if turned else n.Select(below, small, n.ONE)
    return n.div(top, n.add(n.ONE, small))
