"""A process that starts without Numba, from the machine code that an earlier one kept.

Importing Numba and its first call take several times as long as importing NumPy, because of
its compiler, which a function that was compiled before does not need.  Numba's own cache is
no way out: what it loads is bound to the compiler's objects.  So the emitted file keeps
object code of its own, linked by llvmlite, and imports Numba where there is none or where
the process goes on for long.  `njit` is then a function of the file; what it stands for is
`numba.njit`, which is what a proof puts back in its place.
"""

from __future__ import annotations

import re

from blrgen.emit.templates import fill

EXTENDING = ("intrinsic", "overload")  # of numba.extending
OWN = ("get_num_threads", "njit", *EXTENDING)  # what the file has in a form of its own
START, END = "class _Later:", "    os.replace(temporary, file)\n"


def helper(imports: str) -> str:
    """What stands in the place of these imports of Numba's names."""
    names = [x for x in _names(imports) if x not in ("njit", *EXTENDING)]
    listed = ", ".join(f'"{x}"' for x in names) + ("," if len(names) == 1 else "")
    taken = f"    for other in ({listed}):\n        globals()[other] = getattr(numba, other)\n"
    marked = [x for x in EXTENDING if x in _names(imports)]
    own = [fill(f"numba/{x}_later.py.jinja") for x in marked]
    own += [fill("numba/threads_later.py.jinja")] if "get_num_threads" in names else []
    return fill(
        "numba/later.py.jinja",
        numba="numba.extending" if marked else "numba",
        names=taken if names else "",
        own="".join(f"{x}\n\n\n" for x in own),
    )


def checked_imports(imports: str) -> str:
    """The names that only a reader of types looks for; empty where there are none."""
    names = ", ".join(x for x in _names(imports) if x not in OWN)
    return f"if TYPE_CHECKING:\n    from numba import {names}\n\n" if names else ""


def plainly(source: str) -> str:
    """The source with Numba imported at once, line for line; others as they are.

    Only the very text of `helper` is taken for what it stands for.
    """
    start, end = source.find(START), source.find(END)
    if start < 0 or end < start:
        return source
    found = source[start : end + len(END)]
    names = re.findall(r'    for other in \(("[^)]*)\):', found)
    imports = ["njit", *re.findall(r'"(\w+)"', names[0] if names else "")]
    lines = f"from numba import {', '.join(sorted(imports))}\n"
    marked = [x for x in EXTENDING if f"def {x}(" in found]
    if marked:
        lines += f"from numba.extending import {', '.join(marked)}\n"
    if helper(lines) + "\n" != found:
        return source
    lines += "\n" * (found.count("\n") - lines.count("\n"))
    return source[:start] + lines + source[end + len(END) :]


def _names(imports: str) -> list[str]:
    """The names that import lines bring."""
    lines = re.findall(r"^from numba(?:\.extending)? import (.*)$", imports, re.MULTILINE)
    return [x.strip() for line in lines for x in line.split(",")]
