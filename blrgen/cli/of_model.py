"""Commands on a model's text: `check FILE.model`, `derive FILE.model`."""

from __future__ import annotations

import argparse

from blrgen.cli.output import plain, report, result, result_as_json
from blrgen.errors import UserError


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


def derive(options: argparse.Namespace) -> int:
    """The graph of a model."""
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
    if options.format == "json":
        result_as_json(outline(model))
    else:
        result(plain(outline_text(model)))
    return 0
