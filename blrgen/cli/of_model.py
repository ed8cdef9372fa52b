"""Commands on a model's text: `check FILE.model`, `derive FILE.model`, `verify FILE.model`."""

from __future__ import annotations

import argparse
import sys

from blrgen.cli.algorithms import algorithm, any_algorithm, chosen_options
from blrgen.cli.output import coloured, plain, report, result, result_as_json
from blrgen.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from blrgen.read.model.values import Model


def check(options: argparse.Namespace) -> int:
    """Every mistake at its place, or every statement with the names of its arguments."""
    from blrgen.read.model.find import examine_file
    from blrgen.show.model import checked_json, checked_text

    name, model, mistakes, findings = examine_file(options.file)
    if model is not None and (options.data or options.set):
        from blrgen.read.model.data import check_data
        from blrgen.read.model.given import given_data

        given = given_data(options.data, options.set)
        more, said = check_data(model, given)
        mistakes, findings = (*mistakes, *more), (*findings, *said)
    if options.format == "json":
        result_as_json(checked_json(name, mistakes, findings))
    elif mistakes:
        for mistake in mistakes:
            report(mistake.error(options.file).render())
    else:
        assert model is not None
        result(plain(checked_text(model, findings)))
    return UserError.exit_code if mistakes else 0


def derive_algorithm(model: Model, options: argparse.Namespace) -> int:
    """The algorithm that a flag names, block by block."""
    from blrgen.rule.model.derive import derive_model

    derivation = derive_model(model, algorithm(options), chosen_options(options))
    if options.format == "json":
        from blrgen.show.model_derivation import derivation_json

        result_as_json(derivation_json(derivation))
    else:
        from blrgen.show.model_page import derivation_text

        result(derivation_text(derivation, colour=coloured(sys.stdout)))
    return 0


def derive(options: argparse.Namespace) -> int:
    """The graph of a model; with a flag its algorithm."""
    from blrgen.read.model.find import read_file
    from blrgen.read.model.outline import outline
    from blrgen.show.model import outline_text

    if options.approximations or options.loss is not None or options.insert:
        raise UserError(
            "approximations and losses belong to a family or a recipe", where=options.what,
            why="a model states its own log joint",
            how=f"blrgen derive {options.what}",
        )  # fmt: skip
    if options.format not in ("text", "json"):
        raise UserError(f"a model's graph has no format {options.format!r}", how="text or json")
    model = read_file(options.what)
    if any_algorithm(options):
        return derive_algorithm(model, options)
    if options.format == "json":
        result_as_json(outline(model))
    else:
        result(plain(outline_text(model)))
    return 0


def verify(options: argparse.Namespace) -> int:
    """What is proved of a model's algorithm, and what is only equal in numbers."""
    from blrgen.cli.fit import derived
    from blrgen.validate.model.report import verify_model

    if options.against or options.map or options.size or options.function != "step":
        raise UserError(
            "--against, --map, --function and --size are for rules", where=options.what,
            why="a model's algorithm is held against its own log joint",
            how=f"blrgen verify {options.what} --{algorithm(options)}",
        )  # fmt: skip
    found = verify_model(derived(options))
    if options.format == "json":
        from blrgen.validate.as_json import as_data

        result_as_json(as_data(options.what, "", found))
        return found.exit_code
    from blrgen.show import render_proof
    from blrgen.show.derivation import COLUMNS
    from blrgen.text.table import wrap

    blocks = [f"{title}\n{render_proof(verdict, colour=coloured(sys.stdout))}"
              for title, verdict in found.parts]  # fmt: skip
    result("\n".join([*blocks, *("\n".join(wrap(x, COLUMNS)) + "\n" for x in found.notes)]))
    return found.exit_code
