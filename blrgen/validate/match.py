"""Which argument of a step function is which quantity of a rule, and what it gave back."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blrgen.core import Rule
from blrgen.errors import UserError, did_you_mean

KINDS = ("state", "input", "draw", "hyper", "data", "counter")


@dataclass(frozen=True)
class Matching:
    """argument → quantity name, for those that have one; `states` in the order of the arguments."""

    arguments: tuple[tuple[str, str], ...]
    states: tuple[str, ...]
    missing: tuple[str, ...]  # quantities without an argument

    def left_out(self, rule: Rule) -> tuple[str, ...]:
        """The states of the rule that are no argument."""
        return tuple(q.name for q in rule.of("state") if q.name not in self.states)

    @property
    def names(self) -> dict[str, str]:
        return dict(self.arguments)


def match(
    parameters: Mapping[str, Any], rule: Rule, mapping: Mapping[str, str], function: str, path: str
) -> Matching:
    """Match the function's arguments to the rule by name, or by the mapping."""
    known = {q.name: q for q in rule.quantities if q.kind in KINDS}
    probes = {a.name for a in rule.assignments if a.stage in ("draw", "estimate")}
    known_names = [*known, *sorted(probes - set(known))]
    _check_mapping(parameters, known_names, mapping, function, path)
    pairs = []
    for argument, default in parameters.items():
        ours = mapping.get(argument, argument)
        if ours in known_names:
            pairs.append((argument, ours))
        elif default is inspect.Parameter.empty:
            raise UserError(
                f"{function} has an argument {argument!r} that the rule does not know",
                where=path, why=f"the rule has {', '.join(known_names)}",
                how=f"{did_you_mean(argument, known_names)}  --map {argument}=OURS",
            )  # fmt: skip
    taken = [ours for _, ours in pairs]
    for name in taken:
        if taken.count(name) > 1:
            raise UserError(
                f"two arguments of {function} stand for {name}", where=path,
                how="map each argument to a name of its own",
            )  # fmt: skip
    states = tuple(n for n in taken if n in known and known[n].kind == "state")
    if not states:
        have = ", ".join(q.name for q in rule.of("state"))
        raise UserError(
            f"{function} takes none of the rule's states", where=path,
            why=f"the rule updates {have}", how=f"--map THEIRS={have.split(', ')[0]}",
        )  # fmt: skip
    return Matching(tuple(pairs), states, tuple(n for n in known if n not in taken))


def _check_mapping(
    parameters: Mapping[str, Any],
    known: list[str],
    mapping: Mapping[str, str],
    function: str,
    path: str,
) -> None:
    for theirs, ours in mapping.items():
        if theirs not in parameters:
            raise UserError(
                f"--map {theirs}={ours}: {function} has no argument {theirs!r}", where=path,
                how=did_you_mean(theirs, parameters),
            )  # fmt: skip
        if ours not in known:
            raise UserError(
                f"--map {theirs}={ours}: the rule has no {ours!r}", where=path,
                how=did_you_mean(ours, known),
            )  # fmt: skip


def without(function: str, states: Sequence[str]) -> str:
    """The note on states that are no argument of the function."""
    return f"not compared, as {function} has no argument for it: {', '.join(states)}"


def outcome(
    returned: Any,
    after: Mapping[str, Any],
    changed: Mapping[str, bool],
    matching: Matching,
    function: str,
) -> dict[str, Any]:
    """State → its new value, from what was returned or from the arrays after the call."""
    states = matching.states
    if returned is None:
        if not any(changed[n] for n in states):
            raise UserError(
                f"{function} returns nothing and changes none of its arguments",
                how=f"return the next {', '.join(states)} or update the arrays in place",
            )
        return {n: after[n] for n in states}
    named_tuple = isinstance(returned, tuple) and hasattr(returned, "_asdict")
    if isinstance(returned, dict) or named_tuple:
        named = returned if isinstance(returned, dict) else returned._asdict()
        found = _by_name(named, matching)
        if found or isinstance(returned, dict):
            if not found:
                raise UserError(
                    f"the dictionary {function} returns has none of the states as keys",
                    why="its keys are " + ", ".join(map(str, named)),
                    how="use " + ", ".join(states),
                )
            return {n: found.get(n, after[n]) for n in states}
    several = isinstance(returned, tuple) or (isinstance(returned, list) and len(states) > 1)
    values = list(returned) if several else [returned]
    if len(values) == len(states):
        return dict(zip(states, values, strict=True))
    rest = [n for n in states if not changed[n]]
    if len(values) == len(rest):
        return {**{n: after[n] for n in states}, **dict(zip(rest, values, strict=True))}
    raise UserError(
        f"{function} returns {len(values)} values for {len(states)} states",
        why=f"its state arguments are {', '.join(states)}",
        how="return one next value a state, in the order of the arguments",
    )


def _by_name(named: Mapping[Any, Any], matching: Matching) -> dict[str, Any]:
    out = {}
    for theirs, ours in matching.arguments:
        for key in (ours, theirs, f"{ours}_next", f"{theirs}_next"):
            if key in named and ours in matching.states:
                out[ours] = named[key]
                break
    return out
