"""What has no closed form: log-partitions and expectations by quadrature and summation.

`nodes` has the symbols that stand for them in expressions, `quadrature` and
`summation` the rules that give their numbers, `evaluate` values of any
expression at a point with an estimate of the error.
"""

from blrgen.numeric.nodes import Numeric, has_nodes, log_partition_node, mean_node

__all__ = ["Numeric", "evaluate_at", "has_nodes", "log_partition_node", "mean_node"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from blrgen.numeric.evaluate import evaluate_at as evaluate_at


def __getattr__(name: str) -> object:
    if name == "evaluate_at":
        from blrgen.numeric.evaluate import evaluate_at

        return evaluate_at
    raise AttributeError(f"module 'blrgen.numeric' has no attribute {name!r}")
