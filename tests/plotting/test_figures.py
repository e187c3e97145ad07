"""Pictures: what is drawn, in which files, and what notebooks show."""

from __future__ import annotations

import base64
import itertools
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT
from results import SQUARE, square_result

import pytsp
from pytsp import Instance
from pytsp.cli.commands import main
from pytsp.exceptions import InstanceError, PytspError
from pytsp.plotting import figures as plots
from pytsp.plotting.notebook import html_of_result
from pytsp.run.saved_runs import Run

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'pytsp-futhark[plot]'")
matplotlib.use("Agg")

BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    """Let go of pyplot's figures after each test."""
    yield
    from matplotlib import pyplot  # noqa: PLC0415

    pyplot.close("all")


def many(n: int) -> Run:
    """A tour of n cities in rows."""
    side = int(np.ceil(np.sqrt(n)))
    points = np.column_stack(np.divmod(np.arange(n), side)).astype(float)
    instance = Instance.from_coordinates(points, metric="EUC_2D", name=f"rows{n}")
    return Run("rows", np.arange(n, dtype=np.int32), instance, facts={"length": n})


def bytes_of(runs: list[Run], kind: str = "tour", ending: str = ".png") -> bytes:
    """A picture's file."""
    return plots.encode(plots.figure_of(runs, kind), ending)


# What is drawn


def test_a_tour_is_drawn_closed() -> None:
    axes = square_result(tour=np.array([2, 0, 1, 3], np.int32)).plot()
    line, cities = axes.lines
    assert line.get_xydata().tolist() == [[9, 9], [0, 0], [0, 9], [9, 0], [9, 9]]
    assert sorted(cities.get_xydata().tolist()) == sorted(SQUARE)
    assert axes.get_title() == "square: 4 cities, length 36, 0.00 % above the optimum"
    assert axes.get_aspect() == 1


def test_the_history_is_drawn_in_gaps_until_the_end() -> None:
    [line] = square_result().plot("convergence").lines
    assert line.get_xydata() == pytest.approx(np.array([[0.5, 100 * (44 / 36 - 1)], [1.5, 0], [2, 0]]))
    unknown = Instance.from_coordinates(SQUARE, metric="EUC_2D")
    [line] = square_result(unknown).plot("convergence").lines
    assert line.get_xydata().tolist() == [[0.5, 44], [1.5, 36], [2, 36]]


def test_every_climber_is_counted() -> None:
    lengths = np.random.default_rng(0).normal(1e6, 1e4, 5000)
    axes = square_result(Instance.from_coordinates(SQUARE, metric="EUC_2D"), lengths=lengths).plot("climbers")
    outline = axes.patches[0].get_path().vertices
    steps = np.unique(outline, axis=0)
    assert outline[:, 0].min() == lengths.min() and outline[:, 0].max() == lengths.max()
    assert steps[:, 1].max() <= 5000
    counts, _ = np.histogram(lengths, bins=np.unique(outline[:, 0]))
    assert counts.sum() == 5000 and counts.max() == steps[:, 1].max()


def test_the_best_length_is_marked_among_the_climbers() -> None:
    [dashed] = square_result().plot("climbers").lines
    assert dashed.get_xdata() == [0, 0]
    unknown = Instance.from_coordinates(SQUARE, metric="EUC_2D")
    [dashed] = square_result(unknown).plot("climbers").lines
    assert dashed.get_xdata() == [36, 36]


def test_two_results_are_drawn_beside_each_other() -> None:
    other = square_result(tour=np.array([0, 2, 1, 3], np.int32), length=43)
    axes = square_result().plot(other=other)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["both: 2 edges", "only square (36): 2 edges", "only square (43): 2 edges"]
    assert len(square_result().plot("convergence", other=other).lines) == 2
    # A bare tour will do.
    assert len(square_result().plot(other=[0, 2, 1, 3]).get_legend().get_texts()) == 3


@given(st.integers(1, 9), st.randoms())
def test_edges_are_those_of_sets_and_invariant_under_rotation_and_reversal(n: int, random: Any) -> None:
    order = random.sample(range(n), n)
    tour = np.array(order, dtype=np.int32)
    expected = {(min(a, b), max(a, b)) for a, b in zip(order, order[1:] + order[:1], strict=True)}
    assert [divmod(edge, n) for edge in plots._edges(tour).tolist()] == sorted(expected)
    turned = np.roll(tour[::-1], random.randrange(n))
    assert np.array_equal(plots._edges(turned), plots._edges(tour))
    path = {(min(a, b), max(a, b)) for a, b in itertools.pairwise(tour.tolist())}
    assert [divmod(edge, n) for edge in plots._edges(tour, is_open=True).tolist()] == sorted(path)


def test_it_is_drawn_where_one_says() -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415

    axes = Figure().subplots()
    assert square_result().plot(ax=axes) is axes
    assert len(axes.lines) == 2


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_instances_are_drawn(n: int) -> None:
    run = Run.of(square_result(Instance.from_coordinates(SQUARE[:n], metric="EUC_2D")))
    for kind in ("tour", "convergence", "climbers"):
        assert bytes_of([run], kind).startswith(BEGINNINGS[".png"])
    assert bytes_of([run, run]).startswith(BEGINNINGS[".png"])


def test_all_cities_in_one_place_are_drawn() -> None:
    assert bytes_of([Run.of(square_result(Instance.from_coordinates([[5, 5]] * 4, metric="EUC_2D")))])


@pytest.mark.parametrize("name", ["$x$", "_hidden", "$", "a_b^c"])
def test_names_are_no_formulas(name: str) -> None:
    found = square_result(Instance.from_coordinates(SQUARE, metric="EUC_2D", name=name))
    svg = bytes_of([Run.of(found), Run.of(found)], "convergence", ".svg")
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    legend = found.plot("convergence", other=found).get_legend()
    assert [text.get_text().strip().replace(r"\$", "$") for text in legend.get_texts()] == [name, name]


# Files


@pytest.mark.parametrize("ending", plots.ENDINGS)
@pytest.mark.parametrize("kind", ["tour", "convergence", "climbers"])
def test_the_same_picture_is_the_same_file(ending: str, kind: str) -> None:
    first, second = (bytes_of([Run.of(square_result())], kind, ending) for _ in range(2))
    assert first.startswith(BEGINNINGS[ending])
    assert first == second


def test_an_ending_that_is_none_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", "no-such-file", "--output", str(tmp_path / "tour.gif")]) == 1
    assert "the ending '.gif' is of no kind of picture; known: .png, .svg, .pdf" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("n", "is_image"), [(plots.RASTERISED_ABOVE, False), (plots.RASTERISED_ABOVE + 1, True)])
def test_a_tour_of_many_cities_is_pixels_in_a_drawing(n: int, is_image: bool) -> None:
    svg = bytes_of([many(n)], ending=".svg")
    assert (b"<image" in svg) is is_image
    assert len(svg) < 3_000_000


@pytest.mark.slow
@pytest.mark.parametrize("ending", plots.ENDINGS)
def test_a_million_cities_make_a_small_file(ending: str) -> None:
    assert len(bytes_of([many(10**6)], ending=ending)) < 10_000_000


# What is refused


def test_kinds_that_are_none_are_refused() -> None:
    with pytest.raises(PytspError, match="'map' is not known; known: tour, convergence, climbers"):
        square_result().plot("map")


def test_what_is_not_there_is_not_drawn() -> None:
    bare = Run(
        "bare", np.arange(4, dtype=np.int32), Instance.from_coordinates(SQUARE, metric="EUC_2D"), facts={"length": 36}
    )
    with pytest.raises(PytspError, match="bare has no history"):
        plots.figure_of([bare], "convergence")
    with pytest.raises(PytspError, match="bare does not hold the climbers' lengths"):
        plots.figure_of([bare], "climbers")
    with pytest.raises(PytspError, match="one tour is drawn, or the difference of two; there are 3"):
        plots.figure_of([bare] * 3)
    with pytest.raises(PytspError, match="tours of different instances"):
        plots.figure_of([bare, many(4)])
    with pytest.raises(PytspError, match=r"must have shape \(4,\)"):
        square_result().plot(other=[0, 1, 2])


def test_a_matrix_without_places_has_curves_but_no_picture() -> None:
    matrix = Instance.from_matrix(1 - np.eye(4, dtype=int), "hidden")
    with pytest.raises(InstanceError, match="hidden is given by a matrix without DISPLAY_DATA"):
        square_result(matrix).plot()
    assert square_result(matrix).plot("climbers").patches


def test_without_matplotlib_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PytspError, match=r"pip install 'pytsp-futhark\[plot\]'"):
        square_result().plot()


# The command


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of three results of europe, in the current folder."""
    instance = pytsp.read(ROOT / "data" / "europe.tsp")
    monkeypatch.chdir(tmp_path)
    for seed in range(3):
        found = pytsp.solve(instance, solver="restarts", climbers=20, seed=seed, backend="c")
        Path(f"run{seed}.json").write_text(json.dumps(found.to_dict()))
    return [f"run{seed}.json" for seed in range(3)]


@pytest.mark.parametrize(
    ("files", "options", "output"),
    [
        (1, [], "run0.png"),
        (2, ["--output", "difference.svg"], "difference.svg"),
        (3, ["--kind", "convergence", "--output", "curves.pdf"], "curves.pdf"),
        (3, ["--kind", "climbers", "--instance", "europe"], "run0.png"),
    ],
)
def test_plot_writes_the_picture_and_says_where(
    files: int, options: list[str], output: str, stored: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", *stored[:files], *options]) == 0
    assert tuple(capsys.readouterr()) == (f"{output}\n", "")
    assert Path(output).read_bytes().startswith(BEGINNINGS[Path(output).suffix])


def test_a_tour_file_is_drawn(stored: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    pytsp.write_tour("found.tour", range(53))
    assert main(["plot", "found.tour", "--instance", "europe"]) == 0
    assert main(["plot", "found.tour"]) == 1
    assert "the instance 'found' is not to be found" in capsys.readouterr().err


def test_curves_need_no_instance(stored: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    reported = json.loads(Path(stored[0]).read_text()) | {"instance": "nowhere"}
    Path("lost.json").write_text(json.dumps(reported))
    assert main(["plot", "lost.json", "--kind", "convergence"]) == 0
    assert main(["plot", "lost.json"]) == 1


# Notebooks


def picture_in(html: str) -> bytes:
    """The picture that a page holds; empty where it holds none."""
    found = re.search(r'src="data:image/png;base64,([^"]*)"', html)
    return base64.b64decode(found[1]) if found else b""


def test_notebooks_show_results_and_instances() -> None:
    found = square_result()
    html = found._repr_html_()
    assert "<td>36</td>" in html and "<td>0.00 %</td>" in html
    assert picture_in(html) == found._repr_png_()
    assert picture_in(html).startswith(BEGINNINGS[".png"])
    shown = found.instance._repr_html_()
    assert "<td>EUC_2D</td>" in shown
    assert picture_in(shown) == found.instance._repr_png_()


def test_notebooks_do_without_places() -> None:
    matrix = Instance.from_matrix(1 - np.eye(4, dtype=int))
    for each in (matrix, square_result(matrix)):
        assert each._repr_png_() is None
        assert "<table>" in each._repr_html_() and "<img" not in each._repr_html_()


def test_notebooks_do_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.plotting.notebook.find_spec", lambda _: None)
    for each in (square_result().instance, square_result()):
        assert each._repr_png_() is None
        assert "<img" not in each._repr_html_()


def test_names_are_no_markup_in_notebooks() -> None:
    hostile = Instance.from_coordinates(SQUARE, metric="EUC_2D", name="<script>x</script>", comment="<b>")
    for html in (html_of_result(square_result(hostile)), hostile._repr_html_()):
        assert "<script>" not in html and "<b>" not in html
        assert "&lt;script&gt;" in html


def test_a_notebooks_pictures_are_small() -> None:
    tower = Instance.from_coordinates([[0, 0], [1, 9], [0, 30]], metric="EUC_2D")
    for png in (tower._repr_png_(), square_result(tower)._repr_png_()):
        assert png is not None
        # The width and the height stand in a PNG's first chunk.
        width, height = np.frombuffer(png[16:24], ">u4").tolist()
        assert 200 < width < 600 and height <= 420
    found = square_result(many(200_000).instance)
    assert len(found._repr_html_()) < 2_000_000
