"""What may stand at the top of a file, and what each of it means."""

from __future__ import annotations

import ast
import re

from blrgen.errors import UserError, did_you_mean
from blrgen.limits import CODE_DEPTH as MAX_DEPTH
from blrgen.validate.reading import calls
from blrgen.validate.reading.expressions import value
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.signals import Refused
from blrgen.validate.reading.values import (
    Array,
    Cond,
    Dict,
    Function,
    Iter,
    Known,
    List,
    Num,
    Partial,
    RecordClass,
    Scope,
    Text,
    Unusable,
    Whole,
)

MODULES = ("numpy", "math", "scipy", "scipy.linalg", "scipy.linalg.lapack", "numpy.linalg",
           "operator", "functools", "numba")  # fmt: skip
SILENT = ("typing", "collections.abc", "__future__", "numpy.typing", "numbers")
WITHOUT_MEANING = Known("typing")
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")


def parsed(source: str, function: str, path: str) -> ast.Module:
    """The syntax tree; what is not Python, or has no such function, is a mistake in the call."""
    try:
        tree = ast.parse(source)
    except (RecursionError, MemoryError):
        raise Refused("an expression nested too deep for Python's parser", 1) from None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise UserError(
            f"{path} is not Python", where=f"{path}:{line}" if line else path,
            why=getattr(error, "msg", None) or str(error),
        ) from error  # fmt: skip
    functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
    others = [t.id for n in tree.body if isinstance(n, ast.Assign)
              for t in n.targets if isinstance(t, ast.Name)]  # fmt: skip
    if function not in functions + others:
        raise UserError(
            f"{path} has no function {function!r}", where=path,
            how=f"{did_you_mean(function, functions)}  --function NAME" if functions
            else "define one function `step`, or a class with a method `step`",
        )  # fmt: skip
    return tree


def encoding(source: str) -> str:
    """The encoding that a file asks Python for, if it is not the one it is read in."""
    for line in re.split("\r\n?|\n", source)[:2]:
        found = _COOKIE.match(line)
        if found and found[1].lower().replace("_", "-") not in ("utf-8", "utf8"):
            return found[1]
    return ""


def check_text(source: str, tree: ast.Module) -> None:
    """Refuse an encoding that Python would read otherwise, and trees that are too deep."""
    other = encoding(source)
    if other:
        raise Refused(f"the encoding {other}", 1)
    stack: list[tuple[ast.AST, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise Refused(
                "an expression nested more than two hundred deep", getattr(node, "lineno", 0)
            )
        stack += [(c, depth + 1) for c in ast.iter_child_nodes(node)]


def module(mc: Machine, tree: ast.Module) -> Scope:
    """The names of the file; whatever Python would execute at its top is known or refused."""
    scope = Scope({}, frozenset())
    for node in tree.body:
        mc.line = mc.graph.line = node.lineno
        _statement(mc, scope, node)
    return scope


def _statement(mc: Machine, scope: Scope, node: ast.stmt) -> None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Import):
        for alias in node.names:
            _import(mc, scope, alias)
    elif isinstance(node, ast.ImportFrom):
        _import_from(mc, scope, node)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        _constants(mc, scope, node)
    elif isinstance(node, ast.FunctionDef):
        _bind(mc, scope, node.name, calls.defined(mc, scope, node))
    elif isinstance(node, ast.ClassDef):
        _bind(mc, scope, node.name, _record_class(mc, scope, node))
    elif isinstance(node, ast.If) and _skipped(scope, node) and not node.orelse:
        return
    elif not isinstance(node, ast.Pass):
        name = {"ImportFrom": "import"}.get(type(node).__name__, type(node).__name__.lower())
        raise mc.refuse(f"the statement {name} at the top of a file")


def _bind(mc: Machine, scope: Scope, name: str, x: object) -> None:
    if name in scope.names:
        raise mc.refuse(f"{name} is bound twice at the top of a file")
    if name.startswith("__"):
        raise mc.refuse(f"the name {name}")
    scope.names[name] = x


def _skipped(scope: Scope, node: ast.If) -> bool:
    """`if TYPE_CHECKING` and `if __name__ == "__main__"`: not run where the file is imported."""
    text = ast.unparse(node.test)
    if text == "TYPE_CHECKING":
        return scope.names.get(text) == Known("typing.TYPE_CHECKING")
    if text == "typing.TYPE_CHECKING":
        return scope.names.get("typing") == WITHOUT_MEANING
    return text == "__name__ == '__main__'"


def _import(mc: Machine, scope: Scope, alias: ast.alias) -> None:
    if alias.name not in (*MODULES, *SILENT):
        raise mc.refuse(f"the import of {alias.name}")
    if alias.asname:
        _bind(mc, scope, alias.asname, _known(alias.name))
        return
    first = alias.name.partition(".")[0]
    if first not in MODULES and first not in SILENT:
        return
    if scope.names.get(first) != Known(first):
        _bind(mc, scope, first, _known(first))


def _known(name: str) -> Known:
    return WITHOUT_MEANING if name in SILENT else Known(name)


def _import_from(mc: Machine, scope: Scope, node: ast.ImportFrom) -> None:
    if node.level or node.module is None:
        raise mc.refuse("the import of a file beside it")
    for alias in node.names:
        if alias.name == "*":
            raise mc.refuse("import *")
        name = alias.asname or alias.name
        if node.module in (*SILENT, "dataclasses"):
            if node.module != "__future__":
                _bind(mc, scope, name, Known(f"{node.module}.{alias.name}"))
            continue
        if node.module not in MODULES:
            raise mc.refuse(f"the import of {node.module}")
        full = f"{node.module}.{alias.name}"
        if full in MODULES:
            _bind(mc, scope, name, Known(full))
            continue
        from blrgen.validate.reading.attributes import attribute

        if full in (*calls.COMPILERS,):
            _bind(mc, scope, name, Known(full))
        else:
            _bind(mc, scope, name, attribute(mc, Known(node.module), alias.name))


def _constants(mc: Machine, scope: Scope, node: ast.Assign | ast.AnnAssign) -> None:
    """Numbers, words, tuples of them; what can change may stand there but not be read."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if isinstance(node, ast.AnnAssign):
        calls.annotation(mc, node.annotation)
    if node.value is None:
        return
    if all(isinstance(t, ast.Name) and t.id in INERT for t in targets):
        if any(not isinstance(n, PLAIN) for n in ast.walk(node.value)):
            raise mc.refuse("this value at the top of a file")
        return
    harmless = all(isinstance(n, HARMLESS) for n in ast.walk(node.value))
    if harmless:
        x: object = value(mc, scope, node.value)
    elif _is_type(node.value):
        x = WITHOUT_MEANING
    else:
        raise mc.refuse("this value at the top of a file")
    for t in targets:
        _bind_all(mc, scope, t, x)


def _bind_all(mc: Machine, scope: Scope, target: ast.expr, x: object) -> None:
    """A name, or as many names as a tuple has values."""
    if isinstance(target, ast.Name):
        _bind(mc, scope, target.id, x if _fixed(x) else Unusable())
        return
    names = target.elts if isinstance(target, ast.Tuple) else []
    if not (names and isinstance(x, tuple) and len(x) == len(names)):
        raise mc.refuse("this assignment at the top of a file")
    for name, part in zip(names, x, strict=True):
        _bind_all(mc, scope, name, part)


INERT = ("__all__", "__author__", "__version__")  # what these say has nothing to do with a step
PLAIN = (ast.Constant, ast.Tuple, ast.List, ast.Load)

HARMLESS = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.BinOp, ast.operator,
            ast.unaryop, ast.Name, ast.Load, ast.Attribute, ast.Lambda, ast.arguments, ast.arg,
            ast.expr_context, ast.Compare, ast.cmpop, ast.IfExp)  # fmt: skip


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and ast.unparse(node).isprintable() and not any(
        isinstance(n, ast.Call) for n in ast.walk(node)
    )  # fmt: skip


def _fixed(x: object) -> bool:
    if isinstance(x, tuple):
        return all(map(_fixed, x))
    if isinstance(x, Array | List | Dict | Iter | Partial):
        return False
    return isinstance(x, Whole | Num | Text | Cond | Known | Function) or x is None


def _dataclass_options(mc: Machine, scope: Scope, node: ast.ClassDef) -> dict[str | None, object]:
    """What a class asks of `dataclass`, if that is its one decorator."""
    d = node.decorator_list[0] if len(node.decorator_list) == 1 else None
    if not isinstance(d, ast.Call) or d.args:
        return {}
    if value(mc, scope, d.func) != Known("dataclasses.dataclass"):
        return {}
    return {k.arg: getattr(k.value, "value", None) for k in d.keywords}


NO_FIELD = ("ClassVar", "InitVar", "KW_ONLY")


def _no_field(scope: Scope, node: ast.expr) -> bool:
    """Whether an annotation says, under any name, that this is no field."""
    known = [scope.names.get(n.id) for n in ast.walk(node) if isinstance(n, ast.Name)]
    meant = [x.name.rpartition(".")[2] for x in known if isinstance(x, Known)]
    return any(w in meant or w in ast.unparse(node) for w in NO_FIELD)


def _record_class(mc: Machine, scope: Scope, node: ast.ClassDef) -> RecordClass:
    """A NamedTuple or a frozen dataclass: names and fixed defaults, no methods."""
    bases = [value(mc, scope, b) for b in node.bases]
    frozen = [ast.unparse(d) for d in node.decorator_list]
    is_tuple = bases == [Known("typing.NamedTuple")] and not frozen
    if not is_tuple:
        options = _dataclass_options(mc, scope, node)
        if (
            bases
            or node.keywords
            or not options.get("frozen")
            or set(options) - {"frozen", "slots"}
        ):
            raise mc.refuse("a class that is no NamedTuple and no frozen dataclass")
    names, defaults = [], {}
    for part in node.body:
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
            continue
        if not (isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)):
            raise mc.refuse("a class with methods")
        calls.annotation(mc, part.annotation)
        if _no_field(scope, part.annotation):
            raise mc.refuse("a field that is none")
        names.append(part.target.id)
        if part.value is not None:
            x = value(mc, scope, part.value)
            if not _fixed(x):
                raise mc.refuse("a default that can change")
            defaults[part.target.id] = x
    return RecordClass(node.name, tuple(names), defaults, is_tuple)


__all__ = ["check_text", "encoding", "module", "parsed"]
