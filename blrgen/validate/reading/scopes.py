"""Names: local to a function if it binds them anywhere, then the enclosing ones, the module's."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.values import Known, Poison, Scope, Unusable

MISSING = object()
INNER = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


def bound_in(body: Iterable[ast.AST]) -> frozenset[str]:
    """The names that statements bind, in them but not in functions inside them."""
    return frozenset(_bound(list(body)))


def _bound(stack: list[Any]) -> Iterator[str]:
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, INNER):
            yield from (n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        stack.extend(ast.iter_child_nodes(node))


def lookup(mc: Machine, scope: Scope, name: str) -> Any:
    """The value of a name."""
    if name.startswith("__"):
        raise mc.refuse(f"the name {name}")
    s: Scope | None = scope
    while s is not None:
        if name in s.names:
            found = s.names[name]
            if isinstance(found, Poison):
                what = f"{name} from another turn of the loop"
                raise mc.sizes(what) if mc.generic else mc.refuse(what)
            if isinstance(found, Unusable):
                raise mc.refuse(f"{name}, a value of the module that can change")
            return found
        if name in s.local:
            raise mc.raises(f"{name} is read before it has a value", unchecked=True)
        s = s.outer
    from blrgen.validate.reading.table import has

    if has(name):
        return Known(name)
    raise mc.refuse(f"the name {name}")


def bind(mc: Machine, scope: Scope, name: str, value: Any, *, constant: bool = False) -> None:
    """name = value."""
    scope.names[name] = value if constant else mc.carried(value)
