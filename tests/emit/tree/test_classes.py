"""Classes as values: what targets spell, how it is laid out, what it uses."""

from __future__ import annotations

import pytest

from blrgen.emit.numpy import TARGET as NUMPY
from blrgen.emit.tree import classes as c
from blrgen.emit.tree import layout
from blrgen.errors import InternalError
from blrgen.program import nodes as n

x, m, rho = c.own("x", "m", "rho")
HERE = c.attribute("rho")
LONG = " ".join(["a sentence that is long"] * 6)


def lines(*statements: c.Statement) -> list[str]:
    return layout.body(NUMPY.spelling.of(statements), 0)


def test_words_and_formulas_are_what_a_target_says() -> None:
    half = n.Mul((n.Ref("rho"), n.Ref("m")))
    scalar = c.Formula(half, (("rho", HERE), ("m", m)))
    whole = c.Formula(n.sqrt(half), (("rho", HERE), ("m", m)), ("m",))
    assert lines(c.Set((x,), c.Word("copy", (m,))), c.Set((x,), scalar), c.Set((x,), whole)) == [
        "x = m.copy()", "x = self.rho * m", "x = np.sqrt(self.rho * m)",
    ]  # fmt: skip
    assert {*c.used(NUMPY.spelling.of(whole))} == {"np"}
    assert {*c.used(NUMPY.spelling.of(c.Word("flat", (c.Name("self"),))))} == {"_listed"}


def test_what_no_target_has_spelled_is_not_laid_out() -> None:
    with pytest.raises(InternalError, match="before it is laid out"):
        layout.flat(c.Word("copy", (m,)))
    with pytest.raises(KeyError):
        lines(c.Do(c.Word("unheard of")))


def test_blocks() -> None:
    back = c.Attempt((c.Do(c.call("f")), c.Break()), "ValueError", (c.Raise(),), "outside")
    body = (c.Set((rho,), c.Literal(2), op="+="), back)
    asked = c.When(c.Sign("is", c.Literal(None), x), body, (c.Return(c.Row((x, m))),), "why")
    loop = c.Loop((x, m), c.call("zip", x, m), (asked,))
    assert lines(loop) == [
        "for x, m in zip(x, m):",
        "    if x is None:  # why",
        "        rho += 2",
        "        try:",
        "            f()",
        "            break",
        "        except ValueError:  # outside",
        "            raise",
        "    else:",
        "        return x, m",
    ]


def test_what_is_too_long_has_lines_of_its_own() -> None:
    names = c.own(*(f"argument_{k}" for k in range(12)))
    said = lines(c.Raise("ValueError", c.Words(f"{LONG} {{x}} {LONG}")))
    assert max(map(len, said)) <= 100
    assert eval("".join(said)[len("raise ValueError(") : -1], {"x": 3}) == f"{LONG} 3 {LONG}"
    packed = lines(c.Set((x,), c.Row(names, filled=True)))
    assert packed[0].startswith("x = (argument_0, ") and len(packed) == 2
    assert packed[1].startswith("     argument_") and packed[1].endswith(")  # fmt: skip")
    each = c.Each(c.call("function_of", *names[:3], x), (x,), c.call("several", *names[3:6]))
    assert [r.strip() for r in lines(c.Set((m,), each))] == [
        "m = [", "function_of(argument_0, argument_1, argument_2, x)",
        "for x in several(argument_3, argument_4, argument_5)", "]",
    ]  # fmt: skip
    either = c.Either(c.call("f", *names[:4]), HERE, c.call("g", *names[4:7]))
    assert len(lines(c.Set((m,), either))) == 5
    pairs = tuple((c.Literal(f"{k}"), v) for k, v in enumerate(names))
    table = lines(c.Set((m,), c.Table(pairs, filled=True)))
    assert table[0].startswith('m = {"0": argument_0, ') and max(map(len, table)) <= 100
    assert lines(c.Return(c.Table(pairs[:1], rest=x))) == ['return {"0": argument_0, **x}']
    assert lines(c.Set((x,), c.Sign("/", c.Sign("**", m, c.Literal(2)), rho))) == ["x = rho / 2**m"]


def test_a_method_without_words_has_no_docstring() -> None:
    told = c.Method("__repr__", (), "str", "", (c.Return(c.Literal("x")),))
    assert layout.method(told) == ["    def __repr__(self) -> str:", '        return "x"']
