"""Derivation → Derivation, one named rewriting each.  Knows no target."""

from blrgen.approximate.base import Approximation, check_request, parse_request, registry

__all__ = ["Approximation", "check_request", "parse_request", "registry"]
