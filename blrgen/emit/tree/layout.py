"""Classes as text, laid out as a formatter would: on one line, else inside the last brackets."""

from __future__ import annotations

import textwrap

from blrgen.emit.text import WIDTH, assignment, filled
from blrgen.emit.tree import classes as c
from blrgen.errors import InternalError


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
    """A docstring, if there is one; more than one paragraph ends on a line of its own."""
    if not text:
        return []
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
    if isinstance(s, c.Set):
        return _kept(s, indent)
    if isinstance(s, c.Note):
        return [f"{margin}# {x}" for x in textwrap.wrap(s.text, WIDTH - indent - 2)]
    if isinstance(s, c.Lines):
        return [line for row in s.rows for line in row.split("\n")]
    if isinstance(s, c.Do):
        return laid(s.call, margin, "", indent)
    if isinstance(s, c.Return):
        line = f"{margin}return {_bare(s.value)}"
        return [line] if len(line) <= WIDTH else laid(s.value, f"{margin}return ", "", indent)
    if isinstance(s, c.Raise):
        said = c.Invoked(c.Name(s.kind), (s.said,) if s.said is not None else ())
        return laid(said, f"{margin}raise ", "", indent) if s.kind else [f"{margin}raise"]
    return [f"{margin}break"] if isinstance(s, c.Break) else _block(s, indent)


def _block(s: c.When | c.Loop | c.Attempt, indent: int) -> list[str]:
    """A statement with others inside."""
    margin, inner = " " * indent, indent + 4
    if isinstance(s, c.Loop):
        targets = ", ".join(map(flat, s.targets))
        return [*laid(s.over, f"{margin}for {targets} in ", ":", indent), *body(s.body, inner)]
    note = f"  # {s.note}" if s.note else ""
    if isinstance(s, c.Attempt):
        rows = [f"{margin}try:", *body(s.body, inner), f"{margin}except {s.refused}:{note}"]
        return rows + body(s.other, inner)
    rows = [*laid(s.condition, f"{margin}if ", f":{note}", indent), *body(s.body, inner)]
    return rows + ([f"{margin}else:", *body(s.other, inner)] if s.other else [])


def _kept(s: c.Set, indent: int) -> list[str]:
    """A value under its names."""
    margin, note = " " * indent, f"  # {s.note}" if s.note else ""
    kind = f": {s.kind}" if s.kind else ""
    targets = ", ".join(map(flat, s.targets))
    if isinstance(s.value, c.Text) and s.op == "=":
        return [x + note for x in assignment(targets + kind, s.value.text, indent).split("\n")]
    head = f"{margin}{targets}{kind} {s.op} "
    bare = f"{head}{_bare(s.value)}{note}"
    if len(bare) <= WIDTH and (len(s.targets) > 1 or isinstance(s.value, c.Row)):
        return [bare]
    opening = flat(s.value).partition("(")[0]
    if len(s.targets) > 1 and len(head) + len(opening) >= WIDTH:
        rows = [f"{margin}    {flat(x)}," for x in s.targets]
        return [f"{margin}(", *rows, *laid(s.value, f"{margin}) = ", "", indent)]
    return laid(s.value, head, note, indent)


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
    inner = " " * (indent + 4)
    if isinstance(e, c.Each):
        (first, last), rows = _ENDS[_form(e)], [f"{inner}{x}" for x in _clauses(e)]
        return [f"{prefix}{first}", *rows, f"{' ' * indent}{last}{suffix}"]
    if isinstance(e, c.Either):
        rows = [flat(e.yes), f"if {flat(e.condition)}", f"else {flat(e.no)}"]
        return [f"{prefix}(", *(f"{inner}{x}" for x in rows), f"{' ' * indent}){suffix}"]
    head, items, close = _parts(e)
    if not items:
        return [line]
    if isinstance(e, c.Row | c.Table) and e.filled:
        words = [f"{p}{flat(x)}," for p, x in items]
        words[-1] = f"{words[-1][:-1]}{close}{suffix}  # fmt: skip"
        rows = filled(words, len(prefix) + len(head))
        return [prefix + head + rows[0].lstrip(), *rows[1:]]
    if len(items) == 1 and isinstance(items[0][1], c.Words):
        return [f"{prefix}{head}", *said(items[0][1], indent + 4), f"{' ' * indent}{close}{suffix}"]
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
        rest = [("**", e.rest)] if e.rest is not None else []
        return "{", [*((f"{flat(k)}: ", x) for k, x in e.pairs), *rest], "}"
    return "", [], ""


def _bare(e: c.Expression) -> str:
    """A tuple of two or more without brackets."""
    inside = isinstance(e, c.Row) and not e.listed and len(e.items) > 1
    return flat(e)[1:-1] if inside else flat(e)


_ENDS = {"list": ("[", "]"), "table": ("{", "}"), "bare": ("", "")}


def _form(e: c.Each) -> str:
    return "table" if e.key is not None else "bare" if e.bare else "list"


def _clauses(e: c.Each) -> tuple[str, str]:
    """What is made, and of what."""
    key = f"{flat(e.key)}: " if e.key is not None else ""
    targets = ", ".join(map(flat, e.targets))
    return f"{key}{flat(e.value)}", f"for {targets} in {flat(e.over)}"


def said(e: c.Words, indent: int) -> list[str]:
    """What is said, over several lines."""
    rows, margin = [""], " " * indent
    for word in e.text.split(" "):
        if len(rows[-1]) + len(word) > WIDTH - indent - 4:
            rows.append("")
        rows[-1] += f"{word} "
    rows[-1] = rows[-1][:-1]
    return [f"{margin}{flat(c.Words(x))}" for x in rows]


def flat(e: c.Expression) -> str:
    """An expression on one line."""
    if isinstance(e, c.Name | c.Use):
        return e.name
    if isinstance(e, c.Text):
        return e.text
    if isinstance(e, c.Attribute):
        return f"{flat(e.of)}.{e.name}"
    if isinstance(e, c.Item):
        return f"{flat(e.of)}[{flat(e.key)}]"
    if isinstance(e, c.Literal):
        return quoted(e.value) if isinstance(e.value, str) else repr(e.value)
    if isinstance(e, c.Words):
        return f"{'f' if '{' in e.text else ''}{quoted(e.text)}"
    if isinstance(e, c.Each):
        first, last = _ENDS[_form(e)]
        return f"{first}{' '.join(_clauses(e))}{last}"
    if isinstance(e, c.Either):
        return f"{flat(e.yes)} if {flat(e.condition)} else {flat(e.no)}"
    if isinstance(e, c.Sign):
        tight = e.op == "**" or (e.op in ("-", "*") and e.left is None)
        left = flat(e.left) if e.left else ""
        return (
            f"{left}{e.op}{flat(e.right)}" if tight else f"{left} {e.op} {flat(e.right)}".lstrip()
        )
    if isinstance(e, c.Word | c.Formula):
        raise InternalError("a word or formula is written before it is laid out")
    head, items, close = _parts(e)
    inner = ", ".join(p + flat(x) for p, x in items)
    comma = "," if isinstance(e, c.Row) and not e.listed and len(e.items) == 1 else ""
    return f"{head}{inner}{comma}{close}"


def quoted(text: str) -> str:
    """A text in double quotes."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'
