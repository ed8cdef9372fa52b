"""Commands on a model's text: `check FILE.model`, `derive FILE.model`."""

from __future__ import annotations

import argparse

from blrgen.cli.algorithms import algorithm, any_algorithm, words
from blrgen.cli.output import plain, report, result, result_as_json
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
    from blrgen.rule.model.derive import Options, derive_model
    from blrgen.show.model_derivation import derivation_json, derivation_text

    chosen = Options(
        words(options.point), tuple(words(b) for b in options.block), words(options.schedule)
    )
    derivation = derive_model(model, algorithm(options), chosen)
    if options.format == "json":
        result_as_json(derivation_json(derivation))
    else:
        result(plain(derivation_text(derivation)))
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
