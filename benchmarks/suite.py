"""Which cases a run has: all of them, the quick ones, or those of what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.cases import SIZES, TENSOR, TENSORS, Case, of_recipes
from benchmarks.goals import read_goals
from benchmarks.peers import PEERS
from benchmarks.prepare import Timed, prepared
from blrgen.errors import UserError, did_you_mean

DIMENSIONS = (100, 1000)
SMALL = 4  # where every entry is written out
ROWS = 100_000  # of the regression
# experiments that are not named after a recipe: what is measured → the recipe whose emitted
# file it uses, and the generator that is asked for there
EXTRA = {
    "normals": ("vogn", None),
    "normals, fast hash": ("vogn", "hash"),
    "signs": ("bernoulli-exact", None),
}
MANY = "adam"  # whose many small arrays and first step are measured
QUICK = ("adam", "sgd", "momentum", "rmsprop", "ivon", "bayesbinn", "newton", "von")


@dataclass(frozen=True)
class Settings:
    """What was asked for; empty means what the kind of run has."""

    what: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    dtypes: tuple[str, ...] = ()
    threads: tuple[int, ...] = (1,)
    quick: bool = False


def known() -> list[str]:
    """What can be asked for by name: recipes and the other experiments."""
    from blrgen.read.recipe import read_recipes

    return [*read_recipes(), *EXTRA]


def files(settings: Settings) -> dict[str, Timed]:
    """The emitted file of everything that the run needs."""
    names = list(settings.what) or list(QUICK if settings.quick else known())
    for name in names:
        if name not in known():
            raise UserError(f"nothing to time is called {name!r}", how=did_you_mean(name, known()))
    made = {}
    extra = [x for x in EXTRA if not settings.what or x.split(",")[0] in settings.what]
    for name in dict.fromkeys([*(x for x in names if x not in EXTRA), *extra]):
        recipe, noise = EXTRA.get(name, (name, None))
        timed = prepared(recipe, noise=noise)
        if timed.needed:
            raise UserError(
                f"{name} cannot be timed: its class has no default for {', '.join(timed.needed)}"
            )
        if settings.what and timed.elementwise and name not in EXTRA:
            timed = replace(timed, plain=prepared(name, "numpy").path)
        if _has_hessian(timed) and not settings.quick:
            timed = replace(timed, small=prepared(name, sizes={"d": SMALL}).path)
        made[name] = replace(timed, lean=settings.quick)
    return made


def _has_hessian(timed: Timed) -> bool:
    """Whether a step is given a square matrix and vectors, all of one size."""
    axes = {axes for _, axes in timed.inputs}
    return {1, 2} == {*map(len, axes)} and len({x for own in axes for x in own}) == 1


def file_of(case: Case) -> str:
    """The name under which a case finds its emitted file."""
    return case.what


def cases(settings: Settings, made: dict[str, Timed]) -> list[Case]:
    """Every case of the run."""
    asked = [x for x in settings.what or (QUICK if settings.quick else made) if x not in EXTRA]
    scalar = [x for x in asked if made[x].elementwise]
    drawn = [x for x in scalar if made[x].noises]
    sizes = settings.sizes or (SIZES[:2] if settings.quick or settings.what else SIZES)
    dtypes = settings.dtypes or ("float32",)
    found = of_recipes(scalar, drawn, sizes, dtypes, settings.threads)
    if not (settings.what or settings.sizes):
        found = [c for c in found if _told(c)]
    found += _linear([x for x in asked if not made[x].elementwise], made, settings)
    found += _others(settings)
    if not (settings.what or settings.dtypes or settings.quick):
        doubles = [x for x in scalar if x in PEERS]
        found += of_recipes(doubles, (), sizes[1:2], ("float64",), settings.threads)
        found += of_recipes([MANY], (), sizes, ("float64",), settings.threads)
    if settings.quick:
        goals = read_goals()
        found = [c for c in found if any(g.concerns(c) for g in goals)]
    return list(dict.fromkeys(found))


def _told(case: Case) -> bool:
    """Whether a case tells what others do not: few fit into a run of minutes."""
    if case.experiment == "update":
        return case.size == SIZES[-1]
    return case.size > SIZES[0] or (case.experiment == "step" and case.what in PEERS)


def _linear(names: Sequence[str], made: dict[str, Timed], settings: Settings) -> list[Case]:
    found = []
    for name in names:
        regression = any(len(set(axes)) > 1 for _, axes in made[name].inputs)
        experiment = "ridge" if regression else "posv"
        usual = (ROWS,) if regression else DIMENSIONS[: 1 if settings.quick else 2]
        sizes = settings.sizes if settings.what and settings.sizes else usual
        found += [
            Case(experiment, name, size, dtype, threads)
            for threads in settings.threads
            for size in sizes
            for dtype in settings.dtypes or (("float32",) if regression else ()) + ("float64",)
        ]
        if made[name].small and not settings.sizes:
            dtype = (settings.dtypes or ("float64",))[0]
            found += [Case("small", name, SMALL, dtype, threads) for threads in settings.threads]
    return found


def _others(settings: Settings) -> list[Case]:
    """What is measured beside recipes."""
    asked = settings.what
    size = settings.sizes[-1] if settings.sizes and asked else 1_000_000
    found = []
    for threads in settings.threads:
        found += [
            Case(x.split(",")[0], x, size, "float32", threads)
            for x in EXTRA
            if not asked or x.split(",")[0] in asked
        ]
        if not asked:
            found += [Case(x, MANY, TENSORS * TENSOR, "float32", threads) for x in ("flat", "list")]
    if not asked:
        found.append(Case("start", MANY, 1000, "float32", 1))
    return found
