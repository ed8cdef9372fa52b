"""A mixture fitted by EM, as a picture: points, and where each component has most of its mass.

    python examples/mixture_picture.py docs/mixture.svg

Derives the algorithm from models/gaussian-mixture-full-em.model, emits its class, fits three
clouds, and writes an SVG: no package for plots is needed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.find import read_file
from blrgen.rule.model.derive import derive_model

Array = NDArray[np.float64]
COLOURS = ("#0b6e99", "#c4453b", "#4f8a34")
SCALE, MARGIN = 42.0, 30.0  # pixels for one unit, and around everything


def clouds(seed: int = 0) -> Array:
    """Three clouds in the plane, one of them long."""
    rng = np.random.default_rng(seed)
    long = rng.normal(size=(120, 2)) @ np.array([[1.6, 0.9], [0.0, 0.35]])
    round_ = rng.normal(size=(90, 2)) * 0.6 + [4.0, -1.5]
    flat = rng.normal(size=(90, 2)) * [0.4, 0.9] + [-3.0, 2.5]
    return np.concatenate([long, round_, flat])


def ellipse(m: Array, S: Array, deviations: float) -> str:
    """Where (x − m)ᵀS⁻¹(x − m) = deviations², as an SVG element without its place."""
    values, axes = np.linalg.eigh(S)
    rx, ry = deviations * np.sqrt(values) * SCALE
    angle = np.degrees(np.arctan2(-axes[1, 0], axes[0, 0]))  # y points down in a picture
    return f'<ellipse rx="{rx:.1f}" ry="{ry:.1f}" transform="PLACE rotate({angle:.1f})"'


def picture(x: Array, pi: Array, mu: Array, S: Array) -> str:
    """The SVG: each point in the colour of its most probable component, 1 and 2 deviations."""
    low, high = x.min(0), x.max(0)
    width, height = (high - low) * SCALE + 2 * MARGIN

    def at(p: Array) -> tuple[float, float]:
        return MARGIN + (p[0] - low[0]) * SCALE, MARGIN + (high[1] - p[1]) * SCALE

    far = x[:, None] - mu
    logs = np.log(pi) - np.linalg.slogdet(S)[1] / 2
    logs = logs - np.einsum("nki,kij,nkj->nk", far, np.linalg.inv(S), far) / 2
    rows = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}">',
            '<rect width="100%" height="100%" fill="white"/>']  # fmt: skip
    for p, k in zip(x, logs.argmax(1), strict=True):
        a, b = at(p)
        place = f'cx="{a:.1f}" cy="{b:.1f}" r="2.6"'
        rows.append(f'<circle {place} fill="{COLOURS[k]}" opacity="0.7"/>')
    for k, colour in enumerate(COLOURS):
        a, b = at(mu[k])
        for deviations in (1, 2):
            shape = ellipse(mu[k], S[k], deviations)
            shape = shape.replace("PLACE", f"translate({a:.1f} {b:.1f})")
            rows.append(f'{shape} fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return "\n".join([*rows, "</svg>"]) + "\n"


def main(path: str) -> None:
    """Fit and draw."""
    derivation = derive_model(read_file("gaussian-mixture-full-em.model"), "em")
    mixture = compile_class(text(lower(derivation), "numpy"))
    x = clouds()
    model = mixture(x=x, K=3, seed=0)
    found = model.run(steps=200, tol=1e-10)
    fitted = (model.posterior(name) for name in ("pi", "mu", "S"))
    Path(path).write_text(picture(x, *fitted), encoding="utf-8")
    print(f"{found['steps']} steps, log-likelihood {found['objective']:.3f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "mixture.svg")
