"""Instances from arrays, lists, data frames, distance matrices and GeoJSON: what is read, and what is refused."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import strategies
from checkout import needs_checkout
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from paths import ROOT
from scipy.spatial.distance import pdist, squareform

import pytsp
from pytsp import Instance, InstanceError, PytspWarning, as_instance
from pytsp.io.convert import decimal_degrees, degrees_and_minutes

POINTS = [[0.0, 0.5], [3.0, 0.0], [1.0, 2.0], [2.0, 7.0]]
PLACES = [[52.52, 13.41], [48.86, 2.35], [-33.87, 151.21], [90.0, 0.0]]


def point(longitude: Any, latitude: Any, *more: Any) -> dict[str, Any]:
    return {"type": "Point", "coordinates": [longitude, latitude, *more]}


def feature(geometry: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": {"name": "somewhere"}}


def test_the_examples_of_the_documentation_are_true() -> None:
    needs_checkout("docs")
    outcome = doctest.testfile(str(ROOT / "docs" / "data.md"), module_relative=False, encoding="utf-8")
    assert outcome.attempted >= 8
    assert outcome.failed == 0


# Arrays and lists


@pytest.mark.parametrize(
    "data",
    [
        POINTS,
        tuple(map(tuple, POINTS)),
        np.array(POINTS),
        np.asfortranarray(POINTS),
        np.array(POINTS, dtype=">f8"),
        np.array(POINTS, dtype=np.float32),
        np.repeat(POINTS, 2, axis=0)[::2],
        np.matrix(POINTS),
    ],
    ids=["list", "tuples", "array", "fortran", "big-endian", "single", "strided", "np.matrix"],
)
def test_coordinates_of_every_layout_are_the_same_instance(data: Any) -> None:
    instance = as_instance(data, name="four")
    assert (instance.name, instance.metric) == ("four", "EUCLIDEAN")
    assert instance.coordinates is not None
    assert instance.coordinates.tolist() == POINTS


def test_a_read_only_array_stays_the_callers() -> None:
    points = np.array(POINTS)
    points.setflags(write=False)
    assert as_instance(points).n == 4
    writeable = np.array(POINTS)
    instance = as_instance(writeable)
    writeable[0] = 9
    assert instance.coordinates is not None
    assert instance.coordinates.tolist() == POINTS


@pytest.mark.parametrize("metric", ["euc_2d", "EUC_2D", "Euc_2D"])
def test_a_metric_may_be_in_either_case(metric: str) -> None:
    assert as_instance(POINTS, metric=metric).metric == "EUC_2D"


def test_unit_squares_keep_their_lengths() -> None:
    points = np.random.default_rng(0).random((50, 2))
    result = pytsp.solve(points)
    assert 4 < result.length < 8
    assert pytsp.solve(points.astype(np.float32)).length == pytest.approx(result.length, rel=1e-6)


@given(strategies.symmetric_matrices(min_n=4))
def test_square_matrices_are_distances(matrix: NDArray[np.int64]) -> None:
    assert np.array_equal(as_instance(matrix).distance_matrix(), matrix)
    assert as_instance(matrix.tolist()).is_exact
    assert not as_instance(matrix / 2).is_exact


@given(strategies.symmetric_matrices(min_n=2))
def test_condensed_matrices_are_distances(matrix: NDArray[np.int64]) -> None:
    condensed = squareform(matrix)
    assert np.array_equal(as_instance(condensed).distance_matrix(), matrix)
    assert as_instance(condensed.tolist()).is_exact


def test_what_pdist_returns_is_solved() -> None:
    points = np.random.default_rng(0).random((40, 3))
    plain = pytsp.solve(points, seed=1)
    assert pytsp.solve(pdist(points), seed=1).length == pytest.approx(plain.length, rel=1e-6)
    assert pytsp.solve(squareform(pdist(points)), seed=1).length == pytest.approx(plain.length, rel=1e-6)


@pytest.mark.parametrize("n", [2, 3])
def test_small_squares_are_refused_unless_it_is_said_what_they_are(n: int) -> None:
    square = 1 - np.eye(n, dtype=int)
    with pytest.raises(InstanceError, match=rf"shape \({n}, {n}\) are coordinates or distances: metric= makes them"):
        as_instance(square)
    assert as_instance(square, metric="euclidean").metric == "EUCLIDEAN"
    assert as_instance(square, asymmetric=True).metric == "EXPLICIT"


def test_asymmetric_matrices_are_taken_where_that_is_said() -> None:
    ways = np.arange(16).reshape(4, 4)
    with pytest.raises(InstanceError, match="asymmetric=True takes it"):
        as_instance(ways)
    assert as_instance(ways, asymmetric=True).asymmetric
    assert pytsp.solve(as_instance(ways, asymmetric=True)).length == 30


def test_an_instance_is_itself() -> None:
    instance = Instance.from_coordinates(POINTS, metric="EUC_2D")
    assert as_instance(instance) is instance
    with pytest.raises(InstanceError, match="metric='GEO' has no effect with an Instance"):
        as_instance(instance, metric="GEO")


@pytest.mark.parametrize("sparse", [scipy.sparse.csr_array, scipy.sparse.coo_matrix, scipy.sparse.dok_array])
def test_sparse_matrices_are_refused(sparse: Any) -> None:
    with pytest.raises(InstanceError, match=r"a sparse matrix .* does not say how long the ways are"):
        as_instance(sparse(1 - np.eye(5)))


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        ([], {}, r"the shape is \(0,\)"),
        ([[]], {}, r"the shape is \(1, 0\)"),
        (np.zeros((0, 2)), {}, r"the shape is \(0, 2\)"),
        (np.zeros((5, 4)), {}, r"the shape is \(5, 4\)"),
        (np.zeros((2, 2, 2)), {}, r"the shape is \(2, 2, 2\)"),
        (np.float64(3), {}, r"the shape is \(\)"),
        ([[0, 1], [2]], {}, "rectangular array of numbers"),
        ([["0", "1"], ["2", "3"], ["4", "5"]], {}, "the dtype is <U1"),
        ([[None, 1], [2, 3], [4, 5]], {}, "the dtype is object"),
        ([[True, False]] * 3, {}, "the dtype is bool"),
        ([[1j, 2]] * 3, {}, "the dtype is complex128"),
        ([[np.nan, 1], [2, 3], [4, 5]], {}, r"must be finite, but \[0, 0\] is nan"),
        ([[np.inf, 1], [2, 3], [4, 5]], {}, "must be finite"),
        ([1, 2], {}, r"n \(n - 1\) / 2 elements, as 1 or 3; this one has 2"),
        ([1, 2, 3, 4], {}, "as 3 or 6; this one has 4"),
        ([-1, 2, 3], {}, "must not be negative"),
        ([1, np.nan, 3], {}, "must hold numbers"),
        (np.ma.masked_array(POINTS, mask=np.eye(4, 2)), {}, "a masked array"),
        (POINTS, {"metric": "XRAY3"}, "metric 'XRAY3' is not known"),
        (POINTS, {"metric": "EUC_3D"}, "EUC_3D needs 3 coordinates a city"),
        (POINTS, {"columns": ["x", "y"]}, "has no effect with data of this kind"),
        ([1, 2, 3], {"metric": "GEO"}, "metric='GEO' has no effect with a condensed distance matrix"),
        (np.zeros((4, 4)), {"metric": "EUC_2D"}, "metric='EUC_2D' has no effect with a matrix"),
        (
            [[91, 0]] * 3,
            {"metric": "haversine"},
            r"latitude and longitude in decimal degrees, .*the latitude of city 0 is 91",
        ),
        ([[0, 361]] * 3, {"metric": "haversine"}, r"up to 90 and 360; the longitude of city 0 is 361"),
    ],
)
def test_arrays_that_make_no_instance_are_refused(data: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InstanceError, match=words):
        as_instance(data, **options)


@pytest.mark.parametrize("data", [None, 3, "kroA100.tsp", b"", Path("kroA100.tsp"), object(), iter(POINTS), {1, 2}])
def test_things_of_another_kind_are_refused(data: Any) -> None:
    with pytest.raises(TypeError, match=f"instance must be a pytsp.Instance .*; it is a {type(data).__name__}"):
        as_instance(data)
    if isinstance(data, str | Path):
        with pytest.raises(TypeError, match="pytsp.read reads files"):
            pytsp.solve(data)


def test_cities_in_one_place_are_solved() -> None:
    points = np.repeat([[0, 0], [0, 5], [5, 5], [5, 0]], 12, axis=0)
    assert pytsp.solve(points).length == 20
    assert pytsp.solve(np.zeros((30, 2))).length == 0


# Latitudes and longitudes


@given(st.floats(-180, 180))
def test_degrees_and_minutes_are_turned_back(degrees: float) -> None:
    there = degrees_and_minutes(np.array([degrees]))
    assert decimal_degrees(there)[0] == pytest.approx(degrees, abs=1e-12)


def test_kilometres_of_haversine_and_of_geo_agree() -> None:
    document = {"type": "MultiPoint", "coordinates": [place[::-1] for place in PLACES]}
    kilometres, whole = as_instance(document), as_instance(document, metric="geo")
    assert (kilometres.metric, whole.metric) == ("HAVERSINE", "GEO")
    assert kilometres.distance(0, 1) == pytest.approx(878, abs=3)
    # TSPLIB's globe is 0.1 % larger, and it counts a kilometre begun as one.
    assert np.allclose(whole.distance_matrix(), kilometres.distance_matrix() * 1.00116, atol=2)


@given(strategies.coordinate_instances(("HAVERSINE",), min_n=2, max_n=7))
def test_places_on_the_globe_are_solved(instance: Instance) -> None:
    result = pytsp.solve(instance, backend="c")
    assert result.length == instance.tour_length(result.tour)


# GeoJSON


def test_points_are_read_in_their_order_however_they_are_nested() -> None:
    nested = {
        "type": "FeatureCollection",
        "features": [
            feature(point(13.41, 52.52)),
            feature({"type": "GeometryCollection", "geometries": [point(2.35, 48.86, 35.0)]}),
            feature({"type": "MultiPoint", "coordinates": [[151.21, -33.87], [0, 90]]}),
        ],
    }
    instance = as_instance(json.loads(json.dumps(nested)), name="places")
    assert instance.coordinates is not None
    assert instance.coordinates.tolist() == PLACES
    assert instance.name == "places"
    assert as_instance(point(1, 2)).n == 1


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "GeoJSON: type None is not accepted; accepted: Point and MultiPoint"),
        ({"type": []}, r"GeoJSON: type \[\] is not accepted"),
        ({"type": "FeatureCollection", "features": []}, "GeoJSON: there are no points in it"),
        ({"type": "FeatureCollection"}, "GeoJSON.features must be a list; it is a NoneType"),
        ({"type": "FeatureCollection", "features": [3]}, r"GeoJSON.features\[0\]: a int is not accepted"),
        (feature(None), "GeoJSON: there are no points in it, but 1 null or empty geometry"),
        (feature({"type": "LineString", "coordinates": []}), "GeoJSON.geometry: type 'LineString' is not accepted"),
        (
            {"type": "MultiPoint", "coordinates": [[0, 0], [1]]},
            r"GeoJSON.coordinates\[1\] must be \[longitude, latitude\]",
        ),
        (point("13.4", 52), r"must be \[longitude, latitude\]; it is \['13.4', 52\]"),
        (point(True, 52), r"must be \[longitude, latitude\]"),
        (point(13, 52, 1, 2), r"must be \[longitude, latitude\]"),
        (point(52, 113), "the latitude of city 0 is 113"),
        (point(float("nan"), 0), "must be finite"),
    ],
)
def test_other_geojson_is_refused_with_its_place(document: dict[str, Any], words: str) -> None:
    with pytest.raises(InstanceError, match=words):
        as_instance(document)
    with pytest.raises(
        InstanceError, match="metric 'EUC_2D' is not for latitudes and longitudes; HAVERSINE, GEO and GEOM are"
    ):
        as_instance(point(1, 2), metric="EUC_2D")


@pytest.mark.parametrize(
    "empty",
    [
        feature(None),
        {"type": "Feature", "properties": {"name": "somewhere"}},
        feature({"type": "Point", "coordinates": []}),
        feature({"type": "MultiPoint", "coordinates": []}),
        feature({"type": "GeometryCollection", "geometries": []}),
        feature({"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": []}]}),
    ],
)
def test_features_without_a_place_are_left_out_with_a_word(empty: dict[str, Any]) -> None:
    document = {"type": "FeatureCollection", "features": [feature(point(1, 2)), empty, feature(point(3, 4))]}
    words = r"^GeoJSON: 1 null or empty geometry left out: GeoJSON.features\[1\].* \(somewhere\)$"
    with pytest.warns(PytspWarning, match=words):
        instance = as_instance(document)
    assert instance.coordinates is not None and instance.coordinates.tolist() == [[2, 1], [4, 3]]
    document["features"] += [empty] * 4
    with pytest.warns(PytspWarning, match=r"5 null or empty geometries left out: .* and 2 more$"):
        assert as_instance(document).n == 2


def test_collections_that_go_too_deep_are_refused() -> None:
    document: dict[str, Any] = point(1, 2)
    for _ in range(100_000):
        document = {"type": "GeometryCollection", "geometries": [document]}
    try:
        with pytest.raises(InstanceError, match="go too deep"):
            as_instance(document)
    finally:
        # Freeing what is nested so deep is beyond Python 3.10.
        while document.get("geometries"):
            document = document["geometries"].pop()


# Data frames


def frames(table: dict[str, Any]) -> Any:
    pandas = pytest.importorskip("pandas", reason="data frames are read where pandas is installed")
    return pandas.DataFrame(table)


def test_frames_have_a_city_a_row() -> None:
    xs, ys = np.array(POINTS).T
    frame = frames({"city": list("abcd"), "Y": ys, "X ": xs}).iloc[[3, 0, 1, 2]]
    instance = as_instance(frame)
    assert instance.coordinates is not None
    assert instance.coordinates.tolist() == [POINTS[k] for k in (3, 0, 1, 2)]
    assert instance.metric == "EUCLIDEAN"
    tour = pytsp.solve(frame).tour
    assert sorted(frame.iloc[tour]["city"]) == list("abcd")


def test_frames_of_polars_are_read_too() -> None:
    polars = pytest.importorskip("polars", reason="its data frames are read where it is installed")
    instance = as_instance(polars.DataFrame({"y": [0.5, 0.0], "x": [0, 3], "name": ["a", "b"]}))
    assert instance.coordinates is not None
    assert instance.coordinates.tolist() == [[0, 0.5], [3, 0]]


def test_frames_of_space_and_of_the_globe() -> None:
    solid = as_instance(frames({"x": [0, 1], "y": [2, 3], "z": [4, 5]}), metric="EUC_3D")
    assert solid.coordinates is not None
    assert solid.coordinates.tolist() == [[0, 2, 4], [1, 3, 5]]
    for latitude, longitude in (("lat", "lon"), ("Latitude", "Longitude"), ("lat", "lng")):
        table = {longitude: [place[1] for place in PLACES], latitude: [place[0] for place in PLACES]}
        instance = as_instance(frames(table))
        assert instance.coordinates is not None
        assert (instance.metric, instance.coordinates.tolist()) == ("HAVERSINE", PLACES)
    assert as_instance(frames(table), metric="GEO").distance(0, 1) == as_instance(
        {"type": "MultiPoint", "coordinates": [place[::-1] for place in PLACES]}, metric="GEO"
    ).distance(0, 1)


def test_columns_are_those_that_are_asked_for() -> None:
    frame = frames({"x": [0, 0], "y": [0, 0], "east": [0, 3], "north": [0, 4], "lat": [0, 1], "lon": [0, 1]})
    assert as_instance(frame, columns=["east", "north"]).distance(0, 1) == 5
    assert as_instance(frame, columns=["lat", "lon"], metric="haversine").distance(0, 1) > 100
    with pytest.raises(InstanceError, match="there are columns x and y and columns lat and lon; columns= says"):
        as_instance(frame)


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        ({"a": [1], "b": [2]}, {}, "no columns x and y, or latitude and longitude, among: a, b"),
        ({}, {}, "among: none"),
        ({"x": [1], "X": [1], "y": [2]}, {}, "differ in case only"),
        (
            {"x": ["1", "2"], "y": [1, 2]},
            {},
            "column 'x' must hold integers or floats of at most 64 bits, but the dtype is .*: element 0 .* is '1'",
        ),
        ({"x": [1.0, None], "y": [1, 2]}, {}, r"must be finite, but \[1, 0\] is nan"),
        ({"x": [1], "y": [1]}, {"columns": ["x", "z"]}, r"columns=\['x', 'z'\] must be different ones of: x, y"),
        ({"x": [1], "y": [1]}, {"columns": ["x", "x"]}, "must be different ones of"),
        ({"x": [1], "y": [1]}, {"columns": "xy"}, "must be different ones of"),
        ({"x": [1], "y": [1]}, {"asymmetric": True}, "asymmetric=True has no effect with coordinates in a data frame"),
        ({"x": [], "y": []}, {}, r"shape \(n, 2\)"),
    ],
)
def test_frames_that_make_no_instance_are_refused(table: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(InstanceError, match=words):
        as_instance(frames(table), **options)


@given(strategies.symmetric_matrices(min_n=2, max_n=5))
def test_a_frame_whose_index_is_its_columns_holds_distances(matrix: NDArray[np.int64]) -> None:
    names = [f"city {number}" for number in range(len(matrix))]
    frame = frames(dict(zip(names, matrix.T, strict=True))).set_axis(names)
    # A file that was written with the index, and read without it, has that in its first column.
    for each in (frame, frame.reset_index(), frame.rename_axis("from").reset_index()):
        instance = as_instance(each)
        assert np.array_equal(instance.distance_matrix(), matrix) and instance.is_exact
        assert instance.labels == tuple(names)
    with pytest.raises(InstanceError, match="no columns x and y"):
        as_instance(frame.set_axis(names[::-1]))
    if len(matrix) > 2:
        frame.iloc[0, 1] += 1
        with pytest.raises(InstanceError, match="asymmetric=True takes it"):
            as_instance(frame)
        assert as_instance(frame, asymmetric=True).asymmetric
    with pytest.raises(InstanceError, match="metric='GEO' has no effect with distances"):
        as_instance(frame, metric="GEO")


def test_polars_distances_have_their_names_in_the_first_column() -> None:
    polars = pytest.importorskip("polars", reason="its data frames are read where it is installed")
    instance = as_instance(polars.DataFrame({"": ["a", "b"], "a": [0.0, 1.5], "b": [1.5, 0.0]}))
    assert (instance.labels, instance.distance(0, 1)) == (("a", "b"), 1.5)


def test_cities_of_a_frame_have_names() -> None:
    table = {"x": [0, 3, 3, 0], "y": [0, 0, 4, 4]}
    assert as_instance(frames(table)).labels is None
    assert as_instance(frames({"Name": list("abcd"), **table})).labels == tuple("abcd")
    assert as_instance(frames(table).set_axis(list("wxyz"))).labels == tuple("wxyz")
    # What is left of a frame keeps the numbers of its rows.
    assert as_instance(frames(table).iloc[1:]).labels == ("1", "2", "3")
    assert as_instance(frames({"name": list("abcd"), **table}).iloc[1:]).labels == tuple("bcd")


def test_names_go_with_the_cities_into_results(tmp_path: Path) -> None:
    towns = frames({"x": [0, 3, 3, 0], "y": [0, 4, 0, 4], "name": ["Köln", "Ulm", "Bonn", "a\nb"]})
    result = pytsp.solve(towns, backend="c")
    assert result.order == [towns["name"][city] for city in result.tour]
    result.write(tmp_path / "tour.csv")
    lines = (tmp_path / "tour.csv").read_text(encoding="utf-8")
    assert lines.startswith("position,city,name,x,y\n") and "Köln" in lines
    assert result.to_dict()["labels"] == ["Köln", "Ulm", "Bonn", "a\nb"]
    assert pytsp.solve(POINTS, backend="c").order == [*map(str, pytsp.solve(POINTS, backend="c").tour)]
    places = {"type": "FeatureCollection", "features": [feature(point(1, 2)), feature(point(3, 4))]}
    found = pytsp.solve(places, backend="c")
    assert found.order == ["somewhere", "somewhere"]
    found.write(tmp_path / "tour.geojson")
    assert as_instance(json.loads((tmp_path / "tour.geojson").read_text())["features"][1]).labels == ("somewhere",)
    with pytest.raises(InstanceError, match="labels must be 4, one a city; there are 3"):
        Instance.from_coordinates(POINTS, metric="EUC_2D", labels=["a", "b", "c"])


def test_a_solve_reads_data_as_it_is_told() -> None:
    ways = [[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]]
    assert pytsp.solve(ways, asymmetric=True, backend="c").length == 4
    assert pytsp.solve([[0, 0], [0, 1.4]], metric="ceil_2d", backend="c").length == 4
    frame = frames({"east": [0, 0, 3], "north": [0, 4, 0]})
    assert pytsp.solve(frame, columns=["east", "north"], backend="c").length == 12
    with pytest.raises(InstanceError, match="metric='GEO' has no effect with an Instance"):
        pytsp.solve(Instance.from_coordinates(POINTS, metric="EUC_2D"), metric="GEO")


def test_columns_of_one_name_are_refused() -> None:
    frame = frames({"x": [1, 2], "y": [3, 4]})
    frame.columns = ["x", "x"]
    with pytest.raises(InstanceError, match="these occur more than once: x"):
        as_instance(frame)
