"""Prove or refute: a derivation against its hand-written reference, or code against a rule.

For WHAT, the derived rule is held against the reference of that name (or the one
that --against names), and the emitted sources against the derived rule.  For
FILE.py, the file's step function is held against the rule that --against names.

  blrgen verify adam
  blrgen verify my_step.py --against adam --map lr=alpha
  blrgen verify lda.model --svi

exit code: 0 proved · 1 refuted · 3 neither: equal in numbers only, or not compared · 2 a
mistake in what was asked
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from blrgen.cli.algorithms import add_algorithms, refuse_algorithms
from blrgen.cli.output import coloured, result, result_as_json
from blrgen.cli.parser import Parser, add_format
from blrgen.cli.what import add_size, add_what, derived, sizes
from blrgen.errors import UserError

if TYPE_CHECKING:
    from blrgen.core import Derivation, Rule
    from blrgen.decide.proof import Verdict
    from blrgen.validate.derivation import Report

PROGRAM = "blrgen verify"


def configure(parser: Parser) -> None:
    """WHAT or FILE.py, --against, --function and --map."""
    add_what(parser, metavar="WHAT|FILE.py", help="what to derive, or a file with a step function")
    parser.add_argument("--against", default="", metavar="NAME", help="what it is held against")
    parser.add_argument(
        "--function", default="step", metavar="NAME", help="the function in FILE.py; step if absent"
    )
    add_format(parser, ("text", "json"))
    add_size(parser)
    add_algorithms(parser)
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="THEIRS=OURS",
        help="what an argument of the function is called in the rule; may be repeated",
    )


def run(options: argparse.Namespace) -> int:
    """Print what was found; the weakest level is the exit code."""
    if options.what.endswith(".model"):
        from blrgen.cli.of_model import verify as verify_model

        return verify_model(options)
    if options.against.endswith(".model"):
        raise UserError(
            "a file is not held against a model", where=PROGRAM,
            why="the class of a model is proved as it is emitted, not read from a file",
            how=f"{PROGRAM} {options.against} with the same flags, which runs what is emitted",
        )  # fmt: skip
    refuse_algorithms(options)
    mapping = names(options.map)
    asked, against = options.what, options.against
    report = _file(options, mapping) if options.what.endswith(".py") else _derived(options)
    if options.format == "json":
        from blrgen.validate.as_json import as_data

        result_as_json(as_data(asked, against, report))
        return report.exit_code
    from blrgen.show import render_proof
    from blrgen.show.derivation import COLUMNS
    from blrgen.text.table import wrap

    colour = coloured(sys.stdout)
    blocks = [
        (f"{title}\n" if title else "") + render_proof(verdict, colour=colour)
        for title, verdict in report.parts
    ]
    result("\n".join([*blocks, *("\n".join(wrap(x, COLUMNS)) + "\n" for x in report.notes)]))
    return report.exit_code


def names(pairs: list[str]) -> dict[str, str]:
    """THEIRS=OURS, ... as a mapping."""
    found: dict[str, str] = {}
    for pair in pairs:
        theirs, equals, ours = (x.strip() for x in pair.partition("="))
        if not (equals and theirs.isidentifier() and ours.isidentifier()):
            raise UserError(
                f"{pair!r} is not THEIRS=OURS", where="--map", how="for example --map lr=alpha"
            )
        if theirs in found:
            raise UserError(f"{theirs} is mapped twice", where="--map")
        found[theirs] = ours
    return found


def _file(options: argparse.Namespace, mapping: dict[str, str]) -> Report:
    """Somebody's step function, or a generated class perhaps edited since, against a rule."""
    if options.size:
        raise UserError(
            "--size is for WHAT", where=PROGRAM, why="a file says itself for which sizes it is"
        )
    if not options.against:
        raise UserError(
            "against what?", where=PROGRAM, how="add --against NAME, for example --against adam"
        )
    file, options.what = options.what, options.against
    derivation = derived(options)
    if derivation.mixture is not None:
        raise UserError(
            "a file is not held against a mixture", where=PROGRAM,
            why="what it computes from all components at once is not read yet",
            how=f"{PROGRAM} {options.what}, which runs what is emitted",
        )  # fmt: skip
    rule = derivation.rule
    from blrgen.validate.derivation import Report
    from blrgen.validate.verify_file import verify_file

    source = "" if mapping or options.function != "step" else _class_source(file)
    if source:
        from blrgen.validate.outline import class_name

        title = f"the class {class_name(source)} in {file}"
        verdict = _with_the_rest(_emitted(file, source, rule), source, derivation)
        return Report(((title, verdict),), _inputs(rule))
    verdict = verify_file(file, rule, function=options.function, mapping=mapping)
    return Report((("", verdict),), _inputs(rule))


def _class_source(file: str) -> str:
    """The text of a file that has a class with a `step` and no function of that name."""
    import ast

    from blrgen.limits import CODE_BYTES
    from blrgen.paths import text_of

    try:
        source = text_of(file, CODE_BYTES)
        body = ast.parse(source).body
    except (UserError, ValueError, SyntaxError, RecursionError, MemoryError):
        return ""  # whoever reads it as a step function says what is wrong with it
    if any(isinstance(n, ast.FunctionDef) and n.name == "step" for n in body):
        return ""
    classes = [n for n in body if isinstance(n, ast.ClassDef)]
    methods = {m.name for c in classes for m in c.body if isinstance(m, ast.FunctionDef)}
    return source if "step" in methods else ""


def _emitted(file: str, source: str, rule: Rule) -> Verdict:
    from blrgen.errors import InternalError
    from blrgen.validate.emitted import verify_emitted
    from blrgen.validate.misfit import not_run, tried
    from blrgen.validate.symbolic.number import CannotRun

    try:
        return tried(lambda: verify_emitted(source, rule))
    except CannotRun as trouble:
        return not_run(source, rule, trouble)
    except InternalError as trouble:
        raise UserError(
            "this class cannot be run on symbols",
            where=file,
            why=str(trouble),
            how="write its update as a function `step` in the rule's names",
        ) from trouble


def _with_the_rest(verdict: Verdict, source: str, derivation: Derivation) -> Verdict:
    """Of an emitted file all is told, or named: what one step shows is not the whole file.

    It is run last, so that only text that is emitted is run.
    """
    from dataclasses import replace

    from blrgen.validate.stepped import unsteppable
    from blrgen.validate.very_text import untold

    if not verdict.proved:
        return verdict
    rest = untold(source, derivation) or unsteppable(source, derivation)
    return replace(verdict, proofs=(*verdict.proofs, *rest))


def _derived(options: argparse.Namespace) -> Report:
    """A derivation against its reference, and what is emitted for it."""
    if options.map or options.function != "step":
        raise UserError(
            "--map and --function are for a FILE.py",
            where=PROGRAM,
            how=f"{PROGRAM} FILE.py --against {options.what}",
        )
    derivation = derived(options)
    from dataclasses import replace

    from blrgen.validate.derivation import Report, verify_derivation

    report = verify_derivation(derivation, against=options.against, sizes=sizes(options.size))
    # The title names the reference; where its file is installed is of no interest here.
    parts = tuple((title, replace(verdict, path="")) for title, verdict in report.parts)
    notes = report.notes if parts else (*report.notes, "nothing was compared, no proof")
    return Report(parts, (*notes, *_inputs(derivation.rule)))


def _inputs(rule: Rule) -> tuple[str, ...]:
    """What the rule's inputs are, which a proof takes as given."""
    return tuple(f"{q.name} is {q.meaning}" for q in rule.of("input"))
