"""Malformed TSPLIB files: each fault has its message, and no bytes whatever do harm."""

from __future__ import annotations

import gzip
import io
import pickle
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from paths import DATA
from strategies import KEYWORDS, SECTIONS, Layout, layouts, point_rows

from pytsp.exceptions import PytspError, TsplibError
from pytsp.io.tsplib.reader import read, read_tour
from pytsp.problem.instance import Instance

GOOD = (DATA / "good.tsp").read_bytes()
GOOD_TOUR = (DATA / "good.tour").read_bytes()

FAULTS = {
    "missing_dimension.tsp": (None, "DIMENSION is missing"),
    "missing_weight_type.tsp": (None, "EDGE_WEIGHT_TYPE is missing"),
    "missing_coordinates.tsp": (None, "NODE_COORD_SECTION is missing; EUC_2D needs it"),
    "doubled_keyword.tsp": (5, "DIMENSION is given twice; first in line 3"),
    "doubled_section.tsp": (11, "NODE_COORD_SECTION is given twice; first in line 5"),
    "dimension_too_large.tsp": (
        10,
        "ends too early, after '2e0': 15 numbers are given, but DIMENSION 6 needs 18",
    ),
    "dimension_too_small.tsp": (10, "'5' is one number too many: 15 are given, but DIMENSION 4 needs 12"),
    "dimension_huge.tsp": (10, "DIMENSION 999999999 needs 2999999997"),
    "dimension_huge_matrix.tsp": (8, "DIMENSION 999999999 needs 999999998000000001 as FULL_MATRIX"),
    "dimension_not_a_number.tsp": (3, "DIMENSION 'five' is not a number of cities; accepted: 1, 2, 3"),
    "dimension_zero.tsp": (3, "DIMENSION '0' is not a number of cities"),
    "dimension_negative.tsp": (3, "DIMENSION '-5' is not a number of cities"),
    "node_doubled.tsp": (9, "node '2' is given twice, and node 4 is missing"),
    "node_out_of_range.tsp": (10, "'6' is not a node number; accepted: 1 … 5"),
    "node_zero_based.tsp": (6, "'0' is not a node number; accepted: 1 … 5"),
    "node_fractional.tsp": (7, "'2.5' is not a node number"),
    "coordinate_nan.tsp": (8, "'nan' is not a finite number"),
    "coordinate_inf.tsp": (8, "'-inf' is not a finite number"),
    "coordinate_overflow.tsp": (8, "'1e999' is not a finite number"),
    "coordinate_too_large.tsp": (5, "scale the coordinates down"),
    "coordinate_word.tsp": (8, "'four' is not a number; accepted: decimal numbers"),
    "coordinate_glued.tsp": (8, "'3-4' is not a number"),
    "coordinate_missing.tsp": (8, "expected 3 numbers in this line, as before: node x y"),
    "coordinate_surplus.tsp": (8, "expected 3 numbers in this line, as before: node x y"),
    "third_coordinate_missing.tsp": (10, "DIMENSION 5 needs 20 = 5 × (node x y z)"),
    "truncated.tsp": (10, "expected 3 numbers in this line"),
    "matrix_not_symmetric.tsp": (9, "row 3, column 2 is '4', but row 2, column 3 is 3; TYPE ATSP takes it"),
    "weight_negative.tsp": (8, "weight '-3' is negative"),
    "weight_negative_full.tsp": (7, "weight '-1' is negative"),
    "weight_fractional.tsp": (9, "weight '2.5' is not an integer"),
    "weight_too_large.tsp": (8, "weight '9007199254740993' is not an integer below 2**53"),
    "weight_infinite.tsp": (7, "'inf' is not a finite number"),
    "matrix_too_short.tsp": (8, "6 numbers are given, but DIMENSION 3 needs 9 as FULL_MATRIX"),
    "matrix_too_long.tsp": (8, "'4' is one number too many"),
    "matrix_empty.tsp": (6, "EDGE_WEIGHT_SECTION holds no numbers, but DIMENSION 3 needs 9"),
    "matrix_missing.tsp": (None, "EDGE_WEIGHT_SECTION is missing; EXPLICIT needs it"),
    "format_missing.tsp": (None, "EDGE_WEIGHT_FORMAT is missing"),
    "format_unknown.tsp": (
        5,
        "EDGE_WEIGHT_FORMAT 'UPPER_TRIANGLE' is not supported; supported: FUNCTION, FULL_MATRIX",
    ),
    "format_function.tsp": (5, "EDGE_WEIGHT_FORMAT 'FUNCTION' contradicts EDGE_WEIGHT_TYPE EXPLICIT"),
    "format_contradicts.tsp": (5, "EDGE_WEIGHT_FORMAT 'UPPER_ROW' contradicts EDGE_WEIGHT_TYPE EUC_2D"),
    "weights_contradict.tsp": (
        5,
        "EDGE_WEIGHT_SECTION contradicts EDGE_WEIGHT_TYPE EUC_2D; accepted: EXPLICIT",
    ),
    "coordinate_type_contradicts.tsp": (
        5,
        "NODE_COORD_TYPE 'THREED_COORDS' contradicts EDGE_WEIGHT_TYPE EUC_2D",
    ),
    "display_type_unknown.tsp": (
        5,
        "DISPLAY_DATA_TYPE 'FOURD_DISPLAY' is not supported; supported: COORD_DISPLAY",
    ),
    "display_too_short.tsp": (15, "DISPLAY_DATA_SECTION: ends too early"),
    "weight_type_unknown.tsp": (4, "EDGE_WEIGHT_TYPE 'XRAY3' is not supported; supported: ATT, CEIL_2D"),
    "weight_type_special.tsp": (4, "EDGE_WEIGHT_TYPE 'SPECIAL' is not supported"),
    "type_atsp.tsp": (4, "EDGE_WEIGHT_TYPE 'EUC_2D' contradicts TYPE ATSP; accepted: EXPLICIT"),
    "type_atsp_upper.tsp": (5, "EDGE_WEIGHT_FORMAT 'UPPER_ROW' contradicts TYPE ATSP; accepted: FULL_MATRIX"),
    "type_atsp_negative.tsp": (8, "weight '-3' is negative"),
    "type_hcp.tsp": (2, "TYPE 'HCP' is not supported here; supported: TSP, ATSP"),
    "type_sop.tsp": (2, "TYPE 'SOP' is not supported here"),
    "type_cvrp.tsp": (2, "TYPE 'CVRP' is not supported here"),
    "type_tour.tsp": (2, "read tours with read_tour"),
    "keyword_unknown.tsp": (5, "keyword 'CAPACITY' is not supported; accepted: NAME, TYPE, COMMENT"),
    "section_unknown.tsp": (11, "section 'DEMAND_SECTION' is not supported"),
    "colon_missing.tsp": (3, "'DIMENSION 5' is not understood; accepted: KEYWORD : value"),
    "numbers_outside.tsp": (5, "'1 0 0' is not understood"),
    "fixed_edges.tsp": (8, "FIXED_EDGES_SECTION: '3' is the first node of a fixed edge without a second one"),
    "empty.tsp": (None, "the file is empty"),
    "blank.tsp": (None, "the file is empty"),
    "rubbish.tsp": (1, "is not understood"),
    "rubbish_in_section.tsp": (7, "is not a number"),
    "truncated.tsp.gz": (None, "the gzip data is damaged or cut short"),
    "damaged.tsp.gz": (None, "the gzip data is damaged or cut short"),
    "tour_city_doubled.tour": (8, "node '3' is given twice, and node 2 is missing"),
    "tour_city_out_of_range.tour": (7, "'6' is not a node number; accepted: 1 … 5"),
    "tour_city_zero.tour": (5, "'0' is not a node number"),
    "tour_too_short.tour": (4, "TOUR_SECTION holds 4 cities, but there are 5"),
    "tour_too_long.tour": (10, "'1' is one city too many"),
    "tour_two.tour": (11, "'1' follows the tour's end (-1)"),
    "tour_word.tour": (7, "'?5' is not a number"),
    "tour_dimension_huge.tour": (4, "TOUR_SECTION holds 5 cities, but there are 999999999"),
    "tour_section_missing.tour": (None, "TOUR_SECTION is missing; a tour file needs it"),
    "tour_type_tsp.tour": (2, "TYPE 'TSP' is not supported here; supported: TOUR; read instances with read"),
}


@pytest.mark.parametrize("file", FAULTS)
def test_every_fault_is_named_with_its_file_and_line(file: str) -> None:
    line, fragment = FAULTS[file]
    path = DATA / file
    with pytest.raises(TsplibError) as caught:
        read_tour(path) if path.suffix == ".tour" else read(path)
    assert fragment in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert str(caught.value).startswith(f"{path}: " if line is None else f"{path}:{line}: ")


def test_every_faulty_file_is_tested() -> None:
    assert {path.name for path in DATA.iterdir()} == set(FAULTS) | {"good.tsp", "good.tour", "directed.atsp"}


def test_the_file_without_fault_reads() -> None:
    assert read(DATA / "good.tsp").n == 5
    assert read_tour(DATA / "good.tour").tolist() == [2, 0, 4, 1, 3]


def test_an_error_survives_pickling() -> None:
    with pytest.raises(TsplibError) as caught:
        read(DATA / "node_doubled.tsp")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.file, again.line) == (str(caught.value), caught.value.file, caught.value.line)
    assert isinstance(again, PytspError) and isinstance(again, ValueError)


def harmless(data: bytes) -> None:
    """Reading `data` gives an instance or a `TsplibError`, and takes little memory."""
    readers: list[Callable[[io.BytesIO], object]] = [
        read,
        lambda stream: read(stream, ignore_fixed_edges=True),
        read_tour,
    ]
    for reader in readers:
        tracemalloc.start()
        try:
            found = reader(io.BytesIO(data))
            assert isinstance(found, (Instance, np.ndarray))
        except TsplibError as error:
            assert str(error).startswith("<stream>") and len(str(error)) < 1000
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert peak < 3_000_000 + 100 * len(data)


VALUES = (
    "TSP", "TOUR", "ATSP", "1", "2", "3", "5", "999999999", "-1", "EUC_2D", "GEO", "XRAY1", "EXPLICIT",
    "FULL_MATRIX", "UPPER_ROW", "LOWER_DIAG_ROW", "FUNCTION",
)  # fmt: skip
NUMBERS = (
    "0", "1", "2", "3", "4", "5", "-1", "-2", "1e3", "1e300", "1e999", "nan", "inf", "-inf", "0x10", "1-2",
    ".", "-", "+", "1_0", "٣", "1,5",
)  # fmt: skip


def lines() -> st.SearchStrategy[bytes]:
    """Lines that look like TSPLIB's."""
    value, number = st.sampled_from(VALUES), st.sampled_from(NUMBERS)
    return st.one_of(
        st.tuples(st.sampled_from(KEYWORDS), st.sampled_from((":", " : ", "")), value).map("".join),
        st.sampled_from((*SECTIONS, "EOF", "", "UNKNOWN_SECTION", "nan", "INF 3", "_SECTION")),
        st.lists(number, max_size=6).map(" ".join),
        st.text(max_size=12),
    ).map(lambda line: line.encode("utf-8", errors="replace"))


@given(st.binary(max_size=400))
@example(b"\x1f\x8b")
@example(b"DIMENSION:1\nEDGE_WEIGHT_TYPE:EUC_2D\nNODE_COORD_SECTION")
@example(b"DIMENSION:" + b"9" * 5000 + b"\nEDGE_WEIGHT_TYPE:EUC_2D\nNODE_COORD_SECTION\n1 0 0")
@example(b"DIMENSION:1\nEDGE_WEIGHT_TYPE:EXPLICIT\nEDGE_WEIGHT_FORMAT:UPPER_ROW\nEDGE_WEIGHT_SECTION\n  \n")
@example(b"DIMENSION:1\nEDGE_WEIGHT_TYPE:GEO\nNODE_COORD_SECTION\n1 1e308 1e308")
@example(b"DIMENSION:1\nEDGE_WEIGHT_TYPE:EUC_2D\nNODE_COORD_SECTION\n1 " + b"1" * 100_000 + b" 0x")
@example(b"DIMENSION:1\nEDGE_WEIGHT_TYPE:EUC_2D\nNODE_COORD_SECTION\n" + b"\n \t" * 50_000)
def test_no_bytes_do_harm(data: bytes) -> None:
    harmless(data)


@given(st.lists(lines(), max_size=14), st.sampled_from((b"\n", b"\r\n", b"\r")))
def test_no_lines_of_keywords_and_numbers_do_harm(parts: list[bytes], newline: bytes) -> None:
    harmless(newline.join(parts))


@given(st.data(), st.sampled_from((GOOD, GOOD_TOUR)), st.booleans())
def test_no_damage_to_a_good_file_does_harm(data: st.DataObject, good: bytes, compress: bool) -> None:
    text = gzip.compress(good, mtime=0) if compress else good
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, len(text)))
        text = text[:start] + data.draw(st.binary(max_size=6)) + text[stop:]
    harmless(text)


@given(st.data(), layouts())
@settings(max_examples=50)
def test_no_truncation_of_a_good_file_does_harm(data: st.DataObject, layout: Layout) -> None:
    keys = {"TYPE": "TSP", "DIMENSION": "3", "EDGE_WEIGHT_TYPE": "EUC_2D"}
    text = layout.text(keys, {"NODE_COORD_SECTION": point_rows(np.arange(6.0).reshape(3, 2))})
    harmless(text[: data.draw(st.integers(0, len(text)))])
