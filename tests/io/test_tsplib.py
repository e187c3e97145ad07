"""Reading TSPLIB files: all of TSPLIB, every layout, every matrix format, speed, and the known optima."""

from __future__ import annotations

import gzip
import io
import itertools
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clocks import fastest, seconds_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from paths import all_optimal_tours, all_tsplib, listed_optima, tsplib_file
from strategies import EXACT_METRICS, Layout, coordinates, layouts, point_rows, symmetric_matrices

import pytsp
from pytsp.exceptions import TsplibError
from pytsp.io.tsplib.reader import read, read_tour
from pytsp.problem.instance import Instance
from pytsp.problem.optima import OPTIMA, optimum_of

POINTS = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])


def keys_of(n: int, metric: str = "EUC_2D", **more: str) -> dict[str, str]:
    return {"NAME": "made", "TYPE": "TSP", "DIMENSION": str(n), "EDGE_WEIGHT_TYPE": metric, **more}


def read_bytes(data: bytes, **options: Any) -> Instance:
    return read(io.BytesIO(data), **options)


def part_of(matrix: NDArray[np.int64], layout: str) -> list[int]:
    """The numbers that a file of this EDGE_WEIGHT_FORMAT holds, by TSPLIB's own definition."""
    n = len(matrix)
    shape, _, order = layout.rpartition("_")
    inside = {
        "FULL": lambda i, j: True,
        "UPPER": lambda i, j: i < j,
        "LOWER": lambda i, j: i > j,
        "UPPER_DIAG": lambda i, j: i <= j,
        "LOWER_DIAG": lambda i, j: i >= j,
    }[shape]
    cells = [(i, j) for i in range(n) for j in range(n)]
    if order == "COL":
        cells = [(i, j) for j, i in cells]
    return [int(matrix[i, j]) for i, j in cells if inside(i, j)]


MATRIX_LAYOUTS = (
    "FULL_MATRIX",
    "UPPER_ROW",
    "LOWER_ROW",
    "UPPER_DIAG_ROW",
    "LOWER_DIAG_ROW",
    "UPPER_COL",
    "LOWER_COL",
    "UPPER_DIAG_COL",
    "LOWER_DIAG_COL",
)


@pytest.mark.parametrize("name", all_tsplib() or [pytest.param("a280", id="none-at-hand")])
def test_every_file_of_tsplib_reads_and_knows_its_optimum(name: str) -> None:
    path = tsplib_file(f"{name}.tsp")
    instance = read(path, ignore_fixed_edges=True)
    assert instance.n == int("".join(c for c in name if c.isdigit()))
    assert instance.is_exact
    expected = None if name == "linhp318" else listed_optima()[name]
    assert instance.optimum == expected


@pytest.mark.parametrize("name", all_optimal_tours() or [pytest.param("a280", id="none-at-hand")])
def test_every_optimal_tour_has_the_optimal_length(name: str) -> None:
    instance = read(tsplib_file(f"{name}.tsp"))
    tour = read_tour(tsplib_file(f"{name}.opt.tour"), instance.n)
    length = instance.tour_length(tour)
    assert isinstance(length, int)
    assert length == instance.optimum == listed_optima()[name]


@pytest.mark.parametrize(("name", "length"), [("pcb442", 221440), ("gr666", 423710), ("att532", 309636)])
def test_the_canonical_tour_has_the_published_length(name: str, length: int) -> None:
    instance = read(tsplib_file(f"{name}.tsp"))
    assert instance.tour_length(instance.canonical_tour()) == length


def test_fixed_edges_are_left_out_where_they_are_ignored() -> None:
    path = tsplib_file("linhp318.tsp")
    assert read(path).fixed is not None
    instance = read(path, ignore_fixed_edges=True)
    assert instance.fixed is None
    plain = read(tsplib_file("lin318.tsp"))
    assert np.array_equal(instance.coordinates, plain.coordinates)
    assert (instance.optimum, plain.optimum) == (None, 42029)


def test_concordes_geom_is_read_solved_and_written(tmp_path: Path) -> None:
    # Metres on a sphere of radius 6378388, one begun counts, between decimal degrees.
    places = [[52.52, 13.41], [48.86, 2.35], [-33.87, 151.21], [40.71, -74.01], [35.68, 139.69], [-34.6, -58.38]]
    text = Layout().text(keys_of(6, "GEOM"), {"NODE_COORD_SECTION": point_rows(np.array(places))})
    instance = read_bytes(text)
    assert (instance.metric, instance.optimum, instance.is_exact) == ("GEOM", None, True)
    lengths = [geom_edgelen(*places[i], *places[(i + 1) % 6]) for i in range(6)]
    assert instance.tour_length(range(6)) == sum(lengths)
    best = min(instance.tour_length([0, *rest]) for rest in itertools.permutations(range(1, 6)))
    result = pytsp.solve(instance, backend="c")
    assert result.length == best == instance.tour_length(result.tour)
    pytsp.write(tmp_path / "six.tsp", instance)
    assert np.array_equal(pytsp.read(tmp_path / "six.tsp").distance_matrix(), instance.distance_matrix())
    with pytest.raises(TsplibError, match="GEOM takes latitude and longitude in decimal degrees, .* city 1 is 113.41"):
        read_bytes(text.replace(b"2 48.86", b"2 113.41"))


def geom_edgelen(lat_a: float, lon_a: float, lat_b: float, lon_b: float) -> int:
    """The length by the angle between the places' directions, which is not the formula of the metric."""
    a, b = (
        (math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat))
        for lat, lon in ((math.radians(x), math.radians(y)) for x, y in ((lat_a, lon_a), (lat_b, lon_b)))
    )
    return int(6378388.0 * 2.0 * math.asin(min(1.0, math.dist(a, b) / 2.0)) + 1.0)


@given(st.data())
def test_every_layout_of_coordinates_reads_the_same(data: st.DataObject) -> None:
    metric = data.draw(st.sampled_from(EXACT_METRICS))
    points = data.draw(coordinates(metric))
    layout = data.draw(layouts())
    text = layout.text(keys_of(len(points), metric), {"NODE_COORD_SECTION": point_rows(points)})
    instance = read_bytes(text)
    assert (instance.n, instance.metric, instance.name) == (len(points), metric, "made")
    assert np.array_equal(instance.coordinates, points)


@given(symmetric_matrices(), layouts(), st.integers(0, 9999))
def test_all_nine_matrix_formats_read_the_same(matrix: NDArray[np.int64], layout: Layout, diagonal: int) -> None:
    written = matrix.copy()
    np.fill_diagonal(written, diagonal)
    for name in MATRIX_LAYOUTS:
        keys = keys_of(len(matrix), "EXPLICIT", EDGE_WEIGHT_FORMAT=name)
        instance = read_bytes(layout.text(keys, {"EDGE_WEIGHT_SECTION": [part_of(written, name)]}))
        assert instance.matrix is not None and instance.matrix.dtype == np.int64
        assert np.array_equal(instance.matrix, matrix), name


@given(coordinates(n=6), st.permutations(range(6)))
def test_nodes_may_come_in_any_order(points: NDArray[np.float64], order: list[int]) -> None:
    rows = point_rows(points)
    text = Layout().text(keys_of(6), {"NODE_COORD_SECTION": [rows[k] for k in order]})
    assert np.array_equal(read_bytes(text).coordinates, points)


def test_sections_may_precede_keywords_and_comments_repeat() -> None:
    text = (
        b"NODE_COORD_SECTION\n1 0 0\n2 3 4\ncomment: a: b\nCOMMENT :\nComment : c\nDIMENSION:2\nedge_weight_type:euc_2d"
    )
    instance = read_bytes(text)
    assert instance.comment == "a: b\n\nc"
    assert instance.tour_length([0, 1]) == 10


def test_display_data_is_kept_beside_the_matrix() -> None:
    keys = keys_of(3, "EXPLICIT", EDGE_WEIGHT_FORMAT="UPPER_ROW", DISPLAY_DATA_TYPE="TWOD_DISPLAY")
    weights = {"EDGE_WEIGHT_SECTION": [[1, 2], [3]]}
    shown = read_bytes(Layout().text(keys, {**weights, "DISPLAY_DATA_SECTION": point_rows(POINTS)}))
    assert np.array_equal(shown.display, POINTS)
    shown = read_bytes(Layout().text(keys, {**weights, "NODE_COORD_SECTION": point_rows(POINTS)}))
    assert np.array_equal(shown.display, POINTS) and shown.coordinates is None
    keys["NODE_COORD_TYPE"] = "THREED_COORDS"
    solid = np.column_stack([POINTS, [1.0, 2.0, 3.0]])
    shown = read_bytes(Layout().text(keys, {**weights, "NODE_COORD_SECTION": point_rows(solid)}))
    assert np.array_equal(shown.display, solid)
    assert read_bytes(Layout().text(keys, weights)).display is None


def test_display_data_is_kept_beside_coordinates() -> None:
    sections = {"NODE_COORD_SECTION": point_rows(POINTS), "DISPLAY_DATA_SECTION": point_rows(2 * POINTS)}
    instance = read_bytes(Layout().text(keys_of(3), sections))
    assert np.array_equal(instance.display, 2 * POINTS)
    assert np.array_equal(instance.coordinates, POINTS)


def test_paths_streams_and_standard_input_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Layout().text(keys_of(3), {"NODE_COORD_SECTION": point_rows(POINTS)})
    path = tmp_path / "three.tsp"
    path.write_bytes(text)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(text))))
    with path.open("rb") as binary, path.open(encoding="ascii") as textual:
        found = [read(source) for source in (path, str(path), "-", binary, textual, io.StringIO(text.decode()))]
    for instance in found:
        assert np.array_equal(instance.coordinates, POINTS)


def test_errors_name_the_stream_as_its_user_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "empty.tsp"
    path.touch()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with path.open("rb") as binary:
        sources = {str(path): path, path.as_posix(): binary, "<stdin>": "-", "<stream>": io.BytesIO()}
        for file, source in sources.items():
            with pytest.raises(TsplibError) as caught:
                read(source)
            assert caught.value.file == file
            assert caught.value.line is None
            assert str(caught.value) == f"{file}: the file is empty"


def test_a_missing_file_is_an_ordinary_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.tsp")


def test_the_name_is_given_or_the_files_own_or_the_paths(tmp_path: Path) -> None:
    keys = keys_of(3)
    sections = {"NODE_COORD_SECTION": point_rows(POINTS)}
    assert read_bytes(Layout().text(keys, sections), name="mine").name == "mine"
    assert read_bytes(Layout().text({**keys, "NAME": "ulysses3.tsp"}, sections)).name == "ulysses3"
    del keys["NAME"]
    path = tmp_path / "stem.tsp.gz"
    path.write_bytes(Layout().text(keys, sections))
    assert read(path).name == "stem"


FEW = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 0 9\n"


@pytest.mark.parametrize(
    ("lines", "comment"),
    [
        ("COMMENT: a\n\n \t\n  comment\t: b : c \r\nNAME: x\nComment:\nCOMMENT: d\n", "a\nb : c\n\nd"),
        ("\n\n COMMENT: a\n \n", "a"),
        ("COMMENT: COMMENT: a\n", "COMMENT: a"),
        ("COMMENT:\n" * 3, "\n\n"),
        ("COMMENT: a\n" * 10_000, "\n".join(["a"] * 10_000)),
        ("COMMENT: a\n" * 10_001, "\n".join(["a"] * 10_000 + ["…"])),
    ],
)
def test_comments_are_kept_up_to_many_lines(lines: str, comment: str) -> None:
    assert read(io.StringIO(lines + FEW)).comment == comment
    # Places are those of the lines, whatever stands before.
    with pytest.raises(TsplibError, match=rf"^<stream>:{lines.count(chr(10)) + 4}: .*'x' is not a number"):
        read(io.StringIO(lines + FEW.replace("1 0 0", "1 x 0")))
    with pytest.raises(TsplibError, match=rf"^<stream>:{lines.count(chr(10)) + 1}: keyword 'COMMENTS' is not"):
        read(io.StringIO(f"{lines}COMMENTS: none\n{FEW}"))


@pytest.mark.timed
@pytest.mark.parametrize(("lines", "size"), [(b"COMMENT:\n", 189_000_000), (b"COMMENT:\n\n \n", 60_000_000)])
def test_millions_of_comments_in_a_small_file_take_seconds(lines: bytes, size: int, tmp_path: Path) -> None:
    # As many bytes as gzip of a million may expand to; those that do not shrink make them a million.
    noise = np.random.default_rng(0).integers(65, 91, 1_500_000, dtype=np.uint8).tobytes()
    data = lines * (size // len(lines)) + b"COMMENT: " + noise + b"\n" + FEW.encode()
    path = tmp_path / "bomb.tsp.gz"
    path.write_bytes(gzip.compress(data, 6))
    assert path.stat().st_size < 2_000_000
    assert read(path).n == 2
    assert fastest(lambda: seconds_of(lambda: read(path)), 6.0) < 6


def test_a_gzip_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytsp.io.streams._ALWAYS_ALLOWED", 1 << 20)
    with pytest.raises(TsplibError, match="expands to more than"):
        read_bytes(gzip.compress(b" " * (8 << 20)))


@pytest.mark.timed
def test_a_file_of_85900_cities_reads_in_half_a_second() -> None:
    path = tsplib_file("pla85900.tsp")
    assert read(path).n == 85_900
    assert fastest(lambda: seconds_of(lambda: read(path)), 0.5) < 0.5


@pytest.mark.timed
def test_a_file_of_a_million_cities_reads_in_three_seconds(tmp_path: Path) -> None:
    n = 1_000_000
    points = np.random.default_rng(0).integers(0, n, (n, 2))
    lines = (f"{node} {x} {y}\n" for node, (x, y) in enumerate(points.tolist(), 1))
    path = tmp_path / "million.tsp"
    path.write_text(f"DIMENSION : {n}\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n{''.join(lines)}EOF\n")
    assert np.array_equal(read(path).coordinates, points)
    assert fastest(lambda: seconds_of(lambda: read(path)), 3.0) < 3


def test_the_known_optima_agree_with_the_independent_list() -> None:
    known = {name: length for lengths in OPTIMA.values() for name, length in lengths.items()}
    listed = listed_optima()
    assert listed.pop("linhp318") == 41345
    assert {name: known[name] for name in listed} == listed


def test_an_optimum_belongs_to_a_name_a_size_and_a_metric() -> None:
    assert optimum_of("kroA100", 100) == optimum_of("KROA100.tsp", 100, "euc_2d") == 21282
    assert optimum_of("kroA100", 99) is None
    assert optimum_of("kroA100", 100, "CEIL_2D") is None
    assert optimum_of("mine", 5) is None
    assert optimum_of("mine5", 5) is None
    assert optimum_of("dsj1000", 1000) is None
    assert optimum_of("dsj1000", 1000, "CEIL_2D") == 18660188
    assert optimum_of("linhp318", 318) is None
