"""Labels that no algorithm here sums over: missing ones that choose, chains with longer lags."""

from __future__ import annotations

from blrgen.read.model.values import Choose, Label, Model
from blrgen.read.model.walk import refs
from blrgen.rule.model.prepare import refused


def labels_can_be_summed(model: Model, algorithm: str) -> None:
    """Refuse what is none of a known label, a label by itself, a chain with lag 1."""
    _labels_are_there(model)
    _labels_have_lag_one(model, algorithm)


def _labels_are_there(model: Model) -> None:
    """Refuse an observed label that may be missing where it chooses an element.

    What it chooses for would have to be summed over, element by element.
    """
    missing = {x: n for n in model.nodes if n.missing for x in n.names}
    for node in model.nodes:
        for made in (s.made for s in node.statements):
            for ref in refs(made):
                said = [i.ref.name for i in ref.indices if isinstance(i, Label)]
                said += [made.label.ref.name] if isinstance(made, Choose) else []
                for name in said:
                    if name in missing:
                        raise refused(
                            model,
                            missing[name],
                            f"{name} chooses for {node.name} and may be missing",
                            "where it is missing nothing says which element is meant",
                            "make it latent, or leave out the rows without it",
                        )


def _labels_have_lag_one(model: Model, algorithm: str) -> None:
    """Refuse a chain of labels with longer lags, whose state would be several labels."""
    for node in model.nodes:
        labels = any(d.kind in ("one-hot", "labels") for d in node.domains)
        if not labels or node.kind != "latent" or node.chain is None or max(node.chain.lags) < 2:
            continue
        name, t, lag = node.name, node.chain.letter, max(node.chain.lags)
        raise refused(
            model,
            node,
            f"--{algorithm} does not apply to {name}",
            f"{name}[{t}] refers to {name}[{t}-{lag}]: labels are summed over with lag 1",
            f"make {name} a label of {lag} neighbours, K^{lag} = J of them: const last[j] in "
            f"labels(K), {name}[{t}] ~ categorical(P[{name}[{t}-1]]), last[{name}[{t}]] for the "
            f"label itself; P[j] is 0 where neighbours do not fit, and stays 0 under --em",
        )
