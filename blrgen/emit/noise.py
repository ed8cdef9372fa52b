"""Random numbers made in compiled code: counter-based words, and the laws made from them.

| piece | what it is |
|---|---|
| `_random_words` | 32-bit random words, a function of key, stream and counter: Threefry or a hash |
| `_standard_normal`, … | a stretch of the numbers of one law, whatever the partition |
| `_standard_normal_threads`, … | the same with all threads |
| `_signs` | one of two values for each element, with the probability of that element |

Every number is a function of (key, stream, number), so that a stretch may be made by any
thread in any order.  The polynomials are computed when the text is made (`polynomials`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from blrgen.emit import GENERATORS, polynomials
from blrgen.emit.printers import literal
from blrgen.emit.templates import fill
from blrgen.emit.text import call, indented
from blrgen.errors import UserError, did_you_mean
from blrgen.program.laws import Law

THREEFRY = GENERATORS[0]
LAWS = frozenset({"normal", "logistic", "uniform"})  # that compiled code makes
BLOCK = 256  # of the emitted constant of that name
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))  # of Threefry2x32 (Salmon et al., 2011)
ROUNDS = 20


@dataclass(frozen=True)
class Precision:
    """A float type, the words that numbers of it are made from, and its layout."""

    size: str
    real: str
    bits: int
    mantissa: int
    bias: int

    @property
    def word(self) -> str:
        return f"uint{self.bits}"

    @property
    def signed(self) -> str:
        return f"int{self.bits}"

    @property
    def counters(self) -> str:
        """How many counters a block of numbers takes: two 32-bit words each."""
        return str(BLOCK * self.bits // 64)


SINGLE = Precision("single", "float32", 32, 23, 127)
DOUBLE = Precision("double", "float64", 64, 52, 1023)


def precisions(dtype: str | None) -> tuple[Precision, ...]:
    """The precisions of a file's arrays."""
    return tuple(p for p in (SINGLE, DOUBLE) if dtype in (None, p.real))


def noise_texts(
    laws: Mapping[str, Law],
    generator: str = THREEFRY,
    dtype: str | None = None,
    signs: bool = False,
) -> list[str]:
    """The functions that fill arrays with numbers of these laws, by the functions' names.

    `signs` adds `_signs`.  Nothing when there is nothing to make.  What they call of the
    special functions is left to who puts a file together.
    """
    if generator not in GENERATORS:
        raise UserError(f"unknown noise {generator!r}", how=did_you_mean(generator, GENERATORS))
    if not laws and not signs:
        return []
    kinds = precisions(dtype)
    parts = [fill("noise/constants.py.jinja")]
    parts += words(generator)
    names = {law.name for law in laws.values()}
    if "normal" in names:
        parts += [octave(p) for p in kinds]
        parts += [minus_two_log(p) for p in kinds]
        parts += [turn(p) for p in kinds]
    if "logistic" in names:
        parts += [log_odds(p) for p in kinds]
        parts += [fill("noise/other.py.jinja")] if SINGLE in kinds else []
    for name, law in laws.items():
        parts += [_block(name, law, p) for p in kinds]
        parts.append(_filled(name, law, kinds))
    return [*parts, *(signs_texts() if signs else [])]


def words(generator: str, rounds: int = ROUNDS) -> list[str]:
    """`_random_words` with what it calls."""
    if generator == THREEFRY:
        loops = "\n".join(_loops(rounds // 4))
        return [fill("noise/threefry.py.jinja", parity="0x1BD11BDA", loops=loops)]
    return [
        fill(
            "noise/hash.py.jinja",
            golden="0x9E3779B97F4A7C15",
            first="0xBF58476D1CE4E5B9",
            second="0x94D049BB133111EB",
            third="0x7FEB352D",
            fourth="0x846CA68B",
        )
    ]


def _loops(groups: int) -> Iterable[str]:
    """Four rounds of Threefry2x32 each, the key added after them and before the first."""
    for group in range(groups):
        yield fill(
            "noise/threefry_loop.py.jinja",
            pair="words[j], words[j + count]" if group else "word(low + word(j)), high",
            lefts=str(ROTATIONS[group % 2]),
            first=f"k{(group + 1) % 3}",
            second=f"k{(group + 2) % 3}",
            group=str(group + 1),
        )


def octave(p: Precision) -> str:
    """A number as a power of two and what it is off by."""
    third = round(Fraction(2**p.mantissa, 3))  # of 4/3 = 2 · 2/3, in the last place
    one = p.bias + p.bits - 1  # the exponent of 2/3 of all words
    return fill(
        "noise/octave.py.jinja",
        size=p.size,
        bits=str(p.bits),
        real=p.real,
        word=p.word,
        signed=p.signed,
        mantissa=str(p.mantissa),
        above=_hex((one + 1 << p.mantissa) + third - 1),
        last=str(p.bits - 1),
    )


def minus_two_log(p: Precision) -> str:
    """−2 log u for a random word."""
    series = [-4 * c for c in polynomials.atanh_over_x(p.real, Fraction(1, 5))]
    log_4 = polynomials.literal(2 * polynomials.log_2(), p.real)
    two = f"2.0**{p.bits + 1}"
    return _logarithm("noise/minus_two_log.py.jinja", series, p, log_4=log_4, two=two)


def log_odds(p: Precision) -> str:
    """log u − log(1 − u) for a random word."""
    series = [2 * c for c in polynomials.atanh_over_x(p.real, Fraction(1, 5))]
    log_2 = polynomials.literal(polynomials.log_2() / 2**p.mantissa, p.real)
    half, exponent = _hex(1 << p.mantissa - 1), f"-{_hex(1 << p.mantissa)}"
    return _logarithm(
        "noise/log_odds.py.jinja", series, p, log_2=log_2, half=half, exponent=exponent
    )


def _logarithm(template: str, series: Iterable[float], p: Precision, **more: str) -> str:
    return fill(
        template,
        size=p.size,
        bits=str(p.bits),
        real=p.real,
        word=p.word,
        signed=p.signed,
        polynomial=indented("\n".join(horner("p", "square", series, p))),
        **more,
    )


def turn(p: Precision) -> str:
    """The cosine and the sine of a random angle."""
    return fill(
        "noise/turn.py.jinja",
        size=p.size,
        bits=str(p.bits),
        angle_bits=str(p.bits - 2),
        real=p.real,
        word=p.word,
        signed=p.signed,
        unit=f"2.0**-{p.bits - 1}",
        half=f"2.0**-{p.bits - 2}",
        sine=indented("\n".join(horner("s", "square", polynomials.sine_over_x(p.real), p))),
        cosine=indented("\n".join(horner("c", "square", polynomials.cosine(p.real), p))),
        top=_hex(2 ** (p.bits - 1)),
        next=_hex(2 ** (p.bits - 2)),
    )


def horner(name: str, at: str, coefficients: Iterable[float], p: Precision) -> list[str]:
    """The lines of a polynomial, its coefficients from the lowest power up."""
    first, *others = [polynomials.literal(c, p.real) for c in reversed(list(coefficients))]
    return [f"{name} = real({first})", *(f"{name} = {name} * {at} + real({c})" for c in others)]


def _hex(number: int) -> str:
    return f"0x{number:X}"


def _block(name: str, law: Law, p: Precision) -> str:
    """The function for one block of a law in one precision."""
    given = {"name": name, "size": p.size, "counters": p.counters}
    if law.name == "normal":
        return fill(f"noise/normal_{p.size}.py.jinja", **given)
    given["real"] = p.real
    if law.name == "logistic":
        shifted = _shifted(law.location, law.scale)
        says = f"{_said(law)}: log u − log(1 − u)"
        return fill(f"noise/logistic_{p.size}.py.jinja", says=says, transform=shifted, **given)
    single = p is SINGLE
    given["count"] = "BLOCK // 2" if single else "BLOCK"
    given["whole"] = "words" if single else f"words.view(np.{p.word})"
    low, high = polynomials.inside(law.location, law.location + law.scale, p.real)
    return fill(
        "noise/uniform_block.py.jinja",
        says=f"{_said(law)}: odd multiples of a power of two",
        transform=_shifted(law.location, law.scale),
        low=low,
        high=high,
        unit=f"2.0**-{p.bits}",
        word=p.word,
        **given,
    )


def _shifted(location: Fraction, scale: Fraction) -> str:
    """location + scale·u, typed."""
    scaled = "u" if scale == 1 else f"real({literal(scale)[0]}) * u"
    return scaled if location == 0 else f"real({literal(location)[0]}) + {scaled}"


def _said(law: Law) -> str:
    """Logistic(0, 1/2)."""
    second = law.location + law.scale if law.name == "uniform" else law.scale
    return f"{law.name.capitalize()}({law.location}, {second})"


def _filled(name: str, law: Law, kinds: tuple[Precision, ...]) -> str:
    """The function that fills a stretch, of whichever dtype."""
    chosen = f"{name}_{kinds[0].size}"
    if len(kinds) > 1:
        chosen += f" if out.dtype == types.{kinds[0].real} else {name}_{kinds[1].size}"
    meaning = "standard normal" if law.name == "normal" else _said(law)
    return fill("noise/fill.py.jinja", name=name, chosen=chosen, meaning=meaning)


def signs_texts() -> list[str]:
    """`_signs` with what it calls."""
    return [fill(f"noise/{name}.py.jinja") for name in ("settle", "signs_block", "signs")]


def threads_text(name: str) -> str:
    """NAME_threads: a function that fills a stretch, called by all threads at once."""
    signs = name == "_signs"
    more = ["p: Array", "low: float", "high: float"] if signs else []
    arguments = ["out: Array", *more, "key: int", "stream: int", "threads: int"]
    return fill(
        "noise/threads.py.jinja",
        name=name,
        signature=call(f"def {name}_threads(", arguments, ") -> None:"),
        given="p[begin:end], low, high, " if signs else "",
    )
