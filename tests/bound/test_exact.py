"""Laws of spanning trees of all pairs of cities in the plane: by boxes they are those by all distances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytsp import Instance
from pytsp.backends import Backend, open_backend
from pytsp.bound import check_certificate, held_karp, lower_bound
from pytsp.bound import exact as exact_trees
from pytsp.bound.certificate import MOST, Certificate, dense_one_tree
from pytsp.bound.exact import InPlane, is_in_plane
from pytsp.bound.near_graph import listed
from pytsp.neighbours.lists import neighbour_lists
from pytsp.problem.location import PLANE_METRICS

PART = "bound"


def by_boxes(instance: Instance, penalties: np.ndarray, scale: int, near: int = 3) -> exact_trees.OneTree:
    """The tree of all pairs, of cities in order of a curve, from rows of the nearest."""
    kernels = open_backend("c", part="bound")
    cities = InPlane(kernels, instance)
    cities.begin(listed(neighbour_lists(cities.ordered, near)))
    return cities.one_tree(penalties[cities.order], scale)


@given(
    st.integers(3, 80),
    st.sampled_from(PLANE_METRICS),
    st.sampled_from([1, 4, 60, 10**4, 10**6]),
    st.sampled_from([0, 3, 10**3, 10**6, MOST]),
    st.sampled_from([1, 128, 1 << 20]),
    st.integers(1, 5),
    st.integers(0, 2**32 - 1),
)
@example(80, "EUC_2D", 1, 0, 1, 1, 1)
@settings(max_examples=200)
def test_boxes_prove_what_all_distances_prove(
    n: int, metric: str, side: int, size: int, scale: int, near: int, seed: int
) -> None:
    draws = np.random.default_rng(seed)
    cities = draws.integers(0, side, (n, 2)) / (1 if seed % 2 else 8)
    instance = Instance.from_coordinates(cities, metric)
    penalties = draws.integers(-size, size + 1, n) * (draws.uniform(size=n) < draws.uniform())
    found = by_boxes(instance, penalties, scale, near)
    assert found.bound == dense_one_tree(instance, penalties, scale).bound
    with pytest.MonkeyPatch.context() as patch:
        # As if these were many cities.
        patch.setattr(exact_trees, "MOST_CITIES", 2)
        check_certificate(instance, Certificate(found.bound, scale, penalties))
        with pytest.raises(ValueError, match="penalties prove"):
            check_certificate(instance, Certificate(found.bound + 1, scale, penalties))
    part = list(range(n))
    for i, j in found.edges.tolist():
        assert part[i] != part[j]
        part = [part[i] if each == part[j] else each for each in part]
    assert len(found.edges) == n - 1 and len({*part}) == 1


@given(
    st.integers(3, 60),
    st.sampled_from(PLANE_METRICS),
    st.sampled_from([1, 4, 60, 10**4]),
    st.integers(0, 30),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=40)
def test_every_backend_proves_the_same_by_the_same_penalties(
    backend: Backend, n: int, metric: str, side: int, iterations: int, seed: int
) -> None:
    cities = np.random.default_rng(seed).integers(0, side, (n, 2)) / (1 if seed % 2 else 8)
    instance = Instance.from_coordinates(cities, metric)
    expected = lower_bound(instance, iterations=iterations)
    found = held_karp.lower_bound(instance, iterations=iterations, kernels=backend)
    assert (found.bound, found.scale) == (expected.bound, expected.scale)
    assert found.penalties.tolist() == expected.penalties.tolist()


@pytest.mark.slow
def test_more_cities_than_are_compared_in_pairs_have_a_bound() -> None:
    instance = Instance.from_coordinates(np.random.default_rng(2).integers(0, 10**5, (20_001, 2)), "EUC_2D")
    certificate = lower_bound(instance, iterations=20)
    check_certificate(instance, certificate)
    # That of uniform cities is 0.7080 sqrt(n A) (1 + 0.55 / n), and few steps do not come near it.
    assert 0.64 < certificate.bound / (20_001**0.5 * 10**5) < 0.7124
    with pytest.raises(ValueError, match="penalties prove"):
        check_certificate(instance, replace(certificate, bound=certificate.bound + 1))
    with pytest.raises(ValueError, match="penalties prove"):
        check_certificate(instance, replace(certificate, penalties=certificate.penalties[::-1].copy()))
    with pytest.raises(ValueError, match="must be int64 of"):
        check_certificate(instance, replace(certificate, penalties=certificate.penalties[1:]))
    assert certificate.bound == lower_bound(instance, iterations=20).bound


def test_all_pairs_prove_without_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(4)
    instance = Instance.from_coordinates(draws.integers(0, 10**4, (60, 2)), "EUC_2D")
    certificate = lower_bound(instance, iterations=20)
    # As if these were many cities.
    monkeypatch.setattr(exact_trees, "MOST_CITIES", 59)
    calls: list[str] = []
    kernel = Backend.call
    monkeypatch.setattr(Backend, "call", lambda self, entry, *given: calls.append(entry) or kernel(self, entry, *given))
    check_certificate(instance, certificate, all_pairs=True)
    with pytest.raises(ValueError, match="penalties prove"):
        check_certificate(instance, replace(certificate, bound=certificate.bound + 1), all_pairs=True)
    assert not calls
    check_certificate(instance, certificate)
    assert "exact_tree" in calls


def test_what_may_overflow_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Instance.from_coordinates([[0, 0], [1e15, 0], [0, 1e15], [5, 5]], "EUC_2D")
    zeros = np.zeros(4, np.int64)
    assert by_boxes(far, zeros, 1 << 30).bound == dense_one_tree(far, zeros, 1 << 30).bound
    with pytest.raises(ValueError, match="beyond 2\\*\\*44"):
        by_boxes(far, np.array([0, MOST + 1, 0, 0]), 1)
    with pytest.raises(ValueError, match="power of two"):
        by_boxes(far, zeros, 3)
    # As if there were a thousand times as many.
    monkeypatch.setattr(exact_trees, "SUM_BITS", 45)
    with pytest.raises(ValueError, match="sums may overflow"):
        by_boxes(far, zeros, 1)
    with pytest.raises(ValueError, match="sums may overflow"):
        by_boxes(Instance.from_coordinates([[0, 0], [1, 0], [0, 1], [5, 5]], "EUC_2D"), np.array([0, MOST, 0, 0]), 1)


def test_the_plane_is_where_distances_are_roots() -> None:
    cities = [[0, 0], [1, 0], [1, 1]]
    assert all(is_in_plane(Instance.from_coordinates(cities, metric)) for metric in PLANE_METRICS)
    assert not is_in_plane(Instance.from_coordinates(cities, "ATT"))
    assert not is_in_plane(Instance.from_coordinates(cities[:2], "EUC_2D"))
    assert not is_in_plane(Instance.from_matrix(np.ones((3, 3), int) - np.eye(3, dtype=int)))
