"""The table of helpers: name in emitted code → how its text is made."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from blrgen.emit.special import (
    besselk,
    bessels,
    cumulants,
    denormals,
    elementary,
    errors,
    exponentials,
    falls,
    gammas,
    multivariate,
)
from blrgen.emit.special.helper import Helper


def where() -> Helper:
    """A choice between two numbers, for Numba."""
    return Helper("_where", "where", lambda c, a, b: None, ranges=())


def either() -> Helper:
    """A choice between two forms of a number."""
    return Helper("_either", "either", lambda c, a, b: None, ranges=())


BUILDERS: dict[str, Callable[[], Helper]] = {
    "_digamma": gammas.digamma,
    "_digamma_many": gammas.digamma_many,
    "_trigamma": lambda: gammas.polygamma_helper(1),
    "_trigamma_rest": gammas.trigamma_rest,
    "_log_minus_digamma": gammas.log_minus_digamma,
    **falls.BUILDERS,
    "_inverse_digamma": gammas.inverse_digamma,
    "_loggamma": gammas.loggamma,
    "_loggamma_ratio": gammas.loggamma_ratio,
    "_log_beta": gammas.log_beta,
    "_bessel_quotient": bessels.bessel_quotient,
    "_bessel_slope": bessels.bessel_slope,
    "_log_besseli": bessels.log_besseli,
    "_bessel_bend": bessels.bessel_bend,
    "_multigammaln": multivariate.multigammaln,
    "_multitrigamma_rest": multivariate.multitrigamma_rest,
    "_log_minus_multidigamma": multivariate.log_minus_multidigamma,
    **besselk.BUILDERS,
    **exponentials.BUILDERS,
    **elementary.BUILDERS,
    **denormals.BUILDERS,
    "_erf": errors.erf,
    "_erfc": errors.erfc,
    "_erfcx": errors.erfcx,
    "_log_erfc": errors.log_erfc,
    "_where": where,
    "_either": either,
}

# Helpers with a number in their name.
NUMBERED: dict[str, Callable[[int], Helper]] = {
    r"_uniform_cumulant_(\d)": cumulants.uniform_cumulant,
    r"_polygamma_([1-9]\d?)": gammas.polygamma_helper,
    r"_multipolygamma_(\d\d?)": multivariate.multipolygamma,
}


@cache
def helper(name: str) -> Helper | None:
    """The helper of that name in emitted code, None for any other name."""
    if name in BUILDERS:
        return BUILDERS[name]()
    for pattern, build in NUMBERED.items():
        order = re.fullmatch(pattern, name)
        if order is not None:
            return build(int(order[1]))
    return None


def needed(code: str, target: str) -> list[str]:
    """The texts of all helpers that the code calls, and that those call, each once."""
    texts: dict[str, str] = {}
    waiting = [code]
    while waiting:
        for name in re.findall(r"(?<![\w.])(_[a-z]\w*)\(", waiting.pop(0)):
            found = helper(name) if name not in texts else None
            if found is not None:
                texts[name] = found.source(target)
                waiting.append(texts[name])
    return list(texts.values())
