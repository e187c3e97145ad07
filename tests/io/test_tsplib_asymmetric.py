"""Files of TYPE ATSP: read, written, and solved to the optimum that the dynamic programme of Held and Karp finds."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from paths import DATA
from strategies import Layout, directed_matrices, layouts

import pytsp
from pytsp import Instance
from pytsp.backends import Backend
from pytsp.cli.commands import main
from pytsp.io.tsplib.writer import write
from pytsp.problem.optima import DIRECTED_OPTIMA, OPTIMA, directed_optimum_of

PART = "search"
FILE = DATA / "directed.atsp"


def shortest(ways: NDArray[np.int64]) -> int:
    """The length of a shortest directed tour (Held, Karp 1962): through sets of cities, to each of their cities."""
    n = len(ways)
    best = {(1 << city, city): int(ways[0, city]) for city in range(1, n)}
    for members in range(2, 1 << n, 2):
        inside = [city for city in range(1, n) if members >> city & 1]
        for last in inside if len(inside) > 1 else []:
            before = members ^ 1 << last
            best[members, last] = min(best[before, city] + int(ways[city, last]) for city in inside if city != last)
    everyone = (1 << n) - 2
    return min(best[everyone, city] + int(ways[city, 0]) for city in range(1, n))


def atsp(ways: NDArray[np.int64], layout: Layout | None = None, name: str = "made", kind: str = "ATSP") -> Instance:
    """What a file of a matrix reads as."""
    keys = {"NAME": name, "TYPE": kind, "DIMENSION": str(len(ways)), "EDGE_WEIGHT_TYPE": "EXPLICIT"}
    sections = {"EDGE_WEIGHT_SECTION": ways.tolist()}
    data = (layout or Layout()).text({**keys, "EDGE_WEIGHT_FORMAT": "FULL_MATRIX"}, sections)
    return pytsp.read(io.BytesIO(data))


def test_the_file_made_by_hand_is_solved_to_its_optimum(backend: Backend) -> None:
    instance = pytsp.read(FILE)
    assert (instance.n, instance.metric, instance.asymmetric, instance.is_exact) == (11, "EXPLICIT", True, True)
    result = pytsp.solve(instance, backend=backend.name)
    optimum = shortest(instance.distance_matrix())
    # Backwards the same tour is longer, so that the direction is told, too.
    assert result.length == instance.tour_length(result.tour) == optimum < instance.tour_length(result.tour[::-1])
    assert isinstance(result.length, int) and result.instance is instance


@given(directed_matrices(min_n=1, max_n=7), layouts(), st.sampled_from([-1, 0, 9999, 100_000_000, 2**53 - 1]))
def test_every_layout_reads_the_same_whatever_stands_on_the_diagonal(
    ways: NDArray[np.int64], layout: Layout, diagonal: int
) -> None:
    written = ways.copy()
    np.fill_diagonal(written, diagonal)
    instance = atsp(written, layout)
    expected = ways.copy()
    np.fill_diagonal(expected, 0)
    assert np.array_equal(instance.distance_matrix(), expected)
    assert instance.asymmetric == (expected != expected.T).any()


@given(directed_matrices(min_n=1, max_n=7))
def test_what_is_written_is_read_back(ways: NDArray[np.int64]) -> None:
    instance = Instance.from_matrix(ways, "written", comment="one\ntwo", asymmetric=True)
    target = io.StringIO()
    write(target, instance)
    target.seek(0)
    again = pytsp.read(target)
    assert (again.name, again.comment, again.asymmetric) == ("written", "one\ntwo", instance.asymmetric)
    assert np.array_equal(again.distance_matrix(), instance.distance_matrix())
    assert ("TYPE : ATSP" in target.getvalue()) == instance.asymmetric


@given(directed_matrices(min_n=2, max_n=6))
def test_a_shortest_tour_is_as_long_as_the_oracles(ways: NDArray[np.int64]) -> None:
    assert pytsp.solve(atsp(ways), backend="c").length == shortest(ways)


def test_the_command_solves_it_and_writes_the_tour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "directed.tour"
    assert main(["solve", str(FILE), "--json", "--output", str(output)]) == 0
    reported = json.loads(capsys.readouterr().out)
    instance = pytsp.read(FILE)
    tour = pytsp.read_tour(output, instance.n)
    assert instance.tour_length(tour) == reported["length"] == shortest(instance.distance_matrix())
    assert tour.tolist() == reported["tour"]
    assert main(["info", str(FILE)]) == 0
    assert "asymmetric        yes" in capsys.readouterr().out


def test_a_gap_to_a_known_optimum_ends_a_solve() -> None:
    ways = pytsp.read(FILE).distance_matrix()
    instance = Instance.from_matrix(ways, optimum=shortest(ways), asymmetric=True)
    result = pytsp.solve(instance, target_gap=0, backend="c")
    assert (result.stop_reason, result.gap) == ("target", 0)


def test_optima_of_tsplib_are_known_by_name_and_size() -> None:
    ways = np.arange(17 * 17).reshape(17, 17)
    assert atsp(ways, name="br17").optimum == atsp(ways, name="BR17.atsp").optimum == 39
    assert atsp(ways + ways.T, name="br17", kind="TSP").optimum is None
    assert atsp(ways[:16, :16], name="br17").optimum is None
    assert directed_optimum_of("kro124p", 100) == 36230 and directed_optimum_of("kro124p", 124) is None
    # Names of both kinds are distinct, so that neither can stand for the other.
    assert not {*DIRECTED_OPTIMA} & {name.lower() for each in OPTIMA.values() for name in each}


def test_ways_too_far_apart_are_refused_with_the_bound() -> None:
    # City 2 cannot be avoided.
    ways = np.array([[0, 1, 2**29 - 9], [2, 0, 2**29], [4, 5, 0]])
    with pytest.raises(
        pytsp.InstanceError, match=rf"far: distances from 1 to {2**29} .* they may differ by {2**29 - 2}"
    ):
        pytsp.solve(atsp(ways, name="far"))
