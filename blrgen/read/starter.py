"""A family file to start from: every key with what it means, right as it stands."""

from __future__ import annotations

STARTER = """\
# A family of distributions: h(x) exp(eta·T(x) - A(eta)).  blrgen derives everything else
# from these lines: A, the mean map, the Fisher information, the entropy, the learning rule.
#
#   blrgen check {file}      is every line right
#   blrgen show {file}       what is derived
#   blrgen derive {file}     the learning rule
#   blrgen generate {file}   the rule as code that stands alone
#
# It is the exponential distribution as it stands.  Change it line by line.

name = "{name}"
title = "{title}"

# The random variable and where it lives:
#   "(0, oo)"  "[0, 1)"  "(-oo, oo)"  "integers >= 0"  "{{0, 1}}"  "R^d"  "simplex"  "SPD"
variable = "x"
support = "(0, oo)"

# T(x).  No combination of them may be constant on the support.
statistics = ["x"]

# h(x); leave it out where it is 1.
# base_measure = "1/x"

# A(eta), where you know it: it is checked.  Left out, it is derived, or computed numerically.
# log_partition = "-log(-eta)"

# One natural parameter a statistic, in their order, with its domain: all values for which the
# density can be normalised.  Bounds may use constants and earlier parameters: "(-oo, -eta1)".
[natural]
eta = "(-oo, 0)"

# What people call the parameters (optional), as functions of the natural ones; or the other
# way round, with working = "..." on a natural parameter.  The other direction is derived.
[working]
r = {{ domain = "(0, oo)", natural = "-eta" }}

# Known constants (optional), usable in every formula.
# [fixed]
# k = "(0, oo)"

# Closed forms you have from elsewhere (optional).  They are compared with what is derived, by
# `blrgen check`, and used for nothing.  In natural or working parameters; inverse_mean in mu
# (mu1, mu2, ... where there are several statistics).
[check]
mean = ["1/r"]                  # E[T]
fisher = [["1/r**2"]]           # Cov[T]
entropy = "1 - log(r)"
entropy_gradient = ["r"]        # with respect to the mean
inverse_mean = ["-1/mu"]
"""


def starter(name: str, file: str) -> str:
    """The text of a starter file for a family of that name."""
    title = name.replace("-", " ").capitalize()
    return STARTER.format(name=name, title=title, file=file)
