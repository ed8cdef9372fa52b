"""From words to a derivation: the road through the stages, one approximation after the other.

read      family file, loss text, options → Family, Loss, Recipe
geometry  Family → A, μ, F, 𝓗, charts
expect    Geometry → ∇_μ E_q[ℓ]
rule      → the exact rule, natural then working coordinates
approximate  one named rewriting after the other, in the order given
loss      a concrete loss put where the rule probes it
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import check_request, parse_request, registry
from blrgen.core import Derivation, Family, Loss, Recipe
from blrgen.errors import NotApplicable, UserError
from blrgen.timing import timed

if TYPE_CHECKING:
    from pathlib import Path

    from blrgen.read.what import What

Request = str | tuple[str, str | None]


def derive(
    what: str,
    approximations: Iterable[Request] = (),
    loss: str = "",
    insert: Iterable[str] = (),
) -> Derivation:
    """Derive the algorithm for a family, a recipe or a family file.

    Approximations are words such as "delta" or "hessian=squared-gradient", applied in
    the order given; after a recipe's name they come after the recipe's own.  `insert` puts
    some into the recipe's road: "stochastic:prior=apart" behind stochastic.
    """
    return timed(f"derive {what}", lambda _: _derived(what, approximations, loss, insert), None)


def _derived(
    what: str, approximations: Iterable[Request], loss: str, insert: Iterable[str]
) -> Derivation:
    timed("load the engine", import_module, "blrgen.rule.assemble")
    from blrgen.expect.exists import NoExpectation
    from blrgen.read.loss import read_loss
    from blrgen.read.what import find_what

    asked = timed("read recipes", find_what, what)
    recipe, own = asked.recipe, _road(asked, tuple(insert))
    family = _read_family(asked.family)
    requests = [*own, *(parse_request(a) if isinstance(a, str) else a for a in approximations)]
    if recipe is not None:
        loss = loss or recipe.loss
    for flag, option in requests:
        check_request(flag, option)
    known = timed("read the loss", lambda f: read_loss(loss, f), family) if loss else Loss()
    start = partial(_start, mixture=asked.mixture)
    try:
        return _with_loss(start, family, known, tuple(requests), recipe)
    except NoExpectation as refused:
        from blrgen.approximate.tools.hints import with_ways_around

        with_ways_around(refused, tuple(requests), lambda road, loss: _with_loss(
            start, family, loss or known, road, recipe))  # fmt: skip
        raise


def _start(family: Family, loss: Loss, *, mixture: bool) -> Derivation:
    """The exact rule of a candidate, or of a mixture of such."""
    from blrgen.rule.assemble import exact_derivation
    from blrgen.rule.mixture.candidate import mixture_derivation

    return mixture_derivation(family, loss) if mixture else exact_derivation(family, loss)


def _with_loss(
    start: Callable[[Family, Loss], Derivation],
    family: Family,
    known: Loss,
    requests: tuple[tuple[str, str | None], ...],
    recipe: Recipe | None,
) -> Derivation:
    from blrgen.approximate.tools.put_loss import put_loss

    d = _along(start(family, known), requests, known)
    if "bias-correction" in d.assumptions and not d.facts.corrections:
        raise NotApplicable(
            "--bias-correction does not apply here", where=_after(d),
            why="no state became a moving average that starts at zero", how="leave it out",
        )  # fmt: skip
    d = timed("put the loss in", put_loss, d) if known.expr is not None else put_loss(d)
    d = _with_defaults(d, recipe) if recipe is not None else d
    return finished(d)


def finished(d: Derivation) -> Derivation:
    """The derivation that says whether there is a posterior, and what its inputs are."""
    from blrgen.approximate.tools.inputs import with_inputs_said
    from blrgen.approximate.tools.kept import with_posterior_said

    d = with_inputs_said(with_posterior_said(d))
    if d.mixture is None:
        return d
    from blrgen.approximate.tools.of_mixture import with_log_q_said

    return with_log_q_said(d)


def _along(d: Derivation, road: tuple[tuple[str, str | None], ...], loss: Loss) -> Derivation:
    """One approximation after the other; what a refusal proposes has been tried."""
    start = d
    for k, (flag, option) in enumerate(road):
        try:
            d = timed(f"--{flag}" + (f" {option}" if option else ""), _one(flag, option), d)
        except NotApplicable as refused:
            from blrgen.approximate.tools.hints import with_tried_hint

            name = start.geometry.family.name
            with_tried_hint(refused, name, road[: k + 1], _retried(start, loss))
            raise
    return d


def _retried(start: Derivation, loss: Loss) -> Callable[[str, Iterable[Request]], Derivation]:
    """Another road from the same start, or with the same loss's absence on another candidate."""
    from blrgen.rule.assemble import exact_derivation
    from blrgen.rule.mixture.candidate import mixture_derivation

    def derives(what: str, road: Iterable[Request]) -> Derivation:
        d = start
        if what != start.geometry.family.name:
            family = _read_family(what)
            make = exact_derivation if start.mixture is None else mixture_derivation
            d = make(family, Loss())
        for request in road:
            flag, option = parse_request(request) if isinstance(request, str) else request
            d = approximate(d, flag, option)
        return d

    return derives


def _road(asked: What, insert: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    """The recipe's own approximations, with what is put between them; none for a family."""
    from blrgen.read.what import inserted

    if asked.recipe is None and insert:
        raise UserError(
            "--insert is for recipes", why="a family has no road into which a flag is put",
            how="give the flags in the order wanted",
        )  # fmt: skip
    return () if asked.recipe is None else inserted(asked.recipe, insert)


def _read_family(what: str | Path) -> Family:
    from blrgen.read.family import read_family

    return timed("read the family", lambda _: read_family(what), None)


def _one(flag: str, option: str | None) -> Callable[[Derivation], Derivation]:
    return lambda d: approximate(d, flag, option)


def approximate(d: Derivation, flag: str, option: str | None = None) -> Derivation:
    """Apply one approximation; a refusal says what came before it."""
    from blrgen.approximate.tools.inputs import without_words
    from blrgen.approximate.tools.kept import as_candidate

    d = without_words(as_candidate(d))
    try:
        if d.mixture is not None:
            from blrgen.approximate.tools.of_mixture import check_for_mixture

            d = check_for_mixture(d, flag, option)
        after = check_request(flag, option).apply(d, option)
        if after.rule.halved and flag != "backtracking":
            from blrgen.approximate.tools.halving import check_halved

            check_halved(after, flag)
    except NotApplicable as e:
        e.where = e.where or _after(d)
        e.args = (e.render(),)
        raise
    if _idle(d, after) and option not in registry()[flag].stated:
        words = f"--{flag}" if option is None else f"--{flag} {option}"
        raise NotApplicable(
            f"{words} does not apply here", where=_after(d),
            why="it would change nothing: not the update, its inputs or its hyperparameters",
            how="leave it out",
        )  # fmt: skip
    return after.with_(approximations=(*d.approximations, (flag, option)))


def _idle(before: Derivation, after: Derivation) -> bool:
    """Whether neither the rule nor what is known of it for later has changed."""
    return (before.rule, before.facts, before.assumptions) == (
        after.rule, after.facts, after.assumptions,
    )  # fmt: skip


def _after(d: Derivation) -> str:
    """The road so far, as it is typed."""
    said = " ".join("--" + (f if o is None else f"{f} {o}") for f, o in d.approximations)
    return f"after: blrgen derive {d.family.name} {said}".rstrip()


def _with_defaults(d: Derivation, recipe: Recipe) -> Derivation:
    """The recipe's own default values of hyperparameters, and first values of states."""
    import sympy as sp

    from blrgen.read.expression import parse

    names = {q.name: q.symbol for q in d.rule.of("hyper")}
    changed = {}
    for name, text in recipe.defaults:
        if name not in d.rule:
            continue  # an approximation given after the recipe's may have removed it
        q = d.rule[name]
        value = sp.oo if text == "oo" else parse(text, names, where=f"recipe {recipe.name}")
        changed[name] = replace(q, init=value) if q.kind == "state" else replace(q, default=value)
    quantities = tuple(changed.get(q.name, q) for q in d.rule.quantities)
    return d.with_(rule=replace(d.rule, quantities=quantities), recipe=recipe)
