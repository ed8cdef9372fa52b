"""Random numbers made in compiled code: what they are, and whether they look like it.

The battery returns the names of the checks that fail, so that generators that were broken on
purpose can be shown to be caught.  Bounds are five standard errors; seeds are fixed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

import blrgen
from blrgen.emit import GENERATORS, emit
from blrgen.emit.compile import load
from blrgen.emit.support import alone
from blrgen.errors import UserError

Fill = Callable[[Any, int, int, int], None]
# a function that fills any stretch with numbers of a law, block by block
FILL = """

@njit(fastmath=FASTMATH, error_model="numpy")
def {name}(out: Array, key: int, stream: int, first: int) -> None:
    words, whole = np.empty(WORDS, np.uint32), np.empty(BLOCK, out.dtype)
    for start in range(0, out.size, BLOCK):
        part = out[start : start + BLOCK]
        {law}_block(whole, words, np.uint64(key), stream, first + start{numbers})
        for i in range(part.size):
            part[i] = whole[i]
"""
LAWS = {
    "_plain_logistic": ("_logistic", ", 0.0, 1.0"),
    "_standard_normal": ("_standard_normal", ""),
    "_half_logistic": ("_logistic", ", 1.0, 0.5"),
    "_three_wide": ("_uniform", ", -1.0, 3.0"),
    "_unit": ("_uniform", ", 0.0, 1.0"),
}
USED = ["_standard_normal", "_standard_normal_threads", "_logistic_block", "_uniform_block",
        "_signs", "njit"]  # fmt: skip
KEY = 0x0123456789ABCDEF
BLOCK = 256
BOUND = 5.0  # standard errors
TYPES = ("float32", "float64")


def source(generator: str) -> str:
    """All functions of noise, as a file has them."""
    more = [FILL.format(name=x, law=law, numbers=numbers) for x, (law, numbers) in LAWS.items()
            if x != "_standard_normal"]  # fmt: skip
    return alone("numba", USED, generator) + "\n".join(more)


# what files have unless another is asked for, in every run
EACH = [x if x == GENERATORS[0] else pytest.param(x, marks=pytest.mark.rest) for x in GENERATORS]


@pytest.fixture(scope="module", params=EACH)
def made(request: Any) -> ModuleType:
    return load(source(request.param))


@pytest.fixture(scope="module")
def threefry() -> ModuleType:
    return load(source("threefry"))


def filled(
    fill: Any, size: int, dtype: str, stream: int = 0, first: int = 0, key: int = KEY
) -> Any:
    """A stretch of a stream."""
    out = np.empty(size, dtype)
    fill(out, np.uint64(key), stream, first)
    return out


def words_of(made: ModuleType, count: int, stream: int = 0, first: int = 0, key: int = KEY) -> Any:
    """The words of `count` counters: the first of every pair, then the second."""
    out = np.empty(2 * count, np.uint32)
    made._random_words(out, count, np.uint64(key), stream, first)
    return out


def block_words(made: ModuleType, blocks: int, counters: int, every: int, stream: int) -> Any:
    """The words of some blocks, each of which begins at a multiple of `every` counters."""
    return np.stack([words_of(made, counters, stream, b * every) for b in range(blocks)])


def drawn(fill: Fill, size: int, dtype: str = "float32", key: int = KEY, stream: int = 0) -> Any:
    return filled(fill, size, dtype, stream, 0, key).astype(np.float64)


# --- what the words are


@pytest.mark.parametrize(
    ("key", "counter", "words"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_gives_the_published_answers(
    threefry: ModuleType, key: Any, counter: Any, words: Any
) -> None:
    place, whole = counter[0] % 96, key[0] | key[1] << 32
    out = words_of(threefry, 96, counter[1], counter[0] - place, whole)
    assert (out[place], out[place + 96]) == words


def reference_words(key: int, stream: int, counters: Any) -> tuple[Any, Any]:
    """Threefry2x32-20 as its authors describe it, on arrays of counters."""
    mask = np.uint64(0xFFFFFFFF)
    k = [np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)]
    k.append(k[0] ^ k[1] ^ np.uint64(0x1BD11BDA))
    counters = counters.astype(np.uint64)
    x = (counters & mask) + k[0] & mask
    y = np.uint64(stream) + ((counters >> np.uint64(32)) << np.uint64(24)) + k[1] & mask
    for r in range(20):
        left = np.uint64(((13, 15, 26, 6), (17, 29, 16, 24))[r // 4 % 2][r % 4])
        x = x + y & mask
        y = (y << left | y >> np.uint64(32) - left) & mask ^ x
        if r % 4 == 3:
            s = r // 4 + 1
            x, y = x + k[s % 3] & mask, y + k[(s + 1) % 3] + np.uint64(s) & mask
    return x, y


@pytest.mark.parametrize("first", [0, 2**32 - 256, 2**32, 5 * 2**32 + 256])
def test_threefry_counts_beyond_32_bits(threefry: ModuleType, first: int) -> None:
    x, y = reference_words(KEY, 7, np.arange(first, first + 256))
    assert np.array_equal(words_of(threefry, 256, 7, first), np.concatenate([x, y]))


@pytest.mark.parametrize(("dtype", "bits", "allowed"), [("float32", 32, 4), ("float64", 64, 6)])
def test_normals_are_box_and_mullers(
    made: ModuleType, dtype: str, bits: int, allowed: float
) -> None:
    size = 64 * 1024
    got = filled(made._standard_normal, size, dtype, 3)
    radius, angle = words_of_pairs(made, size // BLOCK, bits)
    exact = np.longdouble
    u = ((radius | radius.dtype.type(1)) / exact(2) ** bits).astype(exact)
    turn = (angle << angle.dtype.type(2)).view(f"int{bits}").astype(exact) + 2
    turn *= exact(np.pi) / 4 / exact(2) ** (bits - 1)
    quarter = angle >> angle.dtype.type(bits - 2)
    c, s = np.cos(turn) * np.where(quarter & 2, -1, 1), np.sin(turn)
    r = np.sqrt(-2 * np.log(u))
    pair = np.where(quarter & 1, s, c) * r, np.where(quarter & 1, c, s) * r
    for actual, wanted in zip(partners(got, dtype), pair, strict=True):
        error = np.abs(actual - wanted) / np.abs(wanted)
        assert error.max() < allowed * np.finfo(dtype).eps


def words_of_pairs(made: ModuleType, blocks: int, bits: int) -> tuple[Any, Any]:
    """The words that say the radius and the angle of every pair of numbers in some blocks."""
    if bits == 64:
        words = block_words(made, blocks, BLOCK, BLOCK, 3).view(np.uint64)
        return words[:, : BLOCK // 2].reshape(-1), words[:, BLOCK // 2 :].reshape(-1)
    words = block_words(made, blocks, 3 * BLOCK // 8, BLOCK // 2, 3)
    radius, shared = words[:, : BLOCK // 2], words[:, BLOCK // 2 :]
    upper = np.concatenate([shared >> 16, shared & 0xFFFF], axis=1)
    return radius.reshape(-1), ((upper << 16) | (radius & 0xFFFF)).reshape(-1)


def partners(x: Any, dtype: str) -> tuple[Any, Any]:
    """The two numbers of each pair: a quarter (float32) or half (float64) of a block apart."""
    apart = x.reshape(-1, 2, BLOCK // 4 if dtype == "float32" else BLOCK // 2)
    return apart[:, 0].reshape(-1), apart[:, 1].reshape(-1)


def test_the_radius_keeps_its_digits_where_it_is_small_and_where_it_is_large(
    threefry: ModuleType,
) -> None:
    words = np.array([0, 1, 2, 3, 2**31, 2**32 - 1, 2**32 - 3, 2**32 - 2**9, 2**32 - 2**20])
    for w in words.astype(np.uint32):
        odd = int(w) | 1
        bits = np.float32(odd).view(np.int32)
        tables = threefry.LOG_SINGLE, threefry.ARTANH_SINGLE
        got = threefry._minus_two_log(np.uint32(odd), bits, np.float32(1), *tables)
        wanted = -2 * np.log1p(np.longdouble(odd - 2**32) / 2**32)
        assert abs(got / wanted - 1) < 3 * np.finfo(np.float32).eps, hex(w)


@pytest.mark.parametrize("dtype", TYPES)
def test_logistic_numbers_are_the_log_odds_of_their_words(made: ModuleType, dtype: str) -> None:
    out = filled(made._plain_logistic, 64 * 1024, dtype, 3)
    exact = log_odds(words_of_logistic(made, 64 * 1024 // BLOCK, dtype))
    error = np.abs(out - exact) / np.maximum(np.abs(exact), 1)
    assert error.max() < 2 * np.finfo(dtype).eps


def words_of_logistic(made: ModuleType, blocks: int, dtype: str) -> Any:
    """The word that each logistic number of some blocks is made from."""
    if dtype == "float64":
        return block_words(made, blocks, BLOCK, BLOCK, 3).view(np.uint64).reshape(-1)
    words = block_words(made, blocks, 3 * BLOCK // 8, BLOCK // 2, 3)
    own, shared = words[:, : BLOCK // 2], words[:, BLOCK // 2 :]
    upper = np.concatenate([shared >> 16, shared & 0xFFFF], axis=1) << 16
    exchanged = (own & 0xFF) << 8 | (own >> 8) & 0xFF
    return np.concatenate([own, upper | exchanged], axis=1).astype(np.uint32).reshape(-1)


def test_numbers_that_share_a_word_are_independent_to_24_bits(threefry: ModuleType) -> None:
    """The upper 24 bits of both take the 48 bits that say them to 48 bits, one to one."""
    unit = np.uint32(1) << np.arange(32, dtype=np.uint32)
    zero = np.zeros(32, np.uint32)
    v, upper = np.concatenate([unit, zero]), np.concatenate([zero, unit & np.uint32(0xFFFF0000)])
    other = np.array([threefry._other(*pair) for pair in zip(v, upper, strict=True)])
    images = [int(x) >> 8 << 24 | int(y) >> 8 for x, y in zip(v, other, strict=True)]
    said = [image for image in images if image]
    assert len(said) == 48 == len(set(said)) and all(x.bit_count() == 1 for x in said)


def log_odds(words: Any) -> Any:
    """log u − log(1 − u) in long doubles, without a cancellation around u = 1/2."""
    size, exact = words.dtype.itemsize * 8, np.longdouble
    above = (words | words.dtype.type(1)) - words.dtype.type(2 ** (size - 1))  # of 1/2, wrapped
    off = above.view(f"int{size}").astype(exact) / exact(2) ** (size - 1)  # 2u − 1
    return np.where(abs(off) < 0.5, 2 * np.arctanh(off), np.log1p(off) - np.log1p(-off))


def test_log_odds_at_both_ends_and_in_the_middle(threefry: ModuleType) -> None:
    ends = [0, 2, 5, 2**20, 2**29, 2**32 // 3, 2**32 // 3 + 2, 2**31 - 2, 2**31 - 700, 2**31]
    words = np.array([*ends, *(2**32 - 1 - x for x in ends)]).astype(np.uint32)
    wanted = log_odds(words)
    for w, exact in zip(words, wanted, strict=True):
        got = threefry._log_odds_single(np.uint32(w))
        assert abs(got - exact) < 2 * np.finfo(np.float32).eps * max(1, abs(exact)), hex(w)
        assert got == -threefry._log_odds_single(np.uint32(~w)), hex(w)


# --- whose numbers they are


@pytest.mark.sweep(6)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", LAWS)
def test_a_number_does_not_depend_on_the_partition(made: ModuleType, name: str, dtype: str) -> None:
    fill, size = getattr(made, name), 5000
    whole = filled(fill, size, dtype, 1)
    for low, high in ((0, 1), (0, 513), (1024, 1024), (1024, 3000), (3072, 5000), (4096, 4097)):
        part = filled(fill, high - low, dtype, 1, low)
        assert np.array_equal(part, whole[low:high]), (low, high)
    unaligned = np.empty(size + 1, dtype)[1:]
    fill(unaligned, np.uint64(KEY), 1, 0)
    assert np.array_equal(unaligned, whole)


@pytest.mark.parametrize("dtype", TYPES)
def test_a_number_does_not_depend_on_the_threads(made: ModuleType, dtype: str) -> None:
    one = filled(made._standard_normal, 70001, dtype, 2)
    for stretch in (0, 2048, 4096, 40960, 100352):
        several = np.empty(70001, dtype)
        made._standard_normal_threads(several, np.uint64(KEY), 2, stretch)
        assert np.array_equal(one, several)


def test_numbers_beyond_2_to_the_32_are_others(made: ModuleType) -> None:
    starts = (0, 2**32, 2**33, 2**33 + 2**32)
    out = np.stack([filled(made._standard_normal, 2048, "float32", 0, x) for x in starts])
    assert len(np.unique(out)) > 0.999 * out.size


# --- whether they look random


def battery(fill: Fill, dtype: str, size: int = 2**18) -> list[str]:
    """The checks that fail for a source of standard normal numbers."""
    x = drawn(fill, size, dtype)
    found = [f"moment {k}" for k in range(1, 7) if abs(moment(x, k)) > BOUND]
    if ks(ndtr(x)) > 2.3:
        found.append("distribution")
    found += [] if even(ndtr(x), 256) else ["bins"]
    found += pairs(x, dtype)
    for name, y in others(fill, size, dtype):
        found += [f"{name}: {what}" for what in together(x, y)]
    return found


def moment(x: Any, k: int) -> float:
    """E[xᵏ] in standard errors: E[x²ᵏ] = (2k − 1)!!."""
    even_moment = [float(np.prod(np.arange(2 * j - 1, 0, -2))) for j in range(7)]
    mean = even_moment[k // 2] if k % 2 == 0 else 0.0
    return float((np.mean(x**k) - mean) / np.sqrt((even_moment[k] - mean**2) / x.size))


def ks(u: Any) -> float:
    """Kolmogorov's √n sup |F̂ − F| for numbers that should be uniform; above 2.3 once in 20000."""
    u, n = np.sort(u), u.size
    steps = np.arange(n + 1) / n
    return float(np.sqrt(n) * max(np.max(steps[1:] - u), np.max(u - steps[:-1])))


def even(u: Any, bins: int) -> bool:
    """Whether numbers fill equal bins evenly, and not too evenly either."""
    counts = np.bincount(np.minimum((u * bins).astype(np.int64), bins - 1), minlength=bins)
    statistic = np.sum((counts - u.size / bins) ** 2) / (u.size / bins)
    return bool(1e-7 < chi2.cdf(statistic, bins - 1) < 1 - 1e-7)


def pairs(x: Any, dtype: str) -> list[str]:
    """The two numbers of one radius and angle; neighbours near and far."""
    a, b = partners(x, dtype)
    found = [] if ks(np.exp(-(a**2 + b**2) / 2)) < 2.3 else ["radius"]
    found += [] if even(np.arctan2(b, a) / (2 * np.pi) % 1, 256) else ["angle"]
    found += [f"pair: {what}" for what in together(a, b)]
    for lag in (1, 2, 3, 8, 16, 64, 128, 192, 256, 512, 1024):
        found += [f"lag {lag}: {what}" for what in together(x[:-lag], x[lag:])]
    return found


def others(fill: Fill, size: int, dtype: str) -> Iterator[tuple[str, Any]]:
    """Streams and keys that a careless generator makes alike."""
    for stream in (1, 2, 255, 2**16):
        yield f"stream {stream}", drawn(fill, size, dtype, KEY, stream)
    for name, key in (("next", KEY + 1), ("far", KEY ^ 1 << 40), ("zero", 0)):
        yield f"{name} key", drawn(fill, size, dtype, key)


def together(x: Any, y: Any) -> list[str]:
    """Products of functions with mean 0 and variance 1, in standard errors; counts of cells."""
    functions = {
        "x": lambda z: z,
        "x²": lambda z: (z * z - 1) / np.sqrt(2),
        "sign": np.sign,
        "low bits": lambda z: np.where((np.abs(z) * 2**14).astype(np.int64) & 1, 1.0, -1.0),
    }
    found = []
    for (a, f), (b, g) in itertools.product(functions.items(), repeat=2):
        if abs(np.mean(f(x) * g(y))) * np.sqrt(x.size) > BOUND:
            found.append(f"{a}, {b}")
    cells = (ndtr(x[::4]) * 16).astype(np.int64) * 16 + (ndtr(y[::4]) * 16).astype(np.int64)
    return found + ([] if even((cells + 0.5) / 256, 256) else ["cells"])


@pytest.mark.parametrize("dtype", TYPES)
def test_the_battery_finds_nothing(made: ModuleType, dtype: str) -> None:
    assert battery(made._standard_normal, dtype) == []


def broken(generator: str, old: str, new: str) -> ModuleType:
    whole = source(generator)
    assert old in whole
    return load(whole.replace(old, new))


FAULTS = {
    "angle of the radius's word": (
        "threefry", "_pair_single(v, (angles & upper) | (v & lower))", "_pair_single(v, v)",
        "pair"),
    "no lower half of an angle": (
        "threefry", "_pair_single(v, (angles & upper) | (v & lower))",
        "_pair_single(v, angles & np.uint32(0xFE000000))", "angle"),
    "stream left out": ("threefry", "word(stream + ((", "word(0 * stream + ((", "stream"),
    "radius of too few words": (
        "threefry", "odd, angle = word(w | word(1)),",
        "odd, angle = word((w & word(0xF8000000)) | word(1)),", "radius"),
    "key not mixed in": ("hash", "_scrambled(np.uint64(key))", "_scrambled(np.uint64(0))", "key"),
    "counter not hashed": ("hash", "p, q = _permuted(n, a, b), _permuted(n, c, d)",
                           "p, q = word(n * a), word(n + b)", ""),
}  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_battery_finds_what_is_broken(fault: str) -> None:
    generator, old, new, sign = FAULTS[fault]
    made = broken(generator, old, new)
    found = battery(made._standard_normal, "float32", 2**17)
    assert any(sign in x for x in found), found


def test_the_battery_finds_missing_rounds() -> None:
    """Four rounds instead of twenty."""
    whole = source("threefry")
    head, *loops = re.split(r"(?=    for j in range\(n\):\n        words)", whole)
    last, rest = loops[-1].split("\n\n\n", 1)
    assert len(loops) == 5 and last.count("\n") == 1
    made = load(f"{head}{loops[0]}\n\n{rest}")
    assert battery(made._standard_normal, "float32", 2**17)


def test_words_repeat_as_often_as_random_ones_do(made: ModuleType) -> None:
    half = words_of(made, 2**18).reshape(2, -1)
    for words in (half[0], half[1], half):
        repeats, n = words.size - len(np.unique(words)), float(words.size)
        expected = n**2 / 2**33
        assert abs(repeats - expected) < BOUND * np.sqrt(expected)


def test_every_bit_of_a_word_depends_on_every_bit_around_it(made: ModuleType) -> None:
    """Flipping one bit of key, stream or counter flips each bit of the words half the time."""
    trials, flips = 24, []
    rng = np.random.default_rng(3)
    for _ in range(trials):
        key, stream = int(rng.integers(2**63)), int(rng.integers(2**22))
        first = int(rng.integers(2**31)) * 256
        changed = [(key ^ 1 << b, stream, first) for b in range(64)]
        changed += [(key, stream ^ 1 << b, first) for b in range(22)]
        changed += [(key, stream, first ^ 1 << b) for b in range(8, 38)]
        outs = np.stack(
            [words_of(made, 256, s, f, k) for k, s, f in [(key, stream, first), *changed]]
        )
        flips.append(
            np.unpackbits((outs[1:] ^ outs[0]).view(np.uint8).reshape(-1, 512, 4), axis=-1)
        )
    share = np.mean(np.stack(flips), axis=(0, 2))  # over trials and words, by flip and bit
    assert np.max(np.abs(share - 0.5)) < 6 * 0.5 / np.sqrt(trials * 512)


@pytest.mark.parametrize("generator", GENERATORS)
def test_tails(generator: str) -> None:
    made = load(source(generator))
    chances = np.array([1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7])
    ends, repeats = -ndtri(chances / 2), 40
    above, below = np.zeros(6), np.zeros(6)
    for stream in range(repeats):
        out = filled(made._standard_normal, 2**22, "float32", stream)
        far = out[np.abs(out) > ends[0]]
        above += [np.count_nonzero(far > end) for end in ends]
        below += [np.count_nonzero(far < -end) for end in ends]
    expected = chances / 2 * out.size * repeats
    for counts in (above, below, (above + below) / np.sqrt(2) - expected * (np.sqrt(2) - 1)):
        assert np.all(np.abs(counts - expected) < BOUND * np.sqrt(expected) + 1), counts


@pytest.mark.parametrize("dtype", TYPES)
def test_other_laws(made: ModuleType, dtype: str) -> None:
    logistic = drawn(made._half_logistic, 2**19, dtype)
    uniform = drawn(made._three_wide, 2**19, dtype)
    u = 1 / (1 + np.exp(-2 * (logistic - 1)))
    for found in (u, (uniform + 1) / 3):
        assert ks(found) < 2.3 and even(found, 256)
        assert abs(np.mean((found[:-1] - 0.5) * (found[1:] - 0.5)) * 12) < BOUND / 2**9.5
    assert uniform.min() > -1 and uniform.max() < 2


def agreeing(made: ModuleType, bits: int) -> float:
    """How far from chance, in deviations, first bits of two that share a word agree."""
    u = 1 / (1 + np.exp(-drawn(made._plain_logistic, 2**21)))
    one, other = (np.floor(x * 2.0**bits) for x in u.reshape(-1, 2, BLOCK // 2).swapaxes(0, 1))
    same, n = np.count_nonzero(one == other), one.size
    return float(abs(same - n / 2**bits) / np.sqrt(n / 2**bits))


def test_logistic_numbers_that_share_a_word_do_not_know_of_each_other() -> None:
    made = load(source("threefry"))
    assert max(agreeing(made, bits) for bits in (1, 4, 8, 12)) < BOUND
    wrong = broken("threefry", "_log_odds_single(_other(v, halves))", "_log_odds_single(~v)")
    other = broken("threefry", "_log_odds_single(_other(v, halves))", "_log_odds_single(v)")
    assert agreeing(other, 8) > 100 and agreeing(wrong, 1) > 100


def test_uniform_numbers_never_meet_their_ends() -> None:
    made = broken("hash", "word(whole[j] | word(1))", "word(~word(0) * word(j & 1) | word(1))")
    for dtype in TYPES:
        found = drawn(made._unit, 1024, dtype)
        assert 0 < found[0] < 1e-9 and 1 - 1e-7 < found[1] < 1


# --- one of two values


def chosen(made: ModuleType, p: Any, stream: int = 0) -> Any:
    out = np.empty_like(p)
    made._signs(out, p, -1.0, 2.0, np.uint64(KEY), stream, 0)
    assert set(np.unique(out)) <= {-1.0, 2.0}
    return out == 2


@pytest.mark.sweep(12)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("p", [0.0, 1e-6, 0.3, 0.5, 0.7, 1 - 1e-6, 1.0])
def test_how_often_a_value_is_chosen(made: ModuleType, p: float, dtype: str) -> None:
    given = np.full(2**22 + 77, p, dtype)
    p, n = float(given[0]), given.size
    count = np.count_nonzero(chosen(made, given))
    if p in (0.0, 1.0):
        assert count == n * p
    assert abs(count - n * p) <= BOUND * np.sqrt(n * p * (1 - p)) + 1


@pytest.mark.parametrize("dtype", TYPES)
def test_choices_of_different_probabilities_are_independent(made: ModuleType, dtype: str) -> None:
    p = np.random.default_rng(1).random(2**20).astype(dtype)
    z = (chosen(made, p) - p) / np.sqrt(p * (1 - p))
    edges = np.clip((p * 64).astype(int), 0, 63)
    sums, counts = np.bincount(edges, z, 64), np.bincount(edges, minlength=64)
    assert np.sum(sums**2 / counts) < chi2.isf(1e-6, 64)
    for lag in (1, 2, 64, 128, 256, 512, 1024):
        assert abs(np.mean(z[:-lag] * z[lag:])) * np.sqrt(z.size) < BOUND, lag
    assert abs(np.mean(z * (chosen(made, p, 1) - p) / np.sqrt(p * (1 - p)))) < BOUND / 2**10


def sixteen_bits(made: ModuleType, size: int) -> Any:
    """What is compared first, element by element."""
    words = block_words(made, size // 2048, 512, 512, 0)
    halves = [words >> 16, words & 65535]
    return np.concatenate(halves, axis=1).reshape(-1).astype(np.float64)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("place", [0, 1023, 1024, 2047, 2048, 4000])
def test_one_undecided_choice_of_a_block(made: ModuleType, place: int) -> None:
    bits = sixteen_bits(made, 4096)
    p = (bits + 30000.5) % 65536  # never the same sixteen bits
    before = chosen(made, p / 65536)
    p[place] = bits[place] + 1 - 2**-30  # the same, and almost surely below what follows them
    after = chosen(made, p / 65536)
    assert after[place]
    assert np.array_equal(np.delete(after, place), np.delete(before, place))


def test_choices_beyond_the_first_sixteen_bits(made: ModuleType) -> None:
    size = 2**16
    bits = sixteen_bits(made, size)
    assert not chosen(made, bits / 65536).any()  # equal so far, and nothing more: not below
    assert chosen(made, (bits + 1) / 65536).all()
    halves = chosen(made, (bits + 0.5) / 65536)
    quarters = chosen(made, (bits + 0.25) / 65536)
    assert abs(halves.mean() - 0.5) < BOUND * 0.5 / 2**8
    assert abs(quarters.mean() - 0.25) < BOUND * 0.44 / 2**8
    assert np.all(halves | ~quarters)  # the same bits
    assert abs(np.mean(halves[:-1] == halves[1:]) - 0.5) < BOUND * 0.5 / 2**8


def test_choices_do_not_depend_on_the_partition(made: ModuleType) -> None:
    p = np.random.default_rng(2).random(5000)
    whole = chosen(made, p)
    part = np.empty(5000 - 2048)
    made._signs(part, p[2048:], -1.0, 2.0, np.uint64(KEY), 0, 2048)
    assert np.array_equal(part == 2, whole[2048:])


def test_an_unknown_generator_is_refused() -> None:
    with pytest.raises(UserError, match="hsh"):
        emit(blrgen.derive("ivon"), noise="hsh")
