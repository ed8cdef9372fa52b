"""What packages gave for every model that is compared, kept: nothing else is needed to compare.

python -m tests.peers.models.recorded     in an environment with requirements.txt
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from tests.peers.models.cases import Case, all_cases
from tests.peers.models.hand_cases import hand_cases
from tests.peers.models.listed import listed_cases
from tests.peers.models.modes import mode_cases
from tests.peers.models.more import more_cases
from tests.peers.models.public import Run

FILE = Path(__file__).parents[1] / "recorded" / "models.npz"
PACKAGES = (
    "scikit-learn",
    "hmmlearn",
    "pykalman",
    "filterpy",
    "bayespy",
    "gensim",
    "scipy",
    "numpy",
)


def every_case() -> list[Case]:
    """All comparisons of models."""
    return [*all_cases(), *more_cases(), *listed_cases(), *hand_cases(), *mode_cases()]


@cache
def _kept() -> dict[str, np.ndarray]:
    with np.load(FILE) as arrays:
        return dict(arrays)


def recorded(case: Case) -> Run:
    """What was kept of a case."""
    prefix = f"{case.name}/"
    own = {k.removeprefix(prefix): x for k, x in _kept().items() if k.startswith(prefix)}
    trace = own.pop("trace")
    return Run(tuple(map(float, trace)), own)


def main() -> None:
    """Run every package, and keep what it gives."""
    arrays: dict[str, np.ndarray] = {}
    for case in every_case():
        run = case.theirs()
        arrays[f"{case.name}/trace"] = np.asarray(run.trace, dtype=float)
        for name in sorted(set(case.places.values())):  # nothing else is compared
            arrays[f"{case.name}/{name}"] = np.asarray(run.end[name])
        print(case.name)
    versions = [f"{name} {version(name)}" for name in PACKAGES]
    np.savez_compressed(FILE, versions=np.array(versions), **arrays)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
