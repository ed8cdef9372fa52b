"""The ways in which a program is run, each held against what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

from blrgen.emit.tree import arrays, functions, numba, numpy
from blrgen.emit.tree.staged import staged
from blrgen.errors import InternalError
from blrgen.program.axes import nodes as a
from blrgen.program.axes import prepared
from blrgen.program.axes.blocks import COLUMNS, ROWS
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.schedule import Schedule
from blrgen.runtime import apart
from tests.emit.tree.running import names_of_numpy, plain
from tests.program.axes.drawn_programs import Drawn
from tests.program.axes.programs import fixed

Results = Mapping[str, Any]
LEAST = ("PLAIN_ROWS", "FEWEST_ROWS", "RAGGED_ROWS")
REFUSED = "is not written out"


def held(d: Drawn, seed: int = 0, orders: int = 1) -> None:
    """Every pass keeps what the program means, and every way of running it gives that."""
    wanted = meant(d)
    for name, found in stages(d):
        same(name, found, wanted)
    for name, run in ways(d, seed, orders):
        try:
            found = run()
        except InternalError as error:
            if REFUSED not in str(error):
                raise
        else:
            same(name, found, wanted)


def meant(d: Drawn) -> Results:
    """What the program means."""
    return interpret(d.program, d.values, d.sizes)


def same(way: str, found: Results, wanted: Results) -> None:
    """All results, to 1e-10 of 1 or of the largest entry."""
    assert found.keys() == wanted.keys(), way
    for name, value in wanted.items():
        scale = max(1.0, np.max(np.abs(value), initial=0))
        np.testing.assert_allclose(
            found[name], value, rtol=1e-10, atol=1e-10 * scale, err_msg=f"{way}: {name}"
        )


# -- passes ----------------------------------------------------------------------------------
def stages(d: Drawn) -> Iterator[tuple[str, Results]]:
    """What the program means after each of the passes, for loops and for whole arrays."""
    for module, run in (
        (prepared, lambda: scheduled(d.program, blocks="")),
        (arrays, lambda: arrays.array_function(d.program, "run")),
    ):
        found: list[tuple[str, a.Program]] = []
        with noted(module, found):
            run()
        for k, (name, p) in enumerate(found):
            yield f"{k} {name}", interpret(p, d.values, d.sizes)


@contextmanager
def noted(module: ModuleType, found: list[tuple[str, a.Program]]) -> Iterator[None]:
    """The programs that passes make which a module calls, one after the other."""

    def noting(f: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **more: Any) -> Any:
            made = f(*args, **more)
            if isinstance(made, a.Program):
                found.append((f.__name__, made))
            return made

        return called

    room = a.__name__.rsplit(".", 1)[0]
    own = {
        x: f for x, f in vars(module).items()
        if callable(f) and not isinstance(f, type) and getattr(f, "__module__", "").startswith(room)
    }  # fmt: skip
    vars(module).update({x: noting(f) for x, f in own.items()})
    try:
        yield
    finally:
        vars(module).update(own)


# -- ways ------------------------------------------------------------------------------------
def short(text: str) -> str:
    """The same file with short blocks and strips, so that few rows are several."""
    return text.replace("256", "4").replace("255", "3").replace("1024", "4")


@contextmanager
def few_rows() -> Iterator[None]:
    """Chunks of few rows."""
    before = {x: getattr(functions, x) for x in LEAST}
    rows, apart.WHOLE_ROWS = apart.WHOLE_ROWS, 4
    vars(functions).update(dict.fromkeys(LEAST, 2))
    try:
        yield
    finally:
        apart.WHOLE_ROWS = rows
        vars(functions).update(before)


def in_loops(d: Drawn, plan: Schedule) -> Results:
    """The functions of a schedule, run as Python."""
    with few_rows():
        return plain(plan, dict(d.values), change=short, **d.sizes)


def in_stages(d: Drawn, known: bool) -> Results:
    """The functions that classes have, where short axes are known and where they are not."""
    plan = scheduled(d.program)
    with few_rows():
        made = staged(plan, "run")
    length = apart._as_length if known else lambda _: ()
    space = names_of_numpy() | {"_as_length": length, "_by_rows": apart._by_rows}
    with few_rows():
        return called(d, "\n".join(map(numba.function, made)), made[-1], space, plan.program.outs)


def on_arrays(d: Drawn) -> Results:
    """Array statements."""
    f = arrays.array_function(d.program, "run")
    return called(d, numpy.text(f), f, {}, tuple(x.name for x in f.returns))


def called(d: Drawn, text: str, f: Any, space: dict[str, Any], outs: tuple[str, ...]) -> Results:
    """What a text's function does."""
    exec(short(text), space)
    return returned(d, space["run"], f, outs)


def returned(d: Drawn, run: Callable[..., Any], f: Any, outs: tuple[str, ...]) -> Results:
    """What a function returns, by name, and what it writes."""
    own = {k: np.array(v) if np.ndim(v) else v for k, v in d.values.items()}
    given = {**d.sizes, **own}
    with np.errstate(all="ignore"):
        found = run(*(given[x] for x in (*f.arrays, *f.wholes, *f.reals)))
    results = found if isinstance(found, tuple) else (found,) if outs else ()
    return dict(zip(outs, results, strict=True)) | {x: own[x] for x, _ in d.program.writes}


def some_orders(p: a.Program, seed: int, count: int) -> list[tuple[str, ...]]:
    """Orders of the letters, with those of recurrences first and ragged ones behind theirs."""
    rng = Random(seed)
    first = tuple(dict.fromkeys(s.letter for s in a.recurrences(p.body)))
    out = []
    for _ in range(count):
        rest = [x for x in p.letters if x.name not in first]
        rng.shuffle(rest)
        out.append((*first, *(x.name for x in sorted(rest, key=lambda x: bool(x.under)))))
    return out


def ways(d: Drawn, seed: int, orders: int) -> Iterator[tuple[str, Callable[[], Results]]]:
    """All of them, by what they are called."""
    p = d.program
    yield "arrays", lambda: on_arrays(d)
    for by in (None, *some_orders(p, seed, orders)):
        for blocks in ("", COLUMNS, ROWS, None):
            name = f"loops {','.join(by or ('in their order',))} {blocks}"
            yield name, lambda by=by, blocks=blocks: in_loops(d, scheduled(p, by, blocks))
    yield "stages", lambda: in_stages(d, False)
    yield "stages, short axes known", lambda: in_stages(d, True)
    known = replace(d, program=fixed(p, {k: v for k, v in d.sizes.items() if k != "W"}))
    if all(v for k, v in d.sizes.items() if k != "W"):
        yield "known sizes", lambda: in_loops(known, scheduled(known.program))
    small = {k: v for k, v in d.sizes.items() if k in ("d", "K")}
    few = replace(d, program=fixed(p, small))
    axes = frozenset(small.values()) | {2}
    yield (
        "written out, meaning",
        lambda: interpret(prepared.prepared(few.program, axes), d.values, d.sizes),
    )
    yield "written out", lambda: in_loops(few, scheduled(few.program, written=axes))
