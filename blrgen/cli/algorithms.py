"""The algorithms of a model as flags, exactly one of them, and what goes with them."""

from __future__ import annotations

import argparse

from blrgen.cli.parser import Parser
from blrgen.errors import UserError

FLAGS = {
    "conjugate": "one exact step: all latents are one conjugate block",
    "filter": "the same, one element of a chain at a time",
    "em": "all latents exact, then the joint argmax over the points",
    "online-em": "EM on averages of expected statistics over steps",
    "vmp": "mean field: block by block, each at its maximum",
    "cavi": "the same",
    "svi": "local blocks to their fixed point, global ones by some rows at a time",
    "ncvmp": "mean field with factors that are not conjugate",
    "cvi": "the same in steps, the conjugate part exact",
    "gibbs": "every block drawn from its full conditional",
}
LATER = ("ncvmp", "cvi")  # what the language has a word for, and nothing makes yet


def add_algorithms(parser: Parser) -> None:
    """One flag an algorithm, and the options of all of them."""
    group = parser.add_argument_group("algorithms of a model", "exactly one, for FILE.model")
    for name, words in FLAGS.items():
        group.add_argument(f"--{name}", action="store_true", help=words)
    group.add_argument("--point", metavar="NAME,…", default="", help="latents that are points")
    group.add_argument("--block", metavar="A,B", action="append", default=[],
                       help="nodes that are one block; may be repeated")  # fmt: skip
    group.add_argument("--schedule", metavar="A,B,…", default="", help="the order of the blocks")


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
