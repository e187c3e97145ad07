"""Tour files: written, read back, and checked against an instance."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from paths import DATA, tsplib_file
from strategies import tours

from pytsp.exceptions import TourError, TsplibError
from pytsp.io.tsplib.reader import read_tour
from pytsp.io.tsplib.writer import write_tour


@given(tours(), st.text(max_size=20), st.text(max_size=60), st.none() | st.integers() | st.floats())
def test_read_tour_after_write_tour_is_the_identity(
    tour: NDArray[np.int32], name: str, comment: str, length: int | float | None
) -> None:
    stream = io.BytesIO()
    write_tour(stream, tour, name=name, comment=comment, length=length)
    again = read_tour(io.BytesIO(stream.getvalue()), len(tour))
    assert again.dtype == np.int32
    assert np.array_equal(again, tour)


@given(tours(), st.sampled_from((np.int16, np.int64, np.uint8, np.uint32)))
def test_every_integer_type_is_written_alike(tour: NDArray[np.int32], dtype: type[np.integer]) -> None:
    written = [io.StringIO(), io.StringIO()]
    write_tour(written[0], tour)
    write_tour(written[1], tour.astype(dtype).tolist())
    assert written[0].getvalue() == written[1].getvalue()


def test_a_tour_file_says_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "mine.tour"
    write_tour(path, [2, 0, 1], comment="two\nlines", length=42)
    assert path.read_text() == (
        "NAME : mine.tour\nCOMMENT : two\nCOMMENT : lines\nCOMMENT : Length 42\nTYPE : TOUR\nDIMENSION : 3\n"
        "TOUR_SECTION\n3\n1\n2\n-1\nEOF\n"
    )


def test_standard_output_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    write_tour("-", [1, 0])
    assert read_tour(io.StringIO(capsys.readouterr().out)).tolist() == [1, 0]


def test_standard_input_and_gzip_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress((DATA / "good.tour").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read_tour("-", 5).tolist() == [2, 0, 4, 1, 3]


@pytest.mark.parametrize("tour", [[0, 0], [0, 2], [1, 2], [], [0.0, 1.0], [[0, 1]]])
def test_what_is_no_tour_is_not_written(tour: list[object], tmp_path: Path) -> None:
    path = tmp_path / "none.tour"
    with pytest.raises(TourError):
        write_tour(path, tour)
    assert not path.exists()


def test_a_tour_of_another_instance_is_refused() -> None:
    with pytest.raises(TsplibError, match=r"good\.tour:3: DIMENSION is 5, but the instance has 6 cities"):
        read_tour(DATA / "good.tour", 6)


@pytest.mark.parametrize("end", ["-1\nEOF\n", "-1\n", "", "-1\n-1\nEOF", "-1 "])
@pytest.mark.parametrize("dimension", ["", "DIMENSION : 3\n"])
def test_ends_and_dimension_may_be_left_out(end: str, dimension: str) -> None:
    text = f"TYPE : TOUR\n{dimension}TOUR_SECTION\n3 1\n2\n{end}"
    assert read_tour(io.StringIO(text)).tolist() == [2, 0, 1]


def test_the_optimal_tour_of_a280_reads_whole() -> None:
    tour = read_tour(tsplib_file("a280.opt.tour"), 280)
    assert sorted(tour.tolist()) == list(range(280))
