"""docs/verify.md, printed from the tables."""

from __future__ import annotations

from collections.abc import Iterable

from blrgen.validate.reading import table
from blrgen.validate.reading.constructs import EXPRESSIONS, STATEMENTS, TOP, Construct

HEAD = """# What `verify FILE.py` reads

This page is printed from the tables of `blrgen.validate.reading`. A step function is not run to
be proved: its syntax tree is read, and only what is listed here has a meaning. Everything else
gives `not compared` (exit 3), with the file, the line and the construct. What is proved is then
also run, in a process of its own with limits on time and memory, and held against what was read;
the run can take a proof back and gives none. A file that asks for Numba is run as it stands and
compiled: a rank for which Numba compiles nothing is named.

## What a verdict says

* **Elementwise rules** are proved for every length and for arrays of one and two axes, and for
  single numbers: one element stands for all. A loop over every element is read once, with a
  counter that is only an index; its body must store at that index only. Where code looks at
  another element, at a part of an axis or at a length, it is read at lengths 1, 2, …: to beyond
  every constant that a length met (by a comparison, an index, a slice, a stride, a part), and at
  most 48. The verdict names the lengths. A rank on which Python raises for every value is not
  taken, and the ones that are taken are named; vectors of some lengths on which it raises are no
  proof, and single numbers on which only some ways raise are not compared where arrays are.
  Where code compares a number of axes, it is read with more axes than it asks for.
* **Matrix rules** are read at d = 1…6, 8 and 11, with random entries in a finite field, and in
  words for every d where the code is simple enough: further where a constant meets d, and to
  beyond every number of the code and the count of its additions, as a trace can be a length, too.
  Data have rows of their own, fewer than d, as many and more.
* **Loops over the counter** (`for _ in range(t)`) have a closed form where every turn multiplies,
  divides, adds or subtracts what no turn changes. What a loop over elements sums up beside them
  can be any number: what depends on it is not compared.
* **Branches** on symbols that the domains do not decide are followed both ways, at most 12 in a
  row and 64 in all; every way must give the rule, at least under its conditions. Where Python
  raises the rule must have no value.
* **Definedness**: √x needs x ≥ 0, log x and xʸ need x > 0, x/y needs y ≠ 0, solving a nonsingular
  and Cholesky a positive definite matrix. These are taken from what is written, before algebra
  cancels anything, and must follow from the domains, from the code's own conditions or from the
  rule: where it has values, and its next states are in their domains.
* **What is compared** by a branch must have a value too: with none, no comparison holds.
* **Every state** of the rule is compared. One that nothing in the rule reads may be missing, and
  is named.
* **Memory**: a state that is changed in place must end as its next value, also when values are
  returned. A function that changes another argument, or whose results share memory while it
  writes in place, is not compared. Memory that nothing was written to has no value.
* **Lengths** may stand in sums, products and whole powers, whose degree shows; inside a root, a
  logarithm, an order or an exponent they are refused, as are sums over elements there, and the
  lengths of lists that were made from arrays.
* **Numbers** are exact, rounding and overflow are not compared. But no comparison, sign or root
  may be decided by rounding (as in `x / 49 * 49 == x`): conditions are decided in doubles, too, at
  very small and very large numbers and where their sides are equal, and give the rule. On tame
  numbers doubles must be near the rule (as in `(g + 1e20) - 1e20` they are not). Arrays are
  contiguous and of float64. Whole numbers and truth values are kinds of their own: a number is
  not stored into an array of them, those of NumPy must fit into 64 bits, and there is no
  arithmetic between truth values. Hyperparameters may be whole numbers of Python: the run tries
  that, too.
* **Every call is the first**: nothing can be kept between calls. Hyperparameters and t are
  symbols, also where an argument has a default.
* **Classes** are not read. A file that blrgen emitted is held against what it emits, definition by
  definition; a class of somebody else is no proof, and its update belongs into a function.
* **Limits**: 1 MB of text, 200,000 statements, 60,000 operations, tuples of 5,000 values, whole
  numbers to 10³⁰, matrices of 60 rows in linear algebra, 120 seconds and 3 GB. What reaches one is
  not compared.
"""


def printed() -> str:
    """The whole page."""
    table.load()
    parts = [HEAD, "## At the top of a file\n", _rows(("construct", "meaning"), TOP)]
    parts += [
        "## Statements\n",
        _constructs(STATEMENTS),
        "## Expressions\n",
        _constructs(EXPRESSIONS),
    ]
    parts += ["## Attributes of arrays\n", _entries(table.ATTRIBUTES.values(), attributes=True)]
    for title, start in GROUPS:
        found = [e for n, e in sorted(table.ENTRIES.items()) if group(n) == start]
        parts += [f"## {title}\n", _entries(found)]
    return "\n".join(parts)


GROUPS = (
    ("Python", ""), ("NumPy", "numpy"), ("Methods of arrays", "array"),
    ("NumPy's linear algebra", "numpy.linalg"),
    ("SciPy's linear algebra", "scipy"), ("math", "math"), ("operator", "operator"),
    ("functools", "functools"), ("Numba", "numba"), ("Methods of lists and dictionaries", "items"),
)  # fmt: skip


def group(name: str) -> str:
    """Where an entry stands."""
    if name.startswith("numpy.linalg."):
        return "numpy.linalg"
    head = name.partition(".")[0] if "." in name else ""
    return "items" if head in ("list", "dict") else head


def _constructs(found: Iterable[Construct]) -> str:
    rows = ((c.node.__name__, c.text, code(c.example)) for c in found)
    return _rows(("node", "meaning", "example"), rows)


def _entries(found: Iterable[table.Entry], *, attributes: bool = False) -> str:
    rows = (
        (code(e.example if attributes else e.signature), e.text, code(e.example)) for e in found
    )
    return _rows(("name and arguments", "meaning", "example"), rows)


def code(text: str) -> str:
    """Text as code in a cell of a table."""
    return f"`{text.replace(chr(10), ' ⏎ ')}`".replace("|", "\\|")


def _rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(r)} |" for r in rows)]) + "\n"
