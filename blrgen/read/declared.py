"""The text of one family file → a `Family`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from blrgen.core import Domain, Family, Parameter, Support
from blrgen.errors import UserError, did_you_mean
from blrgen.read.agreement import (
    check_charts,
    check_count,
    check_last,
    check_order,
    check_pairs,
    check_simplex,
)
from blrgen.read.declaration import (
    Source,
    expect,
    formula_text,
    identifier,
    known_keys,
    one_line,
    slug,
)
from blrgen.read.direction import check_directions
from blrgen.read.domain import JOINT, read_domain, read_support, size_symbol
from blrgen.read.expression import Value, parse_ranked, rank_word
from blrgen.read.functions import COMPONENT_FUNCTIONS, MATRIX_FUNCTIONS
from blrgen.read.joint import check_lists, joint_support, listed, needs_one_algebra
from blrgen.read.names import check_free
from blrgen.read.sizes import check_shapes, size_names

Expr = Any

_REQUIRED = ("name", "variable", "support", "statistics", "natural")
_KEYS = (*_REQUIRED, "title", "base_measure", "log_partition", "working", "fixed", "check")
_MATRIX_KINDS = ("spd", "-spd", "matrix")
_CHARTS = {"natural": "working", "working": "natural", "fixed": ""}


class Declaration:
    """One family file on its way to a `Family`."""

    def __init__(self, source: Source, bare: dict[str, str]) -> None:
        self.source, self.table, self.bare = source, source.table, bare
        known_keys(self.table, _KEYS, _REQUIRED, source)
        check_lists(source)
        check_directions(source, lambda other: Declaration(other, bare).family())
        self.statistics = self.texts()
        self.names: dict[str, Expr] = {}
        self.taken: dict[str, str] = {}
        check_last(self.statistics, self.table, source)
        words, kinds = self.vocabulary()
        mixed = needs_one_algebra(listed(self.table["support"]))
        self.components = not mixed and needs_components(words, kinds)
        self.elementwise = not self.components and not mixed and not needs_matrices(words, kinds)
        matrices = not self.elementwise and not self.components
        self.matrix_sizes = size_names(kinds) if matrices else {}
        self.taken |= dict.fromkeys(self.matrix_sizes, "a size")

    def texts(self) -> list[str]:
        where = self.source.where("statistics")
        given = expect(self.table["statistics"], list, "statistics", where)
        if not given:
            raise UserError("a family needs a statistic", where=where)
        return [formula_text(s, "a statistic", where) for s in given]

    def section(self, name: str) -> dict[str, dict[str, Any]]:
        """The entries of [natural], [working] or [fixed], each as a table."""
        given = expect(self.table.get(name, {}), dict, f"[{name}]", self.source.line(name))
        entries = {}
        for key, value in given.items():
            where = self.source.where(key, name)
            entry = value if isinstance(value, dict) else {"domain": value}
            allowed = ("domain", _CHARTS[name]) if _CHARTS[name] else ("domain",)
            for inner in entry:
                if inner not in allowed:
                    raise UserError(
                        f"unknown key {inner!r} of {key}", where=where,
                        how=did_you_mean(inner, allowed),
                    )  # fmt: skip
            if "domain" not in entry:
                how = f'write {key} = {{ domain = "(0, oo)" }}'
                raise UserError(f"{key} has no domain", where=where, how=how)
            entries[key] = entry
        return entries

    def vocabulary(self) -> tuple[set[str], list[str]]:
        """The names used in formulas, and the domains without blanks."""
        entries = [e for n in _CHARTS for e in self.section(n).values()]
        formulas = [
            *self.statistics,
            *(self.table.get(k) for k in ("base_measure", "log_partition")),
        ]
        formulas += [e.get(key) for e in entries for key in _CHARTS]
        words = {w for f in formulas if isinstance(f, str) for w in re.findall(r"[A-Za-z_]\w*", f)}
        domains = [*listed(self.table["support"]), *(e["domain"] for e in entries)]
        return words, ["".join(t.split()) for t in domains if isinstance(t, str)]

    def family(self) -> Family:
        name = slug(self.table["name"], "name", self.source.where("name"))
        title = one_line(self.table.get("title", name), "title", self.source.where("title"))
        fixed = self.parameters("fixed", "a fixed constant")
        support = self.support()
        variables = self.variables(support)
        statistics = self.read_statistics(variables)
        natural = self.parameters("natural", "a natural parameter")
        sizes = self.sizes(support, natural)
        base_measure = self.formula("base_measure", "1", {str(x): x for x in variables} | sizes)
        check_count(natural, statistics, self.statistics, self.source)
        if not self.elementwise:
            check_pairs(natural, statistics, self.statistics, self.source, self.components)
        working = self.parameters("working", "a working parameter")
        log_partition = None
        if "log_partition" in self.table:
            log_partition = self.formula(
                "log_partition", "", {p.name: p.symbol for p in natural} | sizes
            )
        natural = self.charts("natural", natural, working, fixed)
        working = self.charts("working", working, natural, fixed)
        check_charts(natural, working, self.source)
        simplex: tuple[Parameter, ...] = ()
        by_simplex: tuple[Expr, ...] = ()
        if any(p.domain.kind == "simplex" for p in working):
            check_simplex(natural, working, self.source)
            simplex, by_simplex = working, tuple(p.chart for p in natural)
            natural, working = tuple(replace(p, chart=None) for p in natural), ()
        return Family(
            name, title, variables[0], support, statistics, base_measure, natural, working, fixed,
            log_partition, self.elementwise, self.source.path,
            joint=variables if support.parts else (),
            components=size_symbol(support.size[0]) if self.components else None,
            simplex=simplex, natural_of_simplex=by_simplex,
        )  # fmt: skip

    def support(self) -> Support:
        where, given = self.source.where("support"), self.table["support"]
        known = self.names | self.matrix_sizes
        if isinstance(given, list):
            return joint_support(given, known, where)
        return read_support(given, known, where=where)

    def variables(self, support: Support) -> tuple[Expr, ...]:
        """The random variable, or each of several."""
        parts = support.parts or (support,)
        return tuple(map(self.variable, listed(self.table["variable"]), parts))

    def variable(self, given: Any, support: Support) -> Expr:
        where = self.source.where("variable")
        name = identifier(expect(given, str, "variable", where), "variable", where)
        check_free(name, "the variable", where, self.taken)
        self.taken[name] = "the variable"
        positive = support.kind in ("interval", "simplex") and support.lower.is_nonnegative is True
        if self.components and not support.size:
            raise UserError(
                f"the support {support.text} is of numbers", where=self.source.where("support"),
                why="the formulas are of a vector", how='write its size, as in "(0, oo)^d"',
            )  # fmt: skip
        return self.symbol(name, support, positive and support.lower_open)

    def symbol(self, name: str, domain: Domain | Support, positive: bool) -> Expr:
        from blrgen.algebra import ranks
        from blrgen.algebra.components import Component

        kind = domain.kind
        if self.components and domain.size:
            known = {"positive": True} if positive else {}
            if kind == "simplex":
                known = {"positive": True}
            if kind in ("counts", "one-hot"):
                known = {"nonnegative": True}
            return Component(name, size_symbol(domain.size[0]), **known)
        if not self.elementwise and kind in ("vector", "spd", "-spd", "matrix"):
            make = {"vector": ranks.vec, "matrix": ranks.mat}.get(kind, ranks.symmat)
            sizes = domain.size if kind == "matrix" else domain.size[:1]
            return make(name, *map(size_symbol, sizes))
        vectors = self.components or not self.elementwise
        if vectors and isinstance(domain, Domain) and domain.whole:
            return _whole(name, domain)
        return ranks.positive(name) if positive else ranks.scalar(name)

    def read_statistics(self, variables: tuple[Expr, ...]) -> tuple[Expr, ...]:
        where = self.source.where("statistics")
        variable = " and ".join(map(str, variables))
        names = self.names | self.matrix_sizes | {str(x): x for x in variables}
        found = []
        for text in self.statistics:
            value = self.read_formula(text, names, where)
            if {x.name for x in value.expr.free_symbols}.isdisjoint(map(str, variables)):
                raise UserError(
                    f"the statistic {text} does not depend on {variable}", where=where,
                    why="the weight of a constant cancels in the normalisation", how="leave it out",
                )  # fmt: skip
            if value.rank == "row":
                raise UserError(
                    f"the statistic {text} is a row", where=where, how="write it as a column"
                )
            found.append(value.expr)
        return tuple(found)

    def formula(self, key: str, default: str, names: dict[str, Expr]) -> Expr:
        """A scalar formula in the given names and the fixed constants."""
        where = self.source.where(key)
        text = formula_text(self.table.get(key, default), key, where)
        fixed = {n: s for n, s in self.names.items() if self.taken[n] == "a fixed constant"}
        value = self.read_formula(text, fixed | names, where)
        if value.rank != "scalar":
            raise UserError(f"{key} must be a number", where=where, why=f"{text} is a {value.rank}")
        if value.expr == 0 and key == "base_measure":
            raise UserError("the base measure is zero", where=where)
        if value.expr.is_negative and key == "base_measure":
            raise UserError("the base measure is negative", where=where)
        return value.expr

    def parameters(self, section: str, meaning: str) -> tuple[Parameter, ...]:
        """The parameters of a table, in order; charts are read once all names are known."""
        found, entries = [], self.section(section)
        for name, entry in entries.items():
            where = self.source.where(name, section)
            identifier(name, meaning, where)
            check_free(name, meaning, where, self.taken)
            usable = ("a fixed constant", meaning)
            earlier = {n: s for n, s in self.names.items() if self.taken[n] in usable}
            check_order(name, section, entry["domain"], entries, earlier, where)
            domain = read_domain(
                entry["domain"], self.matrix_sizes | earlier, where=where,
                bare=self.bare.get(name, "d"),
            )  # fmt: skip
            if section != "fixed" and domain.whole:
                raise UserError(
                    f"{name} cannot be a whole number", where=where,
                    why="parameters move; only known constants are whole",
                    how=f"declare it in [fixed] when {name} is known",
                )  # fmt: skip
            if section == "fixed" and self.counts(name):
                domain = replace(domain, whole=True)
            symbol = self.symbol(name, domain, _is_positive(domain))
            if domain.kind in _MATRIX_KINDS and domain.lower is not None:
                check_shapes(symbol + domain.lower, domain.text, where)
            self.names[name], self.taken[name] = symbol, meaning
            found.append(Parameter(name, domain, symbol))
        return tuple(found)

    def counts(self, name: str) -> bool:
        """Whether a constant must be whole: an end of integers, or n in binomial(n, x)."""
        support, variable = self.table["support"], self.table["variable"]
        ends = isinstance(support, str) and re.match(r"\s*(integers\b|\{.*(\.\.\.|…))", support)
        if ends and re.search(rf"\b{name}\b", support):
            return True
        texts = [*self.statistics, self.table.get("base_measure", "")]
        chosen = rf"\bbinomial\(\s*{name}\s*,\s*{variable}\s*\)"
        return any(isinstance(t, str) and re.search(chosen, t) for t in texts)

    def read_formula(self, text: str, names: dict[str, Expr], where: str) -> Value:
        value = parse_ranked(
            text, names, where=where, elementwise=self.elementwise, components=self.components
        )
        if not self.elementwise and not self.components:
            check_shapes(value.expr, text, where)
        return value

    def sizes(self, support: Support, natural: tuple[Parameter, ...]) -> dict[str, Expr]:
        """The symbolic sizes of matrix families (d, …), as names of whole numbers."""
        import sympy as sp

        if self.elementwise or not self.components:
            return self.matrix_sizes
        sizes = " ".join((*support.size, *(s for p in natural for s in p.domain.size)))
        words = set(re.findall(r"[A-Za-z]\w*", sizes)) - {*self.names}
        return {w: sp.Symbol(w, integer=True, positive=True) for w in sorted(words)}

    def charts(
        self, section: str, parameters: tuple[Parameter, ...], others: tuple[Parameter, ...],
        fixed: tuple[Parameter, ...],
    ) -> tuple[Parameter, ...]:  # fmt: skip
        """Each parameter with its chart: as a function of the parameters of the other kind."""
        names = self.matrix_sizes | {p.name: p.symbol for p in (*fixed, *others)}
        key, entries, found = _CHARTS[section], self.section(section), []
        for p in parameters:
            chart = None
            if key in entries[p.name]:
                where = self.source.where(p.name, section)
                text = formula_text(entries[p.name][key], f"{key} of {p.name}", where)
                value = self.read_formula(text, names, where)
                wants = rank_word(p.symbol)
                if not self.components and not self.elementwise and wants == value.rank != "scalar":
                    check_shapes(p.symbol + value.expr, text, where)
                if value.rank != wants:
                    raise UserError(
                        f"{p.name} is a {wants}, its chart {text} a {value.rank}", where=where
                    )
                chart = value.expr
            found.append(Parameter(p.name, p.domain, p.symbol, chart))
        return tuple(found)


def needs_matrices(words: set[str], domains: list[str]) -> bool:
    """Whether the family computes with vectors and matrices, not coordinate by coordinate."""
    return bool(words & MATRIX_FUNCTIONS) or any(
        re.match(r"-?SPD\b", k) or re.fullmatch(r"R\^\([^()]*,[^()]*\)", k) for k in domains
    )


def needs_components(words: set[str], domains: list[str]) -> bool:
    """Whether its vectors meet only in sums over their components."""
    if needs_matrices(words - {"dot"}, domains):
        return False
    joint = any(JOINT.fullmatch(k) for k in domains)
    return joint or bool(words & (COMPONENT_FUNCTIONS | {"dot"}))


def _whole(name: str, domain: Domain) -> Expr:
    """A symbol for whole numbers."""
    import sympy as sp

    low = domain.lower
    sign = {"positive": True} if low.is_positive else {"nonnegative": True} if low == 0 else {}
    return sp.Symbol(name, integer=True, **sign)


def _is_positive(domain: Domain) -> bool:
    """(0, oo) or a power of it, or the integers from 1."""
    if domain.kind != "interval":
        return False
    above = domain.lower == 0 and domain.lower_open and domain.upper.is_infinite
    return bool(above or (domain.whole and domain.lower.is_positive))
