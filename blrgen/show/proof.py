"""What was proved, how, or where it fails: a report of a `Proof` or a `Verdict`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict, weakest
from blrgen.show.paint import Paint
from blrgen.text.escape import printable
from blrgen.text.names import unicode_name
from blrgen.text.table import pad, table, width, wrap

MEANING = {
    "identity": "proved: the difference is zero in normal form",
    "random-exact": "proved up to the stated bound: zero at random points in exact arithmetic",
    "numeric": "not a proof: equal in numbers at the points tried",
    NOT_COMPARED: "nothing was compared: no proof, no refutation",
    "refuted": "refuted: the two sides differ",
}
_STYLE = {
    "identity": "good", "random-exact": "good", "numeric": "mark", NOT_COMPARED: "mark",
    "refuted": "bad",
}  # fmt: skip


def render_proof(found: Proof | Verdict, *, columns: int = 88, colour: bool = False) -> str:
    """The report; the level first, then what it rests on, then the counterexample if any."""
    paint = Paint(colour)
    if isinstance(found, Verdict):
        return "\n".join(_verdict(found, columns, paint)) + "\n"
    return "\n".join(_proof(found, columns, paint)) + "\n"


def _verdict(found: Verdict, columns: int, paint: Paint) -> list[str]:
    lines = [paint(x, _STYLE[found.level]) for x in _hanging("", headline(found), columns)]
    if found.path:
        lines.append(f"file   {printable(found.path)}")
    if found.proofs and not _said(found):
        lines += ["", *_claims(found.proofs, columns)]
    worst = found.refutation
    if worst is not None:
        lines += ["", *_counterexample(worst, columns, paint)]
    lines += _place(found, paint)
    for note in found.notes:
        lines += ["", *_hanging("note   ", note, columns)]
    return lines


def headline(found: Verdict) -> str:
    """What the verdict is worth; claims and states that were not compared are named in it."""
    if found.level == "refuted":
        return MEANING["refuted"]
    compared = [p for _, p in found.proofs if p.level != NOT_COMPARED]
    if not compared:
        return f"nothing was compared: {_said(found)}" if _said(found) else MEANING[NOT_COMPARED]
    rest = MEANING[weakest(p.level for p in compared)]
    if found.not_compared:
        return (
            f"not a proof: {_listed(found.not_compared)} not compared; the rest is {_plain(rest)}"
        )
    if found.left_out:
        return f"{rest}; {_listed(found.left_out)} not compared"
    return rest


def _said(found: Verdict) -> str:
    """The one reason for which nothing was compared; "" where there are others or rows."""
    reasons = {p.detail if p.level == NOT_COMPARED else "" for _, p in found.proofs}
    return reasons.pop() if len(reasons) == 1 else ""


def _listed(names: Sequence[str]) -> str:
    """Names as the subject of a sentence about the past."""
    *first, last = map(unicode_name, names)
    return f"{', '.join(first)} and {last} were" if first else f"{last} was"


def _plain(meaning: str) -> str:
    """A meaning without its first words where "not a proof" has been said."""
    return meaning.removeprefix("not a proof: ")


def _claims(proofs: Sequence[tuple[str, Proof]], columns: int) -> list[str]:
    """A table of states; claims that are whole sentences stand above their level."""
    rows = [(unicode_name(name), p.level, p.bound or p.detail) for name, p in proofs]
    if max(width(name) for name, *_ in rows) <= columns // 4:
        return [table(rows, ("state", "level", "how"), columns=columns)]
    lines = []
    for name, level, how in rows:
        lines += _hanging("", name, columns)
        lines += _hanging("  ", f"{level}: {how}" if how else level, columns)
    return lines


def _place(found: Verdict, paint: Paint) -> list[str]:
    """The first line that differs, and what the rule has in its place."""
    if not found.source:
        return []
    where = f"line {found.line}" if found.line else "there"
    lines = ["", f"the first difference is at {where}"]
    lines.append("  " + paint("- " + printable(found.source.strip()), "bad"))
    if found.repair:
        lines.append("  " + paint("+ " + printable(found.repair.strip()), "good"))
    return lines


def _proof(p: Proof, columns: int, paint: Paint) -> list[str]:
    lines = [paint(MEANING[p.level], _STYLE[p.level])]
    lines += _hanging("claim  ", p.claim, columns) if p.claim else []
    lines += _hanging("how    ", p.detail, columns) if p.detail else []
    lines += _hanging("bound  ", p.bound, columns) if p.bound else []
    if p.level == "refuted":
        lines += ["", *_counterexample(p, columns, paint)]
    return lines


def _counterexample(p: Proof, columns: int, paint: Paint) -> list[str]:
    """The point, then both values with their first different digit marked."""
    lines: list[str] = []
    if p.point:
        lines.append("at the point")
        names = [(n, str(value)) for n, value in p.point]
        lines += ["  " + row for row in _assignments(names, columns - 2)]
    if p.left is None and p.right is None:
        return lines
    left, right = _value(p.left), _value(p.right)
    same = 0
    while same < min(len(left), len(right)) and left[same] == right[same]:
        same += 1
    lines += [f"  this gives      {left[:same]}{paint(left[same:], 'bad')}"]
    lines += [f"  the rule gives  {right[:same]}{paint(right[same:], 'good')}"]
    return lines


def _value(x: Any) -> str:
    """A value on one line, whatever its type."""
    return printable(" ".join(str(x).split()))


def _assignments(pairs: Sequence[tuple[str, str]], columns: int) -> list[str]:
    """Name = value pairs in as few lines as fit, each column aligned."""
    cells = [f"{printable(name)} = {printable(value)}" for name, value in pairs]
    widest = max(map(width, cells)) + 3
    per_line = max(1, columns // widest)
    rows = [cells[k : k + per_line] for k in range(0, len(cells), per_line)]
    return ["".join(pad(c, widest) for c in row).rstrip() for row in rows]


def _hanging(label: str, text: str, columns: int) -> list[str]:
    lines = wrap(printable(text), columns - len(label)) or [""]
    return [label + lines[0], *(" " * len(label) + x for x in lines[1:])]
