"""What must hold of any model's text and flag: a class that is right, or a reason.

`trouble(text, flag)` goes from the text to a run on small random data; what it gives back is
what was wrong, in words, or nothing.

  python -m tests.emit.model.drawn_checks FIRST LAST [--flag F] [--verify]
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from typing import Any

import numpy as np

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text as emitted
from blrgen.emit.model.places import python_name
from blrgen.errors import UserError
from blrgen.program.model.lower import lower
from blrgen.program.model.values import ModelProgram
from blrgen.read.model.data import check_data
from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from blrgen.rule.model.values import ModelDerivation
from blrgen.validate.model.data import Drawn, Small, drawn
from tests.emit.model.drawn_models import drawn_text
from tests.emit.model.plain_joint import log_joint
from tests.emit.model.test_targets import as_python
from tests.verify_models import limited

FLAGS = ("conjugate", "filter", "em", "online-em", "vmp", "svi", "ncvmp", "cvi", "gibbs")
STEPS = 3
LARGE = 1e8
SMALL = Small(rows=6, chain=4)
FEWER = Small(rows=2, chain=2)  # where an integral is done of each, by loops as Python
NEVER_FALLS = ("em", "vmp", "conjugate")


class Found(Exception):
    """Something is wrong."""


def trouble(source: str, flag: str) -> list[str]:
    """Why this text with this flag is not as it should be; "refused: …" where it does not apply."""
    try:
        d = derive_model(read_model(source, "drawn"), flag)
        program = lower(d)
    except ModelError as refusal:
        words = [m for m in refusal.mistakes if not m.text or m.kind != "not-applicable"]
        return [f"a refusal of another kind: {words}"] if words else [f"refused: {refusal}"]
    except UserError as refusal:
        return [f"refused: {refusal}"]
    except Exception:
        return [traceback.format_exc(limit=-4)]
    if program.filter is not None and d.model.plate(d.along).outer:
        return []  # of chains of one length, says `fit`
    found = []
    for check in (runs, agrees, counts):
        try:
            check(source, d, program, drawn(d.model, program, small=FEWER if d.sites else SMALL))
        except Found as words:
            found.append(f"{check.__name__}: {words}")
        except UserError as words:
            found.append(f"{check.__name__}: refused late: {words}")
        except Exception:
            found.append(f"{check.__name__}: {traceback.format_exc(limit=-4)}")
            break
    return found


def given(d: ModelDerivation, program: ModelProgram, data: Drawn) -> dict[str, Any]:
    """What the constructor takes."""
    mistakes, _ = check_data(d.model, data.given)
    if mistakes:
        raise Found(f"small data are refused: {mistakes[0].text}; {mistakes[0].why}")
    return {python_name(k): x for k, x in data.given.items()}


def made(
    d: ModelDerivation, program: ModelProgram, data: Drawn, target: str = "numpy", **more: Any
) -> Any:
    """An object of the class."""
    own = given(d, program, data)
    if program.filter is not None:
        own = {k: x for k, x in own.items() if k not in arriving(program, d)}
    return kind_of(program, target)(**own, **{"seed": 1, **more})


KINDS: dict[tuple[int, str], tuple[ModelProgram, Any]] = {}


def kind_of(program: ModelProgram, target: str) -> Any:
    """The class; one that was made is kept as long as nothing else is asked for."""
    if (id(program), target) not in KINDS:
        if not any(x is program for x, _ in KINDS.values()):
            KINDS.clear()
        source = emitted(program, target)
        kind = compile_class(source) if target == "numpy" else as_python(source)[program.name]
        KINDS[id(program), target] = program, kind
    return KINDS[id(program), target][1]


def arriving(program: ModelProgram, d: ModelDerivation) -> dict[str, int]:
    """What a filter's steps take, with the axis of the chain."""
    assert program.filter is not None
    pairs = zip(program.filter.arriving, program.filter.places, strict=True)
    return {python_name(x.called): at for x, at in pairs}


def run(d: ModelDerivation, program: ModelProgram, data: Drawn, model: Any) -> dict[str, Any]:
    """Some steps."""
    with np.errstate(all="ignore"):
        if program.filter is not None:
            own = given(d, program, data)
            trace = [model.objective()]
            arrays = {k: np.moveaxis(own[k], at, 0) for k, at in arriving(program, d).items()}
            for t in range(len(next(iter(arrays.values())))):
                model.step(**{k: x[t] for k, x in arrays.items()})
                trace.append(model.objective())
            return {"trace": trace, "notes": model.notes}
        steps = 1 if d.sites else STEPS  # integrals take their time, where nothing is compiled
        if program.batch:
            return dict(model.run(steps, 0.0, batch=5))
        return dict(model.run(steps) if program.draws else model.run(steps, 0.0))


def states(program: ModelProgram, model: Any) -> dict[str, Any]:
    """Every posterior and point."""
    nodes = [p.node for p in program.posteriors] + [x.node for x in program.draws]
    flat = {}
    for n in nodes:
        x = model.posterior(n)
        for k, v in x.items() if isinstance(x, dict) else [("", x)]:
            for kk, vv in v.items() if isinstance(v, dict) else [("", v)]:
                flat[f"{n}.{k}{kk}"] = np.asarray(vv, dtype=float)
    return flat


def runs(source: str, d: ModelDerivation, program: ModelProgram, data: Drawn) -> None:
    """Finite numbers, no falling objective, a state that goes on bit by bit, the same by seed."""
    before = {k: np.array(x) for k, x in data.given.items()}
    model = made(d, program, data)
    result = run(d, program, data, model)
    trace = np.array(result["trace"], dtype=float)
    excused = result.get("reason") in ("unbounded", "not finite") or any(
        x["kind"] in ("unbounded", "rounding") for x in result["notes"])  # fmt: skip
    if not np.isfinite(trace).all() and not excused:
        raise Found(f"objective {trace} {result['notes']} {result.get('reason')}")
    if d.algorithm in NEVER_FALLS and (np.diff(trace) < -1e-7 * (1 + np.abs(trace[1:]))).any():
        raise Found(f"the objective falls: {trace} {result['notes']}")
    for k, x in states(program, model).items():
        if not np.isfinite(x).all() and not excused:
            raise Found(f"{k} = {x}")
    again = made(d, program, data)
    if not same(run(d, program, data, again)["trace"], trace):
        raise Found("the same seed gives other numbers")
    for k, x in before.items():
        np.testing.assert_array_equal(data.given[k], x, err_msg=f"{k} was changed")
    if program.filter is None:
        other = made(d, program, data, seed=5)
        other.load_state_dict(model.state_dict())
        one, two = (run(d, program, data, m)["trace"] for m in (model, other))
        if not same(one, two):
            raise Found(f"a state that was loaded goes on as {two}, not {one}")


def same(a: Any, b: Any) -> bool:
    return np.array_equal(np.asarray(a, float), np.asarray(b, float), equal_nan=True)


def agrees(source: str, d: ModelDerivation, program: ModelProgram, data: Drawn) -> None:
    """Loops of the other target, run as Python, come to the same."""
    found = []
    for target in ("numpy", "numba"):
        model = made(d, program, data, target)
        result = run(d, program, data, model)
        found.append((np.array(result["trace"], float), states(program, model)))
    (one, first), (two, second) = found
    if max((np.abs(x).max(initial=0) for x in first.values()), default=0) > LARGE:
        return  # two points whose quotient alone is known go where rounding takes them
    np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-8)
    for k, x in first.items():
        size = np.abs(x[np.isfinite(x)]).max(initial=1)
        np.testing.assert_allclose(x, second[k], rtol=1e-5, atol=1e-6 * size, err_msg=k)


def counts(source: str, d: ModelDerivation, program: ModelProgram, data: Drawn) -> None:
    """The objective against the log joint by plain loops over the text."""
    model = made(d, program, data)
    if program.draws:
        trace = run(d, program, data, model)["trace"]
        names = [p.parameter for x in program.draws for p in x.parts]
        drawn_values = {n: np.asarray(model.draws(n)) for n in names}
        for i in range(len(trace) - 1):
            here = {n: x[i] for n, x in drawn_values.items()}
            wanted = log_joint(source, {**data.given, **here}, data.sizes)
            if abs(wanted - trace[1 + i]) > 1e-7 * (1 + abs(wanted)):
                raise Found(f"the log joint of draw {i} is {wanted}, not {trace[1 + i]}")
        return
    blocks = [u.block.nodes for u in d.updates]
    chained = any(n.chain is not None and n.kind == "latent" for n in d.model.nodes)
    if program.filter is not None or program.batch or chained or any(len(b) > 1 for b in blocks):
        return
    run(d, program, data, model)
    if not hasattr(model, "sample"):
        return
    objective, size, rng = model.objective(), 15, np.random.default_rng(3)
    values: dict[str, Any] = {}
    log_q = np.zeros(size)
    for p in program.posteriors:
        if not p.family:
            point = np.asarray(model.posterior(p.node))
            values[p.node] = np.broadcast_to(point, (size, *point.shape))
            continue
        try:
            x = model.sample(p.node, rng, size)
        except ValueError:  # it has no draws
            return
        own = x if isinstance(x, dict) else {p.node: x}
        values |= own
        log_q += [log_density(p.family, model.posterior(p.node), {k: v[i] for k, v in own.items()})
                  for i in range(size)]  # fmt: skip
    joint = np.array([
        log_joint(source, {**data.given, **{k: v[i] for k, v in values.items()}}, data.sizes)
        for i in range(size)
    ])  # fmt: skip
    gaps = joint - log_q - objective
    if not np.isfinite(gaps).all():
        return
    exact = d.algorithm in ("conjugate", "em")
    error = gaps.std() / np.sqrt(size)
    limit = 1e-7 * (1 + abs(objective)) if exact else 7 * error + 1e-7 * (1 + abs(objective))
    if abs(gaps.mean()) > limit or (exact and np.abs(gaps).max() > limit):
        raise Found(f"log p − log q is {gaps.mean()} ± {error} off the objective {objective}")


def log_density(family: str, q: Any, x: dict[str, Any]) -> float:
    """Σ log q of the elements of a node's value, by the densities of the plain reader."""
    from tests.emit.model.plain_joint import DENSITIES

    first = next(iter(x.values()))
    ranks = {
        "dirichlet": 1,
        "gaussian-full": 1,
        "gaussian-isotropic": 1,
        "wishart": 2,
        "multinomial": 1,
    }
    lead = np.shape(first)[: np.ndim(first) - ranks.get(family, 0)]
    total = 0.0
    for at in np.ndindex(*lead):
        args = {}
        for k, v in q.items():
            args[k] = v[at] if isinstance(v, np.ndarray) and np.ndim(v) >= len(lead) else v
        total += float(
            DENSITIES[family.replace("-", "_")](*(v[at] for v in x.values()), *args.values())
        )
    return total


def verified(source: str, flag: str) -> list[str]:
    """What `verify` refutes, and what it cannot compare."""
    from blrgen.validate.model.report import verify_model

    try:
        d = derive_model(read_model(source, "drawn"), flag)
        lower(d)
    except UserError:
        return []
    report = verify_model(d, targets=("numpy",))
    return [f"verify: {n}: {p.level} {p.claim}: {p.detail}" for _, v in report.parts
            for n, p in v.proofs if p.level in ("refuted", "not compared")]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--flag", action="append")
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    for seed in range(options.first, options.last):
        source = drawn_text(seed)
        try:
            read_model(source, "drawn")
        except ModelError as error:
            print(f"{seed} text {[m.kind + ': ' + m.text for m in error.mistakes]}", flush=True)
            continue
        except Exception:
            print(f"{seed} READ {traceback.format_exc()}", flush=True)
            continue
        for flag in options.flag or FLAGS:
            began = time.perf_counter()
            try:
                with limited(90):
                    found = (verified if options.verify else trouble)(source, flag)
            except TimeoutError:
                found = ["TIMEOUT"]
            except Exception:
                found = [traceback.format_exc(limit=-4)]
            seconds = time.perf_counter() - began
            words = " ".join(("fine" if not found else " || ".join(found)).split())
            print(f"{seed} {flag} {seconds:.1f} {words}", flush=True)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
