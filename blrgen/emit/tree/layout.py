"""Classes as text, laid out as a formatter would: on one line, else inside the last brackets."""

from __future__ import annotations

import textwrap

from blrgen.emit.text import WIDTH
from blrgen.emit.tree import classes as c


def definition(cls: c.Class) -> str:
    """A class."""
    lines = [f"class {cls.name}:", *docstring(cls.doc, 4)]
    for m in cls.methods:
        lines += ["", *method(m)]
    return "\n".join(lines)


def method(m: c.Method) -> list[str]:
    """A method inside of its class."""
    lines = [f"    @{m.mark}"] if m.mark else []
    head = f"    def {m.name}("
    words = ["self", *_signature(m.arguments)]
    lines += _bracketed(head, words, f") -> {m.returns}:", 4)
    return [*lines, *docstring(m.doc, 8), *body(m.body, 8)]


def _signature(arguments: tuple[c.Argument, ...]) -> list[str]:
    out: list[str] = []
    for x in arguments:
        out += ["*"] if x.only and "*" not in out else []
        default = "" if x.default is None else f" = {flat(x.default)}"
        out.append(f"{x.name}: {x.kind}{default}")
    return out


def docstring(text: str, indent: int) -> list[str]:
    """A docstring; more than one paragraph ends on a line of its own."""
    margin = " " * indent
    rows = [f"{margin}{x}" if x else "" for x in text.strip("\n").split("\n")]
    first = f'{margin}"""{rows[0].strip()}'
    return [f'{first}"""'] if len(rows) == 1 else [first, *rows[1:], f'{margin}"""']


def body(statements: tuple[c.Statement, ...], indent: int) -> list[str]:
    """Statements, one below the other."""
    return [line for s in statements for line in statement(s, indent)]


def statement(s: c.Statement, indent: int) -> list[str]:
    """The lines of a statement."""
    margin = " " * indent
    if isinstance(s, c.When):
        return [*laid(s.condition, f"{margin}if ", ":", indent), *body(s.body, indent + 4)]
    if isinstance(s, c.Note):
        return [f"{margin}# {x}" for x in textwrap.wrap(s.text, WIDTH - indent - 2)]
    if isinstance(s, c.Do):
        return laid(s.call, margin, "", indent)
    if isinstance(s, c.Return):
        return laid(s.value, f"{margin}return ", "", indent)
    kind = f": {s.kind}" if s.kind else ""
    targets = ", ".join(map(flat, s.targets))
    head = f"{margin}{targets}{kind} = "
    opening = flat(s.value).partition("(")[0]
    if len(s.targets) > 1 and len(head) + len(opening) >= WIDTH:
        rows = [f"{margin}    {flat(x)}," for x in s.targets]
        return [f"{margin}(", *rows, *laid(s.value, f"{margin}) = ", "", indent)]
    return laid(s.value, head, "", indent)


def constant(name: str, value: c.Expression, kind: str = "") -> list[str]:
    """A constant of a file."""
    return laid(value, f"{name}{': ' + kind if kind else ''} = ", "", 0)


def laid(e: c.Expression, prefix: str, suffix: str, indent: int) -> list[str]:
    """prefix, expression, suffix; `prefix` has its margin."""
    line = f"{prefix}{flat(e)}{suffix}"
    if len(line) <= WIDTH:
        return [line]
    if isinstance(e, c.Sign) and e.left is not None:
        return laid(e.right, f"{prefix}{flat(e.left)} {e.op} ", suffix, indent)
    head, items, close = _parts(e)
    if not items:
        return [line]
    inner = " " * (indent + 4)
    together = ", ".join(p + flat(x) for p, x in items)
    if len(inner) + len(together) <= WIDTH and not isinstance(e, c.Table | c.Row):
        return [f"{prefix}{head}", f"{inner}{together}", f"{' ' * indent}{close}{suffix}"]
    rows = [r for p, x in items for r in laid(x, f"{inner}{p}", ",", indent + 4)]
    return [f"{prefix}{head}", *rows, f"{' ' * indent}{close}{suffix}"]


def _bracketed(head: str, words: list[str], suffix: str, indent: int) -> list[str]:
    """Words in brackets: on one line, on one line inside of them, or one below the other."""
    line = f"{head}{', '.join(words)}{suffix}"
    if len(line) <= WIDTH:
        return [line]
    inner, margin = " " * (indent + 4), " " * indent
    together = f"{inner}{', '.join(words)}"
    if len(together) <= WIDTH:
        return [head, together, f"{margin}{suffix}"]
    return [head, *(f"{inner}{x}," for x in words), f"{margin}{suffix}"]


def _parts(e: c.Expression) -> tuple[str, list[tuple[str, c.Expression]], str]:
    """What stands before the last brackets, what is in them, and what closes them."""
    if isinstance(e, c.Invoked):
        items = [("", x) for x in e.args] + [(f"{k}=", x) for k, x in e.words]
        return f"{flat(e.function)}(", items, ")"
    if isinstance(e, c.Row):
        return "[" if e.listed else "(", [("", x) for x in e.items], "]" if e.listed else ")"
    if isinstance(e, c.Table):
        return "{", [(f"{flat(k)}: ", x) for k, x in e.pairs], "}"
    return "", [], ""


def flat(e: c.Expression) -> str:
    """An expression on one line."""
    if isinstance(e, c.Name | c.Use):
        return e.name
    if isinstance(e, c.Attribute):
        return f"{flat(e.of)}.{e.name}"
    if isinstance(e, c.Item):
        return f"{flat(e.of)}[{flat(e.key)}]"
    if isinstance(e, c.Literal):
        return quoted(e.value) if isinstance(e.value, str) else repr(e.value)
    if isinstance(e, c.Sign):
        space = "" if e.op in ("-", "*", "**") and e.left is None else " "
        return (
            f"{flat(e.left)} {e.op} {flat(e.right)}" if e.left else f"{e.op}{space}{flat(e.right)}"
        )
    head, items, close = _parts(e)
    inner = ", ".join(p + flat(x) for p, x in items)
    comma = "," if isinstance(e, c.Row) and not e.listed and len(e.items) == 1 else ""
    return f"{head}{inner}{comma}{close}"


def quoted(text: str) -> str:
    """A text in double quotes."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'
