"""Every node on every target, every template, and sources that stand alone."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blrgen.algebra.ranks import symmat
from blrgen.api import derive
from blrgen.core import Assignment
from blrgen.emit import compile as compiling
from blrgen.emit import emit, generated
from blrgen.emit.printers import ArrayPrinter, ScalarPrinter, literal
from blrgen.emit.ranges import interval
from blrgen.emit.support import alone
from blrgen.emit.targets import TARGETS
from blrgen.emit.templates import environment, fill, keys
from blrgen.emit.tree.numba import function
from blrgen.emit.tree.rules import looped
from blrgen.emit.uses import collecting
from blrgen.errors import InternalError, UserError
from blrgen.program import nodes as n
from blrgen.program.axes.nodes import Extent, Red
from blrgen.program.axes.text import text as entry_text
from blrgen.program.expand import expanded
from blrgen.program.inspect import text
from blrgen.program.kernels import kernel
from blrgen.program.program import Program, Variable
from blrgen.program.types import ENTRIES
from blrgen.runtime.kept import _fitting
from tests.program.small import of_trees

pytestmark = pytest.mark.core

x, y = n.Ref("x"), n.Ref("y")
ENTRYWISE: list[n.Node] = [
    n.Const(Fraction(-3, 2)), n.Named("pi"), x, n.Add((x, y)), n.Sub(x, n.Add((x, y))),
    n.Mul((x, n.Sub(x, y))), n.Div(x, n.Mul((x, y))), n.Neg(n.Add((x, y))), n.Pow(n.Neg(x), 2),
    n.Sub(x, n.Neg(y)), n.Div(n.Div(x, y), n.Div(y, x)), n.Mul((x, n.Neg(y))), n.Neg(n.Pow(x, 2)),
    n.Select(n.Compare("<", x, y), n.Add((x, y)), n.Neg(y)),
    n.Select(n.Compare("<", x, y), n.Select(n.Compare(">=", x, n.ZERO), x, y), x),
]  # fmt: skip
ENTRYWISE += [n.Call(name, (x,)) for name in n.UNARY]
ENTRYWISE += [n.Call(name, (x, y)) for name in n.NARY] + [n.Call("max", (x, y, n.ZERO))]
VECTOR: list[n.Node] = [
    Red("sum", ("i",), n.Mul((x, y))), Red("sum", ("i",), x), Red("lse", ("i",), x),
    Red("lse", ("i",), x, n.ZERO), Extent("x"), n.Sub(Extent("x"), n.ONE),
]  # fmt: skip


def every_node_class() -> set[type]:
    return {c for c in vars(n).values() if isinstance(c, type) and issubclass(c, n.Node)} - {n.Node}


def test_the_lists_above_have_every_node() -> None:
    seen = {type(node) for tree in ENTRYWISE for node in n.walk(tree)}
    assert seen == every_node_class()


@pytest.mark.parametrize("node", ENTRYWISE, ids=text)
def test_entrywise_nodes_mean_the_same_on_every_printer(node: n.Node) -> None:
    """Scalars by `math`, arrays and loops by NumPy, against the tree's own value."""
    node = expanded(node)
    for u, v in ((0.3, 0.7), (0.8, -0.4), (0.25, 0.25)):
        if isinstance(node, n.Call) and node.name == "pow" and v < 0:
            v = 2.0
        wanted = direct(node, {"x": u, "y": v})
        env = {"math": math, "np": np, "x": u, "y": v}
        assert run(ScalarPrinter()(node), env) == pytest.approx(wanted, rel=1e-15)
        assert element(node, u, v) == pytest.approx(wanted, rel=1e-15)
        arrays = env | {"x": np.array([u, u]), "y": np.array([v, v])}
        found = np.broadcast_to(run(ArrayPrinter()(node), arrays), 2)
        assert found == pytest.approx([wanted, wanted], rel=1e-15)


def element(node: n.Node, u: float, v: float) -> float:
    """The value in a compiled loop of one turn, run as plain Python."""
    held = tuple(Variable(name, "state", ENTRIES) for name in "xyz")
    p = of_trees(Program(held), [("z", node)], (("z", "z"),))
    with collecting() as uses:
        source = function(looped(kernel("f", "One.", p, ("z", "x", "y"), is_output=True)))
    z, arrays = np.zeros(1), {"x": np.array([u]), "y": np.array([v])}
    space = {**own(uses), "np": np, "math": math, "njit": lambda **_: lambda f: f, "FASTMATH": 0}
    exec(source, space)
    space["f"](z, *(a for name, a in arrays.items() if name in n.names(node)))
    return float(z[0])


def own(uses: set[str]) -> dict[str, Any]:
    """The support functions that the code calls."""
    made: dict[str, Any] = {}
    exec(alone("numpy", uses), made)
    return made


def run(source: str, env: dict[str, Any]) -> Any:
    return eval(compile(source, "<printed>", "eval"), env)


def direct(node: n.Node, at: dict[str, float]) -> Any:
    """The value of a tree, by its definition."""
    if isinstance(node, n.Const):
        return float(node.value)
    if isinstance(node, n.Named):
        return {"pi": np.pi}[node.name]
    if isinstance(node, n.Ref):
        return at[node.name]
    c = [direct(k, at) for k in node.children]
    if isinstance(node, n.Call):
        known = {
            "atanh": np.arctanh,
            "max": lambda *a: max(a),
            "min": lambda *a: min(a),
            "pow": pow,
        }
        return known.get(node.name, getattr(np, node.name, None))(*c)
    table = {
        n.Add: sum, n.Sub: lambda v: v[0] - v[1], n.Mul: np.prod, n.Div: lambda v: v[0] / v[1],
        n.Neg: lambda v: -v[0], n.Pow: lambda v: v[0] ** getattr(node, "exponent", 1),
        n.Compare: lambda v: {"<": v[0] < v[1], ">=": v[0] >= v[1]}[getattr(node, "operator", "<")],
        n.Select: lambda v: v[1] if v[0] else v[2],
    }  # fmt: skip
    return table[type(node)](c)


@pytest.mark.parametrize("node", VECTOR, ids=entry_text)
def test_numbers_made_from_vectors(node: n.Node) -> None:
    u, v = np.array([0.3, 0.8, 0.25], np.float32), np.array([0.7, -0.4, 0.25], np.float32)
    wanted = (u * v if n.Mul in map(type, n.walk(node)) else u).sum()
    if isinstance(node, Red) and node.op == "lse":
        wanted = np.log(np.exp(u).sum() + (node.more is not None))
    if Extent in map(type, n.walk(node)):
        wanted = u.size - isinstance(node, n.Sub)
    found = run(ArrayPrinter()(node), {"np": np, "x": u, "y": v})
    assert found == pytest.approx(wanted, rel=1e-7) and found.dtype == np.float32


def test_numbers_are_exact() -> None:
    for value in (
        Fraction(1, 10),
        Fraction(1, 3),
        Fraction(-7, 2),
        Fraction(1, 10**8),
        Fraction(5),
    ):
        text_, _ = literal(value)
        assert Fraction(*[Fraction(p) for p in text_.split(" / ")]) == value


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        ("(0, oo)", [1e-300, 5.0], [0.0, -1.0, np.inf, np.nan]),
        ("[0, 1)", [0.0, 0.999], [1.0, -1e-9, np.nan]),
        ("(0, oo]", [1.0, np.inf], [0.0, np.nan]),
        ("(-oo, oo)", [0.0, -5.0], [np.inf, -np.inf, np.nan]),
        ("", [0.0], [np.nan]),
    ],
)
def test_ranges(domain: str, inside: list[float], outside: list[float]) -> None:
    known = interval(domain)
    assert known is not None
    for v in inside:
        assert _fitting("v", v, 0.0, {"v": known}) == v
    for v in outside:
        with pytest.raises(ValueError, match="is outside"):
            _fitting("v", v, 0.0, {"v": known})
    assert interval("SPD") is None


def test_templates_are_filled_exactly() -> None:
    """A template has no logic, and takes exactly its own keys."""
    root = Path(__file__).parents[2] / "templates"
    for name in environment().list_templates():
        assert "{%" not in (root / name).read_text(encoding="utf-8"), name
        wanted = {k: "x" for k in keys(name)}
        assert isinstance(fill(name, **wanted), str)
        with pytest.raises(InternalError, match="unused keys"):
            fill(name, **wanted, one_too_many="x")
        if wanted:
            wanted.pop(min(wanted))
            with pytest.raises(InternalError, match="missing keys"):
                fill(name, **wanted)


BETWEEN = """name = "between"
variable = "x"
support = "(lo, hi)"
statistics = ["x"]
[natural]
eta = "(-oo, oo)"
[fixed]
lo = "(-oo, oo)"
hi = "(lo, oo)"
"""


@pytest.mark.long
def test_every_template_is_used(hand: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    used: set[str] = set()

    def recording(name: str, /, **values: str) -> str:
        used.add(name)
        return fill(name, **values)

    for module in (
        "assemble",
        "fixed",
        "sampler",
    ):
        monkeypatch.setattr(f"blrgen.emit.{module}.fill", recording)
    uniform = replace(hand.rules["bayesbinn"]()["eps"], distribution="U(-1, 1)")
    rules = {name: make() for name, make in hand.rules.items()}
    others = tuple(uniform if q.kind == "draw" else q for q in rules["bayesbinn"].quantities)
    rules["uniform"] = replace(rules["bayesbinn"], quantities=others)
    product = Assignment("S_next", symmat("S") * symmat("H"))
    rules["product"] = replace(rules["von"], assignments=(product,))
    sum_only = Assignment("S_next", symmat("S") + symmat("H"))
    rules["looked at"] = replace(rules["von"], assignments=(sum_only,))
    for name, rule in rules.items():
        kind = "finite" if name in ("bayesbinn", "uniform") else "vector"
        for target in TARGETS:
            emit(hand.derivation(rule, name, kind), target)
    for target in TARGETS:  # a candidate whose parameters have ends is guarded
        emit(derive("exponential"), target)
        emit(derive("wishart"), target)
        emit(derive("dirichlet"), target)  # sums over components
        emit(derive("multinomial"), target)  # and of exponentials
    emit(derive("von"), sizes={"d": 2})  # entries written out
    emit(derive("adam"), "numpy")  # which keeps no posterior
    (tmp_path / "between.toml").write_text(BETWEEN, encoding="utf-8")
    emit(derive(str(tmp_path / "between.toml")), "numpy")  # a range that another number ends
    others = ("special/", "draws/", "noise/")  # these have tests of their own
    used = {x for x in used if not x.startswith(others)}
    assert used == {x for x in environment().list_templates() if not x.startswith(others)}


def test_unknown_words_are_refused(hand: Any) -> None:
    d = hand.derivation(hand.rules["adam"]())
    with pytest.raises(UserError, match="did you mean 'numba'"):
        emit(d, "nunba")
    with pytest.raises(UserError, match="did you mean 'float32'"):
        emit(d, "numpy", "float23")
    assert list(TARGETS) == sorted(TARGETS)


SCRIPT = """
import sys
sys.path[:0] = {paths!r}
import conftest
from blrgen.emit import emit
for name, make in sorted(conftest.RULES.items()):
    d = conftest.derivation(make(), name, "finite" if name == "bayesbinn" else "vector")
    for target in ("numpy", "numba"):
        print(emit(d, target))
"""


@pytest.mark.long
def test_same_bytes_whatever_the_hash_seed() -> None:
    here = Path(__file__).parent
    script = SCRIPT.format(paths=[str(here), str(here.parents[1])])
    made = [
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "4711")
    ]  # fmt: skip
    assert made[0] == made[1] and made[0].count("class ") == 16
    assert not re.search(r"/work|/home|\b20\d\d-\d\d|object at 0x", made[0])


def test_a_source_stands_alone(hand: Any, tmp_path: Path) -> None:
    """Run in a folder of its own, where neither blrgen nor SciPy can be imported."""
    source = emit(hand.derivation(hand.rules["von"](), "VON"), "numpy")
    (tmp_path / "von.py").write_text(source, encoding="utf-8")
    script = (
        "import sys; sys.modules['blrgen'] = sys.modules['scipy'] = sys.modules['numba'] = None\n"
        "import numpy as np; from von import VON; m = np.zeros(2); o = VON(m)\n"
        "o.step(np.ones(2), np.eye(2)); print(m[0], 'sympy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["-0.2", "False"]


def test_emitted_sources_pass_the_linter(hand: Any, tmp_path: Path) -> None:
    for name, make in hand.rules.items():
        for target in TARGETS:
            kind = "finite" if name == "bayesbinn" else "vector"
            source = emit(hand.derivation(make(), name, kind), target)
            (tmp_path / f"{name}_{target}.py").write_text(source, encoding="utf-8")
    config = Path(__file__).parents[2] / "pyproject.toml"
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--config", str(config), str(tmp_path)],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["binomial", "matrix-normal", "zero-truncated-poisson"])
def test_sources_of_families_pass_the_linter(name: str, tmp_path: Path) -> None:
    """Moments of a line's length, draws of matrices whose sizes nothing reads, long weights."""
    for target in TARGETS:
        (tmp_path / f"{target}.py").write_text(emit(derive(name), target), encoding="utf-8")
    config = Path(__file__).parents[2] / "pyproject.toml"
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--config", str(config), str(tmp_path)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_same_source_is_the_same_class(hand: Any) -> None:
    source = emit(hand.derivation(hand.rules["adam"](), "Adam"), "numpy")
    with ThreadPoolExecutor(8) as pool:
        classes = set(pool.map(compiling.compile_class, [source] * 16))
    assert len(classes) == 1
    other = compiling.compile_class(source.replace("One update", "An update") + "\n")
    assert other is not classes.pop()


def test_a_source_that_needs_what_is_missing_says_so() -> None:
    with pytest.raises(UserError, match="needs no_such_module"):
        compiling.compile_class('__all__ = ["A"]\nimport no_such_module\n')
    with pytest.raises(InternalError, match="exactly one class"):
        compiling.compile_class("x = 1\n")


def test_generated_folder_is_written_and_checked(tmp_path: Path) -> None:
    wanted = {"a_numpy.py": "one\ntwo\n", "b_numpy.py": "three\n"}
    (tmp_path / "old_numpy.py").write_text("", encoding="utf-8")
    assert generated.check(tmp_path, wanted) == [
        "missing: a_numpy.py", "missing: b_numpy.py", "stale: old_numpy.py",
    ]  # fmt: skip
    generated.write_all(tmp_path, wanted)
    assert generated.check(tmp_path, wanted) == []
    assert generated.write_all(tmp_path, wanted) == []
    (tmp_path / "a_numpy.py").write_text("one\nTWO\n", encoding="utf-8")
    assert generated.check(tmp_path, wanted) == ["different: a_numpy.py, first in line 2"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_clip_keeps_what_is_not_a_number(dtype: Any) -> None:
    opt = compiling.compile_class(emit(derive("ivon")))(
        np.zeros(40, dtype), c=0.5, check_finite=False
    )
    theta = opt.draw(eps=np.zeros(40, dtype))
    g = np.linspace(-9, 9, 40).astype(dtype)
    g[3] = np.nan
    opt.step(g)
    assert theta.shape == g.shape and np.isnan(opt.params[3])
    kept = np.delete(opt.params, 3)
    assert np.isfinite(kept).all() and np.abs(kept).max() == np.abs(kept[0]) > 0
