"""Make tests/peers/recorded/: the public implementations' trajectories, and what made them.

    python tests/peers/record.py          in an environment with requirements.txt

One .npz a package, one array a case and quantity ("torch-adam/m"), and versions.json.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.peers import adapters, public

FOLDER = Path(__file__).parent / "recorded"
GROUPS = {
    "torch": adapters.TORCH,
    "optax": adapters.OPTAX,
    "ivon": adapters.IVON,
    "sklearn": adapters.SKLEARN,
    "scipy": adapters.SCIPY,
}
PACKAGES = ("ivon-opt", "jax", "numpy", "optax", "scikit-learn", "scipy", "torch")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for group, cases in GROUPS.items():
        arrays: dict[str, np.ndarray] = {}
        for case in cases:
            for name, value in public.run(case).items():
                arrays[f"{case.name}/{name}"] = value
        if group == "ivon":
            arrays["noise"] = public.ivon_noise(2)
        np.savez_compressed(FOLDER / f"{group}.npz", **arrays)  # type: ignore[arg-type]
        size = (FOLDER / f"{group}.npz").stat().st_size
        print(f"{group}.npz: {len(arrays)} arrays, {size / 1000:.0f} kB")
    versions = {name: version(name).split("+")[0] for name in PACKAGES}
    (FOLDER / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")


if __name__ == "__main__":
    main()
