"""Instances from what people have: arrays, lists, data frames, graphs, GeoJSON, and a road server's tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError
from pytsp.io import protocols
from pytsp.io.documents import NAMES, is_road_table, places_of, table_of
from pytsp.problem.instance import Instance
from pytsp.problem.metrics import DEFAULT_METRIC
from pytsp.problem.validation import as_array, as_distances, as_numbers

GLOBE_METRIC = "HAVERSINE"
"""The metric of latitudes and longitudes that come without one: kilometres, not rounded."""

GLOBE_METRICS = ("HAVERSINE", "GEO", "GEOM")
"""The metrics of places on the globe."""

# Protocols of arrays of other packages; NumPy asks for all but the first by itself.
_ARRAYS = ("__dlpack__", "__array__", "__array_interface__", "__array_struct__")
# Most columns that a message names.
_MOST_NAMED = 12
# Names of columns, in lower case: coordinates of the plane or of space, latitude and longitude.
_PLANE = (("x", "y", "z"), ("x", "y"))
_GLOBE = tuple((lat, lon) for lat in ("latitude", "lat") for lon in ("longitude", "lon", "lng", "long"))


def as_instance(
    data: Any,
    *,
    metric: str | None = None,
    asymmetric: bool = False,
    columns: Sequence[str] | None = None,
    name: str = "",
) -> Instance:
    """Make an instance from data in any of these forms.

    ===================================  ==============================================================================
    data                                 read as
    ===================================  ==============================================================================
    `Instance`                           itself
    array or list, shape (n, 2), (n, 3)  coordinates
    array or list, shape (n, n)          distances: d[i, j] is that from i to j; infinity or None forbids an edge
    array or list, shape (n(n-1)/2,)     a condensed distance matrix, as `scipy.spatial.distance.pdist` returns it
    data frame (pandas, polars, Arrow)   coordinates in columns x and y (and z), or latitude and longitude in degrees;
                                         a row is a city; or distances, where the index is the columns, or what the
                                         first column holds is the names of the others
    networkx graph                       `pytsp.networkx.instance_of`: its edges' weights
    mapping                              GeoJSON: points of longitude and latitude; or a road server's JSON with
                                         "durations" or "distances", directed ways, in which null forbids an edge
    geometries (shapely, geopandas)      GeoJSON
    ===================================  ==============================================================================

    Arrays, tables and geometries of any package are read through shared protocols: `__array__`,
    `__array_interface__`, `__dlpack__`, `__geo_interface__`, and `__arrow_c_stream__`, which needs pyarrow or
    polars.

    `Instance.labels` holds the names of cities: a column, or a property of GeoJSON's features, called name, label,
    city, place, title or id; an index of a data frame other than 0, 1, 2, …; or the nodes of a graph.

    Parameters
    ----------
    data
    metric : str, optional
        Of coordinates, as `Instance.from_coordinates` takes it, in upper or lower case. By default "EUCLIDEAN", which
        does not round. Latitudes and longitudes have "HAVERSINE", which are kilometres; the other choices there are
        "GEO", TSPLIB's whole kilometres, and "GEOM", Concorde's whole metres. In an array, GEO's coordinates are
        TSPLIB's degrees and minutes, in GeoJSON and data frames they are decimal degrees as elsewhere, and converted.
        Geometries with a metric of the plane are x and y, as are those with a projected coordinate reference system.
    asymmetric : bool, optional
        Accept a matrix that is not symmetric. Tables of road servers need no option.
    columns : sequence of str, optional
        The columns of a data frame with the coordinates: x and y (and z), or latitude and longitude where `metric` is
        one of the globe. Of a road server's tables the one to take, as ``["distances"]``; by default durations.
    name : str, optional

    Returns
    -------
    Instance

    Raises
    ------
    InstanceError
        If the data make no instance, or may be read in two ways. The message names them.
    TypeError
        If they are of another kind.

    Warns
    -----
    PytspWarning
        If part of the data is left out, such as a feature without a place, or one of several tables. The warning names
        it.

    Examples
    --------
    >>> as_instance([[0, 0], [0.5, 0], [0.5, 0.5]]).tour_length([0, 1, 2])
    1.7071067811865475
    >>> as_instance([3, 4, 5]).distance_matrix()
    array([[0, 3, 4],
           [3, 0, 5],
           [4, 5, 0]])
    """
    if isinstance(data, Instance):
        concerns_not("an Instance", metric=metric, asymmetric=asymmetric, columns=columns)
        return data
    kind = _kind(data)
    if kind == "data frame":
        table = protocols.arrow_table(data) if protocols.has_arrow_table(data) else data
        return _of_frame(table, metric, columns, name, asymmetric)
    if kind == "mapping" and is_road_table(data):
        concerns_not("a road server's table", metric=metric)
        rows, labels = table_of(data, columns)
        return Instance.from_matrix(rows, name, asymmetric=True, labels=labels)
    concerns_not("data of this kind, which have none", columns=columns)
    if kind == "graph":
        concerns_not("a graph", metric=metric, asymmetric=asymmetric)
        return protocols.instance_of(data, name=name)
    if kind == "mapping":
        concerns_not("GeoJSON", asymmetric=asymmetric)
        places, labels = places_of(data)
        return on_globe(places, metric, name, labels)
    if kind == "geometries":
        concerns_not("geometries", asymmetric=asymmetric)
        return _of_geometries(data, metric, name)
    return _of_array(data, metric, asymmetric, name)


def degrees_and_minutes(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return decimal degrees as TSPLIB's GEO has them, DDD.MM: 52.5 gives 52.3."""
    whole = np.trunc(degrees)
    return whole + 0.6 * (degrees - whole)


def decimal_degrees(minutes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return TSPLIB's DDD.MM as decimal degrees: the inverse of `degrees_and_minutes`, but for rounding."""
    whole = np.trunc(minutes)
    return whole + (minutes - whole) / 0.6


def on_globe(
    places: NDArray[np.float64], metric: str | None, name: str, labels: Sequence[str] | None = None
) -> Instance:
    """Return an instance of places given by latitude and longitude in decimal degrees, shape (n, 2)."""
    metric = (metric or GLOBE_METRIC).upper()
    if metric not in GLOBE_METRICS:
        *some, last = GLOBE_METRICS
        raise InstanceError(f"metric {metric!r} is not for latitudes and longitudes; {', '.join(some)} and {last} are")
    # Decimal degrees are checked before any are converted.
    instance = Instance.from_coordinates(places, GLOBE_METRIC if metric == "GEO" else metric, name, labels=labels)
    if metric != "GEO":
        return instance
    assert instance.coordinates is not None
    latitude, longitude = instance.coordinates.T
    # GEO has longitudes within half a turn only.
    longitude = longitude - 360.0 * np.sign(longitude) * (np.abs(longitude) > 180.0)
    converted = degrees_and_minutes(np.column_stack([latitude, longitude]))
    return Instance(name, metric, coordinates=converted, labels=instance.labels)


def _of_geometries(data: Any, metric: str | None, name: str) -> Instance:
    """Return the instance of geometries: of the plane where they, or the metric, say so, else of the globe."""
    is_list = not hasattr(data, "__geo_interface__")
    parts = [protocols.geo_mapping(each) for each in data] if is_list else []
    document = {"type": "GeometryCollection", "geometries": parts} if is_list else protocols.geo_mapping(data)
    places, labels = places_of(document)
    # Projected coordinates are those of a plane.
    is_projected = getattr(getattr(data, "crs", None), "is_geographic", True) is False
    if not is_projected and (metric is None or metric.upper() in GLOBE_METRICS):
        return on_globe(places, metric, name, labels)
    if metric is not None and metric.upper() in GLOBE_METRICS:
        raise InstanceError(
            f"metric {metric!r} is for latitudes and longitudes, but the geometries are projected; "
            "data.to_crs(4326) has their longitudes and latitudes"
        )
    return Instance.from_coordinates(places[:, ::-1], metric or DEFAULT_METRIC, name, labels=labels)


def column_named(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the column with the first of some names that any has, if there is one; case does not matter."""
    known = {label.strip().lower(): label for label in columns}
    return next((known[name] for name in names if name in known), None)


def is_header(labels: Sequence[str], columns: Sequence[str] | None) -> bool:
    """Tell whether labels are names of columns that hold coordinates: those asked for, or known ones."""
    if columns is not None:
        return not isinstance(columns, str) and set(columns) <= set(labels)
    known = {label.lower() for label in labels}
    return any(known >= set(names) for names in (*_PLANE, *_GLOBE))


def check_different(columns: Sequence[Any]) -> None:
    doubled = [str(label) for label, count in Counter(columns).items() if count > 1]
    if doubled:
        raise InstanceError(f"columns must have different names; these occur more than once: {_listed(doubled)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"{name:.40}" for name in names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


def of_points(
    points: NDArray[Any], is_globe: bool, metric: str | None, name: str, labels: Sequence[str] | None
) -> Instance:
    """Return the instance of coordinates, or of latitudes and longitudes."""
    if is_globe:
        return on_globe(points, metric, name, labels)
    return Instance.from_coordinates(points, metric or DEFAULT_METRIC, name, labels=labels)


def _kind(data: Any) -> str:
    """Name what data are, by what they can do: none of their packages is imported."""
    if type(data).__module__.startswith("scipy.sparse"):
        raise InstanceError(
            f"a sparse matrix ({type(data).__name__}) does not say how long the ways are that it leaves out; "
            "data.toarray() takes them as 0, a networkx graph as missing"
        )
    if hasattr(data, "__geo_interface__") and not isinstance(data, Mapping):
        return "geometries"
    if (hasattr(data, "columns") and hasattr(data, "to_numpy")) or protocols.has_arrow_table(data):
        return "data frame"
    if hasattr(data, "is_directed") and hasattr(data, "edges") and hasattr(data, "nodes"):
        return "graph"
    if isinstance(data, Mapping):
        return "mapping"
    is_array = isinstance(data, Sequence) or any(hasattr(data, each) for each in _ARRAYS)
    if isinstance(data, str | bytes) or not is_array:
        read = "; pytsp.read reads files" if isinstance(data, str | bytes) or hasattr(data, "__fspath__") else ""
        raise TypeError(
            "instance must be a pytsp.Instance (see pytsp.read), coordinates, distances, a data frame, a graph or "
            f"GeoJSON; it is a {type(data).__name__}{read}"
        )
    first = data[0] if isinstance(data, list | tuple) and data else None
    return "geometries" if hasattr(first, "__geo_interface__") and not isinstance(first, Mapping) else "array"


def _of_frame(frame: Any, metric: str | None, columns: Sequence[str] | None, name: str, asymmetric: bool) -> Instance:
    labels = list(frame.columns)
    check_different(labels)
    # A frame of polars has no index.
    index = list(getattr(frame, "index", range(len(frame))))
    cities = []
    if columns is None and index == labels:
        cities = labels
    elif columns is None and len(labels) == len(frame) + 1 and [*map(str, frame[labels[0]])] == [*map(str, labels[1:])]:
        cities = labels[1:]
    if cities:
        concerns_not("distances", metric=metric)
        matrix = _cells(frame if cities is labels else frame[cities])
        return Instance.from_matrix(matrix, name, asymmetric=asymmetric, labels=cities)
    concerns_not("coordinates in a data frame", asymmetric=asymmetric)
    # Only what has a name that is a text can be found, or asked for.
    texts = [label for label in labels if isinstance(label, str)]
    named = column_named(texts, NAMES)
    called = index if named is None else list(frame[named])
    names = None if called == [*range(len(index))] and named is None else [*map(str, called)]
    chosen, is_globe = coordinate_columns(texts, metric, columns)
    points = np.column_stack([as_numbers(frame[each], f"column {each!r}") for each in chosen])
    return of_points(points, is_globe, metric, name, names)


def _cells(frame: Any) -> Any:
    """Return what a data frame holds, row by row; polars would make nan of a value that is missing."""
    has_missing = hasattr(frame, "rows") and hasattr(frame, "null_count") and any(frame.null_count().row(0))
    return frame.rows() if has_missing else frame.to_numpy()


def coordinate_columns(labels: list[str], metric: str | None, columns: Sequence[str] | None) -> tuple[list[str], bool]:
    """Return the columns that hold the coordinates, and whether they are latitude and longitude."""
    if columns is not None:
        missing = [each for each in columns if each not in labels]
        if isinstance(columns, str) or missing or len(set(columns)) != len(columns):
            raise InstanceError(f"columns={columns!r} must be different ones of: {_listed(labels)}")
        return list(columns), metric is not None and metric.upper() in GLOBE_METRICS
    known = {label.strip().lower(): label for label in labels}
    if len(known) < len(labels):
        raise InstanceError(f"columns {_listed(labels)} differ in case only; columns= says which are meant")
    plane = next((names for names in _PLANE if known.keys() >= set(names)), None)
    globe = next((names for names in _GLOBE if known.keys() >= set(names)), None)
    if plane and globe:
        raise InstanceError(
            f"there are columns {' and '.join(plane)} and columns {' and '.join(globe)}; columns= says which are meant"
        )
    found = plane or globe
    if found is None:
        raise InstanceError(
            f"there are no columns x and y, or latitude and longitude, among: {_listed(labels) or 'none'}; "
            "columns= says which hold the coordinates; of distances the index, or what the first column holds, must be "
            "the columns' names"
        )
    return [known[each] for each in found], found is globe


def _of_array(data: Any, metric: str | None, asymmetric: bool, name: str) -> Instance:
    is_dlpack = hasattr(data, "__dlpack__") and not any(hasattr(data, each) for each in _ARRAYS[1:])
    array = protocols.dlpack_array(data) if is_dlpack else as_array(data, "data")
    # What NumPy has made of other elements says less of them.
    given = array if array.dtype.kind in "iufO" else data
    if array.ndim == 1 and array.size:
        concerns_not("a condensed distance matrix", metric=metric, asymmetric=asymmetric)
        return Instance.from_matrix(_squared(as_distances(given, "data")), name)
    is_square = array.ndim == 2 and array.shape[0] == array.shape[1]
    if array.ndim == 2 and array.shape[1] in (2, 3) and not asymmetric:
        if is_square and metric is None:
            raise InstanceError(
                f"data of shape {array.shape} are coordinates or distances: metric= makes them coordinates, "
                "asymmetric=True or Instance.from_matrix distances"
            )
        return Instance.from_coordinates(given, metric or DEFAULT_METRIC, name)
    if is_square and array.size:
        concerns_not("a matrix", metric=metric)
        return Instance.from_matrix(given, name, asymmetric=asymmetric)
    raise InstanceError(
        "data must have shape (n, 2) or (n, 3) as coordinates, (n, n) as distances, or (n (n - 1) / 2,) as condensed "
        f"distances; the shape is {array.shape}"
    )


def _squared(condensed: NDArray[Any]) -> NDArray[Any]:
    """Return the square form of a condensed distance matrix, in its dtype."""
    n = (1 + math.isqrt(1 + 8 * len(condensed))) // 2
    if n * (n - 1) // 2 != len(condensed):
        raise InstanceError(
            f"a condensed distance matrix has n (n - 1) / 2 elements, as {(n - 1) * n // 2} or {n * (n + 1) // 2}; "
            f"this one has {len(condensed)}"
        )
    matrix = np.zeros((n, n), condensed.dtype)
    matrix[np.triu_indices(n, 1)] = condensed
    square: NDArray[Any] = matrix + matrix.T
    return square


def concerns_not(what: str, **arguments: object) -> None:
    """Refuse arguments that are given and mean nothing."""
    for name, value in arguments.items():
        if value is not None and value is not False:
            raise InstanceError(f"{name}={value!r} has no effect with {what}")
