"""The flattened core that pages show: each line of it stands in the kernels' source, in that order."""

from __future__ import annotations

import re

import pytest
from checkout import needs_checkout
from paths import ROOT

needs_checkout("docs", "futhark")

SOURCE = [line.strip() for line in (ROOT / "futhark/flat/two_opt.fut").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("page", ["README.md", "docs/algorithms/2-opt.md"])
def test_the_core_on_a_page_is_that_of_the_source(page: str) -> None:
    blocks = re.findall(r"^```futhark\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    lines = [line.strip() for block in blocks for line in block.splitlines() if line.strip() != "…"]
    assert len(lines) >= 4
    places = [SOURCE.index(line) for line in lines]
    assert places == sorted(places)


def test_the_file_has_as_many_lines_as_the_page_says() -> None:
    said = re.search(r"one file of (\d+) lines", (ROOT / "docs/algorithms/2-opt.md").read_text(encoding="utf-8"))
    assert said is not None and int(said[1]) == len(SOURCE) <= 100
