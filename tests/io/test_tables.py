"""Tables of text: no city is lost without a word, and what has no number is no way or refused with its place."""

from __future__ import annotations

import io
import math
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytsp
from pytsp import Instance, InstanceError, PytspWarning
from pytsp.problem.instance import FORBIDDEN

INT_MAX = FORBIDDEN["i"]


def read(text: str, **options: Any) -> Instance:
    stream = io.StringIO(text)
    stream.name = "t.csv"  # type: ignore[attr-defined]
    return pytsp.read(stream, **options)


# The first line


@pytest.mark.parametrize("word", ["", "NA", "n/a", "-", "null", "None", "—"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_matrix_keeps_its_first_city_where_a_way_is_missing(word: str, separator: str) -> None:
    text = f"0,1.5,{word},4\n1.5,0,2,3\n{word},2,0,1\n4,3,1,0\n".replace(",", separator)
    with pytest.warns(PytspWarning, match=r"^t.csv: 2 fields without a number taken as no way, .* line 1, field 3 \('"):
        instance = read(text)
    assert instance.labels is None and instance.distance(0, 2) == math.inf
    assert pytsp.solve(instance, backend="c").length == 8.5


def test_whole_numbers_stay_whole_where_a_way_is_missing() -> None:
    with pytest.warns(PytspWarning, match="2 fields without a number"):
        instance = read("0 1 NA 3\n1 0 2 3\nNA 2 0 3\n3 3 3 0\n")
    assert instance.is_exact and instance.distance(0, 2) == INT_MAX
    assert pytsp.solve(instance, backend="c").length == 9


def test_infinity_is_no_way_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        instance = read("0,1.5,inf,4\n1.5,0,2,3\ninf,2,0,1\n4,3,1,0\n")
        # The diagonal is ignored, whatever it holds.
        assert read("-,9.5,8,7\n9.5,-,2,3\n8,2,-,1\n7,3,1,nan\n").n == 4
    assert instance.distance(0, 2) == math.inf


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,1,x,3\n1,0,2,3\nx,2,0,3\n3,3,3,0\n", "line 1, field 3: 'x' is not a number, but field 1, '0', is one"),
        ("-,1,x,3\n1,-,2,3\nx,2,-,3\n3,3,3,-\n", "line 1, field 3: 'x' is not a number, but field 2, '1', is one"),
        ("x,1,x,3\n1,x,2,3\nx,2,x,3\n3,3,3,x\n", "line 1, field 1: 'x' is not a number, but field 2, '1', is one"),
        ("x,1,2,3\n1,x,2,3\n2,2,x,3\n3,3,3,x\n", "line 1, field 1: 'x' is not a number"),
        ("?,1,2,3\n1,0,2,3\n2,2,0,3\n3,3,3,0\n", "line 1, field 1: '\\?' is not a number"),
        ("xx,1,2,3\n1,xx,2,3\n2,2,xx,3\n3,3,3,xx\n", "line 1, field 1: 'xx' is not a number"),
        ("0,1,2,3\n1,0,x,3\n2,x,0,3\n3,3,3,0\n", "line 2, field 3: 'x' is not a number"),
        (",7,2a,3\n7,0,5,6\n2a,5,0,7\n3,6,7,0\n", "line 1, field 3: '2a' is not a number, but field 2, '7', is one"),
        ("A,0,1,2\nB,1,0,3\nC,2,3,0\n", "line 1, field 1: 'A' is not a number, but field 2, '0', is one"),
        ("city,2020,2021\nBern,5,6\n", "line 1, field 1: 'city' is not a number, but field 2, '2020', is one"),
        ("x,5,y2\n1,2,3\n", "line 1, field 1: 'x' is not a number"),
        ("0,nan,2,3\nnan,0,1,2\n2,1,0,1\n3,2,1,0\n", "line 1, field 2: 'nan' is not a number; inf, NA, null"),
        (",A,B\nA,0,nan\nB,1,0\n", "line 2, field 3: 'nan' is not a number; inf, NA, null"),
        # Labels, or the distances of a city from all others?
        ("-,5,7,9\n5,-,5,6\n7,5,-,7\n9,6,7,-\n", "line 1, field 1: '-' leaves open"),
        (",5,7,9\n5,,5,6\n7,5,,7\n9,6,7,\n", "line 1, field 1: '' leaves open"),
        (",1.5,9\n1.5,0,5\n9,5,0\n", "line 1, field 1: '' leaves open"),
        (",5\n5,0\n", "line 1, field 1: '' leaves open"),
        (",5,7,9\n4,0,5,6\n8,5,0,7\n2,6,7,0\n", "line 1, field 1: '' leaves open"),
        # Coordinates, where nothing can be missing.
        ("1,2\n,4\n5,6\n", "line 2, field 1: '' is not a number; 3 lines of 2 fields are coordinates"),
        ("1,2,NA\n3,4,5\n", "line 1, field 3: 'NA' is not a number; 2 lines of 3 fields are coordinates"),
        ("0,1,2\n1,0,\n2,,0\n", "line 2, field 3: '' is not a number; .* unless asymmetric=True says"),
        ("0,1,2,3\n1,,2,3\n", "line 2, field 2: '' is not a number; 2 lines of 4 fields are no distances"),
        ("name,lat,lon\nA,1,2\nB,NA,3\n", "line 3, column lat: 'NA' is not a number"),
        ("name,lat,lon\nA,1,2\nB,,\n", "line 3, column lat: '' is not a number"),
        # What looks like a header.
        ("\n;\n;\n", "line 2: no field has a value"),
        ("x,-,-\n-,x,2\n-,2,x\n", "line 1: columns must have different names; these occur more than once: -"),
        ("-,x\n5,-\n", "line 1: there are no columns x and y, or latitude and longitude, among: -, x"),
    ],
)
def test_what_may_lose_a_city_is_refused_with_line_and_field(text: str, words: str) -> None:
    with pytest.raises(InstanceError, match=f"^t.csv: {words}"):
        read(text)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (",1,2,3\n1,0,5,6\n2,5,0,7\n3,6,7,0\n", "123"),
        (",0,1,2\n0,0.0,5.0,6.0\n1,5.0,0.0,7.0\n2,6.0,7.0,0.0\n", "012"),
        ("id,7,2,3\n7,0,5,6\n2,5,0,7\n3,6,7,0\n", "723"),
        ("id,7,b,3\n7,0,5,6\nb,5,0,7\n3,6,7,0\n", "7b3"),
        ("-,A,B,C\nA,-,5,6\nB,5,-,7\nC,6,7,-\n", "ABC"),
        (",A,NA,C\nA,,5,6\nNA,5,,7\nC,6,7,\n", ("A", "NA", "C")),
    ],
)
def test_labels_may_be_numbers(text: str, labels: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        instance = read(text)
    assert instance.labels == tuple(labels)
    assert instance.distance_matrix().tolist() == [[0, 5, 6], [5, 0, 7], [6, 7, 0]]


def test_labels_that_may_be_distances_are_told() -> None:
    with pytest.warns(PytspWarning, match="^t.csv: line 1 is taken as labels, since its first field is empty"):
        assert read(",7,2,3\n7,0,5,6\n2,5,0,7\n3,6,7,0\n").labels == ("7", "2", "3")


@pytest.mark.parametrize("first", ["-,9,7,8", "-,9,7.5,8", "-,9,9,8", ",9,7,8"])
def test_a_word_on_the_diagonal_makes_no_labels_of_distances(first: str, recwarn: pytest.WarningsRecorder) -> None:
    corner, *ways = first.split(",")
    rows = [ways[0], *["1"] * 3], [ways[1], *["1"] * 3], [ways[2], *["1"] * 3]
    for city, row in enumerate(rows, 1):
        row[city] = corner
    instance = read("\n".join([first, *map(",".join, rows)]))
    assert instance.n == 4 and instance.distance(0, 2) == float(ways[1])
    # Whole numbers without order may be labels all the same.
    warned = [str(each.message) for each in recwarn]
    assert [each.startswith("t.csv: line 1 is taken as distances") for each in warned] == [True] * ("9,7,8" in first)


def test_a_header_may_name_years_beside_coordinates() -> None:
    assert read("name,x,y,2020\nBern,5,6,7\n").labels == ("Bern",)
    assert read("east,north,2020\n5,6,7\n", columns=["east", "north"]).n == 1


# Rows without a value


def test_rows_without_a_value_are_left_out_with_a_word() -> None:
    with pytest.warns(PytspWarning, match="^t.csv: 3 rows without any value left out: line 1, line 4, line 5$"):
        instance = read(",,\nname,lat,lon\nA,52.5,13.4\n,,\n,\nB,48.1,11.6\n")
    assert instance.labels == ("A", "B")
    with pytest.warns(PytspWarning, match="1 row without any value left out: line 4"):
        assert read(",A,B\nA,0,1\nB,1,0\n,,\n").n == 2
    with pytest.warns(PytspWarning, match="1 row without any value left out: line 2"):
        assert read("1,2\n,\n3,4\n5,6\n").n == 3
    with pytest.warns(PytspWarning, match="1 row without any value left out: line 5"):
        assert read("0,1,2,3\n1,0,2,3\n2,2,0,4\n3,3,4,0\n,,,\n").n == 4


@pytest.mark.parametrize("city", range(4))
def test_a_row_without_a_value_is_a_city_without_a_way_where_columns_say_so(city: int) -> None:
    ways = [[str(1 + i + j) for j in range(4)] for i in range(4)]
    for other in range(4):
        ways[other][other] = "0"
        ways[other][city] = ways[city][other] = ""
    with pytest.warns(PytspWarning, match="6 fields without a number taken as no way"):
        instance = read("\n".join(map(",".join, ways)))
    assert instance.n == 4 and (np.delete(instance.distance_matrix()[city], city) == INT_MAX).all()
    assert instance.distance((city + 1) % 4, (city + 2) % 4) == 1 + (city + 1) % 4 + (city + 2) % 4


def test_lines_of_blanks_are_empty_lines() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read("  \nx,y\n \n1,2\n \t \n").n == 1


# What old and other programs write around a table


@pytest.mark.parametrize("line", ["sep=;", '"SEP=;"', "sep=;\r"])
def test_a_line_that_says_the_separator_is_obeyed_with_a_word(line: str) -> None:
    with pytest.warns(PytspWarning, match="^t.csv: line 1, .*, is no row: it says what parts the fields"):
        instance = read(f"{line}\nname;x;y\nA, a;0,5;1\n")
    assert instance.labels == ("A, a",) and instance.distance_matrix().tolist() == [[0]]
    with (
        pytest.raises(InstanceError, match="line 3, column y: 'up' is not a number"),
        pytest.warns(PytspWarning, match="no row"),
    ):
        read("sep=|\nx|y\n1|up\n")
    with pytest.warns(PytspWarning, match="^<stream>: line 1"):
        assert pytsp.read(io.StringIO("sep=|\nx|y\n1|2\n")).n == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "x,y\n1,2\n3,4\n"),
        ("t.csv", "x,y\n1,2\n3,4"),
        ("t.geojson", '{"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]}'),
        ("t.tsp", "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n"),
        ("t.tsp", "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\nEOF"),
    ],
)
@pytest.mark.parametrize("end", ["\x1a", "\r\n\x1a\x1a\x1a", "\x1a\n"])
def test_the_end_mark_of_old_systems_is_left_out_with_a_word(name: str, text: str, end: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes((text + end).encode())
    with pytest.warns(PytspWarning, match=rf"{name}: {end.count(chr(26))} bytes? 0x1A at its end left out$"):
        assert pytsp.read(tmp_path / name).n == 2


def test_the_end_mark_is_left_out_of_tours_and_of_no_array(tmp_path: Path) -> None:
    (tmp_path / "t.tour").write_bytes(b"TYPE: TOUR\nTOUR_SECTION\n1\n2\n-1\n\x1a")
    with pytest.warns(PytspWarning, match="t.tour: 1 byte 0x1A"):
        assert pytsp.read_tour(tmp_path / "t.tour").tolist() == [0, 1]
    array = np.array([[0.0, 1.0], [2.0, np.frombuffer(b"\x1a" * 8)[0]]])
    np.save(tmp_path / "t.npy", array)
    instance = pytsp.read(tmp_path / "t.npy", metric="euclidean")
    assert instance.coordinates is not None and np.array_equal(instance.coordinates, array)


# Any table


@dataclass
class Table:
    """A table, and what it says: a row of numbers a city, None where there is none."""

    text: str
    cells: list[list[float | None]]
    labels: list[str] | None
    is_matrix: bool
    options: dict[str, Any]
    # Whether it may be refused, by a word that is no number, or where labels may be distances.
    is_odd: bool = False


def drawn(random: np.random.Generator) -> Table:
    """Draw a table of coordinates or distances, in any of the ways in which people write them."""

    def one_of(*values: Any) -> Any:
        return values[random.integers(len(values))]

    separator = one_of(",", ";", "\t", " ")
    has_comma = separator != "," and random.random() < 0.4
    is_whole = random.random() < 0.5
    is_matrix = random.random() < 0.8
    n = int(random.integers(4, 8)) if is_matrix else int(random.integers(1, 8))
    is_directed = is_matrix and random.random() < 0.4
    if is_matrix and is_directed and random.random() < 0.5:
        n = int(random.integers(2, 4))
    width = n if is_matrix else 2
    cells: list[list[Any]] = (random.integers(1, 40, (n, width)) / (1 if is_whole else 8)).tolist()
    share = one_of(0.0, 0.1, 0.4)
    for i in range(n if is_matrix else 0):
        for j in range(n):
            cells[i][j] = None if random.random() < share else cells[i][j]
            if not is_directed and j < i:
                cells[i][j] = cells[j][i]
    words = ["NA", "null", "-", "n/a", "None", *([""] if separator != " " else [])]
    hole = one_of(*words)
    diagonal = one_of("0", hole, "number", "first")
    # One word alone may be a label.
    odd = one_of("x", "?", "nan") if is_matrix and n > 2 and random.random() < 0.1 else None

    def written(i: int, j: int) -> str:
        if is_matrix and i == j and diagonal != "number":
            return {"0": "0", "first": hole if i == 0 else "0"}.get(diagonal, diagonal)
        value = cells[i][j]
        if value is None:
            return odd if odd is not None and random.random() < 0.5 else one_of(hole, hole, one_of(*words))
        text = repr(int(value) if is_whole else value)
        text = text.replace(".", ",") if has_comma else text
        return f'"{text}"' if random.random() < 0.02 and separator != " " else text

    lines = [[written(i, j) for j in range(width)] for i in range(n)]
    labels = None
    form = one_of("bare", "texts", "numbers") if is_matrix else one_of("bare", "header", "names")
    if form in ("texts", "names"):
        labels = [f"c{city}" for city in range(n)]
    elif form == "numbers":
        labels = [str(number) for number in random.permutation(90)[:n] + 5]
    corner = one_of("", "-", "city", "NA") if separator != " " else one_of("-", "city", "NA")
    if is_matrix and labels is not None:
        lines = [[corner, *labels], *([label, *line] for label, line in zip(labels, lines, strict=True))]
    elif labels is not None:
        lines = [["name", "x", "y"], *([label, *line] for label, line in zip(labels, lines, strict=True))]
    elif form == "header":
        lines = [["x", "y"], *lines]
    if separator != " " and len(lines[0]) > 1:
        lines += [[""] * len(lines[0])] * int(random.integers(0, 2))
    text = one_of("\n", "\r\n").join(separator.join(line) for line in lines)
    is_odd = odd is not None or (form == "numbers" and corner != "city")
    is_odd |= (
        form == "bare" and is_matrix and (diagonal in ("first", hole) or (diagonal == "number" and cells[0][0] is None))
    )
    # A city without a way before a row without a value.
    is_odd |= sum(not any(line) for line in lines) > 1
    # A comma in the first line parts fields.
    is_odd |= has_comma and separator == " "
    # Two lines of two numbers may be distances.
    options = {"asymmetric": True} if is_directed else {} if is_matrix else {"metric": "euclidean"}
    return Table(text, cells, labels, is_matrix, options, is_odd)


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_table_loses_a_city_or_a_length(count: int) -> None:
    random = np.random.default_rng(52)
    refused = taken_otherwise = 0
    for _ in range(count):
        table = drawn(random)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                instance = read(table.text, **table.options)
            except InstanceError as error:
                refused += 1
                assert table.is_odd, table
                # Of rows without a value the warning names the lines.
                is_reported = any("without any value left out: line" in str(each.message) for each in warned)
                assert is_reported or re.match(r"t.csv: line \d+(, (field|column) \w+)?: ", str(error)), (table, error)
                continue
        words = [str(each.message) for each in warned]
        if instance.n != len(table.cells):
            # A row of whole numbers behind a field without one, which is what the lines begin with.
            what = "labels" if instance.n < len(table.cells) else "distances"
            assert table.is_odd and any(f"line 1 is taken as {what}" in each for each in words), table
            taken_otherwise += 1
            continue
        assert (instance.n, instance.labels) == (len(table.cells), table.labels and tuple(table.labels)), table
        order = random.permutation(instance.n)
        if table.is_matrix:
            ways = list(zip(order, np.roll(order, -1), strict=True)) if instance.n > 1 else []
            forbidden = FORBIDDEN["i" if instance.is_exact else "f"]
            expected = math.fsum(forbidden if table.cells[i][j] is None else table.cells[i][j] for i, j in ways)
            holes = sum(cell is None and i != j for i, row in enumerate(table.cells) for j, cell in enumerate(row))
            named = [each for each in words if "taken as no way" in each]
            assert named == [] if holes == 0 else re.match(rf"t.csv: {holes} fields? without", named[0]), table
        else:
            assert instance.coordinates is not None and instance.coordinates.tolist() == table.cells, table
            ends = zip(order, np.roll(order, -1), strict=True)
            expected = math.fsum(math.dist(table.cells[a], table.cells[b]) for a, b in ends)  # type: ignore[arg-type]
        assert instance.tour_length(order) == pytest.approx(expected, rel=1e-12), table
    # Most are read.
    assert refused < 0.25 * count and taken_otherwise < 0.07 * count
