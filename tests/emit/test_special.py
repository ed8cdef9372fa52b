"""Emitted special functions: right to the last digits, in their own dtype, at the edges."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from blrgen.algebra.multigamma import multipolygamma
from blrgen.algebra.named import (
    bessel_quotient,
    bessel_slope,
    besselk_curvature,
    besselk_order_slope,
    besselk_ratio,
    besselk_slope,
    besselk_spread,
    besselk_tilt,
    besselk_turan,
    digamma_rise,
    log_besselk,
    log_beta,
    log_minus_digamma,
    log_minus_multidigamma,
    loggamma_ratio,
    multitrigamma_rest,
    trigamma_fall,
    trigamma_rest,
    trigamma_rest_fall,
)
from blrgen.algebra.partial import partial
from blrgen.emit.special import BUILDERS, elementary, helper
from blrgen.emit.special import coefficients as co
from blrgen.emit.special.besselk import law
from blrgen.emit.special.checked import check, checks, exact, placed
from blrgen.emit.special.numbers import computed, held, modules, rewritten
from blrgen.emit.support import alone, support_of, table
from blrgen.paths import data_dir
from blrgen.program.special import special_forms
from blrgen.runtime import noise

NAMES = [
    *(name for name, build in BUILDERS.items() if build().ranges),
    "_polygamma_2", "_polygamma_3", "_multipolygamma_0", "_multipolygamma_1", "_multipolygamma_2",
    "_uniform_cumulant_0", "_uniform_cumulant_1", "_uniform_cumulant_2", "_uniform_cumulant_3",
]  # fmt: skip
COUNT = 12
PAGE = Path(__file__).resolve().parents[2] / "docs" / "special.md"
COMPILED = {"_digamma": (), "_trigamma_rest": (), "_loggamma": (), "_multitrigamma_rest": (3,)}


def functions(names: list[str], target: str) -> dict[str, Any]:
    """The emitted helpers, ready to be called."""
    made: dict[str, Any] = {}
    exec(alone(target, names).replace("cache=True, ", ""), made)
    return made


def element_by_element(function: Any) -> Any:
    """A compiled function of one number, on arrays."""
    return lambda x: np.array([function(e) for e in x.flat], x.dtype).reshape(x.shape)[()]


# Loops alone have some: these are taken from the target that has them.
TARGET = {x: "numba" if x in table("numba").definitions.keys() - table("numpy").definitions.keys()
          else "numpy" for x in NAMES}  # fmt: skip
COMPILED_ALONE = [x for x in NAMES if TARGET[x] == "numba"]
NUMPY = functions([x for x in NAMES if TARGET[x] == "numpy"], "numpy") | {
    x: element_by_element(functions([x], "numba")[x]) for x in COMPILED_ALONE
}


def known(name: str) -> Any:
    found = helper(name)
    assert found is not None
    return found


@pytest.mark.sweep(16)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", NAMES)
def test_every_helper_is_right_to_four_roundings(name: str, dtype: Any) -> None:
    found = check(known(name), NUMPY[name], dtype)
    assert found.points > 20
    assert found.error <= 4, found


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", NAMES)
def test_random_points_are_as_right_and_arrays_keep_their_dtype(name: str) -> None:
    rng, h = np.random.default_rng(5), known(name)
    for dtype in (np.float64, np.float32):
        drawn = [10 ** rng.uniform(-1.4, 1.4, COUNT) for _ in h.ranges]
        for i in h.signed:
            drawn[i] *= rng.choice([-1.0, 1.0], COUNT)
        for i in h.whole:
            drawn[i][:] = 4.0
        points = [placed(h, p, dtype) for p in zip(*drawn, strict=True)]
        xs = [np.array(x, dtype) for x in zip(*points, strict=True)]
        given = [4 if i in h.whole else x for i, x in enumerate(xs)]
        f = np.vectorize(NUMPY[name], otypes=[dtype]) if h.numbers else NUMPY[name]
        values = f(*given)
        assert values.dtype == dtype
        for point, value in zip(points, values, strict=True):
            wanted = exact(h, point)
            if not np.finfo(dtype).tiny < abs(wanted) < np.finfo(dtype).max:
                continue
            size = abs(wanted) if h.scale is None else h.scale(*map(mpmath.mpf, point), wanted)
            assert abs(mpmath.mpf(float(value)) - wanted) <= h.allowed * size * float(
                np.finfo(dtype).eps
            )


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_for_float32_it_stays_float32(name: str) -> None:
    made = functions([name], "numba")
    compiled = {k: f for k, f in made.items() if hasattr(f, "nopython_signatures")}
    rng = np.random.default_rng(2)
    xs = (1 + 10 ** rng.uniform(-2, 2, 8)).astype(np.float32)
    values = [made[name](x, *COMPILED[name]) for x in xs]
    for f in compiled.values():
        for signature in f.nopython_signatures:
            assert "float64" not in str(signature)
        for text in f.inspect_llvm().values():
            body = text[text.index("define ") :]
            arithmetic = re.findall(r"= f(?:add|sub|mul|div)[^\n]* double ", body)
            assert not arithmetic, arithmetic[:3]
    plain = NUMPY[name](xs, *COMPILED[name])
    assert np.allclose(values, plain, rtol=4e-7, atol=0)


def test_edges() -> None:
    for dtype in (np.float64, np.float32):
        xs = np.array([0.0, np.inf, np.nan, -1.0], dtype)
        inf = np.inf
        wanted = {
            "_digamma": (-inf, inf),
            "_trigamma": (inf, 0),
            "_polygamma_2": (-inf, 0),
            "_trigamma_rest": (inf, 0),
            "_log_minus_digamma": (inf, 0),
            "_loggamma": (inf, inf),
        }
        for name, ends in wanted.items():
            values = NUMPY[name](xs)
            assert tuple(values[:2]) == ends, name
            assert np.isnan(values[2:]).all(), name
        values = NUMPY["_inverse_digamma"](np.array([-inf, inf, np.nan], dtype))
        assert values[0] == 0
        assert values[1] == inf
        assert np.isnan(values[2])
    tiny, huge = np.array([1e-300]), np.array([1e300])
    assert NUMPY["_digamma"](tiny)[0] == pytest.approx(-1e300, rel=1e-15)
    assert NUMPY["_digamma"](huge)[0] == pytest.approx(300 * np.log(10), rel=1e-15)
    assert NUMPY["_trigamma"](huge)[0] == pytest.approx(1e-300, rel=1e-15)
    assert NUMPY["_loggamma"](tiny)[0] == pytest.approx(300 * np.log(10), rel=1e-15)


def test_digits_survive_at_the_root_of_digamma() -> None:
    root = 1.4616321449683622
    value = NUMPY["_digamma"](np.array([root]))[0]
    with mpmath.workdps(40):
        wanted = mpmath.digamma(mpmath.mpf(root))
        assert abs(value - wanted) <= abs(wanted) * 4 * 2.0**-52


def test_a_helper_is_emitted_with_what_it_calls_and_nothing_else() -> None:
    texts = support_of("numpy", ["_inverse_digamma", "math"]).texts
    names = [found[1] for t in texts if (found := re.search(r"def (\w+)", t))]
    assert names == ["_where", "_real_of", "_digamma", "_trigamma", "_inverse_digamma"]
    constants = {"DIGAMMA_HIGH", "DIGAMMA_MIDDLE", "DIGAMMA_LOW", "DIGAMMA_SERIES", "EULER",
                 "TRIGAMMA_SERIES", "INVERSE_DIGAMMA_SERIES"}  # fmt: skip
    listed = {x for t in texts if "def " not in t for x in re.findall(r"^([A-Z_]+) =", t, re.M)}
    assert listed == constants
    assert support_of("numpy", ["math", "np"]).texts == ()


def test_numbers_are_what_computes_them() -> None:
    """To rewrite them: python -m blrgen.emit.special.numbers."""
    values, found = dict(computed()), dict[str, Any]()
    for path in modules():
        source = path.read_text(encoding="utf-8")
        assert rewritten(source, values) == source, path.name
        found |= held(source)
    assert {name: found[name] for name in values} == values
    assert noise.LOG_DOUBLE[-1] == math.log(4)
    assert np.float32(noise.LOG_SINGLE[-1]) == np.float32(math.log(4))


def test_a_changed_number_is_noticed() -> None:
    values = dict(computed())
    path = next(p for p in modules() if p.name == "gammas.py")
    source = path.read_text(encoding="utf-8")
    wrong = source.replace("EULER = 0.577", "EULER = 0.578")
    assert wrong != source and rewritten(wrong, values) == source


def test_the_page_has_every_function() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    named = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in rows))
    numbered = {"uniform_cumulant_1", "uniform_cumulant_2"}  # between the two that are named
    assert {name[1:] for name in NAMES} - numbered == set(named)
    assert all(float(x) <= 4 for row in rows for x in row.split("|")[3:5])


def test_every_template_belongs_to_a_helper() -> None:
    folder = data_dir("templates") / "special"
    used = {known(name).template for name in NAMES if known(name).template}
    used |= {"log_weight", "window", "expectation", "quantile", "bulk", "place"}
    used |= {"binomial_mean"}
    assert {f"{name}.py.jinja" for name in used} == {p.name for p in folder.iterdir()}


ELEMENTARY = ("_log1mexp", "_logexpm1", "_logcosh", "_logsinh", "_logaddexp")


LOOPED = tuple(elementary.FUNCTIONS)


def scaled(value: Any, factor: float) -> Any:
    """A constant with the last of its numbers changed."""
    if isinstance(value, tuple):
        return (*value[:-1], scaled(value[-1], factor))
    return value * factor


def changed(name: str) -> tuple[str, str]:
    """The text of a helper with what it calls, and with one number or function in it changed."""
    whole, own = alone(TARGET[name], [name]), known(name).source(TARGET[name])
    if name in ELEMENTARY:  # no coefficients, only places to switch: the form near 0 is lost
        return whole, whole.replace("np.log1p(", "np.log(")
    if name == "_one_minus_power":  # no coefficients at all
        return whole, whole.replace("(t * ", "(1.001 * t * ")
    if name in ("_log_share", "_level"):  # one number each, which is none of a fit
        last = "x)))" if name == "_log_share" else ", x, x *"
        return whole, whole.replace(last, last.replace("x", "real(1.001) * x", 1))
    if name == "_flushed":  # nor here: the smallest normal number is NumPy's
        return whole, whole.replace(".tiny", ".eps")
    if "multi" in name or name == "_bessel_bend":  # no long numbers: a constant
        constant = re.findall(r"real\(([123]|0\.5)\)", own)[-1]
        old, new = f"real({constant})", f"real({float(constant) * 1.02!r})"
        return whole, whole.replace(own, new.join(own.rsplit(old, 1)))
    numbers = {x: v for x, v in held(whole).items() if isinstance(v, tuple)}
    if name in LOOPED:  # the constant term, of both dtypes, of all that the fits stand on
        return whole, rewritten(whole, {x: scaled(v, 1.001) for x, v in numbers.items()})
    # where errors are made smaller on the way the change has to be larger
    factor = 1.02 if name in ("_bessel_quotient", "_bessel_slope") else 1.001
    used = [x for x in re.findall(r"[A-Z_]{4,}", own) if x in numbers]
    if used or numbers:  # its own numbers, or those of what it calls
        last = used[-1] if used else list(numbers)[-1]
        return whole, rewritten(whole, {last: scaled(numbers[last], factor)})
    found = re.findall(r"(?<!\()-?\d+\.\d{8,}(?:e-?\d+)?", own)
    wrong = repr(float(found[-1]) * factor).join(own.rsplit(found[-1], 1))
    return whole, whole.replace(own, wrong)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_changed_coefficient_is_caught(name: str) -> None:
    whole, wrong = changed(name)
    assert wrong != whole
    assert all(c.passed for c in checks(whole) if c.name == name)
    assert not all(c.passed for c in checks(wrong) if c.name == name)


def test_coefficients_are_the_published_ones() -> None:
    assert [co.bernoulli(2 * k) for k in (1, 2, 3)] == [
        sp.Rational(*r) for r in ((1, 6), (-1, 30), (1, 42))
    ]
    assert sum(co.digamma_root()) == pytest.approx(1.4616321449683622)
    # log Γ(3/2) = log(√π/2), at the centre of the first interval
    assert co.loggamma_fit(1, 24)[-1] == pytest.approx(-4 * np.log(np.sqrt(np.pi) / 2), rel=1e-15)


a, b, x, y = sp.symbols("a b x y", positive=True)
p = sp.Symbol("p", real=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1 / (a * sp.polygamma(1, a) - 1), 1 / (a * trigamma_rest(a))),
        (sp.log(x) - sp.digamma(x), log_minus_digamma(x)),
        (2 * y - x * multipolygamma(1, x / 2, y), -x * multitrigamma_rest(x / 2, y)),
        (
            a * multipolygamma(0, x, y) - a * y * sp.log(x),
            -a * log_minus_multidigamma(x, y),
        ),
        (2 * y * sp.digamma(x) - 2 * y * sp.log(x), -2 * y * log_minus_digamma(x)),
        (sp.loggamma(a) + sp.loggamma(b) - sp.loggamma(a + b), log_beta(a, b)),
        (sp.log(sp.beta(a, b)), log_beta(a, b)),
        (sp.loggamma(a + y) - sp.loggamma(a) + x, loggamma_ratio(a, y) + x),
        (sp.digamma(a + b) - sp.digamma(b) + 1, digamma_rise(b, a) + 1),
        (sp.polygamma(1, a) - sp.polygamma(1, a + b), trigamma_fall(a, b)),
        (
            x * sp.polygamma(1, a) - x * sp.polygamma(1, a + b) + y * sp.polygamma(1, a + b),
            x * trigamma_fall(a, b) + y * sp.polygamma(1, a + b),
        ),
        (
            sp.polygamma(1, a) + sp.polygamma(1, a + b),
            sp.polygamma(1, a) + sp.polygamma(1, a + b),
        ),
        (sp.digamma(a) - sp.digamma(b), sp.digamma(a) - sp.digamma(b)),
        (sp.log(sp.gamma(a)), sp.loggamma(a)),
        (sp.diff(sp.log(sp.besseli(0, x)), x), x * bessel_quotient(0, x)),
        (sp.diff(sp.log(sp.besseli(0, x)), x, 2), bessel_slope(0, x)),
        (
            1 / sp.diff(sp.log(sp.besseli(y, x) / x**y), x, 2),
            1 / bessel_slope(y, x),
        ),
    ],
)
def test_forms_that_keep_their_digits(before: Any, after: Any) -> None:
    assert special_forms(before) == after


def _k(order: Any, z: Any) -> Any:
    """log K in the rules' own derivatives."""
    return sp.log(sp.besselk(order, z))


ROOT = 2 * sp.sqrt(a * b)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_k(p, x) + 1, log_besselk(p, x) + 1),
        (partial(_k(p, x), x), p / x - besselk_ratio(p, x)),
        (partial(partial(_k(p, x), x), x), besselk_curvature(p, x)),
        (partial(partial(_k(p, x), x), p), -besselk_tilt(p, x)),
        (partial(sp.besselk(p + 1, x) / sp.besselk(p, x), x), -besselk_slope(p, x)),
        (partial(sp.besselk(p + 1, x) / sp.besselk(p, x), p), besselk_order_slope(p, x)),
        # the entries of ∇²A where A = log K_p(2√(ab)) + p/2 (log b − log a)
        (
            partial(partial(_k(p, ROOT) + p * sp.log(b / a) / 2, a), a),
            b * besselk_spread(p, ROOT) / a,
        ),
        (
            partial(partial(_k(p, ROOT) + p * sp.log(b / a) / 2, b), b),
            a * besselk_spread(-p, ROOT) / b,
        ),
        (partial(partial(_k(p, ROOT), a), b), -besselk_turan(p, ROOT)),
    ],
)
def test_forms_of_k_are_variances(before: Any, after: Any) -> None:
    assert sp.expand(special_forms(before) - after) == 0


def test_the_law_of_k_has_the_moments_of_mpmath() -> None:
    with mpmath.workdps(60):
        for at in ((0.3, 0.7), (-2.5, 1e-3), (40.0, 3.0), (0.0, 25.0)):
            found, step = law(*at), mpmath.mpf(10) ** -18
            nu, z = map(mpmath.mpf, at)

            def log_k(order: Any, z: Any = z) -> Any:
                return mpmath.log(mpmath.besselk(order, z))

            ratio = mpmath.besselk(nu + 1, z) / mpmath.besselk(nu, z)
            slope = (log_k(nu + step) - log_k(nu - step)) / (2 * step)
            curvature = (log_k(nu + step) - 2 * log_k(nu) + log_k(nu - step)) / step**2
            for ours, theirs in (
                (found["log"], log_k(nu)),
                (found["up"], ratio),
                (found["t"], slope),
                (found["t t"], curvature),
                (found["up up"], 1 + 2 * (nu + 1) * ratio / z - ratio**2),
                (found["up down"], 1 + 2 * nu * ratio / z - ratio**2),
            ):
                assert abs(ours - theirs) <= abs(theirs) * mpmath.mpf(10) ** -20 + 1e-30


def test_a_fisher_determinant_of_a_beta_keeps_its_digits() -> None:
    one, two, both = (sp.polygamma(1, z) for z in (a, b, a + b))
    determinant = one * two - both * (one + two)
    form = special_forms(determinant)

    def meant(e: Any) -> Any:
        fall = [sp.polygamma(1, z) - 1 / z for z in (x, x + y)]
        e = e.replace(trigamma_rest_fall, lambda u, v: (fall[0] - fall[1]).subs({x: u, y: v}))
        return e.replace(trigamma_rest, lambda z: sp.polygamma(1, z) - 1 / z)

    assert sp.cancel(meant(form) - determinant) == 0
    for values in ((1e6, 2e6), (1e9, 1), (1, 1e9), (3, 1e-9), (1e-8, 1e-5)):
        point = {s: sp.Float(z, 60) for s, z in zip((a, b), values, strict=True)}
        terms = [abs(sp.N(meant(t).subs(point), 60)) for t in form.args]
        total = sp.N(determinant.subs(point), 60)
        assert sum(terms) < 10 * abs(total)
