"""Working ↔ natural: solved in both directions, round trip, images inside the domains."""

from __future__ import annotations

from blrgen.check.context import Context

NAME = "charts"
NEEDS: tuple[str, ...] = ()


def run(context: Context) -> tuple[str, str]:
    """The chart of every natural parameter."""
    from blrgen.geometry.charts import charts

    forward, _ = charts(context.family, context.ring)
    if context.family.simplex:
        from blrgen.geometry.simplex import of_natural

        pairs = ", ".join(f"{k} = {v}" for k, v in of_natural(context.family))
        return "identity", f"{pairs}: the sum is 1, and back"
    if not context.family.working:
        return "identity", "none declared: the natural parameters are the coordinates"
    pairs = ", ".join(f"{k} = {v}" for k, v in forward.items())
    return "identity", f"{pairs}, and back"
