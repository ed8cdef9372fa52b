"""Words that mean something in a rule or in emitted code, and so cannot be given away."""

from __future__ import annotations

from blrgen.errors import UserError
from blrgen.read.functions import CONSTANTS, FUNCTIONS, PRINTED

# what rules call things besides a family's own parameters; meaning for the message
RULE_WORDS = {
    "t": "the step counter", "rho": "the learning rate", "g": "the gradient",
    "h": "the diagonal curvature", "H": "the curvature matrix", "u": "the momentum",
    "eps": "a standard normal draw", "d": "the dimension",
}  # fmt: skip

# what some approximations introduce: a family may use these names (Beta has alpha and beta),
# and an approximation that needs a taken one is then refused; data may not
HYPER_WORDS = {
    "alpha": "the rate of the mean", "beta1": "a decay rate", "beta2": "a decay rate",
    "c": "the damping", "N": "the sample size", "tau": "the temperature",
    "beta": "the rate of the scale", "gamma": "the momentum", "clip": "the largest step",
    "h0": "the first curvature", "lam0": "the prior's natural parameter",
}  # fmt: skip

# functions whose names people also give to parameters; a name wins unless it is called
PARAMETER_FUNCTIONS = ("beta", "gamma", "zeta")

# states of rules: a family may declare them (they are its parameters), data may not
STATE_WORDS = {
    "m": "the mean", "s": "the diagonal precision", "S": "the precision",
    "lam": "a natural parameter",
}  # fmt: skip

# modules and names that emitted files use
CODE_WORDS = ("np", "nb", "numpy", "numba", "math", "torch", "jax", "jnp", "optax", "self", "oo")


def check_free(name: str, what: str, where: str, taken: dict[str, str]) -> None:
    """The name is not a function, not a word of rules or emitted code, and not taken."""
    why = ""
    if name in taken:
        why = f"{name} is already {taken[name]}"
    elif name in RULE_WORDS:
        why = f"in rules {name} is {RULE_WORDS[name]}"
    elif what.startswith("data") and name in HYPER_WORDS:
        why = f"in rules {name} is {HYPER_WORDS[name]}"
    elif name in PARAMETER_FUNCTIONS and not what.startswith("data"):
        why = ""
    elif name in FUNCTIONS or name in PRINTED:
        why = "it is a function"
    elif name in CONSTANTS:
        why = "it is a constant"
    elif name in CODE_WORDS:
        why = "emitted code uses it"
    elif name.endswith(("_next", "_hat")):
        why = "names ending in _next and _hat are made by the rules"
    if why:
        raise UserError(
            f"{what} cannot be called {name!r}", where=where, why=why, how="choose another name"
        )
