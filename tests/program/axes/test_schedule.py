"""The scheduling rule, what is kept, blocks and threads, on programs of a few equations."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.blocks import COLUMNS, ROWS, best, blocked, may
from blrgen.program.axes.check import check
from blrgen.program.axes.order import order
from blrgen.program.axes.parallel import parallel, shared, sums
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.schedule import Item, Loop, Schedule, schedule
from blrgen.program.axes.scratch import Storage, paths, storage
from blrgen.program.axes.text import program

LETTERS = "n:N, k:K, i,j:d, t:T, u:T down"
GIVEN = "x[N,d], y[N], c[K], q[K,K], b[T], s, z[N] in K, S[d,d] spd"


def plan(body: str, outs: str, by: Sequence[str] = ("t", "u", "n", "k", "i", "j")) -> Schedule:
    """The loops of equations as they stand, without passes."""
    made = program(LETTERS, GIVEN, body, outs)
    check(made)
    return schedule(made, by)


def shape(body: Sequence[Loop | Item]) -> list[object]:
    """Loops as lists that begin with their letters, equations by their names."""
    return [
        f"{x.let.name}!" if isinstance(x, Item) and x.store else x.let.name
        if isinstance(x, Item) else [x.letter, *shape(x.body)] for x in body
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "outs", "wanted"),
    [
        # what is read where it is made stands in the same loop
        ("e[n] = y[n]**2\nf[n] = e[n] * s", "f", [["n", "e", "f", "f!"]]),
        # a sum is read after its loop
        ("m = sum(n, y[n])\nf[n] = y[n] - m", "f", [["n", "m"], ["n", "f", "f!"]]),
        # what another letter reads needs another loop
        ("e[i] = x[0,i]\nf[i] = sum(j, e[j] * S[i,j])", "f",
         [["i", "e"], ["i", ["j", "f"], "f!"]]),
        # independent of what stands before it: the earliest loop
        ("m = sum(n, y[n])\nf[n] = y[n] - m\ng = sum(n, y[n]**2)", "f, g",
         [["n", "m", "g"], "g!", ["n", "f", "f!"]]),
        # one pass with loops inside
        ("p[n] = sum(i, x[n,i])\ng[i] = sum(n, p[n] * x[n,i])", "g",
         [["n", ["i", "p"], ["i", "g"]], ["i", "g!"]]),
        # a loop waits for what a later equation of it reads: rows are gone through once
        ("e[n] = sum(i, x[n,i])\nm = sum(k, c[k])\nf[n] = e[n] - m", "f",
         [["k", "m"], ["n", ["i", "e"], "f", "f!"]]),
        # but not where that reads the loop itself
        ("e[n] = sum(i, x[n,i])\nm[i] = sum(n, e[n] * x[n,i])\nf[n] = e[n] - m[0]", "f",
         [["n", ["i", "e"], ["i", "m"]], ["n", "f", "f!"]]),
        # nor where something between does, by way of another
        ("e[n] = sum(i, x[n,i])\nm = sum(n, e[n])\nh[k] = c[k] * m\n"
         "g = sum(k, h[k])\nf[n] = e[n] - g", "f",
         [["n", ["i", "e"], "m"], ["k", "h", "g"], ["n", "f", "f!"]]),
        # what needs no loop stands as early as it can
        ("m = sum(n, y[n])\nh = m * s\ng = sum(n, y[n]**2)", "h, g",
         [["n", "m", "g"], "h", "h!", "g!"]),
    ],
)  # fmt: skip
def test_where_equations_go(body: str, outs: str, wanted: list[object]) -> None:
    assert shape(plan(body, outs).body) == wanted


def test_a_recurrence_is_one_loop_and_its_first_index_apart() -> None:
    body = "for t:\n    a[t] = first(s), a[t-1] * s\n    e[t] = a[t] + b[t]\nf = sum(t, e[t])"
    (loop, store) = plan(body, "f").body
    assert isinstance(loop, Loop) and isinstance(store, Item)
    assert shape(loop.body) == shape(loop.first or []) == ["a", "e", "f"]
    begun, later = (
        next(i.let.expr for i in x if isinstance(i, Item)) for x in (loop.first or [], loop.body)
    )
    assert begun == a.ref("s") and later != begun


def test_what_is_overwritten_is_read_before() -> None:
    made = program("i:d", "m[d], g[d]", "r = sum(i, m[i] * g[i])\nm_next[i] = m[i] - r * g[i]\n"
                   "e = sum(i, m[i])", "e", "m = m_next")  # fmt: skip
    loops = shape(schedule(made, ("i",)).body)
    assert loops == [["i", "r", "e"], "e!", ["i", "m_next", "m!"]]


@pytest.mark.parametrize(
    ("body", "outs", "name", "wanted"),
    [
        ("e[n] = y[n]**2\nf = sum(n, e[n])", "f", "e", Storage(())),  # a number
        ("m = sum(n, y[n])\ne[n] = y[n] - m\nf = sum(n, e[n] * m)", "f", "e", Storage(())),
        ("e[n] = y[n]**2\nm = sum(n, e[n])\nf = sum(n, e[n] / m)", "f", "e", Storage(("n",))),
        ("e[n,k] = y[n] * c[k]\nm[n] = max(k, e[n,k])\nf = sum((n,k), e[n,k] - m[n])", "f", "e",
         Storage(("k",))),  # all k of one row
        ("g[i] = sum(n, x[n,i])", "g", "g", Storage(("i",))),  # a sum keeps what lies inside
        ("p[n] = sum(i, x[n,i])\nf = sum(n, p[n]**2)", "f", "p", Storage(())),
        ("for t:\n    a[t] = first(s), a[t-1] * s\nf = a[last(t)]", "f", "a", Storage((), "t")),
        ("for t:\n    e[t,k] = first(c[k]), s * a[t-1,k]\n    a[t,k] = e[t,k] + b[t]\n"
         "f[k] = a[last(t),k]", "f", "a", Storage(("k",), "t")),
        ("for t:\n    a[t,k] = first(c[k]), s * a[t-1,k]\nf[k] = a[last(t),k]", "f", "a",
         Storage(("k",), "t")),  # read and written at the same place
        ("for t:\n    a[t,k] = first(c[k]), a[t-1,0] * c[k]\nf[k] = a[last(t),k]", "f", "a",
         Storage(("k",), "t", True)),  # written before all of it has been read
    ],
)  # fmt: skip
def test_what_is_kept(body: str, outs: str, name: str, wanted: Storage) -> None:
    assert storage(plan(body, outs))[name] == wanted


def test_the_order_of_letters_follows_memory() -> None:
    made = program(LETTERS, GIVEN, "g[i] = sum(n, x[n,i] * y[n])", "g")
    assert [x for x in order(made) if x in "ni"] == ["n", "i"]
    product = program("i,j,l:d", "F[d,d], A[d,d]", "V[i,j] = sum(l, A[i,l] * F[j,l])", "V")
    assert order(product) == ("i", "j", "l")  # what is reduced goes inside


@pytest.mark.parametrize(
    ("body", "outs", "wanted"),
    [
        (
            "e[n,k] = y[n] * c[k]\nf[k] = sum(n, e[n,k]**2)",
            "f",
            COLUMNS,
        ),  # one letter, no row is given
        ("g[i] = sum(n, x[n,i] * y[n])", "g", ""),  # one letter, rows are given
        ("C[i,j] = sum(n, x[n,i] * x[n,j])", "C", COLUMNS),  # two letters
        ("p[n] = sum(i, x[n,i])\ne[n] = exp(p[n])\ng[i] = sum(n, e[n] * x[n,i])", "g", ROWS),
        ("f = sum(n, exp(y[n]))", "f", ""),  # nothing inside
    ],
)
def test_blocks_where_they_pay(body: str, outs: str, wanted: str) -> None:
    made = program("n:N, k:K, i,j:d", GIVEN, body, outs)
    (loop, *_) = shared(scheduled(made, blocks=""))
    assert best(loop, scheduled(made, blocks="")) == wanted


def test_two_passes_over_rows_copy_their_blocks_themselves() -> None:
    body = "C[i,j] = sum(n, x[n,i] * x[n,j])\nt = sum(i, C[i,i])\n"
    made = program("n:N, i,j:d", GIVEN, body + "B[i,j] = sum(n, t * x[n,i] * x[n,j])", "C, B")
    split = blocked(schedule(made, ("n", "i", "j")), ("n", "i", "j"))
    copies = [s.name for s in split.program.lets if "block" in s.name]
    assert len(copies) == 2
    kept = storage(split)
    assert all(kept[name].kept[-1] == split.blocks["n"].inner for name in copies)
    assert all("n" not in kept[name].kept for name in copies)


@pytest.mark.parametrize(
    ("body", "wanted"), [("s[k] = sum(n, [z[n] == k] * e[n])", True),
                         ("s[k,i] = sum(n, [z[n] == k] * e[n] * x[n,i])", False)]
)  # fmt: skip
def test_sums_by_label_are_made_in_blocks_where_they_have_no_other_letter(
    body: str, wanted: bool
) -> None:
    given = "x[N,d], c[K], z[N] in K"
    made = program("n:N, k,l:K, i:d", given, f"e[n] = sum(l, exp(c[l])**2)*c[z[n]]\n{body}", "s")
    laid = scheduled(made, blocks="")
    loops = [x for x in shared(laid) if any(i.let.at for i, _, _ in paths([x]))]
    assert [may(x, laid, COLUMNS) for x in loops] == [wanted]


def test_what_may_be_done_at_the_same_time() -> None:
    made = plan(
        "f = sum(n, y[n])\nfor t:\n    a[t] = first(s), a[t-1] * b[t]\ng = a[last(t)]", "f, g"
    )
    loops = {x.letter: x for x in made.body if isinstance(x, Loop)}
    assert parallel(loops["n"], made) and not parallel(loops["t"], made)
    assert sums(loops["n"], made) == ("f",)
    assert shared(made) == [loops["n"]]


def test_a_zero_that_the_next_place_reads_is_there_at_the_first_one() -> None:
    body = "for t:\n    w[t] = first(0), w[t-1] * b[t] + 1\n    v[t] = first(0), w[t] + 1\n"
    made = plan(f"{body}g = w[last(t)] + v[last(t)]", "g")
    (loop,) = (x for x in made.body if isinstance(x, Loop))
    late = {i.let.name for i in loop.first or [] if isinstance(i, Item)}
    assert "w" in late
    made = plan(f"{body}    y2[t] = first(b[t]), y2[t-1] + v[t] * w[t-1]\ng = y2[last(t)]", "g")
    (loop,) = (x for x in made.body if isinstance(x, Loop))
    first = {i.let.name for i in loop.first or [] if isinstance(i, Item)}
    assert "w" in first and "v" not in first  # what is zero and read nowhere idles


def test_axes_of_matrices_are_no_rows() -> None:
    made = plan("f = sum(i, S[i,i])", "f")
    assert shared(made) == []
