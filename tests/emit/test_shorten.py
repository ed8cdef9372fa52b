"""Long lines get the names that naming one part after the other gives them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blrgen.emit.shorten import shortened
from blrgen.emit.text import WIDTH
from blrgen.emit.tree.printer import Expressions
from blrgen.program import nodes as n
from blrgen.program.program import fresh
from tests.sweeps import examples

LEAVES = [n.Ref("x"), n.Ref("longer_name"), n.Ref("y"), n.ONE]
PRINTER = Expressions({"x": "x[i]"})


def _grown(inner: st.SearchStrategy[n.Node]) -> st.SearchStrategy[n.Node]:
    pair, several = st.tuples(inner, inner), st.lists(inner, min_size=2, max_size=6).map(tuple)
    return st.one_of(
        several.map(n.Add), pair.map(n.Mul), pair.map(lambda p: n.Div(*p)),
        inner.map(n.Neg), inner.map(lambda x: n.Call("exp", (x,))),
    )  # fmt: skip


TREES = st.recursive(st.sampled_from(LEAVES), _grown, max_leaves=30)


def replaced(expr: n.Node, part: n.Node, name: str) -> n.Node:
    return n.Ref(name) if expr == part else expr.rebuilt(lambda c: replaced(c, part, name))


def part_to_name(expr: n.Node, room: int) -> n.Node | None:
    parts = [x for x in n.walk(expr) if x != expr and n.size(x) > 3]
    parts = [x for x in parts if not isinstance(x, n.Neg)]
    enough = [x for x in parts if len(PRINTER(replaced(expr, x, "divisor"))) <= room]
    bottoms = [x.bottom for x in n.walk(expr) if isinstance(x, n.Div)]
    divisors = [x for x in enough if x in bottoms]
    if divisors or enough:
        return min(divisors or enough, key=n.size)
    return max(parts, key=n.size, default=None)


def one_after_the_other(name: str, expr: n.Node) -> list[tuple[str, n.Node]]:
    done, waiting, taken = [], [(name, expr)], {name, *n.names(expr)}
    while waiting:
        name, expr = waiting.pop(0)
        room = WIDTH - 8 - len(name) - len(" = [i]")
        part = part_to_name(expr, room) if len(PRINTER(expr)) > room else None
        if part is None:
            done.append((name, expr))
            continue
        bottoms = [x.bottom for x in n.walk(expr) if isinstance(x, n.Div)]
        own = fresh("divisor" if part in bottoms else "part", taken)
        taken.add(own)
        waiting[:0] = [(own, part), (name, replaced(expr, part, own))]
    return done


@examples(40)  # naming one after the other takes a while
@given(TREES)
def test_the_same_parts_are_named(tree: n.Node) -> None:
    found = shortened([("v", tree)], PRINTER, 8, {"v", *n.names(tree)})
    assert found == one_after_the_other("v", tree)


def test_a_long_difference_fits_and_stays_what_it_is() -> None:
    terms = [n.Call("exp", (n.Mul((n.Ref("x"), n.Ref(f"c{k}"))),)) for k in range(40)]
    chain: n.Node = terms[0]
    for term in terms[1:]:
        chain = n.Sub(chain, term)
    lines = shortened([("v", chain)], PRINTER, 8, {"v"})
    assert all(len(PRINTER(e)) <= WIDTH - 8 - len(name) - len(" = [i]") for name, e in lines)
    whole = dict(lines)["v"]
    for name, e in reversed(lines[:-1]):
        whole = n.substituted(whole, {name: e})
    assert whole == chain
