"""[check] in a family file: closed forms stated only to be compared with what is derived.

    [check]
    mean = ["digamma(a) - log(b)", "a/b"]       # E[T], one a statistic
    fisher = [["…", "…"], ["…", "…"]]           # Cov[T]
    entropy = "…"
    entropy_gradient = ["…", "…"]               # ∇_μ of the entropy
    log_partition = "…"
    inverse_mean = ["…", "…"]                   # natural parameters as functions of mu1, mu2, …

In natural or working parameters and known constants.  No stage of the engine reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.read.declaration import Source, expect, formula_text, known_keys
from blrgen.read.expression import parse_ranked
from blrgen.read.sizes import size_symbols

Expr = Any

SCALARS, LISTS, TABLES = (
    ("log_partition", "entropy"),
    ("mean", "entropy_gradient", "inverse_mean"),
    ("fisher",),
)
KEYS = ("log_partition", "mean", "fisher", "entropy", "entropy_gradient", "inverse_mean")


@dataclass(frozen=True)
class Claim:
    """One formula: of which quantity, at which place in it, as typed."""

    key: str
    index: tuple[int, ...]
    text: str
    expr: Expr
    where: str

    @property
    def name(self) -> str:
        """mean[2], fisher[1,2], entropy."""
        return self.key + (f"[{','.join(str(i + 1) for i in self.index)}]" if self.index else "")


def read_claims(source: Source, family: Family, mean_symbols: tuple[Expr, ...]) -> list[Claim]:
    """The claims of a family file, in the order of KEYS."""
    where = source.line("check")
    table = expect(source.table.get("check", {}), dict, "[check]", where)
    known_keys(table, KEYS, (), source, "check")
    return [
        claim
        for key in KEYS
        if key in table
        for claim in _claims(key, table[key], source, family, mean_symbols)
    ]


def _claims(
    key: str, given: Any, source: Source, family: Family, mean_symbols: tuple[Expr, ...]
) -> list[Claim]:
    where = f"{source.line(key, 'check')}, [check] {key}"
    parameters = (*family.fixed, *family.natural, *family.working)
    names = {p.name: p.symbol for p in parameters}
    if key == "inverse_mean":
        names = {p.name: p.symbol for p in family.fixed} | {s.name: s for s in mean_symbols}
    names = {s.name: s for s in _sizes(family)} | names
    count = len(family.natural)
    entries: list[tuple[tuple[int, ...], Any]]
    if key in SCALARS:
        entries = [((), given)]
    elif key in LISTS:
        entries = [((i,), e) for i, e in enumerate(_row(given, count, key, where))]
    else:
        rows = [_row(r, count, key, where) for r in _row(given, count, key, where)]
        entries = [((i, j), e) for i, r in enumerate(rows) for j, e in enumerate(r)]
    found = []
    for index, text in entries:
        formula = formula_text(text, key, where)
        expr = parse_ranked(
            formula, names, where=where, elementwise=family.elementwise,
            components=family.components is not None,
        ).expr  # fmt: skip
        found.append(Claim(key, index, formula, expr, where))
    return found


def _row(given: Any, count: int, key: str, where: str) -> list[Any]:
    row: list[Any] = expect(given, list, key, where)
    if len(row) != count:
        raise UserError(
            f"{key} has {len(row)} entries for {count} statistics", where=where,
            how="give one a statistic, in their order",
        )  # fmt: skip
    return row


def _sizes(family: Family) -> list[Expr]:
    """d or K, of which a formula may be one."""
    if family.components is not None:
        return sorted(family.components.free_symbols, key=str)
    return size_symbols(family)
