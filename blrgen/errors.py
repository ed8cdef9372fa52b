"""What can go wrong, in two kinds: the user's input, and ourselves.

A `UserError` is shown as four short answers (what, where, why, how) and ends
with exit code 2; an `InternalError` is a bug in blrgen and says so.
"""

from __future__ import annotations

from collections.abc import Iterable


class UserError(Exception):
    """Something the user wrote cannot be used; the message says what to do instead."""

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", why: str = "", how: str = "") -> None:
        self.what, self.where, self.why, self.how = what, where, why, how
        super().__init__(self.render())

    def render(self) -> str:
        rows = [self.what]
        rows += [
            f"  {label}: {text}"
            for label, text in (("where", self.where), ("why", self.why), ("instead", self.how))
            if text
        ]
        return "\n".join(rows)


class NotApplicable(UserError):
    """An approximation whose condition does not hold here."""


class SpaceError(UserError):
    """A sum or step that mixes coordinate spaces."""


class InternalError(Exception):
    """A broken promise inside blrgen itself."""


class Guess(str):
    """A hint that proposes other words for one; what can be tried is, before it is printed."""

    word: str
    close: tuple[str, ...]

    @classmethod
    def of(cls, word: str, close: Iterable[str]) -> Guess:
        """The sentence."""
        close = tuple(close)
        made = cls("did you mean " + " or ".join(repr(c) for c in close) + "?" if close else "")
        made.word, made.close = word, close
        return made


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The closest known words as a sentence, or the whole list when none is close."""
    from difflib import get_close_matches

    names = sorted(known)
    close = get_close_matches(word, names, n=3, cutoff=0.55)
    return Guess.of(word, close) if close else "known: " + ", ".join(names)


class TooLarge(InternalError):
    """A result that exists and would be too long to be of use."""
