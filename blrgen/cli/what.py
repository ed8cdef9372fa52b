"""WHAT and the approximations: what derive, generate, verify and identify have in common."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from blrgen.cli.output import note
from blrgen.cli.parser import Parser, known_value
from blrgen.errors import UserError

if TYPE_CHECKING:
    from blrgen.approximate import Approximation
    from blrgen.core import Derivation

HELP = "a family, a recipe or a path to a family file (see `blrgen list`)"
LOSS = (
    "the loss, such as '(y - x*theta)**2/2': in the family's variable (theta in the Gaussians; "
    "`blrgen show FAMILY` names it) and names of data; abstract if absent"
)


class Approximate(argparse.Action):
    """One approximation flag; all of them append to one list, so that their order is kept."""

    values: tuple[str, ...] = ()

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Append `name` or `name=value`."""
        name = (option_string or "").removeprefix("--")
        if self.values:
            known_value(f"--{name}", values, self.values, parser.prog)
        said = name if self.nargs == 0 else f"{name}={values}"
        namespace.approximations = [*namespace.approximations, said]


def add_what(parser: Parser, **positional: Any) -> None:
    """WHAT, --loss and one flag for each approximation in the registry."""
    from blrgen.approximate import registry

    parser.add_argument("what", **{"metavar": "WHAT", "help": HELP, **positional})
    parser.add_argument("--loss", default=None, metavar="L", help=LOSS)
    parser.add_argument(
        "--insert",
        action="append",
        default=[],
        metavar="AFTER:FLAG[=OPTION]",
        help="put an approximation into a recipe's road, behind its AFTER; may be repeated",
    )
    parser.set_defaults(approximations=[])
    group = parser.add_argument_group(
        "approximations", "flags, applied in the order given: see `blrgen list approximations`"
    )
    for info in registry().values():
        action = group.add_argument(
            f"--{info.flag}",
            action=Approximate,
            nargs=0 if info.options is None else None,
            default=argparse.SUPPRESS,
            dest="approximations",
            metavar=metavar(info),
            help=argparse.SUPPRESS,  # they are too many for a screen
        )
        if isinstance(info.options, tuple):
            action.values = info.options  # type: ignore[attr-defined]


def metavar(info: Approximation) -> str:
    """The values of an approximation's flag, as help and lists show them."""
    return (
        "|".join(info.options) if isinstance(info.options, tuple) else (info.options or "").upper()
    )


def add_size(parser: Parser) -> None:
    """--size NAME=N."""
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="NAME=N",
        help="vectors and matrices of this size, at most 8, every entry written out",
    )


def sizes(pairs: list[str]) -> dict[str, int]:
    """NAME=N, … as a mapping; whether a rule has such sizes is seen later."""
    found: dict[str, int] = {}
    for pair in pairs:
        name, equals, number = (x.strip() for x in pair.partition("="))
        if not (equals and name.isidentifier() and number.isascii() and number.isdigit()):
            raise UserError(f"{pair!r} is not NAME=N", where="--size", how="for example --size d=4")
        if name in found:
            raise UserError(f"{name} is given twice", where="--size")
        found[name] = int(number[:6])
    return found


def derived(options: argparse.Namespace) -> Derivation:
    """The derivation that the command line asks for; a recipe's own approximations come first."""
    from blrgen.api import derive
    from blrgen.read.what import both

    if options.loss is not None and not options.loss.strip():
        raise UserError(
            "the loss is empty", where="--loss", how="leave --loss out for an abstract loss"
        )
    if both(options.what):
        note(f"{options.what} is a recipe here; the family of that name is family:{options.what}")
    return derive(
        options.what, options.approximations, loss=options.loss or "", insert=options.insert
    )
