"""What holds of any bytes that are given to the reader: the fuzzer's test, and that of its corpus."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from pytsp.exceptions import TsplibError
from pytsp.io.tsplib.reader import read, read_tour
from pytsp.io.tsplib.writer import write, write_tour
from pytsp.problem.instance import Instance
from pytsp.problem.tours import check_tour

_Found = TypeVar("_Found")
CORPUS = Path(__file__).resolve().parent / "corpus"


def check(data: bytes) -> None:
    """Read `data` as an instance, with and without its fixed edges, and as a tour.

    Raises
    ------
    AssertionError
        If what is read is none, is not the same when it is written and read again, or an error does not name its file.
    """
    _instance(data, read)
    _instance(data, lambda stream: read(stream, ignore_fixed_edges=True))
    _tour(data)


def _instance(data: bytes, reader: Callable[[io.BytesIO], Instance]) -> None:
    found = _read(data, reader)
    if found is None:
        return
    # A file of another author's may be laid out in many ways; one of ours must give the same numbers.
    again = _rewritten(found)
    assert (again.n, again.metric, again.is_exact) == (found.n, found.metric, found.is_exact)
    assert again.asymmetric == found.asymmetric
    assert np.array_equal(again.fixed, found.fixed) if found.fixed is not None else again.fixed is None  # type: ignore[arg-type]
    if found.coordinates is None:
        assert np.array_equal(again.distance_matrix(), found.distance_matrix())
    else:
        assert again.coordinates is not None and np.array_equal(again.coordinates, found.coordinates)
    length = found.tour_length(found.canonical_tour())
    assert isinstance(length, int) and length >= 0 and length == again.tour_length(again.canonical_tour())


def _tour(data: bytes) -> None:
    found = _read(data, read_tour)
    if found is None:
        return
    check_tour(found, len(found))
    target = io.BytesIO()
    write_tour(target, found)
    assert np.array_equal(read_tour(io.BytesIO(target.getvalue())), found)


def _read(data: bytes, reader: Callable[[io.BytesIO], _Found]) -> _Found | None:
    try:
        return reader(io.BytesIO(data))
    except TsplibError as error:
        assert str(error).startswith("<stream>") and len(str(error)) < 1000
        return None


def _rewritten(instance: Instance) -> Instance:
    target = io.BytesIO()
    write(target, instance)
    return read(io.BytesIO(target.getvalue()))
