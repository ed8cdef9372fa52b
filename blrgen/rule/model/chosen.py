"""--q NODE=FAMILY: q of a latent in another family than its prior's, on the same support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from blrgen.core import Family
from blrgen.errors import UserError, did_you_mean
from blrgen.read.family import read_family
from blrgen.read.model.domains import support_domain
from blrgen.read.model.draws import own_sizes
from blrgen.read.model.values import Domain, Draw, Model, Node, Size
from blrgen.rule.model.prepare import Prepared, refused


def with_families(p: Prepared, chosen: Sequence[tuple[str, str]]) -> Prepared:
    """The same with the families that were chosen for q."""
    found: dict[str, Draw] = dict(p.table.q)
    families = dict(p.model.families)
    for name, wanted in chosen:
        node = next((n for n in p.latents if name in (n.name, *n.names)), None)
        if node is None:
            names = [n.name for n in p.latents]
            raise refused(p.model, None, f"--q: {name} is no latent node",
                          f"the latents are {', '.join(names)}",
                          did_you_mean(name, names))  # fmt: skip
        family = families.get(wanted) or _read(p.model, node, wanted)
        families[wanted] = family
        found[node.name] = _draw(p.model, node, wanted, family)
    model = replace(p.model, families=tuple(families.items()))
    table = replace(p.table, model=model, q=tuple(found.items()))
    return replace(p, model=model, table=table)


def _read(model: Model, node: Node, name: str) -> Family:
    try:
        return read_family(name)
    except UserError as e:
        raise refused(model, node, f"--q {node.name}={name} names no family", str(e)) from None


def _draw(model: Model, node: Node, name: str, family: Family) -> Draw:
    """The family with the node's sizes; one of another support is refused."""
    if family.fixed or len(node.names) != 1 or len(family.supports) != 1:
        raise refused(model, node, f"--q {node.name}={name} does not apply",
                      "q is in a family of one variable without known constants")  # fmt: skip
    own, (domain,) = own_sizes(family), node.domains
    sizes: dict[str, Size] = {}
    if own and domain.shape and all(x == y for x, y in pairwise(domain.shape)):
        sizes = dict.fromkeys(own, domain.shape[0])
    there = support_domain(family.supports[0], sizes, {})
    if _where(there) != _where(domain):
        raise refused(
            model, node, f"--q {node.name}={name} does not apply",
            f"{name} is on {there.text or there.kind}, and {node.name} is not",
            "a family on the support of its prior",
        )  # fmt: skip
    return Draw(name, (), tuple(sizes.items()), node.place)


def _where(d: Domain) -> tuple[object, ...]:
    ends = (d.lower, d.upper)
    return (d.kind, len(d.shape), *map(str, ends), d.whole, d.points)
