"""The pages of the paper's rows: each is what the tool writes now."""

from __future__ import annotations

import pytest

from blrgen.show.table_pages import file_of, page
from blrgen.table import entries

FOLDER = "docs/table"
ENTRIES = {file_of(e.title): e for e in entries()}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", ENTRIES)
def test_a_page_is_what_is_derived_now(name, root):
    there = (root / FOLDER / name).read_text(encoding="utf-8")
    assert there == page(ENTRIES[name]), "blrgen table --pages docs/table"


def test_there_is_a_page_for_each_row_and_no_other(root):
    there = {p.name for p in (root / FOLDER).glob("*.md")}
    assert there == set(ENTRIES)
