"""No combination of the statistics is constant on the support."""

from __future__ import annotations

from blrgen.check.context import Context

NAME = "minimality"
NEEDS: tuple[str, ...] = ()


def run(context: Context) -> tuple[str, str]:
    """The rank of 1 and the statistics at points of the support."""
    from blrgen.read.minimal import check_minimal

    source = context.source
    texts = source.table["statistics"]
    check_minimal(context.family, texts, source.line("statistics"))
    count = len(context.family.statistics)
    names = ", ".join(["1", *(" ".join(str(t).split()) for t in texts)])
    return "identity", f"{names}: rank {count + 1} on the support, no relation between them"
