"""What the rules of integration answer with is computed by emitted code, rule by rule."""

from __future__ import annotations

from pathlib import Path

import pytest

import blrgen
from blrgen.emit import emit
from blrgen.geometry.integrate.rules import RULES
from blrgen.paths import data_dir

# a family whose log-partition the rule gives: a shipped one, or a declaration
FAMILIES = {
    "sequential": "normal-gamma",
    "finite_sum": "bernoulli",
    "gaussian": "normal-known-mean",
    "matrix_gaussian": "gaussian-full",
    "wishart": "wishart",
    "inverse_matrix": "inverse-wishart",
    "exponential": 'support = "(0, 1)"\nstatistics = ["x"]\n[natural]\neta = "(-oo, oo)"',
    "power_exponential": "gamma",
    "beta": "beta",
    "beta_prime": 'support = "(0, oo)"\nstatistics = ["log(x)", "log(1 + x)"]\n'
    '[natural]\na = "(-1, oo)"\nb = "(-oo, -a - 1)"',
    "bessel": "generalized-inverse-gaussian",
    "circle": "von-mises",
    "series": 'support = "integers >= 0"\nstatistics = ["x"]\nbase_measure = "1/factorial(x)**2"\n'
    '[natural]\neta = "(-oo, oo)"',
    "zeta": 'support = "integers >= 1"\nstatistics = ["log(x)"]\n[natural]\neta = "(-oo, -1)"',
    "symmetric": 'support = "(-oo, oo)"\nstatistics = ["x**2", "x**4"]\n'
    '[natural]\na = "(-oo, oo)"\nb = "(-oo, 0)"',
    "pieces": 'support = "(-oo, oo)"\nstatistics = ["abs(x)", "x"]\n'
    '[natural]\nb = "(-oo, 0)"\na = "(b, -b)"',
    "mixture": 'support = "(0, oo)"\nstatistics = ["x"]\nbase_measure = "1 + x"\n'
    '[natural]\neta = "(-oo, 0)"',
    "substitution": "log-normal",
}  # fmt: skip


def test_every_rule_has_its_family() -> None:
    assert set(FAMILIES) == set(RULES)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_its_functions_are_emitted(name: str, tmp_path: Path) -> None:
    family = FAMILIES[name]
    if "\n" in family:
        path = tmp_path / f"{name}.toml"
        path.write_text(f'name = "{name.replace("_", "-")}-law"\nvariable = "x"\n{family}\n')
        family = str(path)
    else:
        assert (data_dir("families") / f"{family}.toml").exists()
    source = emit(blrgen.derive(family), "numpy")
    compile(source, name, "exec")
