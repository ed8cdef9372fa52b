"""A model as text again: every statement with the names of its arguments."""

from __future__ import annotations

from fractions import Fraction

from blrgen.read.model.values import (
    All,
    Argument,
    Call,
    Choose,
    Const,
    Distribution,
    Draw,
    Expr,
    Index,
    Label,
    Letter,
    Literal,
    MatrixProduct,
    Model,
    Negation,
    Node,
    Number,
    Plate,
    Point,
    Power,
    Product,
    Ref,
    SizeOf,
    Statement,
    Sum,
)

_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)  # how tightly a form binds
_MINUS_ONE = Number(Fraction(-1))


def spelled(e: Expr) -> str:
    """An expression as the language writes it."""
    return _spelled(e)[0]


def _at_least(e: Expr, level: int) -> str:
    text, own = _spelled(e)
    return text if own >= level else f"({text})"


def _spelled(e: Expr) -> tuple[str, int]:
    match e:
        case Number(value=value):
            return number(value)
        case SizeOf(size=size):
            return str(size), _SUM if size.name and size.number else _ATOM
        case Ref(name=name, indices=indices):
            return f"{name}{brackets(indices)}", _ATOM
        case Call(function=function, args=args):
            return f"{function}({', '.join(map(spelled, args))})", _ATOM
        case Negation(arg=arg):
            return f"-{_at_least(arg, _SIGN)}", _SIGN
        case Power(base=base, exponent=exponent):
            return f"{_at_least(base, _ATOM)}**{_at_least(exponent, _POWER)}", _POWER
        case MatrixProduct(left=left, right=right):
            return f"{_at_least(left, _PRODUCT)}*{_at_least(right, _POWER)}", _PRODUCT
        case Sum(terms=terms):
            return _sum(terms), _SUM
        case Product(factors=factors):
            return _product(factors), _PRODUCT


def number(value: Fraction) -> tuple[str, int]:
    """Exact: 3, 1/3; decimals where they are short."""
    if value.denominator == 1:
        text = str(value.numerator)
    else:
        short = f"{float(value):.12g}"
        text = short if "e" not in short and Fraction(short) == value else str(value)
    if value < 0:
        return text, _SIGN
    return text, _PRODUCT if "/" in text else _ATOM


def _sum(terms: tuple[Expr, ...]) -> str:
    text = _at_least(terms[0], _PRODUCT)
    for t in terms[1:]:
        if isinstance(t, Negation):
            text += f" - {_at_least(t.arg, _PRODUCT)}"
        elif isinstance(t, Number) and t.value < 0:
            text += f" - {number(-t.value)[0]}"
        else:
            text += f" + {_at_least(t, _PRODUCT)}"
    return text


def _product(factors: tuple[Expr, ...]) -> str:
    text = ""
    for f in factors:
        if text and isinstance(f, Power) and f.exponent == _MINUS_ONE:
            text += f"/{_at_least(f.base, _POWER)}"
            continue
        if text and isinstance(f, Number) and f.value.numerator == 1 and f.value.denominator > 1:
            text += f"/{f.value.denominator}"
            continue
        loose = not text and not isinstance(f, Product)
        text += ("*" if text else "") + _at_least(f, _PRODUCT if loose else _SIGN)
    return text


def brackets(indices: tuple[Index, ...]) -> str:
    """[k, t-1, z[n], :], "" without indices."""
    return f"[{','.join(map(_index, indices))}]" if indices else ""


def _index(index: Index) -> str:
    match index:
        case Letter(name=name, shift=shift):
            return name if not shift else f"{name}{shift:+d}"
        case Literal(value=value):
            return str(value)
        case Label(ref=ref):
            return spelled(ref)
        case All():
            return ":"


def distribution(d: Distribution | Point) -> str:
    """A family with the names of its arguments."""
    match d:
        case Draw(family=family, arguments=arguments):
            return f"{family}({', '.join(map(_argument, arguments))})"
        case Point(value=value):
            return f"point({spelled(value)})"
        case Choose(label=label, branches=branches):
            inside = ", ".join(distribution(b) for b in branches)
            return f"choose({spelled(label.ref)}, {inside})"


def _argument(a: Argument) -> str:
    return f"{a.name} = {spelled(a.value)}"


def plate(p: Plate) -> str:
    """plate n in N."""
    counted = f" times {spelled(p.times)}" if p.times is not None else ""
    return f"plate {p.letter} in {p.size}{counted}"


def constant(c: Const) -> str:
    """const name in domain = default."""
    letters = f"[{','.join(c.letters)}]" if c.letters else ""
    default = f" = {spelled(c.default)}" if c.default is not None else ""
    return f"const {c.name}{letters} in {c.domain.text}{default}"


def statement(node: Node, s: Statement) -> str:
    """One line of a node."""
    where = brackets(s.indices)
    left = ", ".join(f"{name}{where}" for name in node.names)
    left = f"({left})" if len(node.names) > 1 else left
    if node.kind == "deterministic":
        return f"{left} = {spelled(s.made)}"  # type: ignore[arg-type]
    seen = " observed" + " or missing" * node.missing if node.kind == "observed" else ""
    return f"{left} ~ {distribution(s.made)}{seen}"  # type: ignore[arg-type]


def lines(model: Model) -> list[tuple[int, str]]:
    """Every statement with its line in the text, in order."""
    found = [(p.place.line, plate(p)) for p in model.plates]
    found += [(c.place.line, constant(c)) for c in model.constants]
    for node in model.nodes:
        if node.kind == "param":
            letters = f"[{','.join(node.letters)}]" if node.letters else ""
            found.append((node.place.line, f"param {node.name}{letters} in {node.domains[0].text}"))
        found += [(s.place.line, statement(node, s)) for s in node.statements]
    return sorted(found)
