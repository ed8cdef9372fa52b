"""The algorithms of a model as flags, exactly one of them, and what goes with them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from blrgen.cli.parser import Parser
from blrgen.errors import UserError

if TYPE_CHECKING:
    from blrgen.rule.model.derive import Options

FLAGS = {
    "conjugate": "one exact step: all latents are one block",
    "filter": "the same, one element of a chain at a time",
    "em": "all latents exact, then the argmax over points",
    "online-em": "EM on running expected statistics",
    "vmp": "mean field, block by block (--cavi is the same)",
    "cavi": "the same",
    "svi": "local blocks to rest, global ones by some rows",
    "ncvmp": "mean field with factors that are not conjugate",
    "cvi": "the same in steps, the conjugate part exact",
    "gibbs": "every block drawn from its full conditional",
}
OPTIONS = {
    "point": "latents that are points",
    "block": "nodes that are one block; may be repeated",
    "schedule": "the order of the blocks",
    "q": "a family for q of a node; may be repeated",
    "inner": "the most rounds over local blocks in --svi",
}


def add_algorithms(parser: Parser, *, brief: bool = True) -> None:
    """One flag an algorithm, and the options of all of them; in brief, their names alone."""
    there = list(FLAGS)
    names = "exactly one of --" + " --".join(there[:4]) + "\n--" + " --".join(there[4:])
    options = ", and --point, --block, --q, --schedule, --inner:\nsee `blrgen fit --help`"
    group = parser.add_argument_group(
        "algorithms of a model, FILE.model" + ("" if brief else ": exactly one"),
        names + options if brief else None,
    )
    for name, words in FLAGS.items():
        hidden = brief or name == "cavi"
        group.add_argument(
            f"--{name}", action="store_true", help=argparse.SUPPRESS if hidden else words
        )
    said = dict.fromkeys(OPTIONS, argparse.SUPPRESS) if brief else OPTIONS
    group.add_argument("--point", metavar="NAME,…", default="", help=said["point"])
    group.add_argument("--block", metavar="A,B", action="append", default=[], help=said["block"])
    group.add_argument("--q", metavar="NODE=FAMILY", action="append", default=[], help=said["q"])
    group.add_argument("--schedule", metavar="A,B,…", default="", help=said["schedule"])
    group.add_argument("--inner", metavar="I", help=said["inner"])


def algorithm(options: argparse.Namespace) -> str:
    """The one that was chosen."""
    chosen = [x for x in FLAGS if getattr(options, x.replace("-", "_"))]
    if len(chosen) != 1:
        said = " and ".join(f"--{x}" for x in chosen) or "none"
        raise UserError(
            f"a model needs exactly one algorithm, here: {said}",
            where=options.what,
            how="one of: " + ", ".join(f"--{x}" for x in FLAGS),
        )
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


def chosen_options(options: argparse.Namespace) -> Options:
    """What is said beside the algorithm."""
    from blrgen.rule.model.derive import Options

    joined = tuple(words(b) for b in options.block)
    inner = None
    if options.inner is not None:
        if not options.inner.isdigit() or int(options.inner) < 1:
            raise UserError(f"--inner is a whole number from 1 on, not {options.inner!r}")
        inner = int(options.inner)
    return Options(words(options.point), joined, words(options.schedule), families(options), inner)


def words(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(x.strip() for x in text.split(",") if x.strip())


def families(options: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """--q NODE=FAMILY as pairs."""
    found = []
    for said in options.q:
        node, sign, family = said.rpartition("=")
        if not (node.strip() and sign and family.strip()):
            raise UserError(f"--q is NODE=FAMILY, not {said}", how="--q shape=gamma")
        found.append((node.strip(), family.strip()))
    return tuple(found)
