"""Models against public implementations, run now: `make peers`.

    python -m tests.peers.models.live

Prints a row a comparison; exits 1 when one is over its limit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.peers.models import public
from tests.peers.models.cases import Case
from tests.peers.models.recorded import every_case


def plain(value: Any) -> Any:
    """Arrays as lists; what is missing as null."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    array = np.asarray(value)
    return np.where(np.isnan(array), None, array).tolist()  # type: ignore[call-overload]


def fitted(case: Case) -> dict[str, Any]:
    """The JSON of `blrgen fit` of this case."""
    with tempfile.TemporaryDirectory() as folder:
        data, start = Path(folder, "data.json"), Path(folder, "start.json")
        data.write_text(json.dumps(plain(case.data)))
        start.write_text(json.dumps(plain(case.start)))
        model = Path(folder, f"{case.model}.model") if case.source else f"{case.model}.model"
        if case.source:
            Path(model).write_text(case.source)
        command = [sys.executable, "-m", "blrgen", "fit", str(model), case.flag]
        command += ["--data", str(data), "--steps", str(case.steps), "--json", *case.options]
        if case.start:
            command += ["--start", str(start)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0] if done.stderr else "no output")
    return dict(json.loads(done.stdout))


def at(tree: Any, place: str) -> Any:
    """What stands at "posterior.pi.alpha"."""
    for name in place.split("."):
        tree = tree[name]
    return np.asarray(tree, dtype=float)


def gap(ours: Any, theirs: Any) -> float:
    """The largest difference, relative to the largest number."""
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.abs(a.reshape(b.shape) - b).max() / max(1.0, np.abs(b).max()))


def emitted(case: Case) -> dict[str, Any]:
    """Pairs and paths of the emitted class after as many steps."""
    from blrgen.emit.compile import compile_class
    from blrgen.emit.model.file import text
    from blrgen.program.model.lower import lower
    from blrgen.read.model.find import read_file
    from blrgen.rule.model.derive import derive_model

    if not any(place.startswith(("pairs", "path")) for place in case.places):
        return {}
    derived = derive_model(read_file(f"{case.model}.model"), case.flag.removeprefix("--"))
    program = lower(derived)
    known = {x.called for x in program.arguments}
    data = {k: x for k, x in case.data.items() if k in known}
    sizes = {k: int(case.data[k]) for k in program.sizes if k in case.data}
    model = compile_class(text(program, "numpy"))(**data, **sizes, start=case.start or None)
    model.run(case.steps, 0.0)
    return {
        "pairs": {x.node: model.pairs(x.node) for x in program.pairs},
        "path": {x.node: model.path(x.node) for x in program.paths},
    }


def compared(case: Case, theirs: public.Run | None = None) -> dict[str, float]:
    """The gap of everything that is compared, with what was recorded or with what is run now."""
    ours, theirs = fitted(case) | emitted(case), theirs or case.theirs()
    ours |= case.measured(ours) if case.measured else {}
    gaps = {place: gap(at(ours, place), theirs.end[name]) for place, name in case.places.items()}
    if case.trace:
        n = len(theirs.trace)
        gaps["trace"] = gap(ours["trace"][-n:] if n > 1 else ours["objective"], theirs.trace)
    return gaps


def main() -> int:
    """Every case, a row each."""
    failed = 0
    for case in every_case():
        try:
            gaps = compared(case)
        except Exception as error:  # one that cannot run must not hide the others
            failed += 1
            print(f"{case.name:28} {case.peer:34} FAIL  {type(error).__name__}: {error}"[:180])
            continue
        worst = max(gaps, key=lambda k: gaps[k])
        good = gaps[worst] <= case.limit
        failed += not good
        verdict = "pass" if good else "FAIL"
        shown = f"{gaps[worst]:.1e} ({worst}) ≤ {case.limit:.0e}"
        print(f"{case.name:28} {case.peer:34} {verdict}  {shown}")
    print(f"{len(every_case()) - failed} of {len(every_case())} as they should be")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
