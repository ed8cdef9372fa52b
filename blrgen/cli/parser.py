"""An argument parser that suggests: the nearest flag, the nearest value, in our own words."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from blrgen.cli.output import result
from blrgen.errors import UserError, did_you_mean

_NUMBER = re.compile(r"-\d|-\.\d")


def columns() -> int:
    """The terminal's width; argparse's own way to ask for it imports a dozen modules."""
    try:
        return max(40, int(os.environ.get("COLUMNS", "")))
    except ValueError:
        pass
    try:
        return max(40, min(100, os.get_terminal_size(1).columns))
    except (OSError, ValueError):
        return 80


class HelpShown(Exception):
    """Help was asked for and printed: nothing more is to be done."""


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help text that keeps our line breaks."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=columns() - 2)


class Parser(argparse.ArgumentParser):
    """Flags by their full names; a mistake is a UserError with the nearest known word."""

    def __init__(
        self, prog: str, description: str | None, *, usage: str | None = None, epilog: str = ""
    ) -> None:
        super().__init__(
            prog=prog,
            description=(description or "").strip(),
            usage=usage,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=Formatter,
        )

    def error(self, message: str) -> NoReturn:
        """Say what is wrong as every other mistake is said."""
        raise UserError(message, where=self.prog, how=f"see `{self.prog} --help`")

    def print_help(self, file: Any = None) -> None:
        """As any other result: a closed standard output is a mistake."""
        result(self.format_help())

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Leave after --help by an exception of our own: no other SystemExit may mean success."""
        raise HelpShown

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse, with unknown flags named before anything else is complained about."""
        options, surplus = self.parse_known_args(self._joined(argv))
        if surplus:
            raise UserError(
                f"unexpected argument {surplus[0]!r}",
                where=self.prog,
                how=f"see `{self.prog} --help`",
            )
        return options

    def _joined(self, argv: Sequence[str]) -> list[str]:
        """`--flag value` as `--flag=value`, so that a value may begin with a dash."""
        words = list(argv)
        joined: list[str] = []
        while words:
            word = words.pop(0)
            if word == "--":
                return [*joined, word, *words]
            flag, equals, _ = word.partition("=")
            if not flag.startswith("-") or word == "-" or _NUMBER.match(word):
                joined.append(word)
                continue
            action = self._option_string_actions.get(flag)
            if action is None:
                raise UserError(
                    f"unknown option {flag!r}",
                    where=self.prog,
                    how=did_you_mean(flag[:80], self._option_string_actions),
                )
            if action.nargs != 0 and not equals:
                word = self._with_value(flag, action, words)
            joined.append(word)
        return joined

    def _with_value(self, flag: str, action: argparse.Action, words: list[str]) -> str:
        known = self._option_string_actions
        if words and words[0].partition("=")[0] not in known:
            return f"{flag}={words.pop(0)}"
        choices = getattr(action, "values", ())
        raise UserError(
            f"{flag} needs a value",
            where=self.prog,
            how="one of: " + ", ".join(choices) if choices else f"see `{self.prog} --help`",
        )


class OneOf(argparse.Action):
    """A flag with a closed list of values."""

    def __init__(self, *args: Any, values: Sequence[str], **kwargs: Any) -> None:
        self.values = tuple(values)
        kwargs.setdefault("metavar", "|".join(values))
        if kwargs.get("default"):
            kwargs.setdefault("help", "%(default)s if absent")
        super().__init__(*args, **kwargs)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store a known value."""
        known_value(option_string or self.dest, values, self.values, parser.prog)
        setattr(namespace, self.dest, values)


def add_format(parser: argparse.ArgumentParser, values: Sequence[str]) -> None:
    """--format, text if absent, and --json for short."""
    parser.add_argument(
        "--format", action=OneOf, values=values, default="text", help="text if absent"
    )
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="--format json for short"
    )


def known_value(flag: str, value: str, values: Sequence[str], where: str) -> None:
    """Refuse a value that is not in the list, with the nearest that is."""
    if value not in values:
        raise UserError(
            f"{flag} has no value {value!r}", where=where, how=did_you_mean(value[:80], values)
        )
