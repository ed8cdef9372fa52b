"""What a refusal proposes is tried before it is printed.

A hint names flags or a candidate: "--relax first", "put --prior before --retraction", "drop
--delta, or use --hessian squared-gradient", "a candidate with a scale, such as
gaussian-diag".  Each of its alternatives is carried out on the road that was refused, in the
few ways in which it can be meant; what derives in none of them is not said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from blrgen.approximate.tools.base import registry
from blrgen.core import Loss
from blrgen.errors import NotApplicable, UserError
from blrgen.read.family import list_families

Request = tuple[str, str | None]
Road = tuple[Request, ...]
Derives = Callable[[str, Road], object]
_FLAG = re.compile(r"--([a-z][a-z-]*[a-z])(?: ([a-z0-9][a-z0-9:/.-]*))?")


def with_tried_hint(refused: NotApplicable, family: str, road: Road, derives: Derives) -> None:
    """Leave of the hint what has been seen to work behind `road`, whose last flag was refused."""
    if not refused.how:
        return
    kept = [x for x in refused.how.split(", or ") if _works(x, family, road, derives)]
    refused.how = ", or ".join(kept)
    refused.args = (refused.render(),)


def with_ways_around(
    refused: UserError, road: Road, derives: Callable[[Road, Loss | None], object]
) -> None:
    """What can be asked for where an expectation is infinite, each way as far as it derives."""
    ways: tuple[tuple[str, Road, Loss | None], ...] = (
        ("--delta, which asks for the loss at the mean alone", (("delta", None), *road), None),
        ("no --loss, with the expectations given to the step wherever they are finite", road,
         Loss()),
    )  # fmt: skip
    for words, other, loss in ways:
        try:
            derives(other, loss)
        except UserError:
            continue
        refused.how += f", or {words}"
    refused.args = (refused.render(),)


def _works(words: str, family: str, road: Road, derives: Derives) -> bool:
    """Whether one of the roads that the words may mean can be derived; what names none stands."""
    meant = list(_meant(words, family, road))
    for what, other in meant:
        try:
            derives(what, other)
        except UserError:
            continue
        return True
    return not meant


def _meant(words: str, family: str, road: Road) -> Iterator[tuple[str, Road]]:
    """The roads that the words may mean, as (family, flags)."""
    *before, refused = road
    named = list(_named(words))
    others = [r for r in named if r[0] != refused[0]]
    for word in re.findall(r"[a-z]+(?:-[a-z]+)+|[a-z]+$", words):
        if word in list_families() and word != family:
            yield word, road
    if any(flag == refused[0] for flag, _ in named):
        if (again := next(r for r in named if r[0] == refused[0]))[1] is not None:
            yield family, (*before, again)
        for k in reversed(range(len(before))):
            yield family, (*before[:k], refused, *before[k:])
    if words.startswith("drop "):
        gone = {flag for flag, _ in others}
        yield family, tuple(r for r in road if r[0] not in gone)
    elif "before" in words:  # put --prior before it: what stands before the refused flag
        for k in reversed(range(len(before))):
            yield family, (*before[:k], refused, *before[k:])
    for k in reversed(range(len(before) + 1)):
        for request in others:
            yield family, (*before[:k], request, *before[k:], refused)
    for request in others:
        yield family, (*before, request)


def _named(words: str) -> Iterator[Request]:
    """The flags in a hint, each with the option that is said, or that it takes."""
    for flag, option in _FLAG.findall(words):
        known = registry().get(flag)
        if known is None:
            continue
        if known.options is None:
            yield flag, None
        elif isinstance(known.options, tuple):
            yield flag, option if option in known.options else known.options[0]
        elif option:
            yield flag, option
