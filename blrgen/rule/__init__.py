"""Geometry and expectation → the exact rule.  Knows no approximation."""

from blrgen.rule.rule import RHO, ExactRule, exact_rule, next_of

__all__ = ["RHO", "ExactRule", "exact_rule", "next_of"]
