"""What an approximation is: a value with a name, what it rewrites, when, and from where.

One module of the folder above is one approximation, `APPROXIMATION`.  Nothing here imports
SymPy, so that the command line can list them cheaply; `apply` imports what it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blrgen.core import Derivation

Apply = Callable[["Derivation", str | None], "Derivation"]


@dataclass(frozen=True)
class Approximation:
    """A named rewriting of a derivation."""

    flag: str
    summary: str  # one line: the explanation that appears in a derivation
    rewrites: str  # what is replaced by what
    requires: str  # the condition; checked by `apply`, which refuses with a reason
    citation: str
    apply: Apply
    options: tuple[str, ...] | str | None = None  # None: bare; a tuple: choices; "value": any
    stated: tuple[str, ...] = ()  # options that may say what the rule does anyway


@cache
def registry() -> dict[str, Approximation]:
    """flag → approximation, from the modules of the folder above, sorted by flag."""
    from importlib import import_module
    from pathlib import Path

    here = Path(__file__).parents[1]
    names = sorted(p.stem for p in here.glob("[!_]*.py"))
    found = [import_module(f"blrgen.approximate.{n}").APPROXIMATION for n in names]
    return {a.flag: a for a in sorted(found, key=lambda a: a.flag)}


def parse_request(text: str) -> tuple[str, str | None]:
    """Flag and option: hessian=reparam → ("hessian", "reparam"), delta → ("delta", None)."""
    flag, equals, option = text.strip().removeprefix("--").partition("=")
    return flag.strip(), (option.strip() if equals else None)


def made(d: Derivation, flag: str, *options: str | None) -> bool:
    """Whether an approximation has been made, with one of the options where some are given."""
    own = registry()[flag]  # a misspelled name is an error, not the answer no
    return any(f == own.flag and (not options or o in options) for f, o in d.approximations)


def check_request(flag: str, option: str | None) -> Approximation:
    """The approximation named by a flag, its option checked."""
    from blrgen.errors import UserError, did_you_mean

    known = registry()
    if flag not in known:
        raise UserError(f"unknown approximation {flag!r}", how=did_you_mean(flag, known))
    a = known[flag]
    if a.options is None and option is not None:
        raise UserError(f"--{flag} takes no value, got {option!r}", how=f"--{flag}")
    if a.options is not None and option is None:
        choice = "|".join(a.options) if isinstance(a.options, tuple) else "VALUE"
        raise UserError(f"--{flag} needs a value", how=f"--{flag} {choice}")
    if isinstance(a.options, tuple) and option not in a.options:
        raise UserError(
            f"--{flag} {option!r} is not known", how=did_you_mean(str(option), a.options)
        )
    return a
