"""Functions of a site in stable forms, with what they share written once."""

from __future__ import annotations

from blrgen.program import nodes as n
from blrgen.program.stable import stable_form


def stable_at(e: n.Node) -> n.Node:
    """The expression where nothing overflows or cancels that need not."""
    return n.transform(n.transform(stable_form(e), _both_ways), _of_one_exponential)


def _both_ways(x: n.Node) -> n.Node:
    """σ(x) σ(−x) is e^−|x| / (1 + e^−|x|)², whichever side of 0 x is on."""
    if not isinstance(x, n.Mul):
        return x
    rest = list(x.args)
    for f in x.args:
        if not isinstance(f, n.Call) or f.name != "logistic":
            continue
        other = n.Call("logistic", (n.neg(f.args[0]),))
        if f in rest and other in rest:
            rest.remove(f)
            rest.remove(other)
            small = _small(f.args[0])
            over = n.div(n.ONE, n.add(n.ONE, small))
            rest += [small, over, over]
    return n.mul(*rest)


def _small(x: n.Node) -> n.Node:
    return n.Call("exp", (n.neg(n.Call("abs", (x.arg if isinstance(x, n.Neg) else x,))),))


def _of_one_exponential(x: n.Node) -> n.Node:
    """softplus and logistic in e^−|x|, which f, f' and f'' then share; neither overflows."""
    if not isinstance(x, n.Call) or x.name not in ("softplus", "logistic"):
        return x
    (arg,) = x.args
    turned = isinstance(arg, n.Neg)
    arg = arg.arg if isinstance(arg, n.Neg) else arg
    small = _small(arg)
    if x.name == "softplus":
        above = n.Call("max", (n.neg(arg) if turned else arg, n.ZERO))
        return n.add(above, n.Call("log1p", (small,)))
    below = n.Compare("<", arg, n.ZERO)
    top = n.Select(below, n.ONE, small) if turned else n.Select(below, small, n.ONE)
    return n.div(top, n.add(n.ONE, small))
