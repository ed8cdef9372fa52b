"""What the class of a file says of itself: its methods and what they take, without running it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Outline:
    """A class with the methods of its bases in the same file; `hidden` where others may be."""

    name: str
    methods: Mapping[str, Function]
    hidden: bool  # a base from elsewhere or a decorator may give it more

    def takes(self, method: str) -> tuple[str, ...] | None:
        """The arguments of a method, without self; None where the text does not say."""
        if method not in self.methods:
            return None
        a = self.methods[method].args
        if a.vararg or a.kwarg or self.methods[method].decorator_list:
            return None
        return tuple(x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs][1:])

    def needs(self, method: str) -> tuple[str, ...]:
        """The arguments of a method that have no default."""
        taken = self.takes(method)
        if taken is None:
            return ()
        a = self.methods[method].args
        given = [x.arg for x in [*a.posonlyargs, *a.args]]
        free = {*given[len(given) - len(a.defaults) :]} if a.defaults else set()
        free |= {x.arg for x, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None}
        return tuple(n for n in taken if n not in free)


@lru_cache(maxsize=64)
def outline(source: str) -> Outline | None:
    """The class that is held against a rule: the last public one with a `step`, if any has."""
    classes = [n for n in ast.parse(source).body if isinstance(n, ast.ClassDef)]
    known = {c.name: c for c in classes}
    found = [_outlined(c, known) for c in classes]
    public = [o for o in found if not o.name.startswith("_")]
    stepping = [[o for o in some if "step" in o.methods] for some in (public, found)]
    return next((some[-1] for some in (*stepping, public) if some), None)


def class_name(source: str) -> str:
    """The name of that class; "" when the file has none."""
    found = outline(source)
    return found.name if found else ""


def _outlined(node: ast.ClassDef, known: Mapping[str, ast.ClassDef]) -> Outline:
    methods: dict[str, Function] = {}
    hidden, seen, waiting = False, {node.name}, [node]
    while waiting:
        c = waiting.pop(0)
        hidden |= bool(c.decorator_list or c.keywords)
        for m in c.body:
            if isinstance(m, Function):
                methods.setdefault(m.name, m)
        for base in c.bases:
            name = base.id if isinstance(base, ast.Name) else ""
            hidden |= name not in known and name != "object"
            if name in known and name not in seen:
                seen.add(name)
                waiting.append(known[name])
    return Outline(node.name, methods, hidden)
