"""Every elementwise recipe over one axis: it means what the emitted NumPy file does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blrgen import derive
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.lowered import over_axes
from blrgen.program.axes.prepared import scheduled
from blrgen.program.lower import Reader
from blrgen.program.types import EACH
from tests.emit.tree.running import near, plain
from tests.shipped import recipes

SIZE = 5


def stages(reader: Reader, env: dict[str, Any], *names: str) -> None:
    """Run these stages; their results go to what is known, and so do next states."""
    for name in names:
        scope = reader.program.scope
        made = over_axes(reader.lowering, reader.statements(scope, reader.stage(name)))
        check(made)
        given = {q.name: env[q.name] for q in made.given}
        found = interpret(made, given, {"d": SIZE})
        if any(q.sizes for q in made.given):
            near(plain(scheduled(made), given), found)
        env.update({x: found[x] for x in made.outs})


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", recipes(matrices=False))
def test_a_recipe_over_an_axis_is_its_emitted_step(name: str) -> None:
    derivation = derive(name)
    rule, reader, rng = derivation.rule, Reader(derivation.rule), np.random.default_rng(12)
    assert reader.program.axes <= {EACH}
    params = rng.standard_normal(SIZE)
    opt = compile_class(emit(derivation, "numpy"))(params)
    main, *others = [q.name for q in rule.of("state")]
    env: dict[str, Any] = {q.name: float(getattr(opt, q.name)) for q in rule.of("hyper")}
    env[main] = params.copy()
    for x in others:
        held = getattr(opt, x)
        env[x] = np.array(held[0] if isinstance(held, list) else held)
    for t in range(1, 6):
        noise = {q.name: rng.standard_normal(SIZE) for q in rule.of("draw")}
        inputs = {q.name: rng.standard_normal(SIZE) for q in rule.of("input")}
        inputs = {k: np.abs(v) if k == "h" else v for k, v in inputs.items()}
        env |= {**noise, **inputs, "t": float(t)}
        if noise:
            stages(reader, env, "draw")
            np.testing.assert_allclose(opt.draw(**noise), env["theta"], rtol=1e-12)
        stages(reader, env, *(x for x in ("estimate", "update") if reader.stage(x)))
        opt.step(*inputs.values())
        for x in (main, *others):
            env[x] = env.get(f"{x}_next", env[x])
        np.testing.assert_allclose(params, env[main], rtol=1e-12, atol=1e-12)
