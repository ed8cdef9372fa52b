"""docs/limits.md is printed from blrgen/limits.py: every limit has a name and a reason.

Written anew by `python -m tests.test_limits`.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "limits.md"
HEAD = """# Limits

This page is printed from `blrgen/limits.py`. What goes beyond a limit is answered in words, with
exit code 2 where it was asked for so, and with `not compared` (exit code 3) by `verify`. Beside
these there are bounds of searches inside the algebra: a search that reaches one gives up, and says
"not found" or "not compared".
"""
LINE = re.compile(r"([A-Z_]+) = ([0-9_*<() ]+?)  # (.+)")
TITLE = re.compile(r"# (.+?) -{5,}")


def printed() -> str:
    """The page: a table for every part."""
    parts = [HEAD]
    for row in (ROOT / "blrgen" / "limits.py").read_text(encoding="utf-8").splitlines():
        if found := TITLE.fullmatch(row):
            parts.append(f"\n## {found[1]}\n\n| name | limit | of what, and why |\n|---|---|---|\n")
        elif found := LINE.fullmatch(row):
            parts.append(f"| `{found[1]}` | {found[2].replace('_', ',')} | {found[3]} |\n")
    return "".join(parts)


def test_every_limit_has_its_reason():
    rows = (ROOT / "blrgen" / "limits.py").read_text(encoding="utf-8").splitlines()
    code = [r for r in rows if re.match(r"[A-Z_]+ =", r)]
    assert len(code) > 30 and all(LINE.fullmatch(r) for r in code)


def test_the_page_is_what_is_printed():
    assert PAGE.read_text(encoding="utf-8") == printed()


if __name__ == "__main__":
    PAGE.write_text(printed(), encoding="utf-8")
