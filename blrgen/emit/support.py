"""Support functions of emitted files: the definitions of `blrgen.runtime`, and what each needs.

The table is read off the syntax trees of the runtime modules: name → the very lines that define
it, the definitions that it uses, the imports that its names stand for.  A file has the closure
of what its own text declares (`uses`), in the order of the modules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from blrgen.errors import InternalError
from blrgen.paths import package_dir

# The modules of each target, in the order in which a file has them.
MODULES: Mapping[str, tuple[str, ...]] = {
    "numpy": (
        "arrays", "kept", "numbers", "plain", "elementary", "exponentials", "errors", "gammas",
        "falls", "multivariate", "bessels", "besselk", "quantiles", "randoms", "linear", "stacks",
        "sampling", "handed", "moved", "starts", "ends", "unbounded", "runs", "batches", "chained",
        "guarded", "mixtures", "draws",
    ),
    "numba": (
        "arrays", "kept", "threads", "numbers", "compiled", "elementary", "exponentials", "errors",
        "gammas", "falls", "multivariate", "bessels", "besselk", "quantiles", "randoms", "lapack",
        "loops", "stacks", "apart", "sampling", "threefry", "noise", "logistic", "uniform",
        "choices", "handed", "moved", "starts", "ends", "unbounded", "runs", "batches", "chained",
        "guarded", "mixtures", "draws",
    ),
}  # fmt: skip
GENERATED_BY = {"threefry": "threefry", "hash": "hashed"}  # the words of a generator
HEADER = (
    "Array",
    "Arrays",
    "DTYPES",
    "FASTMATH",
    "Numbers",
    "SUMS",
)  # what every file has above its kernels
# What a decorator of `runtime.marks` is in a file of a target; compiled functions are parts of
# the loops that call them, as a call that stays one keeps a loop from doing many at once.
MARKS: Mapping[str, Mapping[str, str]] = {
    "numpy": {
        "elementwise": '@np.errstate(all="ignore")',
        "contracted": '@np.errstate(all="ignore")',
        "compiled": "",
    },
    "numba": {
        "elementwise": '@njit(cache=True, error_model="numpy", forceinline=True)',
        "contracted": ('@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)'),
        "compiled": '@njit(cache=True, error_model="numpy")',
        "inlined": '@njit(cache=True, fastmath=SUMS, error_model="numpy")',
    },
}
MARKED = {"numpy": ("np",), "numba": ("njit",)}  # what these lines need


@dataclass(frozen=True)
class Import:
    """`from module import name`, or `import module as name` where nothing is taken from it."""

    module: str
    name: str
    whole: bool = False


@dataclass(frozen=True)
class Definition:
    """A function or a constant of the runtime, as it stands there."""

    name: str
    text: str
    uses: frozenset[str]
    constant: bool = False
    of: str = ""  # the function whose compiled form it is, and which it is never without


# Imports that a file's own text may declare.
OWN = {
    "math": Import("math", "math", whole=True),
    "np": Import("numpy", "np", whole=True),
    "Any": Import("typing", "Any"),
    "TypeAlias": Import("typing", "TypeAlias"),
    "NDArray": Import("numpy.typing", "NDArray"),
    "deepcopy": Import("copy", "deepcopy"),
    "Callable": Import("collections.abc", "Callable"),
    "Mapping": Import("collections.abc", "Mapping"),
    "Sequence": Import("collections.abc", "Sequence"),
    "get_num_threads": Import("numba", "get_num_threads"),
    "njit": Import("numba", "njit"),
    "prange": Import("numba", "prange"),
}


@dataclass(frozen=True)
class Table:
    """The definitions of a target in order, and the imports that names stand for."""

    definitions: Mapping[str, Definition]
    imports: Mapping[str, Import]

    def closure(self, names: Iterable[str]) -> tuple[Definition, ...]:
        """What is needed for some names, without what every file has."""
        found: set[str] = set()
        waiting = sorted(names)
        while waiting:
            name = waiting.pop()
            if name in found or name in HEADER or name not in self.definitions:
                continue
            found.add(name)
            waiting += sorted(self.definitions[name].uses)
            waiting += [d.name for d in self.definitions.values() if d.of == name]
        return tuple(d for d in self.definitions.values() if d.name in found)


@dataclass(frozen=True)
class Support:
    """What one file has below its class: functions made for it, and those that every file has."""

    made: tuple[str, ...]
    texts: tuple[str, ...]
    names: frozenset[str]
    known: Mapping[str, Import]

    def imports(self, more: Iterable[str] = ()) -> str:
        """The import statements."""
        return import_block(self.known[x] for x in {*self.names, *more} & self.known.keys())


def support_of(target: str, uses: Iterable[str], generator: str = "threefry") -> Support:
    """The definitions that some names need, and those that are made for an order."""
    from blrgen.emit.special.helpers import helper

    known, names, made = table(target, generator), set(uses), dict[str, str]()
    waiting = sorted(names)
    while waiting:
        name = waiting.pop(0)
        numbered = None if name in known.definitions or name in made else helper(name)
        if numbered is not None:
            made[name] = numbered.source(target)
            names |= {*numbered.uses, *MARKED[target]}
            waiting += sorted(numbered.uses)
    found = known.closure(names)
    names |= {x for d in found for x in d.uses}
    texts = tuple(_together(found))
    return Support(tuple(made.values()), texts, frozenset(names), known.imports)


_ALONE = """Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
DTYPES = (np.float32, np.float64)
FASTMATH = {"contract", "nsz", "arcp", "afn"}
SUMS = FASTMATH | {"reassoc"}"""


def alone(target: str, names: Iterable[str], generator: str = "threefry") -> str:
    """A module with some support functions, as a file of the target has them, and nothing else."""
    found = support_of(target, names, generator)
    imports = found.imports(("np", "Any", "Sequence", "TypeAlias", "NDArray"))
    parts = ["from __future__ import annotations", imports, _ALONE, *found.made, *found.texts]
    return "\n\n\n".join(parts) + "\n"


def _together(found: Iterable[Definition]) -> list[str]:
    """The texts, constants that follow one another without lines between them."""
    texts: list[str] = []
    before = False
    for d in {x.text: x for x in found}.values():
        if d.constant and before:
            texts[-1] += f"\n{d.text}"
        else:
            texts.append(d.text)
        before = d.constant
    return texts


@cache
def table(target: str, generator: str = "threefry") -> Table:
    """The table of a target, with the random words of one generator."""
    definitions: dict[str, Definition] = {}
    imports = dict(OWN)
    for module in MODULES[target]:
        known, more = _read(GENERATED_BY[generator] if module == "threefry" else module, target)
        for d in known:
            if d.name in definitions:
                raise InternalError(f"the runtime defines {d.name} twice for {target}")
            definitions[d.name] = d
        imports |= more
    own = definitions.keys()
    kept = {
        name: Definition(name, d.text, frozenset(d.uses & (own | imports.keys())), d.constant, d.of)
        for name, d in definitions.items()
    }
    return Table(kept, imports)


def _read(module: str, target: str) -> tuple[list[Definition], dict[str, Import]]:
    """The definitions of one module and its imports from outside."""
    path = package_dir() / "runtime" / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    lines = source.split("\n")
    found: list[Definition] = []
    imports: dict[str, Import] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and not _inside(node.module):
            for x in node.names:
                imports[x.asname or x.name] = Import(node.module or "", x.name)
        elif isinstance(node, ast.Import):
            for x in node.names:
                imports[x.asname or x.name] = Import(x.name, x.asname or x.name, whole=True)
        elif isinstance(node, ast.FunctionDef):
            found.append(_function(node, lines, target))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            (one,) = node.targets if isinstance(node, ast.Assign) else (node.target,)
            names = [one] if isinstance(one, ast.Name) else getattr(one, "elts", [])
            text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            found += [Definition(str(name.id), text, _names(node), constant=True) for name in names]
    return found, imports


def _inside(module: str | None) -> bool:
    return (module or "").startswith("blrgen") or module == "__future__"


def _function(node: ast.FunctionDef, lines: list[str], target: str) -> Definition:
    """A function with its decorators, those of `marks` in the target's words."""
    start = node.lineno - 1
    body = lines[start : node.end_lineno]
    uses, of, above = _names(node), "", []
    for d in node.decorator_list:
        if isinstance(d, ast.Name) and d.id in MARKS[target]:
            above += [MARKS[target][d.id]] if MARKS[target][d.id] else []
            uses |= {*MARKED[target]}
            continue
        if isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id == "overload":
            of = ast.unparse(d.args[0])
        above += lines[d.lineno - 1 : d.end_lineno]
    return Definition(node.name, "\n".join([*above, *body]), uses - {node.name}, of=of)


def _names(node: ast.AST) -> frozenset[str]:
    """Every name in a tree, in annotations too."""
    return frozenset(x.id for x in ast.walk(node) if isinstance(x, ast.Name))


def import_block(imports: Iterable[Import]) -> str:
    """The import statements of a file, in the order that a linter wants."""
    groups: list[list[str]] = [[], []]
    by_module: dict[str, set[str]] = {}
    for x in imports:
        if x.whole:
            alias = "" if x.name == x.module else f" as {x.name}"
            groups[_is_installed(x.module)].append(f"import {x.module}{alias}")
        else:
            by_module.setdefault(x.module, set()).add(x.name)
    for g in groups:
        g.sort()
    for module in sorted(by_module):
        names = sorted(by_module[module], key=lambda x: (not x.isupper(), not x[0].isupper(), x))
        groups[_is_installed(module)].append(f"from {module} import {', '.join(names)}")
    return "\n\n".join("\n".join(g) for g in groups if g)


def _is_installed(module: str) -> bool:
    """Whether it is no part of Python."""
    return module.split(".")[0] in ("numpy", "numba", "scipy")
