"""The algorithms of a model as flags, exactly one of them, and what goes with them."""

from __future__ import annotations

import argparse
import textwrap

from blrgen.cli.parser import Parser, columns
from blrgen.errors import UserError

FLAGS = (
    "conjugate", "filter", "em", "online-em", "vmp", "cavi", "svi", "ncvmp", "cvi", "gibbs",
)  # fmt: skip
LATER = ("ncvmp", "cvi")  # what the language has a word for, and nothing makes yet


def add_algorithms(parser: Parser) -> None:
    """One flag an algorithm, and the options of all of them."""
    text = (
        f"for FILE.model exactly one of {', '.join(f'--{x}' for x in FLAGS)}; with "
        "--point NAME,… (latents that are points), --block A,B (nodes that are one block), "
        "--schedule A,B,… (their order)"
    )
    lines = "\n".join(textwrap.wrap(text, columns() - 4, break_on_hyphens=False))
    group = parser.add_argument_group("algorithms of a model", lines)
    for name in FLAGS:
        group.add_argument(f"--{name}", action="store_true", help=argparse.SUPPRESS)
    for name, default in (("point", ""), ("block", []), ("schedule", "")):
        action = "append" if isinstance(default, list) else "store"
        group.add_argument(f"--{name}", action=action, default=default, help=argparse.SUPPRESS)


def algorithm(options: argparse.Namespace) -> str:
    """The one that was chosen."""
    chosen = [x for x in FLAGS if getattr(options, x.replace("-", "_"))]
    if len(chosen) != 1:
        said = " and ".join(f"--{x}" for x in chosen) or "none"
        raise UserError(
            f"a model needs exactly one algorithm, here: {said}",
            where=options.what,
            how="one of: " + ", ".join(f"--{x}" for x in FLAGS if x not in LATER),
        )
    if chosen[0] in LATER:
        raise UserError(
            f"--{chosen[0]} is not there yet", where=options.what,
            why="factors that are not conjugate need expectations that no block has",
            how="--vmp where every edge is conjugate: `blrgen derive` says which are not",
        )  # fmt: skip
    return chosen[0]


def any_algorithm(options: argparse.Namespace) -> bool:
    """Whether an algorithm is named."""
    return any(getattr(options, x.replace("-", "_")) for x in FLAGS)


def refuse_algorithms(options: argparse.Namespace) -> None:
    """Flags of models beside something else."""
    chosen = [x for x in FLAGS if getattr(options, x.replace("-", "_"))]
    if chosen:
        raise UserError(
            f"--{chosen[0]} is an algorithm of a model", where=options.what,
            why="a family or a recipe has the Bayesian learning rule alone",
            how="a path that ends in .model",
        )  # fmt: skip


def words(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(x.strip() for x in text.split(",") if x.strip())
