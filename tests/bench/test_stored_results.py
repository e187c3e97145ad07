"""What benchmarks have stored: every file has a line an entry, and a page that names it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from checkout import needs_checkout
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

needs_checkout("bench", "docs")

from bench.harness.tables import load, store, written  # noqa: E402

FILES = sorted((ROOT / "bench" / "results").glob("*.json"))
ENTRIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=9,
)


@given(st.lists(ENTRIES, min_size=1) | st.dictionaries(st.text(), ENTRIES, min_size=1))
def test_what_is_stored_has_a_line_an_entry(results: list[object] | dict[str, object]) -> None:
    lines = written(results).splitlines()
    assert len(lines) == len(results) + 2
    assert json.loads("".join(lines)) == results


def test_what_is_stored_is_read_again(tmp_path: Path) -> None:
    store(tmp_path / "results.json", {"machine": "a", "rows": [{"n": 3, "length": 1.5, "problem": None}]})
    assert load(tmp_path / "results.json") == {"machine": "a", "rows": [{"n": 3, "length": 1.5, "problem": None}]}
    store(None, [])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_stored_file_is_as_programs_write_it(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == written(load(file))


def test_pages_name_every_stored_file() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    named = {*re.findall(r"[\w-]+\.json", text)}
    assert FILES and {file.name for file in FILES} <= named
