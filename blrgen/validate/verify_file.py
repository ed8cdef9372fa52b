"""Proving or refuting a step function that somebody wrote, from its source."""

from __future__ import annotations

from blrgen.validate.reading.verdict import verify_file, verify_source

__all__ = ["verify_file", "verify_source"]
