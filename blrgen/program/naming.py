"""Names for what a pass introduces, read off the expression: `one_minus_beta1`, `sqrt_s`."""

from __future__ import annotations

from fractions import Fraction

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.program import fresh, numbered

LONGEST = 32
_NUMBERS = {
    Fraction(0): "zero", Fraction(1): "one", Fraction(2): "two", Fraction(3): "three",
    Fraction(4): "four", Fraction(1, 2): "half", Fraction(1, 4): "quarter",
}  # fmt: skip


def constant_name(value: Fraction) -> str:
    """A name for a number: half, two, minus_three, 3_over_7."""
    if value < 0:
        return f"minus_{constant_name(-value)}"
    if value in _NUMBERS:
        return _NUMBERS[value]
    if value.denominator == 1:
        return f"n{value.numerator}"
    return f"n{value.numerator}_over_{value.denominator}"


def describe(node: n.Node) -> str | None:
    """The expression in words joined by underscores; None when there are no short words."""
    words = _words(node)
    return words if words is not None and len(words) <= LONGEST else None


def is_correction(node: n.Node) -> bool:
    """1 − βᵗ: what a moving average that started at zero is divided by."""
    return (
        isinstance(node, n.Sub)
        and node.left == n.ONE
        and isinstance(node.right, n.Call)
        and node.right.name == "pow"
        and all(isinstance(a, n.Ref) for a in node.right.args)
    )


def name_for(node: n.Node, taken: set[str]) -> str:
    """A free name: the description if it is short, else what is scaled, else k1, k2 and so on."""
    words = describe(node) or _scaled(node)
    if words is not None:
        return fresh(words, taken)
    return numbered("k", 1, taken)


def _scaled(node: n.Node) -> str | None:
    """scaled_alpha for √… α/(1 − β₁ᵗ): the last name among the factors of the numerator."""
    top = node.top if isinstance(node, n.Div) else node
    factors = top.args if isinstance(top, n.Mul) else (top,)
    own = [f.name for f in factors if isinstance(f, n.Ref)]
    return f"scaled_{own[-1]}" if own and len(own[-1]) <= LONGEST else None


def _words(node: n.Node) -> str | None:
    if isinstance(node, n.Ref | n.Named):
        return node.name
    if isinstance(node, n.Const):
        return constant_name(node.value)
    if is_correction(node):
        return f"{n.names(node)[0]}_correction"
    if isinstance(node, a.Red):
        return "trace" if isinstance(node.arg, n.Ref) and len(node.arg.index) == 2 else None
    known: list[str] = []
    for c in node.children:
        part = _words(c)
        if part is None or len(part) > LONGEST:
            return None
        known.append(part)
    if isinstance(node, n.Add):
        return "_plus_".join(known)
    if isinstance(node, n.Sub):
        return "_minus_".join(known)
    if isinstance(node, n.Mul):
        return "_times_".join(known)
    if isinstance(node, n.Div):
        return "_over_".join(known)
    if isinstance(node, n.Neg):
        return f"minus_{known[0]}"
    if isinstance(node, n.Pow):
        power = {2: "squared", 3: "cubed"}.get(node.exponent, f"to_{node.exponent}")
        return f"{known[0]}_{power}"
    if isinstance(node, n.Call):
        return "_to_".join(known) if node.name == "pow" else "_".join((node.name, *known))
    return None
