"""A family's geometry: `blrgen show FAMILY`, as a page in any format or JSON by the contract."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from blrgen.core import Family, Parameter
from blrgen.errors import UserError
from blrgen.show.derivation import lay_out
from blrgen.show.expression import ascii, latex
from blrgen.show.layout import Name, Reading, Words, arrange
from blrgen.show.page import Entry, Formula, Line, Page, domain_text, is_matrix

Expr = Any
SCHEMA = "blrgen.geometry/1"
_NOTATION = (
    ("log_q_", ("log q", r"\log q")),
    ("A_", ("A(λ)", r"A(\lambda)")),
    ("entropy_", ("𝓗(q)", r"\mathcal{H}(q)")),
    ("F_", ("F", "F")),
)


def render_geometry(
    geometry: Any,
    format: str = "text",
    *,
    at: Mapping[str, float] | None = None,
    columns: int | None = None,
    colour: bool = False,
) -> str:
    """The geometry as text, LaTeX, Markdown, HTML or JSON; `at` adds numbers at a point."""
    numbers = numbers_at(geometry, at) if at else None
    if format == "json":
        data = geometry_data(geometry)
        if numbers is not None:
            data["at"] = numbers
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    return lay_out(geometry_page(geometry, at, numbers), format, columns, colour)


def geometry_data(geometry: Any) -> dict[str, Any]:
    """The keys of `show --format json`, in order; expressions as SymPy reads them."""
    family: Family = geometry.family
    inverse = getattr(geometry, "inverse_mean", None)
    return {
        "schema": SCHEMA,
        "name": family.name,
        "variable": family.variable.name,
        "support": family.support.text,
        "statistics": [ascii(t) for t in family.statistics],
        "base_measure": ascii(family.base_measure),
        "natural": [_parameter(p) for p in family.natural],
        "working": [_parameter(p) for p in family.working],
        "natural_of_working": {
            x.name: _readable(e, matrix=is_matrix(x)) for x, e in _chart(geometry, family)
        },
        "log_partition": _readable(geometry.log_partition),
        "mean": [_component(geometry, k, e) for k, e in enumerate(geometry.mean)],
        "fisher": fisher_data(geometry),
        "entropy": _readable(geometry.entropy),
        "entropy_gradient": [
            _component(geometry, k, e) for k, e in enumerate(geometry.entropy_gradient)
        ],
        "inverse_mean": "numeric"
        if inverse is None
        else [_component(geometry, k, e) for k, e in enumerate(inverse)],
        "evidence": dict(sorted(geometry.evidence.items())),
    }


def _readable(e: Expr, *, matrix: bool = False) -> str:
    """As SymPy reads it; "numeric" where it holds what has no closed form."""
    from blrgen.numeric.nodes import has_nodes

    return "numeric" if has_nodes(e) else ascii(e, matrix=matrix)


def _parameter(p: Parameter) -> dict[str, str]:
    return {"name": p.name, "domain": p.domain.text}


def _component(geometry: Any, k: int, e: Expr) -> str:
    return _readable(e, matrix=is_matrix(geometry.natural[k]))


def _chart(geometry: Any, family: Family) -> list[tuple[Expr, Expr]]:
    """Natural parameters as functions of the declared working ones; empty without any."""
    if not family.working:
        return []
    return [(x, geometry.natural_of_working[x]) for x in geometry.natural]


def fisher_data(geometry: Any) -> list[list[str]] | str:
    """The matrix ∂μ/∂λ; for matrix parameters the quadratic form in directions X1 and X2."""
    if geometry.family.elementwise:
        return [[_readable(e) for e in row] for row in geometry.fisher]
    return _readable(fisher_form(geometry))


def fisher_form(geometry: Any) -> Expr:
    """⟨X, F X⟩ = Σ_ij ⟨X_i, D_j μ_i [X_j]⟩ for a direction X_i of each natural parameter."""
    import sympy as sp

    from blrgen.geometry.geometry import direction_symbol, directional

    moves = [direction_symbol(x, f"X{k + 1}") for k, x in enumerate(geometry.natural)]
    terms = [
        geometry.ring.inner(moves[i], directional(mean, x, moves[j]))
        for i, mean in enumerate(geometry.mean)
        for j, x in enumerate(geometry.natural)
    ]
    return geometry.ring.tidy(sp.Add(*terms))


def geometry_page(
    geometry: Any, at: Mapping[str, float] | None = None, numbers: dict[str, Any] | None = None
) -> Page:
    """The geometry as numbered lines."""
    family: Family = geometry.family
    reading = Reading()
    lines = [*_density(geometry, reading), *_moments(geometry, reading)]
    if family.working:
        lines.append(_working(geometry, reading))
    if numbers is not None:
        lines.append(_numbers(at or {}, numbers))
    numbered = tuple(
        Line(k, title.lower().replace(" ", "-"), title, tuple(formulas), because, space, "")
        for k, (title, formulas, because, space) in enumerate(lines, 1)
    )
    return Page(
        title=family.title,
        facts=_facts(geometry),
        lines=numbered,
        commands=(),
        posterior=(),
        until="",
        entries=tuple(_entries(family)),
        reading=reading,
        heading="Geometry",
    )


_Row = tuple[str, list[Formula], str, str]


def _facts(geometry: Any) -> tuple[tuple[str, str], ...]:
    family = geometry.family
    known = [
        f"{claim.replace('_', '-')} ({how})" for claim, how in sorted(geometry.evidence.items())
    ]
    return (
        ("family", family.name),
        ("variable", f"{family.variable.name}, in {domain_text(family.support.text)}"),
        *(("known how" if k == 0 else "", text) for k, text in enumerate(known)),
    )


def _entries(family: Family) -> list[Entry]:
    found = []
    for kind, group in (("natural", family.natural), ("working", family.working)):
        found += [Entry(kind, p.name, (f"in {domain_text(p.domain.text)}",)) for p in group]
    found += [Entry("fixed", p.name, (f"in {domain_text(p.domain.text)}",)) for p in family.fixed]
    return found


def _equal(left: str, e: Expr, reading: Reading, matrix: bool = False) -> Formula:
    return Formula(Name(left), "=", arrange(e, reading, matrix), notation=_NOTATION)


def _density(geometry: Any, reading: Reading) -> list[_Row]:
    import sympy as sp

    from blrgen.geometry.integrate import exponent_of

    family = geometry.family
    density = exponent_of(family, geometry.ring) - sp.Symbol("A_", real=True)
    log_q = _equal("log_q_", density, reading)
    return [
        ("Density", [log_q], "", "sample"),
        (
            "Log-partition",
            [_equal("A_", geometry.log_partition, reading)],
            geometry.integral.because,
            "natural",
        ),
    ]


def _index(geometry: Any, k: int) -> str:
    return "" if len(geometry.natural) == 1 else str(k + 1)


def _moments(geometry: Any, reading: Reading) -> list[_Row]:
    square = [is_matrix(x) for x in geometry.natural]
    mean = [
        _equal(f"mu{_index(geometry, k)}", e, reading, square[k])
        for k, e in enumerate(geometry.mean)
    ]
    slope = [
        _with_name(
            _equal(f"slope{_index(geometry, k)}", e, reading, square[k]),
            f"slope{_index(geometry, k)}",
            _index(geometry, k),
        )
        for k, e in enumerate(geometry.entropy_gradient)
    ]
    entropy = [_equal("entropy_", geometry.entropy, reading)]
    return [
        ("Mean parameters", mean, "μ = ∇A(λ), the expectation of the statistics", "mean"),
        ("Fisher information", _fisher(geometry, reading), *_fisher_reason(geometry)),
        ("Entropy", entropy, "𝓗 = A − ⟨λ, μ⟩ − 𝔼_q[log h]", "natural"),
        ("Entropy gradient", slope, "∇_μ𝓗 = −λ − ∇_μ𝔼_q[log h]", "natural"),
    ]


def _with_name(formula: Formula, name: str, index: str) -> Formula:
    low = index.translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
    latex = rf"\nabla_{{\mu_{{{index}}}}} \mathcal{{H}}" if index else r"\nabla_{\mu} \mathcal{H}"
    shown = (name, (f"∇_μ{low} 𝓗", latex))
    return Formula(formula.left, "=", formula.right, notation=(*formula.notation, shown))


def _fisher(geometry: Any, reading: Reading) -> list[Formula]:
    if not geometry.family.elementwise:
        shown = (("form_", ("⟨X, FX⟩", r"\langle X, F X \rangle")),)
        return [
            Formula(Name("form_"), "=", arrange(fisher_form(geometry), reading), notation=shown)
        ]
    size = len(geometry.natural)
    return [
        _equal("F_" if size == 1 else f"F_{i + 1}{j + 1}", geometry.fisher[i][j], reading)
        for i in range(size)
        for j in range(i, size)
    ]


def _fisher_reason(geometry: Any) -> tuple[str, str]:
    if geometry.family.elementwise:
        return "F = ∂μ/∂λ = ∇²A(λ), the covariance of the statistics", "mean"
    return "F = ∂μ/∂λ along a direction X of the natural parameters", "mean"


def _working(geometry: Any, reading: Reading) -> _Row:
    chart = [_equal(x.name, e, reading, is_matrix(x)) for x, e in _chart(geometry, geometry.family)]
    back = [
        _equal(x.name, geometry.working_of_natural[x], reading, is_matrix(x))
        for x in geometry.working
    ]
    mean = [
        _equal(f"mu{_index(geometry, k)}", e, reading, is_matrix(geometry.natural[k]))
        for k, e in enumerate(geometry.mean_in_working)
    ]
    return ("Working parameters", [*chart, *back, *mean], "the chart, both ways", "working")


def numbers_at(geometry: Any, at: Mapping[str, float]) -> dict[str, Any]:
    """Log-partition, mean, Fisher matrix, entropy and its gradient at a point, as numbers.

    Closed forms are evaluated with 50 digits, so `error` is the rounding to a double.
    """
    import sympy as sp

    family: Family = geometry.family
    point = _point(family, at)

    def number(e: Expr) -> float:
        value = sp.N(sp.sympify(e).subs(point), 50)
        if not value.is_real:
            raise UserError(f"{family.name} has no real value of {e} there", where="--at")
        return float(value)

    found: dict[str, Any] = {
        "log_partition": number(geometry.log_partition),
        "mean": [number(e) for e in geometry.mean],
        "fisher": [[number(e) for e in row] for row in geometry.fisher],
        "entropy": number(geometry.entropy),
        "entropy_gradient": [number(e) for e in geometry.entropy_gradient],
    }
    flat = [found["log_partition"], found["entropy"], *found["mean"], *found["entropy_gradient"]]
    flat += [x for row in found["fisher"] for x in row]
    found["error"] = max(abs(x) for x in flat) * 2.0**-53
    return found


def _point(family: Family, at: Mapping[str, float]) -> dict[Expr, Expr]:
    """The point as exact numbers, checked against the declared names and domains."""
    import sympy as sp

    if not family.elementwise:
        raise UserError(
            f"the natural parameters of {family.name!r} are vectors and matrices",
            where="--at",
            how="choose a family with scalar parameters, such as its elementwise or scalar form",
        )
    parameters = (*family.fixed, *family.natural)
    names = [p.name for p in parameters]
    missing = [n for n in names if n not in at]
    extra = sorted(set(at) - set(names))
    if missing or extra:
        said = [f"missing: {', '.join(missing)}"] if missing else []
        said += [f"not a parameter: {', '.join(extra)}"] if extra else []
        example = ",".join(f"{n}=…" for n in names)
        raise UserError("; ".join(said), where="--at", how=f"give {example}")
    point: dict[Expr, Expr] = {}
    for p in parameters:
        value = sp.Rational(*float(at[p.name]).as_integer_ratio())
        for bound, sign in ((p.domain.lower, 1), (p.domain.upper, -1)):
            if bound is not None and sign * (value - sp.sympify(bound).subs(point)) <= 0:
                raise UserError(
                    f"{p.name} = {at[p.name]:g} is outside its domain",
                    where="--at",
                    why=f"{p.name} is in {p.domain.text}",
                )
        point[p.symbol] = value
    return point


def _numbers(at: Mapping[str, float], numbers: dict[str, Any]) -> _Row:
    place = ", ".join(f"{name} = {value:g}" for name, value in at.items())
    rows = [("log-partition", numbers["log_partition"]), ("entropy", numbers["entropy"])]
    rows += [("mean", numbers["mean"]), ("entropy gradient", numbers["entropy_gradient"])]
    rows += [("Fisher", numbers["fisher"])]
    shown = [Formula(Words(label), "=", Words(_digits(value))) for label, value in rows]
    return (f"At {place}", shown, f"error at most {numbers['error']:.1g}", "natural")


def _digits(value: Any) -> str:
    if isinstance(value, list):
        return "(" + ", ".join(_digits(v) for v in value) + ")"
    return f"{value:.15g}"


def notebook_html(geometry: Any) -> str:
    """The page's body, for a notebook."""
    return lay_out(geometry_page(geometry), "html")


def notebook_latex(geometry: Any) -> str:
    """What is known of the density in one display."""
    return r"$\displaystyle " + latex(geometry.log_partition) + "$"
