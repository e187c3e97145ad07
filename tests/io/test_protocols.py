"""Data of other packages by what they offer to everyone: DLPack, Arrow's stream, geometries, array interfaces."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

import pytsp
from pytsp import InstanceError, PytspWarning, as_instance

POINTS = np.array([[0.0, 0.5], [3.0, 0.0], [1.0, 2.0], [2.0, 7.0]])


class Tensor:
    """An object that has DLPack and nothing else, as tensors of a framework without NumPy."""

    def __init__(self, array: Any, device: int = 1) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


class Interface:
    """An object that has NumPy's array interface and nothing else."""

    def __init__(self, array: Any) -> None:
        self.__array_interface__ = array.__array_interface__
        self.array = array


class Stream:
    """An object that has Arrow's stream and nothing else."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


class Shape:
    """An object that has geometries' interface and nothing else."""

    def __init__(self, document: Any, crs: Any = None) -> None:
        self.__geo_interface__ = document
        self.crs = crs


class System:
    """A coordinate reference system."""

    def __init__(self, is_geographic: bool) -> None:
        self.is_geographic = is_geographic


# Arrays


@pytest.mark.parametrize("wrap", [Tensor, Interface, memoryview])
def test_arrays_of_any_package_are_read(wrap: Any) -> None:
    instance = as_instance(wrap(POINTS))
    assert instance.coordinates is not None and np.array_equal(instance.coordinates, POINTS)
    assert pytsp.solve(wrap(POINTS), backend="c").length == pytsp.solve(POINTS, backend="c").length
    ways = np.arange(16).reshape(4, 4)
    assert np.array_equal(as_instance(wrap(ways), asymmetric=True).distance_matrix() + np.diag(ways.diagonal()), ways)


def test_an_array_stays_the_callers() -> None:
    points = POINTS.copy()
    instance = as_instance(Tensor(points))
    points[:] = 9
    assert instance.coordinates is not None and np.array_equal(instance.coordinates, POINTS)


def test_arrays_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(InstanceError, match="a Tensor is in the memory of another device; copy it to the CPU's first"):
        as_instance(Tensor(POINTS, device=2))

    class Broken(Tensor):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("no export")

    with pytest.raises(InstanceError, match="a Broken cannot be read as an array: no export"):
        as_instance(Broken(POINTS))

    class Differentiated:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise RuntimeError("call detach first")

    with pytest.raises(InstanceError, match="data must be a rectangular array of numbers: call detach first"):
        as_instance(Differentiated())


# Tables


def tables() -> list[Any]:
    """Packages that make tables of Arrow, as far as they are installed: a function of columns each."""
    found = []
    for package, make in (("pyarrow", "table"), ("polars", "DataFrame")):
        try:
            found.append(getattr(__import__(package), make))
        except ImportError:
            continue
    return found


@pytest.mark.parametrize("table", tables())
def test_tables_of_arrow_are_data_frames(table: Any) -> None:
    for wrap in (lambda data: data, Stream):
        instance = as_instance(wrap(table({"name": ["A", "B"], "lat": [52.5, 48.1], "lon": [13.4, 11.6]})))
        assert instance.labels == ("A", "B") and instance.metric == "HAVERSINE"
        ways = as_instance(wrap(table({"city": ["A", "B"], "A": [0, 5], "B": [5, 0]})))
        assert ways.labels == ("A", "B") and ways.is_exact and ways.distance(0, 1) == 5
        with pytest.raises(InstanceError, match="there are no columns x and y"):
            as_instance(wrap(table({"a": [1], "b": [2]})))


@pytest.mark.parametrize("package", ["pyarrow", "polars"])
def test_what_is_missing_in_a_table_of_distances_is_no_way(package: str) -> None:
    module = pytest.importorskip(package, reason="its tables are read where it is installed")
    make = module.table if package == "pyarrow" else module.DataFrame
    ways = {"city": ["A", "B", "C"], "A": [0, 1, None], "B": [1, 0, 2], "C": [None, 2, 0]}
    instance = as_instance(make(ways))
    assert instance.is_exact and instance.distance(0, 2) == 2**31 - 1


def test_missing_values_of_pandas_are_no_way_where_they_are_no_numbers() -> None:
    pandas = pytest.importorskip("pandas", reason="data frames are read where pandas is installed")
    ways = pandas.DataFrame({"A": [0, 1, None], "B": [1, 0, 2], "C": [None, 2, 0]}, index=list("ABC"))
    assert as_instance(ways.astype("Int64")).distance(0, 2) == 2**31 - 1
    assert as_instance(ways.astype(object).where(ways.notna(), None)).distance(0, 2) == math.inf
    # A number that is none may be the result of a computation that failed.
    with pytest.raises(InstanceError, match=r"must hold numbers, but \[0, 2\] \('A' to 'C'\) is nan .* inf forbids"):
        as_instance(ways)


def test_a_table_that_nothing_reads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(TypeError, match="a Stream is a table of Arrow, which pyarrow or polars reads; neither"):
        as_instance(Stream(None))


def test_a_table_of_pyarrow_is_read_by_its_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for pyarrow, which need not be installed."""

    class Column:
        def __init__(self, values: list[Any]) -> None:
            self.values, self.null_count = values, sum(value is None for value in values)

        def to_numpy(self) -> Any:
            return np.array([math.nan if value is None else value for value in self.values])

        def to_pylist(self) -> list[Any]:
            return self.values

    class Table:
        column_names = ("city", "A", "B", "C")
        num_rows = 3
        columns = (["A", "B", "C"], [0, 1, None], [1, 0, 2], [None, 2, 0])

        def column(self, place: int) -> Column:
            return Column(self.columns[place])

    class Module:
        table = staticmethod(lambda data: data.table)

    monkeypatch.setitem(sys.modules, "pyarrow", Module)
    instance = as_instance(Stream(Table()))
    assert instance.labels == ("A", "B", "C") and instance.distance(0, 2) == 2**31 - 1
    Table.columns = (["A", "B", "C"], [0, 1, 3], [1, 0, 2], [3, 2, 0])
    assert as_instance(Stream(Table())).distance(0, 2) == 3


# Geometries

MANY = {"type": "MultiPoint", "coordinates": ((13.4, 52.5), (11.6, 48.1, 520.0))}


def test_geometries_are_geojson() -> None:
    instance = as_instance(Shape(MANY), name="two")
    assert (instance.name, instance.metric) == ("two", "HAVERSINE")
    assert instance.coordinates is not None and instance.coordinates.tolist() == [[52.5, 13.4], [48.1, 11.6]]
    assert as_instance(Shape(MANY, System(is_geographic=True)), metric="geom").metric == "GEOM"
    feature = {"type": "Feature", "geometry": None, "properties": {"name": "lost"}}
    collection = {"type": "FeatureCollection", "features": [feature, {**feature, "geometry": MANY}]}
    with pytest.warns(PytspWarning, match=r"1 null or empty geometry left out: GeoJSON.features\[0\] \(lost\)$"):
        assert as_instance(Shape(collection)).n == 2


def test_lists_of_geometries_are_read_in_their_order() -> None:
    listed = [
        Shape({"type": "Point", "coordinates": (1.0, 2.0)}),
        Shape({"type": "Point", "coordinates": ()}),
        Shape(MANY),
    ]
    with pytest.warns(PytspWarning, match=r"1 null or empty geometry left out: GeoJSON.geometries\[1\]$"):
        instance = as_instance(listed)
    assert instance.coordinates is not None and instance.coordinates.tolist()[0] == [2.0, 1.0] and instance.n == 3


@pytest.mark.parametrize(("shape", "metric"), [(Shape(MANY), "euclidean"), (Shape(MANY, System(False)), None)])
def test_geometries_of_a_plane_are_x_and_y(shape: Shape, metric: str | None) -> None:
    instance = as_instance(shape, metric=metric)
    assert instance.metric == "EUCLIDEAN"
    assert instance.coordinates is not None and instance.coordinates.tolist() == [[13.4, 52.5], [11.6, 48.1]]


@pytest.mark.parametrize(
    ("shape", "options", "words"),
    [
        (Shape(MANY, System(False)), {"metric": "haversine"}, "the geometries are projected; data.to_crs"),
        (Shape(MANY), {"asymmetric": True}, "asymmetric=True has no effect with geometries"),
        (Shape(MANY), {"columns": ["x", "y"]}, "has no effect with data of this kind"),
        (Shape([1]), {}, "__geo_interface__ of a Shape must be a mapping; it is a list"),
        (Shape({"type": "Polygon", "coordinates": []}), {}, "type 'Polygon' is not accepted"),
        (Shape({"type": "MultiPoint", "coordinates": [[500_000, 5e6]]}), {}, "the latitude of city 0 is 5000000"),
    ],
)
def test_other_geometries_are_refused(shape: Shape, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InstanceError, match=words):
        as_instance(shape, **options)


def test_geometries_of_shapely_and_geopandas_are_read() -> None:
    shapely = pytest.importorskip("shapely", reason="its geometries are read where it is installed")
    geopandas = pytest.importorskip("geopandas", reason="its frames are read where it is installed")
    places = [shapely.Point(13.4, 52.5), None, shapely.Point(11.6, 48.1)]
    frame = geopandas.GeoDataFrame({"name": ["A", "B", "C"]}, geometry=places, crs=4326)
    with pytest.warns(PytspWarning, match="left out"):
        assert as_instance(frame).labels == ("A", "C")
    assert as_instance(frame.dropna().to_crs(25832)).metric == "EUCLIDEAN"
    assert as_instance([places[0], places[2]]).n == 2
