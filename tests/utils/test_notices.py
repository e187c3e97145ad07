"""Warnings name the file they are about, and the line of the user who called."""

from __future__ import annotations

import io

import pytest

import pytsp
from pytsp import PytspWarning
from pytsp.utils.notices import about, some_of, warn_user


def test_a_warning_begins_with_its_file_and_points_at_who_called() -> None:
    with pytest.warns(PytspWarning, match="^a.csv: odd$") as warned, about("a.csv"):
        warn_user("odd")
    assert warned[0].filename == __file__
    with pytest.warns(PytspWarning, match="^odd$"):
        warn_user("odd")
    with pytest.warns(PytspWarning, match="^<stream>: 1 row") as warned:
        pytsp.read(io.StringIO("x,y\n1,2\n,\n"))
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    ("count", "words"), [(1, "0"), (3, "0, 1, 2"), (4, "0, 1, 2 and 1 more"), (9, "0, 1, 2 and 6 more")]
)
def test_the_first_few_are_named(count: int, words: str) -> None:
    assert some_of([*map(str, range(count))]) == words
    assert some_of([*map(str, range(min(3, count)))], count) == words
