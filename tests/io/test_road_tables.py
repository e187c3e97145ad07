"""JSON: matrices, and the tables of road servers, in which null is no way and ways are directed."""

from __future__ import annotations

import io
import json
import math
import warnings
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import pytsp
from pytsp import InstanceError, PytspWarning, as_instance
from pytsp.cli.commands import main

WAYS: list[list[Any]] = [[0, 1.5, None, 4], [1.5, 0, 2, 3], [None, 2, 0, 1], [4, 3, 1, 0]]
DIRECTED: list[list[Any]] = [[0, 1, 9], [9, 0, None], [1, 9, 0]]


def place(longitude: float, latitude: float, **more: Any) -> dict[str, Any]:
    return {"location": [longitude, latitude], **more}


def each_way(document: Any, tmp_path: Path) -> list[Any]:
    """The ways in which a document is read: by its ending, by what it holds, and as it is."""
    path = tmp_path / "table.json"
    path.write_text(json.dumps(document))
    return [
        lambda **options: pytsp.read(path, **options),
        lambda **options: pytsp.read(io.StringIO("\n " + json.dumps(document)), **options),
        lambda **options: as_instance(document, **options),
    ]


def test_a_matrix_in_json_is_read(tmp_path: Path) -> None:
    for read in each_way(WAYS, tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            instance = read(name="four")
        assert instance.name == "four" and instance.distance(0, 2) == math.inf
        assert pytsp.solve(instance, backend="c").length == 8.5
    for read in each_way([row[:3] for row in WAYS[:3]], tmp_path):
        with pytest.raises(InstanceError, match=r"shape \(3, 3\) are coordinates or distances: .* asymmetric=True or"):
            read()
        assert read(asymmetric=True).metric == "EXPLICIT"
    for read in each_way([[0, 1], [2, 3], [4, 5.5]], tmp_path):
        assert read(metric="ceil_2d").metric == "CEIL_2D"


@pytest.mark.parametrize("key", ["durations", "distances", "times"])
def test_a_road_servers_table_is_read_as_it_is(key: str, tmp_path: Path) -> None:
    for read in each_way({"code": "Ok", key: DIRECTED}, tmp_path):
        instance = read()
        assert instance.asymmetric and instance.is_exact
        assert (instance.distance(0, 1), instance.distance(1, 0), instance.distance(1, 2)) == (1, 9, 2**31 - 1)
        assert pytsp.solve(instance, backend="c").length == 27
        assert not read(asymmetric=True).labels
    for read in each_way({"code": "Ok", key: WAYS}, tmp_path):
        assert not read().asymmetric and pytsp.solve(read(), backend="c").length == 8.5


def test_of_two_tables_one_is_taken_and_the_other_by_its_name(tmp_path: Path) -> None:
    document = {"code": "Ok", "distances": WAYS, "durations": DIRECTED}
    for read in each_way(document, tmp_path):
        with pytest.warns(PytspWarning, match=r"its durations are taken, and with columns=\['distances'\] \(--columns"):
            assert read().n == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read(columns=["distances"]).n == 4
            assert read(columns=["durations"]).n == 3
        for columns in (["weights"], "distances", ["distances", "durations"]):
            with pytest.raises(InstanceError, match="must be a list with one of the tables: durations, distances"):
                read(columns=columns)


def test_valhallas_tables_are_read() -> None:
    cells = [[{"time": t, "distance": 2 * t if t is not None else None} for t in row] for row in DIRECTED]
    document = {"sources_to_targets": cells, "units": "kilometers"}
    with pytest.warns(PytspWarning, match="gives durations and distances"):
        assert as_instance(document).distance(0, 1) == 1
    assert as_instance(document, columns=["distances"]).distance(0, 1) == 2
    assert as_instance({"sources_to_targets": {"durations": DIRECTED}}).distance(0, 1) == 1


def test_places_have_names_where_the_server_says_them() -> None:
    sources = [place(1, 2, name="Hof"), place(3, 4, name=""), place(5, 6)]
    document = {"durations": DIRECTED, "sources": sources, "destinations": [place(1, 2), place(3, 4), place(5, 6)]}
    assert as_instance(document).labels == ("Hof", "", "")
    assert as_instance({**document, "sources": sources[:2]} | {"destinations": None}).labels is None


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"code": "NoTable", "message": "no route"}, "the road server gives no table, but code NoTable: 'no route'"),
        ({"code": "Ok", "durations": None}, "the table is null"),
        ({"durations": 3}, "durations must be a list of rows"),
        ({"durations": [3]}, "durations must be a list of rows"),
        ({"durations": [[0, 1], [1]]}, "row 1 has 1 elements, but row 0 has 2"),
        ({"durations": [[0, 1, 2], [1, 0, 2]]}, r"matrix must have shape \(n, n\), .* the shape is \(2, 3\)"),
        ({"durations": [[0, "x"], [1, 0]]}, r"row 0, column 1 \(counted from 0\) is 'x'"),
        ({"durations": [[0, None], [{}, 0]]}, r"row 1, column 0 \(counted from 0\) is {}"),
        ({"durations": [[0, -1], [1, 0]]}, r"must not be negative, but \[0, 1\] is -1"),
        (
            {"durations": [[0, 1], [1, 0]], "sources": [place(1, 2)] * 2, "destinations": [place(1, 2), place(1, 3)]},
            r"must be the same places, in the same order; number 1 \(counted from 0\) is at \[1, 2\] and \[1, 3\]",
        ),
        (
            {"durations": [[0, 1]], "sources": [place(1, 2)], "destinations": [place(1, 2), place(1, 3)]},
            "must be the same places, in the same order; there are 1 and 2",
        ),
        ({"rows": []}, "type None is not accepted; accepted: .* or a road server's table with durations or distances"),
    ],
)
def test_other_answers_are_refused_with_what_is_wrong(document: dict[str, Any], words: str, tmp_path: Path) -> None:
    for read in each_way(document, tmp_path):
        with pytest.raises(InstanceError, match=words):
            read()


def test_a_road_servers_table_has_no_metric() -> None:
    with pytest.raises(InstanceError, match="metric='GEO' has no effect with a road server's table"):
        as_instance({"durations": WAYS}, metric="GEO")


@pytest.mark.parametrize("text", ["3", '"x"', "null"])
def test_other_json_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InstanceError, match=r"x.json: it is a \w+; JSON is read as a list of rows, GeoJSON, or a road"):
        pytsp.read(tmp_path / "x.json")


def test_the_command_line_takes_the_other_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"distances": WAYS, "durations": DIRECTED}))
    assert main(["info", str(tmp_path / "t.json"), "--json"]) == 0
    reported = capsys.readouterr()
    assert json.loads(reported.out)["n"] == 3
    assert reported.err == (
        f"pytsp: {tmp_path}/t.json: the road server gives durations and distances; its durations are taken, and with "
        "columns=['distances'] (--columns distances) its distances\n"
    )
    assert main(["info", str(tmp_path / "t.json"), "--json", "--columns", "distances"]) == 0
    reported = capsys.readouterr()
    assert json.loads(reported.out)["n"] == 4 and reported.err == ""


def test_a_mapping_of_any_kind_is_a_table() -> None:
    assert as_instance(MappingProxyType({"durations": WAYS})).n == 4
