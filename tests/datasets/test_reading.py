"""Instances out of files: tables, arrays of NumPy, GeoJSON; by their endings, by what they hold, by their names."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import pytsp
from pytsp import InstanceError, TsplibError
from pytsp.datasets import reading

NUMBERS = st.floats(-1e9, 1e9, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-9)


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n0,0.5\n3,4\n",
        "x,y\r\n0,0.5\r\n3,4",
        '\ufeffname, Y ,X\n"Rome, old",0.5,0\nParis,4e0,+3\n\n',
        "y,x,lattice\n.5,-0,1\n4, 3 ,2\n",
    ],
)
def test_tables_of_the_plane(tmp_path: Path, text: str) -> None:
    instance = pytsp.read(write(tmp_path, "two.csv", text))
    assert instance.coordinates is not None
    assert instance.coordinates.tolist() == [[0, 0.5], [3, 4]]
    assert (instance.metric, instance.name) == ("EUCLIDEAN", "two")
    assert pytsp.read(tmp_path / "two.csv", metric="ceil_2d").distance(0, 1) == 5


def test_tables_of_the_globe(tmp_path: Path) -> None:
    path = write(tmp_path, "Places.CSV", "city,Latitude,Longitude\nBerlin,52.5,13.25\nParis,48.9,2.35\n")
    assert pytsp.read(path).distance(0, 1) == pytest.approx(870, abs=20)
    assert pytsp.read(path, metric="geo").metric == "GEO"
    with pytest.raises(InstanceError, match=r"Places.CSV: metric 'EUC_2D' is not for latitudes"):
        pytsp.read(path, metric="EUC_2D")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "two.csv: there are no columns x and y, .* among: none"),
        ("x,y\n", r"two.csv: coordinates must have shape \(n, 2\)"),
        ("a,b\n1,2\n", "two.csv: line 1: there are no columns x and y, .* among: a, b"),
        ("x,y\n1,2\n3\n", "two.csv: line 3: 1 fields, but the first line has 2"),
        ("x,y\n1,2,3\n", "two.csv: line 2: 3 fields, but the first line has 2"),
        ("x,y\n1,2\n3,four\n", "two.csv: line 3, column y: 'four' is not a number"),
        ("x,y\n1_0,2\n", "two.csv: line 2, column x: '1_0' is not a number"),
        ("x,y\n1,\n", "two.csv: line 2, column y: '' is not a number"),
        ("x,y\n1,nan\n", r"two.csv: coordinates must be finite, but \[0, 1\] is nan"),
        ("x,y,x\n1,2,3\n", "two.csv: line 1: columns must have different names"),
        ('x,y\n"1,2\n', "two.csv: line 2: unexpected end of data"),
        (b"x,y\n\xff,2\n", "two.csv: it is not a text in UTF-8"),
    ],
)
def test_tables_that_make_no_instance_are_refused_with_their_place(
    tmp_path: Path, text: str | bytes, words: str
) -> None:
    with pytest.raises(InstanceError, match=words):
        pytsp.read(write(tmp_path, "two.csv", text))


def test_geojson_files(tmp_path: Path) -> None:
    path = write(
        tmp_path, "two.geojson", json.dumps({"type": "MultiPoint", "coordinates": [[13.25, 52.5], [2.35, 48.9]]})
    )
    instance = pytsp.read(path)
    assert instance.coordinates is not None
    assert (instance.name, instance.metric) == ("two", "HAVERSINE")
    assert instance.coordinates.tolist() == [[52.5, 13.25], [48.9, 2.35]]
    assert pytsp.read(path, metric="GEO").is_exact


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "bad.geojson: it is not JSON"),
        ("[1, 2]", "bad.geojson: GeoJSON is an object; this is a list"),
        ('{"type": "Topology"}', "bad.geojson: GeoJSON: type 'Topology' is not accepted"),
        ('{"type": ' + "[" * 100_000, "bad.geojson: it is not JSON"),
        (b"\xff\xfe", "bad.geojson: it is not a text in UTF-8"),
        ('{"type": "Point", "coordinates": [1e999, 0]}', "bad.geojson: coordinates must be finite"),
    ],
)
def test_geojson_files_that_make_no_instance_are_refused(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(InstanceError, match=words):
        pytsp.read(write(tmp_path, "bad.geojson", text))


def test_nested_collections_without_end_are_refused(tmp_path: Path) -> None:
    depth = 5_000
    text = '{"type": "GeometryCollection", "geometries": [' * depth + "]}" * depth
    with pytest.raises(InstanceError, match="deep.geojson: "):
        pytsp.read(write(tmp_path, "deep.geojson", text))


def test_tsplibs_files_say_their_metric(tmp_path: Path) -> None:
    with pytest.raises(TsplibError, match="x.tsp"):
        pytsp.read(write(tmp_path, "x.tsp", "{}"))
    with pytest.raises(
        InstanceError, match="metric='GEO' has no effect with a TSPLIB file, which says its own, EUC_2D"
    ):
        pytsp.read("uniform100", metric="GEO")
    assert pytsp.read("uniform100", metric="euc_2d").metric == "EUC_2D"
    for options in ({"columns": ["x", "y"]}, {"asymmetric": True}):
        with pytest.raises(InstanceError, match="has no effect with a TSPLIB file"):
            pytsp.read("uniform100", **options)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        pytsp.read(tmp_path / "missing.csv")


# Any table


@given(
    points=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6),
    separator=st.sampled_from((",", ";", "\t", " ")),
    comma=st.booleans(),
    end=st.sampled_from(("\n", "\r\n")),
    packed=st.booleans(),
)
def test_every_separator_and_decimal_sign_says_the_same(
    points: list[tuple[float, float]], separator: str, comma: bool, end: str, packed: bool
) -> None:
    rows = [["name", "x", "y"], *([f"c{city}", repr(x), repr(y)] for city, (x, y) in enumerate(points))]
    lines = [separator.join(row) for row in rows]
    text = end.join(lines).replace(".", "," if comma and separator != "," else ".").encode()
    for name in ("places.csv", "places.txt", None):
        # Blanks alone do not tell a header from TSPLIB's keywords.
        if separator == " " and name != "places.csv":
            continue
        stream = io.BytesIO(gzip.compress(text) if packed else text)
        if name is not None:
            stream.name = name  # type: ignore[attr-defined]
        instance = pytsp.read(stream)
        assert instance.coordinates is not None and instance.coordinates.tolist() == [[*point] for point in points]
        assert instance.labels == tuple(f"c{city}" for city in range(len(points)))
        assert instance.name == ("" if name is None else "places")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x;y\n1,5;2\n1.5;2\n", "line 3: there are both decimal points and decimal commas"),
        ("1,5;2\n1.5;2\n", "line 2: there are both decimal points and decimal commas"),
        ("x;y\n1.234,5;2\n", "line 2, column x: '1.234,5' is not a number"),
        ("0;1;2\n1;0;x\n2;1;0\n", "line 2, field 3: 'x' is not a number"),
        ("0,1,2\n1,0,1_0\n2,1,0\n", "line 2, field 3: '1_0' is not a number"),
        ("0,1\n1\n", "line 2: 1 fields, but the first line has 2"),
        (",a,b\na,0,1\nc,1,0\n", "line 3: the distances of 'c' are where those of 'b' belong"),
        (",a,b\na,0,1\nb,1,0\nb,1,0\n", "line 4: the distances of 'b' are where there are all"),
        (",a,b\na,0,1\n", r"matrix must have shape \(n, n\), n at least 1, but the shape is \(1, 2\)"),
        (",a,b\na,0,1\nb,2,0\n", "matrix must be symmetric, but .* asymmetric=True takes it"),
        ("0,1,2,3\n1,0,1,2\n", r"data must have shape .* the shape is \(2, 4\)"),
        ("0,1,2\n1,0,1\n2,1,0\n", r"data of shape \(3, 3\) are coordinates or distances"),
        ("0,nan,2,3\nnan,0,1,2\n2,1,0,1\n3,2,1,0\n", "line 1, field 2: 'nan' is not a number"),
    ],
)
def test_other_tables_are_refused_with_their_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InstanceError, match=rf"t.csv: {words}"):
        pytsp.read(write(tmp_path, "t.csv", text))


# Distances


@given(
    matrix=strategies.symmetric_matrices(min_n=4, max_n=6),
    separator=st.sampled_from((",", ";", "\t", " ")),
    form=st.sampled_from(("plain", "labels", "fractions")),
)
def test_matrices_are_read_with_or_without_labels(matrix: NDArray[np.int64], separator: str, form: str) -> None:
    numbers = [
        [str(each + 0.5 if form == "fractions" and i != j else each) for j, each in enumerate(row)]
        for i, row in enumerate(matrix)
    ]
    labels = (
        [f"city {city}" for city in range(len(matrix))]
        if separator != " "
        else [f"c{city}" for city in range(len(matrix))]
    )
    if form == "labels":
        numbers = [["-", *labels], *([label, *row] for label, row in zip(labels, numbers, strict=True))]
    stream = io.StringIO("\n".join(map(separator.join, numbers)))
    stream.name = "m.csv"  # type: ignore[attr-defined]
    instance = pytsp.read(stream)
    assert instance.is_exact is (form != "fractions")
    expected = matrix + 0.5 * (1 - np.eye(len(matrix))) if form == "fractions" else matrix
    assert np.array_equal(instance.distance_matrix(), expected)
    assert instance.labels == (tuple(labels) if form == "labels" else None)


def test_asymmetric_tables_are_taken_where_that_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "ways.csv", ";a;b\na;0;1,5\nb;2;0\n")
    instance = pytsp.read(path, asymmetric=True)
    assert instance.asymmetric and instance.distance(0, 1) == 1.5 and instance.labels == ("a", "b")
    with pytest.raises(InstanceError, match="metric='GEO' has no effect with distances"):
        pytsp.read(path, metric="GEO")
    with pytest.raises(InstanceError, match="line 1: asymmetric=True has no effect with coordinates in a table"):
        pytsp.read(write(tmp_path, "t.csv", "x,y\n1,2\n"), asymmetric=True)


@pytest.mark.parametrize(
    "array", [np.eye(5) < 1, np.arange(8).reshape(4, 2) / 4, np.arange(6)], ids=["square", "points", "line"]
)
@pytest.mark.parametrize("packed", [False, True])
def test_arrays_of_numpy_are_read_as_arrays_are(array: NDArray[Any], packed: bool, tmp_path: Path) -> None:
    array = array.astype(np.int64) if array.dtype.kind == "b" else array
    np.save(tmp_path / "a.npy", array)
    data = (tmp_path / "a.npy").read_bytes()
    path = write(tmp_path, "b.npy.gz", gzip.compress(data)) if packed else tmp_path / "a.npy"
    for source in (path, io.BytesIO(data)):
        assert np.array_equal(pytsp.read(source).distance_matrix(), pytsp.as_instance(array).distance_matrix())
    assert pytsp.read(path).name == ("b" if packed else "a")


@pytest.mark.parametrize("dtype", ["<i8", ">i8", "<f8", "<i4", "<u2"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("least", [0, 1 << 20])
def test_arrays_are_what_numpy_loads(
    dtype: str, order: Any, version: tuple[int, int], least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_LARGE", least)
    rng = np.random.default_rng(0)
    array = np.asarray(rng.integers(1, 100, (6, 6)), dtype=dtype, order=order)
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, array, version)
    found = pytsp.read(tmp_path / "a.npy", asymmetric=True)
    expected = pytsp.Instance.from_matrix(np.load(tmp_path / "a.npy"), asymmetric=True)
    assert np.array_equal(found.distance_matrix(), expected.distance_matrix())
    assert found.matrix is not None and not found.matrix.flags.writeable


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_a_large_matrix_is_not_copied(dtype: type, tmp_path: Path) -> None:
    array = np.ones((1_000, 1_000), dtype)
    np.fill_diagonal(array, 0)
    np.save(tmp_path / "a.npy", array)
    tracemalloc.start()
    try:
        instance = pytsp.read(tmp_path / "a.npy")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert instance.n == 1_000
    # The file is mapped: nothing is as large as the matrix.
    assert most < 0.5 * array.nbytes


@pytest.mark.parametrize("least", [0, 1 << 20])
def test_damaged_and_hostile_arrays_are_refused(least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_LARGE", least)
    np.save(tmp_path / "a.npy", np.zeros((4, 2)))
    good = (tmp_path / "a.npy").read_bytes()
    np.save(tmp_path / "o.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    bad = {
        "cut.npy": good[:-9],
        "huge.npy": good.replace(b"(4, 2)", b"(9**9**9, 2)"),
        "vast.npy": good.replace(b"(4, 2), }" + b" " * 12, b"(4000000000000, 2), }"),
        "pickle.npy": (tmp_path / "o.npy").read_bytes(),
        "empty.npy": b"",
        "none.npy": b"\x93NUMPY",
    }
    for name, data in bad.items():
        with pytest.raises(InstanceError, match=f"{name}: it is not an array as numpy.save writes them"):
            pytsp.read(write(tmp_path, name, data))


# Names


def test_instances_that_come_along_go_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pytsp.read("europe").n == 53
    with pytest.raises(FileNotFoundError, match="did you mean europe") as missing:
        pytsp.read("eurpoe")
    assert isinstance(missing.value, InstanceError)
    with pytest.raises(ValueError, match="source must be the name of a file; it is ''"):
        pytsp.read("")
    with pytest.raises(TypeError, match="source must be a path, '-' or an open stream; it is a int"):
        pytsp.read(5)  # type: ignore[arg-type]
    # A file is nearer than a name.
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "europe", "x,y\n0,0\n")
    assert pytsp.read("europe").n == 1


@pytest.mark.parametrize("column", ["name", "City", " LABEL ", "id"])
def test_cities_have_names_where_a_column_says_them(column: str, tmp_path: Path) -> None:
    instance = pytsp.read(write(tmp_path, "t.csv", f"x,{column},y,colour\n0,Aachen ,0,red\n3,Bonn,4,\n"))
    assert instance.labels == ("Aachen", "Bonn")
    assert pytsp.read(write(tmp_path, "t.csv", "x,y,colour\n0,0,red\n")).labels is None


def test_columns_are_those_that_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "east;north;x;y\n0;0;9;9\n3,0;4,0;1;1\n")
    assert pytsp.read(path, columns=["east", "north"]).distance(0, 1) == 5
    with pytest.raises(InstanceError, match="t.csv: line 1: columns=.* must be different ones of: east, north, x, y"):
        pytsp.read(path, columns=["east", "up"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("NAME: a, b\n", TsplibError),
        ("\n  EDGE_WEIGHT_TYPE\t: EUC_2D\n", TsplibError),
        ("NODE_COORD_SECTION\t\n1 0 0\n", TsplibError),
        ("rubbish\n", TsplibError),
        ("\ufeffa, b\n", InstanceError),
        ('"a"\n', InstanceError),
        ("{", InstanceError),
        ("", TsplibError),
        ("," * 10**6 + ":", InstanceError),
    ],
)
def test_what_a_stream_holds_is_seen_by_its_beginning(text: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as refused:
        pytsp.read(io.StringIO(text))
    assert type(refused.value) is kind and str(refused.value).startswith("<stream>")
    assert len(str(refused.value)) < 500
