"""The table of statements, expressions and what stands at the top of a file."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True)
class Construct:
    """One construct: the node of the syntax tree, its meaning in words, one use of it."""

    node: type[ast.AST]
    text: str
    example: str


STATEMENTS = (
    Construct(
        ast.Assign,
        "names, nested tuples, a starred name, entries and slices",
        "a, *b = (x, y)",
    ),
    Construct(
        ast.AnnAssign,
        "the annotation, which is a type, has no meaning",
        "a: float = rho",
    ),
    Construct(
        ast.AugAssign,
        "in place on an array, a new value of a number",
        "x *= 2",
    ),
    Construct(
        ast.If,
        "a condition on symbols that the domains do not decide is taken both ways",
        "if rho < 0.5: pass",
    ),
    Construct(
        ast.For,
        "over every element of arrays of any length: read once, as a map; over the counter: in "
        "closed form; else turn by turn",
        "for i in range(3): pass",
    ),
    Construct(
        ast.While,
        "turn by turn; its counter is moved once a turn by a constant",
        "i = 0\nwhile i < 3:\n    i += 1",
    ),
    Construct(
        ast.Break,
        "leaves the loop",
        "for i in range(3): break",
    ),
    Construct(
        ast.Continue,
        "the next turn",
        "for i in range(3): continue",
    ),
    Construct(
        ast.Return,
        "the next states in the order of the arguments, or a dictionary of them",
        "return x",
    ),
    Construct(
        ast.Pass,
        "nothing",
        "pass",
    ),
    Construct(
        ast.FunctionDef,
        (
            "a function with closures; defaults that cannot change; a decorator is "
            "numba.njit or numba.jit"
        ),
        "def f(a, *, b=1): return a",
    ),
    Construct(
        ast.Assert,
        "where it fails Python raises",
        "assert rho > 0",
    ),
    Construct(
        ast.Raise,
        "Python raises: the rule must have no value there",
        "if rho != rho: raise ValueError",
    ),
    Construct(
        ast.Expr,
        "an expression for its effect",
        "np.copyto(x, y)",
    ),
    Construct(
        ast.With,
        'np.errstate(...="ignore" or "warn") only',
        'with np.errstate(divide="ignore"): pass',
    ),
)
EXPRESSIONS = (
    Construct(
        ast.Constant,
        "a number in the decimal it is written in, a word, True, False, None",
        "x * 0.1",
    ),
    Construct(
        ast.Name,
        (
            "local to a function that binds it anywhere, then of the enclosing, of "
            "the file, of Python"
        ),
        "x",
    ),
    Construct(
        ast.BinOp,
        "+ − * / ** @; // and % of known whole numbers; & and | of truth values",
        "x + y * 2 ** (7 % 4)",
    ),
    Construct(
        ast.UnaryOp,
        "−x, +x, `not` of a truth value, ~ of an array of truth values",
        "-x",
    ),
    Construct(
        ast.Compare,
        "also chained; `is` only with None; no `in`",
        "x if 0 < rho <= 1 else y",
    ),
    Construct(
        ast.BoolOp,
        "`and` and `or` of truth values only",
        "x if rho > 0 and rho < 1 else y",
    ),
    Construct(
        ast.IfExp,
        "as `if`",
        "x if rho < 0.5 else x",
    ),
    Construct(
        ast.Tuple,
        "a tuple",
        "(x, y)[0]",
    ),
    Construct(
        ast.List,
        "a list",
        "[x, y][0]",
    ),
    Construct(
        ast.Dict,
        "a dictionary with words as keys",
        "{'a': x}['a']",
    ),
    Construct(
        ast.Subscript,
        "indices, slices, a new axis, an ellipsis; a condition selects for operators and to store",
        "x[1:]",
    ),
    Construct(
        ast.Slice,
        "its ends and its step are known or lengths",
        "x[0:2]",
    ),
    Construct(
        ast.Attribute,
        "those of the tables below",
        "x.T",
    ),
    Construct(
        ast.Call,
        "of functions of the file and of the tables below",
        "abs(x)",
    ),
    Construct(
        ast.Lambda,
        "a function",
        "(lambda a: a)(x)",
    ),
    Construct(
        ast.ListComp,
        "a list of what the expression is in every turn",
        "[a for a in (x, y)][0]",
    ),
    Construct(
        ast.GeneratorExp,
        "the same, to be used once",
        "sum(a for a in (x, y))",
    ),
    Construct(
        ast.NamedExpr,
        "a value that is given a name, not in a comprehension",
        "(a := x) + a",
    ),
)
TOP = (
    (
        "a docstring, `pass`",
        "nothing",
    ),
    (
        "`import`, `from … import`",
        (
            "numpy, math, scipy.linalg, operator, functools, numba; typing, "
            "collections.abc and numbers, whose names have no meaning; NamedTuple and"
            " dataclass"
        ),
    ),
    (
        "an assignment to names",
        (
            "numbers, words, tuples of these, functions; what can change may stand "
            "there but not be read"
        ),
    ),
    (
        "`def`, `lambda`",
        "functions",
    ),
    (
        "`class`",
        "a NamedTuple or a frozen dataclass without methods",
    ),
    (
        '`if TYPE_CHECKING`, `if __name__ == "__main__"`',
        "not run, so not read",
    ),
)
