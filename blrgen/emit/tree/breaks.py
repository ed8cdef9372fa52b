"""Long lines as a formatter would break them: at signs, then inside of the last brackets."""

from __future__ import annotations

from blrgen.emit.text import WIDTH, operands


def assigned(name: str, expression: str, indent: int, sign: str = "=") -> str:
    """`name = expression`, in brackets over several lines where one is too long."""
    margin = " " * indent
    line = f"{margin}{name} {sign} {expression}"
    if len(line) <= WIDTH:
        return line
    if _is_call(expression):
        rows = fitted(expression, indent)
        return "\n".join([f"{margin}{name} {sign} {rows[0].strip()}", *rows[1:]])
    start = _last_bracket(expression)
    head, inside = expression[: start + 1], expression[start + 1 : -1]
    if head == "-(":
        rows = fitted(inside, indent + 4)
        return "\n".join([f"{margin}{name} {sign} -(", *rows, f"{margin})"])
    plain = start > 0 and expression[start - 1] in " -" and len(margin) + 4 + len(inside) <= WIDTH
    if plain and len(f"{margin}{name} {sign} {head}") <= WIDTH:
        return f"{margin}{name} {sign} {head}\n{margin}    {inside}\n{margin})"
    inner = "\n".join(fitted(expression, indent + 4))
    return f"{margin}{name} {sign} (\n{inner}\n{margin})"


def fitted(expression: str, indent: int) -> list[str]:
    """An expression in brackets on lines that fit: at its signs, then inside of its brackets."""
    margin = " " * indent
    if indent + len(expression) <= WIDTH and not _is_call(expression):
        return [f"{margin}{expression}"]
    if indent + len(expression) > WIDTH and len(_words(expression)) > 1:
        return [line for x in _words(expression) for line in _opened(x, indent)]
    rows = operands(expression, (" + ", " - "))
    return [line for x in rows for line in _opened(x, indent)]


def _opened(expression: str, indent: int) -> list[str]:
    """An operand with its sign before it; its last brackets opened where it is too long."""
    margin = " " * indent
    start = _last_bracket(expression)
    if indent + len(expression) <= WIDTH and not _is_call(expression):
        return [f"{margin}{expression}"]
    rows = operands(expression, (" * ", " / ", " //"))
    if len(rows) > 1:
        return [line for x in rows for line in _opened(x, indent)]
    if start < 0:
        return [f"{margin}{expression}"]
    arguments = _arguments(expression[start + 1 : -1])
    together = ", ".join(arguments)
    if indent + 4 + len(together) <= WIDTH:
        inside = [f"{margin}    {together}"]
    elif len(arguments) == 1:
        inside = fitted(arguments[0], indent + 4)
    else:
        inside = []
        for x in arguments:
            *most, last = fitted(x, indent + 4) if len(x) + indent + 5 > WIDTH else [
                f"{margin}    {x}"]  # fmt: skip
            inside += [*most, f"{last},"]
    return [f"{margin}{expression[: start + 1]}", *inside, f"{margin}{expression[-1]}"]


def _words(expression: str) -> list[str]:
    """a if b else c, before its words."""
    return operands(expression, (" if", " el")) if " else " in expression else [expression]


def _last_bracket(expression: str) -> int:
    """Where the bracket that ends the expression opens; −1 where none ends it."""
    if expression[-1:] not in ")]":
        return -1
    depth = 0
    for k in range(len(expression) - 1, -1, -1):
        depth += (expression[k] in ")]") - (expression[k] in "([")
        if depth == 0:
            return k
    return -1


def _is_call(expression: str) -> bool:
    """Whether it is one function of something and nothing beside it."""
    head, _, rest = expression.partition("(")
    depth = 1
    for k, c in enumerate(rest):
        depth += (c in "([") - (c in ")]")
        if depth == 0:
            return k == len(rest) - 1 and bool(head) and head.replace(".", "_").isidentifier()
    return False


def _arguments(inside: str) -> list[str]:
    """What stands between the outermost commas."""
    rows, depth, start = [], 0, 0
    for k, c in enumerate(inside):
        depth += (c in "([") - (c in ")]")
        if depth == 0 and inside[k : k + 2] == ", ":
            rows.append(inside[start:k])
            start = k + 2
    return [*rows, inside[start:]]
