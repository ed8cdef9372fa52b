"""Which letter is outside of which: one order for all loops of a program.

Letters of recurrences come first, as they are nested.  The others vote: in every reference and
on every left side an earlier index wants to be outside of a later one, so that memory is passed
over in its order.  Where they are even, what is reduced goes inside.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def order(program: a.Program) -> tuple[str, ...]:
    """All letters, outermost first."""
    sequential = tuple(dict.fromkeys(s.letter for s in a.recurrences(program.body)))
    votes: Counter[tuple[str, str]] = Counter()
    reduced: Counter[str] = Counter()
    for s in program.lets:
        _vote([[x] for x in s.letters], votes)
        for e in (*s.expressions, *s.at):
            for x in n.walk(e):
                if isinstance(x, a.Ref):
                    _vote([a.free(i) for i in x.index], votes)
                elif isinstance(x, a.Red):
                    reduced.update(x.letters)
    rest = [x.name for x in program.letters if x.name not in sequential]
    return (*sequential, *_ranked(rest, votes, reduced))


def _vote(places: list[tuple[str, ...]] | list[list[str]], votes: Counter[tuple[str, str]]) -> None:
    for earlier, later in combinations(places, 2):
        votes.update((x, y) for x in earlier for y in later if x != y)


def _ranked(
    letters: list[str], votes: Counter[tuple[str, str]], reduced: Counter[str]
) -> tuple[str, ...]:
    """Again and again the letter that fewest of those that are left are to be outside of.

    Of several, the one that is to be outside of most.
    """
    left, out = list(letters), list[str]()
    while left:

        def won(x: str) -> tuple[int, int, int, int]:
            margins = [votes[x, y] - votes[y, x] for y in left]
            losses = sum(m < 0 for m in margins)
            return -losses, sum(m > 0 for m in margins), -reduced[x], -letters.index(x)

        best = max(left, key=won)
        out.append(best)
        left.remove(best)
    return tuple(out)
