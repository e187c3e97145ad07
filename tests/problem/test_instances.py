"""Instances of one array: those of its rows, with their names, also of some and on the other side of a pickle."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from pytsp import Instance
from pytsp.generate import uniform
from pytsp.problem.instances import Instances, cities_of

NAMED = [Instance.from_coordinates(uniform(5, seed=seed).coordinates, "EUC_2D", f"name {seed}") for seed in range(4)]


def assert_are(made: object, expected: list[Instance]) -> None:
    assert isinstance(made, Instances | list) and len(made) == len(expected)
    for one, other in zip(made, expected, strict=True):
        assert (one.name, one.metric) == (other.name, other.metric)
        np.testing.assert_array_equal(one.coordinates, other.coordinates)
        assert not one.coordinates.flags.writeable


def test_they_are_the_instances_that_were_stacked() -> None:
    made = Instances.stacked(NAMED)
    assert_are(made, NAMED)
    assert_are(pickle.loads(pickle.dumps(made, protocol=5)), NAMED)
    assert isinstance(made, Instances)
    assert_are(made.some((3, 1)), [NAMED[3], NAMED[1]])
    assert_are(made[1:3], NAMED[1:3])
    assert made[-1].name == NAMED[-1].name
    with pytest.raises(IndexError):
        made[4]


def test_without_names_they_have_none() -> None:
    made = Instances.checked(np.random.default_rng(0).random((3, 6, 2)), "EUCLIDEAN")
    assert isinstance(made, Instances)
    assert [each.name for each in made] == [each.name for each in made.some((2, 0))] + [""] == [""] * 3


def test_their_cities_are_those_of_each() -> None:
    assert cities_of(Instances.stacked(NAMED)) == cities_of(NAMED) == [5] * 4
    assert cities_of([uniform(n, seed=0) for n in (7, 9)]) == [7, 9]
    assert cities_of([]) == []
