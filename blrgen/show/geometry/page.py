"""The sections gathered into one page, for any format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blrgen.core import Domain, Family
from blrgen.geometry.conjugate import variables_of
from blrgen.show.geometry.charts import charts
from blrgen.show.geometry.conjugate import conjugate
from blrgen.show.geometry.density import density
from blrgen.show.geometry.divergences import divergences
from blrgen.show.geometry.likelihood import likelihood, sampling
from blrgen.show.geometry.moments import moments
from blrgen.show.geometry.numbers import number_rows
from blrgen.show.geometry.rows import Row, Writer
from blrgen.show.page import Entry, Line, Math, Page, domain_text
from blrgen.text.layout import arrange
from blrgen.text.names import unicode_name

SECTIONS = (density, moments, charts, divergences, conjugate, likelihood, sampling)


def geometry_page(
    geometry: Any, at: Mapping[str, float] | None = None, numbers: dict[str, Any] | None = None
) -> Page:
    """The geometry as numbered lines, one after the other as a lecture would go."""
    family: Family = geometry.family
    writer = Writer(geometry)
    rows = [row for section in SECTIONS for row in section(writer)]
    if numbers is not None:
        rows += number_rows(at or {}, numbers)
    return Page(
        title=family.title,
        facts=_facts(geometry),
        lines=tuple(_line(k, row) for k, row in enumerate(rows, 1)),
        commands=(),
        posterior=(),
        until="",
        entries=tuple(_entries(family)),
        reading=writer.reading,
        heading="Geometry",
    )


def _line(number: int, row: Row) -> Line:
    name = row.title.lower().replace(" ", "-").replace("–", "-")
    return Line(number, name, row.title, row.formulas, row.because, row.space, row.evidence)


def _facts(geometry: Any) -> tuple[tuple[str, str], ...]:
    family = geometry.family
    return (
        ("family", family.name),
        ("variable", f"{_variable(family)}, in {domain_text(family.support.text)}"),
        (
            "known how",
            "[identity] and [random-exact] are proved, [derived] follows by the rule beside it, "
            "[numeric] agrees to many digits at points and is no proof",
        ),
    )


def _variable(family: Family) -> str:
    return ", ".join(unicode_name(str(x)) for x in variables_of(family))


def _entries(family: Family) -> list[Entry]:
    found = []
    groups = {
        "natural": family.natural,
        "working": (*family.working, *family.simplex),
        "fixed": family.fixed,
    }
    for kind, group in groups.items():
        found += [Entry(kind, p.name, _domain(p.domain)) for p in group]
    return found


def _domain(d: Domain) -> tuple[str | Math, ...]:
    """in (a, b), its ends as mathematics where they depend on other parameters."""
    ends = [e for e in (d.lower, d.upper) if getattr(e, "free_symbols", None)]
    if not ends:
        return (f"in {domain_text(d.text)}",)
    if d.kind != "interval":
        return (f"in {d.kind.upper().replace('-', '−')} + ", Math(arrange(d.lower)))
    power = f"^{'×'.join(d.size)}" if d.size else ""
    return (
        "in " + ("(" if d.lower_open else "["),
        Math(arrange(d.lower)),
        ", ",
        Math(arrange(d.upper)),
        (")" if d.upper_open else "]") + power,
    )
