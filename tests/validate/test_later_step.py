"""What a class or a function keeps of other steps, where it starts, and what is harmless."""

from __future__ import annotations

import pytest

import blrgen
from blrgen.core import Derivation
from blrgen.decide.proof import NOT_COMPARED, Verdict
from blrgen.emit import emit
from blrgen.validate.emitted import verify_emitted
from blrgen.validate.verify_file import verify_source

SGD = """
import numpy as np

class Box:
    v = 0

MEMORY = {{}}

class Sgd:
    def __init__(self, params, rho=0.1):
        self.params, self.rho, self.t = params, rho, 0
        {init}

    def mean(self, g, kept=[0]):
        kept[0] = 0.9 * kept[0] + g
        return kept[0]

    def step(self, g):
        self.t += 1
        {step}
        self.params -= self.rho * g
"""


def sgd(init: str, step: str) -> Verdict:
    lines = [x.replace("\n", "\n        ") for x in (init, step)]
    source = SGD.format(init=lines[0] or "pass", step=lines[1])
    return verify_emitted(source, blrgen.derive("gradient-descent").rule)


@pytest.mark.parametrize(
    ("init", "step", "name"),
    [
        ("self._v = [0*params]", "self._v[0] = 0.9*self._v[0] + g\ng = self._v[0]", "_v"),
        ("self._v = [0*params]", "self._v[0][...] = 0.9*self._v[0] + g\ng = self._v[0]", "_v"),
        ("self._v = {'v': 0*params}", "g = self._v['v'] = 0.9*self._v['v'] + g", "_v"),
        ("self.state = {'p': {}}", "s = self.state['p']\ng = s['v'] = s.get('v', 0) + g", "state"),
        ("self.seen = []", "self.seen.append(g)\ng = sum(self.seen)", "seen"),
        ("self.v = (0*params, 1)", "self.v = (0.9*self.v[0] + g, 1)\ng = self.v[0]", "v"),
        (
            "self._p = None",
            "p = self._p\nself._p = g.copy()\ng = g if p is None else 2*g - p",
            "_p",
        ),
        ("self._k = 0", "self._k += 1\ng = g/self._k", "_k"),
        ("self._first = True", "g = g if self._first else 2*g\nself._first = False", "_first"),
        ("self.mode = 'a'", "g = g if self.mode == 'a' else 2*g\nself.mode = 'b'", "mode"),
        ("", "g = type(self).v = getattr(type(self), 'v', 0)*0.9 + g", "a later step"),
        ("", "g = self.mean(g)", "a later step"),
        ("", "g = MEMORY['v'] = 0.9*MEMORY.get('v', 0) + g", "a later step"),
        ("self.box = Box()", "g = self.box.v = 0.9*self.box.v + g", "a later step"),
        ("", "g = g if self.t == 1 else 2*g", "a later step"),
    ],
)
def test_what_matters_later_is_not_proved(init: str, step: str, name: str) -> None:
    verdict = sgd(init, step)
    assert (verdict.level, verdict.not_compared) == (NOT_COMPARED, (name,)), verdict
    assert verdict["m"].proved


@pytest.mark.parametrize(
    ("init", "step"),
    [
        ("self._calls = 0", "self._calls += 1"),
        ("self.first = True", "if self.first:\n    self.first = False"),
        ("self.seen = []", "self.seen.append(g)"),
        ("self.told = {}", "self.told['g'] = g"),
        ("self._work = [0*params]", "self._work[0][...] = g\ng = self._work[0]"),
        ("self._views = [params]", "g = 1*g"),
        ("self._last = None", "self._last = g"),
    ],
)
def test_what_does_not_matter_is_no_state(init: str, step: str) -> None:
    verdict = sgd(init, step)
    assert verdict.proved, verdict


def test_of_a_wrong_step_nothing_more_is_said() -> None:
    verdict = sgd("", "self.last = g\ng = self.mean(-g)")
    assert verdict.level == "refuted" and verdict.not_compared == ()
    assert verdict.refutation is not None and verdict.refutation.point
    assert verdict.line


def test_a_count_that_is_wrong_has_no_line() -> None:
    """No line computes it, so none is named."""
    verdict = sgd("", "self.t += 1")
    assert verdict.level == "refuted" and verdict["m"].proved
    assert (verdict.line, verdict.source) == (0, "")


@pytest.fixture(scope="module")
def iblr() -> Derivation:
    return blrgen.derive("iblr")


@pytest.mark.sweep(12)
@pytest.mark.parametrize("words", [{"target": "numpy"}, {"target": "numba"}, {"sizes": {"d": 2}}])
@pytest.mark.parametrize(
    ("init", "step", "kept"),
    [
        ("self._v = np.zeros_like(m)", "self._v[...] = 0.9 * self._v + g; g = self._v", "_v"),
        ("self._v = [0 * m]", "self._v[0] = 0.9 * self._v[0] + g; g = self._v[0]", "_v"),
        ("self.seen = None", "H = self.seen = H if self.seen is None else H + self.seen", "seen"),
        ("self._v = np.zeros_like(m)", "self._v[...] = g; g = self._v", ""),
        ("self._w = None", "self._w = 1 * H; H = self._w; self.last = g", ""),
        ("self._calls = 0", "self._calls += 1", ""),
    ],
)
def test_matrix_rules(
    words: dict[str, object], init: str, step: str, kept: str, iblr: Derivation
) -> None:
    source = emit(iblr, **words)  # type: ignore[arg-type]
    known = "        m = self.m\n"
    first = source.index(known) + len(known)
    source = f"{source[:first]}        {init}\n{source[first:]}"
    checked = source.index("        H = _", source.index("    def step("))
    after = source.index("\n", checked) + 1
    verdict = verify_emitted(f"{source[:after]}        {step}\n{source[after:]}", iblr.rule)
    assert verdict.not_compared == ((kept,) if kept else ()), verdict
    assert verdict.proved is not bool(kept)


@pytest.mark.parametrize(
    "source",
    [
        "def step(m, g, rho, v=[0]):\n    v[0] = v[0] + g\n    return m - rho*v[0]\n",
        "V = {}\ndef step(m, g, rho):\n    V['g'] = V.get('g', 0) + g\n    return m - rho*V['g']\n",
        "V = {}\ndef step(m, g, rho):\n    V['g'] = g\n    return m - rho*V['g']\n",
    ],
)
def test_functions_that_could_keep_something_are_not_compared(source: str) -> None:
    verdict = verify_source(source, blrgen.derive("gradient-descent").rule)
    assert verdict.not_compared == ("m",)


def test_two_draws_are_averaged_in_every_component() -> None:
    d = blrgen.derive("vogn")
    source = emit(d, target="numpy")
    line = "        self._pending = {}\n        self._draws += 1\n"
    assert source.count(line) == 1
    wrong = f"        self._sums['g_sum'][0][1] = 0\n{line}"
    assert verify_emitted(source, d.rule)["m, two draws"].proved
    assert verify_emitted(source.replace(line, wrong), d.rule)["m, two draws"].level == "refuted"


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("name", "right", "wrong", "words"),
    [
        ("adam", "self.u = [np.zeros_like(m)", "self.u = [np.ones_like(m)", {"target": "numpy"}),
        ("von-diag", "np.full_like(m, 1)", "np.full_like(m, 2)", {"target": "numpy"}),
        ("iblr", "self.S = np.eye(", "self.S = 2 * np.eye(", {"target": "numpy"}),
        ("iblr", "self.S = np.eye(", "self.S = 2 * np.eye(", {"target": "numba"}),
        ("iblr", "self.S = np.eye(", "self.S = 2 * np.eye(", {"sizes": {"d": 2}}),
    ],
)
def test_where_the_states_start(
    name: str, right: str, wrong: str, words: dict[str, object]
) -> None:
    d = blrgen.derive(name)
    source = emit(d, **words)  # type: ignore[arg-type]
    assert right in source
    verdict = verify_emitted(source.replace(right, wrong, 1), d.rule)
    assert verdict.refutation is not None, verdict
    assert verdict.refutation.claim.startswith("the first ")
