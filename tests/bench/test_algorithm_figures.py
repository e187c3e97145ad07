"""The figures of docs/algorithms: the script draws those that the pages name, and the same each time."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from checkout import needs_checkout
from paths import ROOT

needs_checkout("bench", "docs")
pytest.importorskip("matplotlib", reason="matplotlib draws the figures")

from bench.figures import __main__ as figures  # noqa: E402
from bench.figures.canvas import edges_of  # noqa: E402

PAGES = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "algorithms").glob("*.md")]
MOST_BYTES = 60_000


def texts(file: Path) -> list[str]:
    """What is written in a figure: titles with lengths and counts, axes, legends."""
    return [
        "".join(each.itertext()).strip() for each in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")
    ]


def test_the_pages_show_every_figure_with_its_command() -> None:
    caption = r"^!\[.+\]\(\.\./images/algorithms/(.+)\.svg\)\n\n\*[^*]+`python -m bench\.figures ([a-z-]+)`\*$"
    shown = [found for page in PAGES for found in re.findall(caption, page, re.M)]
    assert [name for name, _ in shown] == [command for _, command in shown]
    assert sorted(name for name, _ in shown) == sorted(figures.FIGURES)
    assert sum(page.count("![") for page in PAGES) == len(shown)


@pytest.mark.slow
@pytest.mark.parametrize("name", figures.FIGURES)
def test_a_figure_is_small_and_drawn_alike(name: str, tmp_path: Path) -> None:
    assert figures.main([name, "--folder", str(tmp_path / "drawn")]) == 0
    drawn = tmp_path / "drawn" / f"{name}.svg"
    assert drawn.stat().st_size <= MOST_BYTES and len(texts(drawn)) >= 2
    assert figures.draw(name, tmp_path).read_bytes() == drawn.read_bytes()


def test_a_figure_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        figures.main(["descend"])
    assert raised.value.code == 2 and "figure 'descend' is not known; known: descent, move" in capsys.readouterr().err


def test_a_path_has_no_edge_back() -> None:
    assert edges_of([2, 0, 1]) == {(0, 2), (0, 1), (1, 2)}
    assert edges_of([2, 0, 1], is_open=True) == {(0, 2), (0, 1)}
