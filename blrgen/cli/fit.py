"""Fit a model to data: derive its algorithm, emit it, run it.

Without --steps it runs until the objective rests; --steps alone runs exactly that many.
--data is JSON or NPZ of names and arrays, or NAME=FILE for one array (.npy, .csv).

  blrgen fit normal-gamma.model --conjugate --data D.json --json
  blrgen fit mixture.model --em --data x=points.csv --set K=3 --tol 1e-10 --save q.npz
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blrgen.cli.algorithms import add_algorithms, algorithm, words
from blrgen.cli.output import note, plain, result, result_as_json
from blrgen.cli.parser import OneOf, Parser, add_format
from blrgen.errors import UserError

if TYPE_CHECKING:
    from blrgen.program.model.values import ModelProgram
    from blrgen.rule.model.values import ModelDerivation

SCHEMA = "blrgen.fit/1"
NOT_CONVERGED = 3
MANY = 200_000  # numbers in data from which on loops are compiled


def configure(parser: Parser) -> None:
    """WHAT, the algorithm, data, start, how long, and what becomes of it."""
    parser.add_argument("what", metavar="FILE.model", help="a model's text, or the name of one")
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
    parser.add_argument("--rho", metavar="R", help="the rate of --cvi, 0.5 if absent")
    parser.add_argument("--delay", metavar="D", help="of the rate (D + t)^-F, 1 if absent")
    parser.add_argument("--forgetting", metavar="F", help="0.7 if absent; 0 for --cvi")
    parser.add_argument("--save", metavar="FILE.npz", help="keep the posterior")
    parser.add_argument("--target", action=OneOf, values=("numba", "numpy"), default=None,
                        help="numpy for small data, numba for large if absent")  # fmt: skip
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    """Fit, print, save."""
    from blrgen.program.model.lower import lower

    derivation = derived(options)
    program = lower(derivation)
    given = checked(options, derivation)
    steps, tol = _whole(options.steps, "--steps"), _number(options.tol, "--tol")
    model = made(program, given, options)
    found = ran(model, program, steps, tol, options)
    answer = as_json(derivation, program, model, found)
    if options.save:
        saved(options.save, answer)
    if options.format == "json":
        result_as_json(answer)
    else:
        result(plain(as_text(answer)))
    late = tol is not None and not found["converged"]
    return NOT_CONVERGED if late else 0


def derived(options: argparse.Namespace) -> ModelDerivation:
    """The algorithm that was asked for."""
    from blrgen.read.model.find import read_file
    from blrgen.rule.model.derive import Options, derive_model

    name = algorithm(options)
    joined = tuple(words(x) for x in options.block)
    chosen = Options(words(options.point), joined, words(options.schedule))
    return derive_model(read_file(options.what), name, chosen)


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
    known_as = {**arrays, **whole, **rates}
    try:
        return compile_class(text(program, target))(**known_as, start=start, seed=seed)
    except (ValueError, TypeError) as error:
        raise UserError(str(error), where=options.start or options.what) from error


def ran(
    model: Any, program: ModelProgram, steps: int | None, tol: float | None,
    options: argparse.Namespace,
) -> dict[str, Any]:  # fmt: skip
    """What the run came to; steps alone are exactly that many."""
    import numpy as np

    rest = tol if tol is not None else 0.0 if steps is not None else 1e-8
    more = {}
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
    ended = {"converged": "the objective rests", "unbounded": "the objective grows without bound"}
    lines = [
        f"{answer['model']} by {answer['algorithm']}: {answer['steps']} steps, "
        f"{ended.get(answer['reason'], 'as many as were asked for')}",
        f"objective {answer['objective']}",
        "",
    ]
    for name, parameters in answer["posterior"].items():
        own = {k: v for k, v in parameters.items() if k != "family"}
        lines.append(f"{name} ~ {parameters['family']}")
        lines += [f"    {k} = {_short(v)}" for k, v in own.items()]
    lines += [f"{name} = {_short(value)}" for name, value in answer["points"].items()]
    lines += [f"note: {x['node']}: {x['text']}" for x in answer["notes"]]
    return "\n".join(lines)


def saved(path: str, answer: Mapping[str, Any]) -> None:
    """Every array under node.parameter, a point under its name."""
    import numpy as np

    arrays = {name: np.asarray(x) for name, x in answer["points"].items()}
    for name, parameters in answer["posterior"].items():
        arrays |= {f"{name}.{k}": np.asarray(x) for k, x in parameters.items() if k != "family"}
    np.savez(path, **arrays)  # type: ignore[arg-type]
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
