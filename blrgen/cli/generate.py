"""Write the derived rule as one source file that stands alone.

The file holds the derived equations, a kernel and a small class (step,
posterior, sample, state_dict); it does not import blrgen.

  blrgen generate adam --target numba --dtype float32 -o adam.py
"""

from __future__ import annotations

import argparse
import sys

from blrgen.cli.algorithms import add_algorithms, refuse_algorithms
from blrgen.cli.output import note, result, save
from blrgen.cli.parser import OneOf, Parser
from blrgen.cli.what import add_size, add_what, derived, sizes
from blrgen.errors import UserError


def configure(parser: Parser) -> None:
    """WHAT, approximations, --target, --dtype, --noise, --size and -o."""
    from blrgen.emit import DTYPES, GENERATORS
    from blrgen.emit.targets import TARGETS

    add_what(parser)
    add_algorithms(parser)
    parser.add_argument(
        "--target", action=OneOf, values=TARGETS, default="numba", help="numba if absent"
    )
    parser.add_argument(
        "--dtype", action=OneOf, values=DTYPES, help="the class takes both if absent"
    )
    parser.add_argument(
        "--noise",
        action=OneOf,
        values=GENERATORS,
        help="how compiled code makes random numbers: threefry if absent; hash is faster, "
        "its quality measured but not published",
    )
    add_size(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="standard output if absent"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE whatever it holds")


def run(options: argparse.Namespace) -> int:
    """Print the source, or save it without losing what is there."""
    if options.force and options.output == "-":
        raise UserError(
            "--force is for a file", where="blrgen generate", why="nothing is replaced on standard "
            "output", how="add -o FILE, or leave --force out",
        )  # fmt: skip
    source = of_model(options) if options.what.endswith(".model") else of_rule(options)
    if options.output == "-":
        result(source)
    elif save(options.output, source, force=options.force):
        note(f"wrote {options.output}")
    else:
        note(f"{options.output} is up to date")
    if options.output != "-" and hides(options.output):
        name = options.output.rsplit("/", 1)[-1].removesuffix(".py")
        note(
            f"warning: {options.output} hides the installed module {name} from programs beside it; "
            f"another name, such as my_{name}.py, does not"
        )
    return 0


def of_rule(options: argparse.Namespace) -> str:
    """The file of a family's or a recipe's rule."""
    refuse_algorithms(options)
    derivation = derived(options)
    from blrgen.emit import emit

    return emit(
        derivation,
        target=options.target,
        dtype=options.dtype,
        noise=options.noise,
        sizes=sizes(options.size),
    )


def of_model(options: argparse.Namespace) -> str:
    """The file of a model's algorithm."""
    from blrgen.cli.fit import derived as derived_model
    from blrgen.emit.model.file import text
    from blrgen.program.model.lower import lower

    return text(lower(derived_model(options)), options.target, options.dtype or "")


def hides(path: str) -> bool:
    """Whether a file has the name of a module that Python finds elsewhere than beside it."""
    from importlib.machinery import PathFinder
    from pathlib import Path

    file = Path(path)
    if file.suffix != ".py":
        return False
    if file.stem in (*sys.builtin_module_names, *sys.stdlib_module_names):
        return True
    here = {file.parent.resolve(), Path.cwd()}
    elsewhere = [x for x in sys.path if x and Path(x).resolve() not in here]
    return file.stem.isidentifier() and PathFinder.find_spec(file.stem, elsewhere) is not None
