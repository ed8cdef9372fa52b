"""Matrix rules at every size at once: words in place of entries, where the code is simple."""

from __future__ import annotations

from typing import Any

from blrgen.decide.equal import equal
from blrgen.validate.reading.branches import paths
from blrgen.validate.reading.entries import ROWS, Words
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.signals import NeedsSizes, Refused
from blrgen.validate.reading.values import Tensor


def every_size(judge: Any, out: Any) -> None:
    """Words in place of sizes, where the code is simple enough."""
    made = Words(judge.rule, judge.graph)
    symbols = {q.name: q.symbol for q in judge.rule.quantities if q.rank not in ROWS}

    def start(given: list[bool]) -> Machine:
        mc: Machine = judge.reading.machine(generic=True, given=given, decide=judge.decide)
        mc.symbols = symbols
        return mc

    try:
        found = list(paths(start, lambda mc: judge.reading.call(mc, made)))
    except (NeedsSizes, Refused, KeyError):
        return
    if len(found) != 1 or found[0].raised is not None:
        return
    for n in judge.reading.matching.states:
        x = found[0].result.values[n]
        rank = 1 if judge.rule[n].rank == "vector" else 2
        if isinstance(x, Tensor) and x.rank == rank:
            proof = equal(x.expr, judge.next[n], judge.domains, claim=f"{n}_next")
            if proof.level == "identity":
                out.proofs[n] = [proof]
