"""`blrgen fit --family mixture:FAMILY`: a mixture fitted to a loss that is a formula."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from blrgen.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from blrgen.core import Derivation
    from blrgen.fitting.loss import Target
    from blrgen.fitting.run import Fitted, Run

NAME = "mixture:"
FOR_MODELS = ("data", "batch", "delay", "forgetting", "target")


def fitted(options: argparse.Namespace) -> tuple[dict[str, Any], bool]:
    """(the answer in the schema of `fit`, whether it rests)."""
    from blrgen.cli.fit import _number, _whole
    from blrgen.fitting.run import Run, candidate_of

    _check(options)
    d, target = _asked(options)
    seed, steps = _whole(options.seed, "--seed") or 0, _whole(options.steps, "--steps")
    candidate = candidate_of(d, target, seed)
    run = Run(d, candidate)
    state = _first(options, d, run, target, seed)
    found = run.to_rest(state, steps, _number(options.tol, "--tol"))
    return _answer(d, found), found.converged


def _check(options: argparse.Namespace) -> None:
    """What belongs to models, and what is missing."""
    if options.what is not None:
        raise UserError("fit takes a model or --family, not both", where=options.what)
    if not options.family.startswith(NAME):
        raise UserError(
            f"{options.family} is not fitted to a loss", where="--family",
            why="a candidate of one component has its rule: blrgen derive, blrgen generate",
            how=f"--family {NAME}{options.family}",
        )  # fmt: skip
    given = [x for x in FOR_MODELS if getattr(options, x)]
    if given:
        raise UserError(f"--{given[0]} is for models", where="blrgen fit --family",
                        how=f"leave --{given[0]} out")  # fmt: skip
    if not (options.loss or "").strip():
        raise UserError("a mixture is fitted to a loss", where="blrgen fit --family",
                        how='--loss "theta1**2 + theta2**4"')  # fmt: skip


def _asked(options: argparse.Namespace) -> tuple[Derivation, Target]:
    """The rule without the delta method, with its known constants, and the loss."""
    from blrgen.api import derive
    from blrgen.fitting.constants import constants_of, with_constants
    from blrgen.fitting.loss import target
    from blrgen.read.model.given import given_data

    flags = [f for f in ("retraction", "fixed-weights") if getattr(options, f.replace("-", "_"))]
    given = dict(given_data([], options.set))
    d = with_constants(derive(options.family, flags), given)
    known = {q.name: float(q.default) for q in constants_of(d)}
    found = target(options.loss, d.geometry.family, given | known)
    _all_used(given, found, {*known, *d.geometry.family.support.size})
    return d, found


def _all_used(given: Mapping[str, Any], target: Target, own: set[str]) -> None:
    """What is set is a number that the loss names, a constant of the family, or its size."""
    from blrgen.errors import did_you_mean

    read = {str(x) for x in target.expr.free_symbols} | own
    for name in given:
        if name not in read:
            may = sorted(read - set(map(str, target.names)))
            raise UserError(
                f"nothing reads {name}", where=f"--set {name}",
                why="neither the loss names it nor is it a known constant of the family",
                how=did_you_mean(name, may) if may else "leave it out",
            )  # fmt: skip


def _first(
    options: argparse.Namespace, d: Derivation, run: Run, target: Target, seed: int
) -> dict[str, Any]:
    """What --start says, or groups of points."""
    from blrgen.fitting.start import first_state

    count = _count(options.components)
    if options.start is None:
        return first_state(d, run.candidate, target, count or 1, seed)
    from blrgen.cli.fit import _json

    return _started(_json(options.start), d, run, target, count, options.start)


def _count(text: str | None) -> int | None:
    from blrgen.cli.fit import _whole

    count = _whole(text, "--components")
    if count == 0:
        raise UserError("--components is a whole number from 1 on, not 0")
    return count


def _started(
    said: Any, d: Derivation, run: Run, target: Target, count: int | None, where: str
) -> dict[str, Any]:
    """The state of a start, each array in its shape and domain; what is left out has a default."""
    import numpy as np

    from blrgen.runtime.mixtures import _first as first

    variable = str(d.geometry.family.variable)
    if not isinstance(said, dict) or not isinstance(said.get(variable), dict):
        raise UserError(f"a start has {{{variable!r}: {{parameter: array}}}}", where=where)
    own = said[variable]
    unknown = sorted(set(own) - {x.name for x in run.moves.places} - {"family"})
    if unknown:
        raise UserError(f"{variable} has no parameter {unknown[0]!r}", where=where)
    sizes = {"K": count} if count else {}
    sizes |= dict.fromkeys(d.geometry.family.support.size, target.dimension)
    state = {}
    try:
        for x in sorted(run.moves.places, key=lambda x: x.name not in own):
            domain = "R" if x.domain == "(-oo, oo)" else x.domain
            state[x.name] = first(x.name, own.get(x.name), x.sizes, sizes, np.float64, domain,
                                  x.first or "0")  # fmt: skip
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(str(error), where=where) from error
    return state


def _answer(d: Derivation, found: Fitted) -> dict[str, Any]:
    from blrgen.cli.fit import SCHEMA, _plain

    own: Mapping[str, Any] = {"family": d.family.name, **found.state}
    return {
        "schema": SCHEMA,
        "model": d.family.name,
        "algorithm": " ".join(["mixture", *(f for f, _ in d.approximations)]),
        "steps": found.steps,
        "converged": found.converged,
        "reason": found.reason,
        "objective": _plain(found.objective),
        "trace": _plain(found.trace),
        "posterior": {str(d.geometry.family.variable): _plain(own)},
        "points": {},
        "notes": found.notes,
    }
