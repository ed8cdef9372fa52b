"""Cost against size: the curves, their exponents, the tables and the picture."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import pytest

from benchmarks import growth_tool
from benchmarks.growth import Curve, Plot, elements, steps, table
from benchmarks.growth_picture import picture
from benchmarks.growth_tool import best, by_name, stages


def result(experiment: str, what: str, size: int, threads: int, seconds: float) -> dict[str, Any]:
    return {
        "experiment": experiment, "what": what, "size": size, "threads": threads,
        "elements": size, "times": {"emitted": {"best": seconds, "median": seconds}},
    }  # fmt: skip


SIZES = [result("size", "adam", n, t, n / t * 1e-9) for n in (1000, 10) for t in (2, 1)]
LOST = {"experiment": "size", "what": "adam", "size": 10**8, "threads": 1, "error": "no memory"}


def test_a_curve_for_each_number_of_threads_in_order_of_size() -> None:
    plot = elements("adam", [*SIZES, LOST, result("size", "sgd", 10, 1, 1.0)])
    one, two = plot.curves
    assert (one.label, two.label) == ("emitted, 1 thread", "emitted, 2 threads")
    assert one.points == ((10, pytest.approx(1)), (1000, pytest.approx(1)))
    assert two.points == ((10, pytest.approx(0.5)), (1000, pytest.approx(0.5)))


def test_steps_are_whole_ones_with_the_exponent_of_the_larger_half() -> None:
    times = {d: 1e-3 * max(d, 100) ** 3 for d in (10, 50, 100, 200, 400)}
    plot = steps("von", [result("posv", "von", d, 1, t) for d, t in times.items()])
    (curve,) = plot.curves
    assert curve.label == "emitted"
    assert curve.points[-1] == (400, pytest.approx(400**3))
    assert curve.exponent == 3
    assert Curve("few", ((1, 1), (2, 2), (3, 3))).fitted.exponent is None


def test_tables_have_a_row_a_curve_or_a_row_a_name() -> None:
    curves = (Curve("a", ((1, 2), (10, 3)), 0.5), Curve("b", ((10, 0.25),)))
    rows, head = table(asdict(Plot("title", "x", "ms", curves)))
    assert head == ("title: ms", "1", "10", "p")
    assert rows == [("a", "2", "3", "0.50"), ("b", "", "0.25", "")]
    assert table(asdict(Plot("title", "x", "ms", curves[1:])))[1] == ("title: ms", "10")
    named = (Curve("derivation", ((0, 9), (1, 1))), Curve("emission", ((1, 2),)))
    rows, head = table(asdict(Plot("families", "", "ms", named, ("slow", "quick"))))
    assert head == ("families: ms", "derivation", "emission")
    assert rows == [("slow", "9", ""), ("quick", "1", "2")]


def test_names_are_ordered_by_their_cost() -> None:
    heard: list[str] = []
    plot = by_name("some", ["gaussian-fixed", "sgd"], heard.append)
    assert heard == ["gaussian-fixed", "sgd"]
    sums = [sum(dict(c.points)[k] for c in plot.curves) for k in range(2)]
    assert sorted(plot.names) == ["gaussian-fixed", "sgd"] and sums[0] >= sums[1] > 0


def test_every_stage_takes_its_time() -> None:
    found = stages(2)
    assert list(found) == ["derivation", "emission", "first step, compiled"]
    assert all(x > 0 for x in found.values())


@pytest.mark.rest
def test_a_mixture_has_a_curve_for_each_number_of_components() -> None:
    heard: list[str] = []
    plot = growth_tool.of_mixtures(heard.append, (1, 2), (2, 3))
    assert heard == [f"{k} components in {d} dimensions" for k in (1, 2) for d in (2, 3)]
    assert [c.label for c in plot.curves] == ["K = 1", "K = 2"]
    assert all([x for x, _ in c.points] == [2, 3] for c in plot.curves)
    assert all(y > 0 for c in plot.curves for _, y in c.points)


def test_what_takes_long_has_fewer_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    assert best(lambda: calls.append(1), 3) >= 0
    assert len(calls) == 3
    monkeypatch.setattr(growth_tool, "PATIENCE", 1e-12)
    best(lambda: calls.append(1), 3)
    assert len(calls) == 4


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_the_picture_has_every_plot(tmp_path: Any) -> None:
    plots = [
        elements("adam", SIZES), Plot("none was measured", "x", "y", ()),
        Plot("families", "", "ms", (Curve("derivation", ((0, 9.0), (1, 1.0))),), ("p", "q")),
    ]  # fmt: skip
    made = {"plots": [asdict(p) for p in plots]}
    assert [p.name for p in picture(tmp_path, made)] == ["growth.svg", "growth.png"]
    assert (tmp_path / "growth.png").stat().st_size > 1000
