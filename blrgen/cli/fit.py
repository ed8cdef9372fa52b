"""Fit a model to data: derive its algorithm, emit it, run it.

blrgen fit mixture.model --em --data x=points.csv --set K=3 --tol 1e-10 --save q.npz
blrgen fit --family mixture:gaussian-full --components 10 --loss "theta1**4 + theta2**2" --json
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blrgen.cli.algorithms import add_algorithms, algorithm, chosen_options
from blrgen.cli.output import note, plain, result, result_as_json
from blrgen.cli.parser import OneOf, Parser, add_format
from blrgen.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from blrgen.program.model.values import ModelProgram
    from blrgen.rule.model.values import ModelDerivation

SCHEMA = "blrgen.fit/1"
NOT_CONVERGED = 3
MANY = 200_000  # numbers in data from which on loops are compiled


def configure(parser: Parser) -> None:
    """WHAT, the algorithm, data, start, how long, and what becomes of it."""
    parser.add_argument("what", metavar="FILE.model", nargs="?",
                        help=argparse.SUPPRESS)  # fmt: skip
    parser.add_argument("--family", metavar="mixture:FAMILY", help="a mixture, fitted to a loss")
    parser.add_argument("--components", metavar="K", help="of the mixture, 1 if absent")
    parser.add_argument("--loss", metavar="L", help="of a mixture: in theta1, theta2, …")
    parser.add_argument("--retraction", action="store_true",
                        help="of a mixture: steps that stay in the cone")  # fmt: skip
    parser.add_argument("--fixed-weights", action="store_true",
                        help="of a mixture: the weights stay as they start")  # fmt: skip
    add_algorithms(parser, brief=False)
    parser.add_argument("--data", metavar="FILE|NAME=FILE", action="append", default=[],
                        help="JSON or NPZ of names and arrays, or one array")  # fmt: skip
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[],
                        help="a number or a list")  # fmt: skip
    parser.add_argument("--start", metavar="FILE.json", help="where to begin")
    parser.add_argument("--steps", metavar="N", help="at most, or exactly without --tol")
    parser.add_argument("--tol", metavar="T", help="the objective rests below T·(1 + |it|)")
    parser.add_argument("--seed", metavar="S", default="0", help="0 if absent")
    parser.add_argument("--batch", metavar="N", help="rows of a step, for --svi and --online-em")
    parser.add_argument("--rho", metavar="R", help="R·(D + t)^-F; 0.5 for --cvi (--delay D: 1)")
    parser.add_argument("--delay", metavar="D", help=argparse.SUPPRESS)  # said with --rho
    parser.add_argument("--forgetting", metavar="F", help="0.7 if absent; 0 for --cvi")
    parser.add_argument("--floor", metavar="NAME=VALUE", action="append", default=[],
                        help="a point is no less than this")  # fmt: skip
    parser.add_argument("--save", metavar="FILE.npz", help="keep the posterior")
    parser.add_argument("--target", action=OneOf, values=("numba", "numpy"), default=None,
                        help="numpy for small data, numba for large if absent")  # fmt: skip
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    """Fit, print, save."""
    if options.family is not None:
        from blrgen.cli.fit_mixture import fitted

        answer, rests = fitted(options)
        return _shown(options, answer, options.tol is not None and not rests)
    _check_model(options)
    from blrgen.program.model.lower import lower

    derivation = derived(options)
    program = lower(derivation)
    given = checked(options, derivation)
    steps, tol = _whole(options.steps, "--steps"), _number(options.tol, "--tol")
    model = made(program, given, options)
    if program.filter is not None:
        found = followed(model, derivation, program, given, steps)
    else:
        found = ran(model, program, steps, tol, options)
    answer = as_json(derivation, program, model, found)
    draws = {p.parameter: model.draws(p.parameter) for x in program.draws for p in x.parts}
    return _shown(options, answer, tol is not None and not found["converged"], draws)


def _check_model(options: argparse.Namespace) -> None:
    """A model, and nothing that only a mixture has."""
    if options.what is None:
        how = "FILE.model with an algorithm, or --family mixture:FAMILY --loss L"
        raise UserError("fit what?", where="blrgen fit", how=how)
    for name in ("components", "loss", "retraction", "fixed_weights"):
        if getattr(options, name):
            flag = name.replace("_", "-")
            raise UserError(f"--{flag} is for mixtures", where=options.what,
                            how="--family mixture:FAMILY, and no model")  # fmt: skip


def _shown(
    options: argparse.Namespace,
    answer: dict[str, Any],
    late: bool,
    draws: Mapping[str, Any] | None = None,
) -> int:
    """The answer printed, and kept where that is asked for, draws with it."""
    if options.save:
        saved(options.save, answer, dict(draws or {}))
    if options.format == "json":
        result_as_json(answer)
    else:
        result(plain(as_text(answer)))
    return NOT_CONVERGED if late else 0


def derived(options: argparse.Namespace) -> ModelDerivation:
    """The algorithm that was asked for."""
    from blrgen.read.model.find import read_file
    from blrgen.rule.model.derive import derive_model

    return derive_model(read_file(options.what), algorithm(options), chosen_options(options))


def checked(options: argparse.Namespace, derivation: ModelDerivation) -> dict[str, Any]:
    """Data that fit the model."""
    from blrgen.read.model.data import check_data
    from blrgen.read.model.given import given_data
    from blrgen.read.model.mistakes import ModelError

    given = dict(given_data(options.data, options.set))
    mistakes, _ = check_data(derivation.model, given)
    if mistakes:
        raise ModelError(derivation.model.path or options.what, tuple(mistakes))
    return given


def made(program: ModelProgram, given: Mapping[str, Any], options: argparse.Namespace) -> Any:
    """The emitted class on the data."""
    import numpy as np

    from blrgen.emit.compile import compile_class
    from blrgen.emit.model.file import text
    from blrgen.emit.model.places import python_name

    size = sum(np.size(x) for x in given.values())
    target = options.target or ("numba" if size > MANY else "numpy")
    known = {x.called or x.array.name for x in program.arguments}
    known |= {*program.sizes, *(x.name for x in program.lengths)}
    arrays = {python_name(k): v for k, v in given.items() if k in known}
    whole = {x: int(given[x]) for x in program.sizes if x in given}
    start = None if options.start is None else _json(options.start)
    seed = _whole(options.seed, "--seed")
    said = {x: _number(getattr(options, x), f"--{x}") for x in ("rho", "delay", "forgetting")}
    rates = {x: value for x, value in said.items() if value is not None}
    idle = [x for x in rates if not program.batch and x not in dict(program.rates)]
    idle += ["batch"] if options.batch is not None and not program.batch else []
    idle += ["rho"] if program.batch and "rho" in rates else []
    if idle:
        how = "--cvi" if idle[0] == "rho" else "--svi or --online-em"
        raise UserError(f"--{idle[0]} belongs to steps over some rows" if idle[0] != "rho" else
                        "--rho belongs to steps a part of the way",
                        where=options.what, how=how)  # fmt: skip
    floors = {"floor": _floors(options, program)} if options.floor else {}
    known_as = {**arrays, **whole, **rates, **floors}
    try:
        return compile_class(text(program, target))(**known_as, start=start, seed=seed)
    except (ValueError, TypeError) as error:
        raise UserError(str(error), where=options.start or options.what) from error


def _floors(options: argparse.Namespace, program: ModelProgram) -> dict[str, float]:
    """Points with the least that they may be."""
    points = [v.name for v in program.variables if v.is_point]
    found: dict[str, float] = {}
    for text in options.floor:
        name, sign, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise UserError(f"--floor is NAME=VALUE, not {text!r}", where=options.what)
        if name.strip() not in points:
            why = f"the points are {', '.join(points)}" if points else "there are no points"
            raise UserError(f"--floor: {name.strip()} is no point", where=options.what, why=why,
                            how=did_you_mean(name.strip(), points) if points else
                            "--floor is for a param, or what --point names")  # fmt: skip
    return found


def followed(
    model: Any, derivation: ModelDerivation, program: ModelProgram, given: Mapping[str, Any],
    steps: int | None,
) -> dict[str, Any]:  # fmt: skip
    """A filter after each element of the chain: log p of all so far."""
    import numpy as np

    from blrgen.emit.model.places import caller_name

    assert program.filter is not None
    what = derivation.model.path or derivation.model.name
    if derivation.model.plate(derivation.along).outer:
        raise UserError("--filter takes chains of one length here", where=what,
                        why="an element is one of every chain, and some end before others",
                        how="--conjugate takes all at once")  # fmt: skip
    pairs = zip(program.filter.arriving, program.filter.places, strict=True)
    arrays = {caller_name(x): np.moveaxis(np.asarray(given[x.called]), at, 0)
              for x, at in pairs if x.called in given}  # fmt: skip
    count = min(len(x) for x in arrays.values())
    taken = count if steps is None else min(steps, count)
    trace = [model.objective()]
    for t in range(taken):
        try:
            log_p = model.step(**{name: x[t] for name, x in arrays.items()})
        except ValueError as error:
            raise UserError(f"element {t + 1}: {error}", where=what) from error
        if not np.isfinite(log_p):
            raise UserError(f"element {t + 1} cannot come from the model here", where=what,
                            why=f"log p of it given those before is {log_p}")  # fmt: skip
        trace.append(model.objective())
    return {"steps": taken, "converged": taken == count, "reason": "steps",
            "objective": trace[-1], "trace": trace, "notes": model.notes}  # fmt: skip


def ran(
    model: Any, program: ModelProgram, steps: int | None, tol: float | None,
    options: argparse.Namespace,
) -> dict[str, Any]:  # fmt: skip
    """What the run came to; steps alone are exactly that many."""
    import numpy as np

    rest = tol if tol is not None else 0.0 if steps is not None else 1e-8
    more = {}
    if program.draws:
        if tol is not None:
            raise UserError("--tol does not apply to --gibbs", where=options.what,
                            why="draws go on changing: no step is the last one",
                            how="--steps N says how many")  # fmt: skip
        try:
            with np.errstate(all="ignore"):
                return dict(model.run(steps))
        except (ValueError, np.linalg.LinAlgError) as error:
            raise UserError(
                "a full conditional is improper here", where=options.start or options.what,
                why=f"its parameters are outside of their domain: {error}",
                how="--start FILE.json or --seed S begins elsewhere; priors that hold more help",
            ) from error  # fmt: skip
    if program.batch:
        rows = _whole(options.batch, "--batch")
        if rows == 0:
            raise UserError("--batch is a whole number from 1 on, not 0")
        more["batch"] = rows or 1
    with np.errstate(all="ignore"):
        found: dict[str, Any] = model.run(steps, rest, **more)
    if not np.isfinite(found["objective"]):
        raise UserError(
            "the objective has no finite value here", where=options.start or options.what,
            why="the data cannot come from the model at this start, or numbers overflow",
            how="--start FILE.json or --seed S begins elsewhere; data of moderate size help",
        )  # fmt: skip
    return found


def as_json(
    derivation: ModelDerivation, program: ModelProgram, model: Any, found: Mapping[str, Any]
) -> dict[str, Any]:
    """The schema of `fit`."""
    posterior = {
        p.node: {"family": p.family, **_plain(model.posterior(p.node))}
        for p in program.posteriors if p.family
    }  # fmt: skip
    posterior |= {x.node: _plain(model.posterior(x.node)) for x in program.draws}
    points = {p.node: _plain(model.posterior(p.node)) for p in program.posteriors if not p.family}
    return {
        "schema": SCHEMA,
        "model": derivation.model.name,
        "algorithm": derivation.algorithm,
        "steps": found["steps"],
        "converged": found["converged"],
        "reason": found["reason"],
        "objective": _plain(found["objective"]),
        "trace": _plain(found["trace"]),
        "posterior": posterior,
        "points": points,
        "notes": found["notes"],
    }


def as_text(answer: Mapping[str, Any]) -> str:
    """The same for reading."""
    ended = {
        "converged": "the objective rests",
        "unbounded": "the objective grows without bound",
        "rounding": "a step was lost to rounding",
        "not finite": "a step was no number",
    }
    lines = [
        f"{answer['model']} by {answer['algorithm']}: {answer['steps']} steps, "
        f"{ended.get(answer['reason'], 'as many as were asked for')}",
        f"objective {answer['objective']}",
        "",
    ]
    for name, parameters in answer["posterior"].items():
        own = {k: v for k, v in parameters.items() if k != "family"}
        lines.append(f"{name} ~ {parameters['family']}" if "family" in parameters else f"{name}")
        lines += [f"    {k} = {_short(v)}" for k, v in _flat(own).items()]
    lines += [f"{name} = {_short(value)}" for name, value in answer["points"].items()]
    for x in answer["notes"]:
        lines.append(f"note: {x['node']}: {x['text']}" if x["node"] else f"note: {x['text']}")
    return "\n".join(lines)


def _flat(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Of several variables each by its name: {mean: {mu: …}} as {mean mu: …}."""
    found: dict[str, Any] = {}
    for k, x in parameters.items():
        found |= {f"{k} {v}": y for v, y in x.items()} if isinstance(x, Mapping) else {k: x}
    return found


def saved(path: str, answer: Mapping[str, Any], draws: Mapping[str, Any]) -> None:
    """Every array under node.parameter, a point under its name, draws under their variable's."""
    import numpy as np

    arrays = {name: np.asarray(x) for name, x in answer["points"].items()} | dict(draws)
    for name, parameters in answer["posterior"].items():
        own = _flat({k: x for k, x in parameters.items() if k != "family"})
        arrays |= {f"{name}.{k}": np.asarray(x) for k, x in own.items()}
    np.savez(path, **arrays)
    note(f"wrote {path}")


def _plain(x: Any) -> Any:
    """Numbers and lists; what is no number is null."""
    import math

    import numpy as np

    if isinstance(x, Mapping):
        return {k: _plain(v) for k, v in x.items()}
    if isinstance(x, np.ndarray | np.generic):
        return _plain(x.tolist())
    if isinstance(x, list):
        return [_plain(y) for y in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x


def _short(x: Any) -> str:
    import numpy as np

    text = np.array2string(np.asarray(x, dtype=float), precision=6, threshold=12, separator=", ")
    return " ".join(text.split())


def _json(path: str) -> Any:
    import json

    from blrgen.limits import JSON_BYTES
    from blrgen.paths import text_of

    try:
        return json.loads(text_of(path, JSON_BYTES))
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise UserError(f"{path[:200]} is no JSON", where="--start", why=why[:200]) from None


def _whole(text: str | None, flag: str) -> int | None:
    if text is None:
        return None
    try:
        value = int(text)
    except ValueError:
        raise UserError(f"{flag} is a whole number, not {text!r}") from None
    if value < 0:
        raise UserError(f"{flag} is a whole number from 0 on, not {text}")
    return value


def _number(text: str | None, flag: str) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        raise UserError(f"{flag} is a number, not {text!r}") from None
    if not 0 <= value < float("inf"):
        raise UserError(f"{flag} is a number from 0 on, not {text}")
    return value
