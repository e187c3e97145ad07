"""Hypothesis strategies that all tests share: coordinates, instances, tours, layouts of TSPLIB files."""

from __future__ import annotations

import gzip
import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.location import SPHERES
from pytsp.problem.metrics import METRICS

EXACT_METRICS = tuple(name for name, metric in METRICS.items() if metric.is_exact)
KEYWORDS = (
    "NAME",
    "TYPE",
    "COMMENT",
    "DIMENSION",
    "EDGE_WEIGHT_TYPE",
    "EDGE_WEIGHT_FORMAT",
    "NODE_COORD_TYPE",
    "DISPLAY_DATA_TYPE",
)
SECTIONS = (
    "NODE_COORD_SECTION",
    "EDGE_WEIGHT_SECTION",
    "DISPLAY_DATA_SECTION",
    "FIXED_EDGES_SECTION",
    "TOUR_SECTION",
)


def sizes(min_n: int = 1, max_n: int = 12) -> st.SearchStrategy[int]:
    """Numbers of cities, such as 5."""
    return st.integers(min_n, max_n)


@st.composite
def coordinates(
    draw: st.DrawFn, metric: str = "EUC_2D", n: int | None = None, grid: bool = False
) -> NDArray[np.float64]:
    """Coordinates for `metric`, shape (n, d), such as [[0.5, -3.0], [7.25, 12.0]]; whole on a `grid`."""
    count = draw(sizes()) if n is None else n
    width = METRICS[metric].widths[0]
    if metric in SPHERES:
        axes = [_geographic(90), _geographic(180)]
    elif grid:
        axes = [st.integers(-20, 20).map(float)] * width
    else:
        axes = [st.one_of(st.integers(-1000, 1000).map(float), st.floats(-1e4, 1e4).map(lambda x: round(x, 3)))] * width
    return np.array([[draw(axis) for axis in axes] for _ in range(count)], dtype=np.float64)


@st.composite
def _geographic(draw: st.DrawFn, limit: int) -> float:
    """TSPLIB's DDD.MM: degrees and minutes, such as -23.45."""
    degrees, minutes = draw(st.integers(0, limit - 1)), draw(st.integers(0, 59))
    return draw(st.sampled_from((-1.0, 1.0))) * (degrees + minutes / 100)


@st.composite
def coordinate_instances(
    draw: st.DrawFn, metrics: tuple[str, ...] = EXACT_METRICS, min_n: int = 1, max_n: int = 12
) -> Instance:
    """Instances given by coordinates, of any of `metrics`."""
    metric = draw(st.sampled_from(metrics))
    n = draw(sizes(min_n, max_n))
    return Instance.from_coordinates(draw(coordinates(metric, n, draw(st.booleans()))), metric=metric)


@st.composite
def symmetric_matrices(draw: st.DrawFn, min_n: int = 1, max_n: int = 9, largest: int = 10**6) -> NDArray[np.int64]:
    """Symmetric matrices of whole numbers, such as [[0, 3], [3, 0]]; many have ties."""
    n = draw(sizes(min_n, max_n))
    weight = st.integers(0, draw(st.sampled_from((1, 10, largest))))
    matrix = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = draw(weight)
    return matrix


@st.composite
def tied_matrices(draw: st.DrawFn, min_n: int = 1, max_n: int = 9) -> NDArray[np.int64]:
    """Symmetric matrices with distances of 1 to 3, so that many moves change nothing."""
    n = draw(sizes(min_n, max_n))
    weights = draw(st.lists(st.integers(1, 3), min_size=n * n, max_size=n * n))
    matrix = np.triu(np.array(weights, dtype=np.int64).reshape(n, n), 1)
    return matrix + matrix.T


def directed_matrices(min_n: int = 1, max_n: int = 6) -> st.SearchStrategy[NDArray[np.int64]]:
    """Matrices of whole numbers, such as [[0, 3], [7, 0]]; the ways there and back differ."""
    return st.integers(min_n, max_n).flatmap(
        lambda n: st.lists(st.integers(0, 50), min_size=n * n, max_size=n * n).map(
            lambda numbers: np.array(numbers, dtype=np.int64).reshape(n, n)
        )
    )


@st.composite
def matrix_instances(draw: st.DrawFn, min_n: int = 1, max_n: int = 9) -> Instance:
    """Instances given by a matrix of whole numbers, which may break the triangle inequality."""
    return Instance.from_matrix(draw(symmetric_matrices(min_n, max_n)))


def instances(min_n: int = 1, max_n: int = 9) -> st.SearchStrategy[Instance]:
    """Instances with whole-number lengths, of every metric."""
    return st.one_of(coordinate_instances(min_n=min_n, max_n=max_n), matrix_instances(min_n, max_n))


@st.composite
def float_instances(draw: st.DrawFn, min_n: int = 1, max_n: int = 9) -> Instance:
    """Instances with floating-point lengths: Euclidean without rounding, or a fractional matrix."""
    if draw(st.booleans()):
        return draw(coordinate_instances(("EUCLIDEAN", "HAVERSINE"), min_n, max_n))
    return Instance.from_matrix(draw(symmetric_matrices(min_n, max_n)) / 8.0)


@st.composite
def tours(draw: st.DrawFn, n: int | None = None) -> NDArray[np.int32]:
    """Tours, such as [2, 0, 1]."""
    count = draw(sizes()) if n is None else n
    return np.array(draw(st.permutations(range(count))), dtype=np.int32)


@st.composite
def instances_with_tours(draw: st.DrawFn, min_n: int = 1, max_n: int = 9) -> tuple[Instance, NDArray[np.int32]]:
    """An instance with whole-number lengths and one of its tours."""
    instance = draw(instances(min_n, max_n))
    return instance, draw(tours(instance.n))


@dataclass(frozen=True)
class Layout:
    """One of the ways in which people lay out the same TSPLIB file."""

    colon: str = " : "
    newline: str = "\n"
    end: str = "EOF\n"
    numbers_per_line: int | None = None
    number: str = "{!r}"
    indent: str = ""
    is_compressed: bool = False
    has_mark: bool = False

    def text(self, keys: dict[str, str], sections: dict[str, list[list[float]]]) -> bytes:
        """A file with these keyword lines and sections, each a list of rows."""
        lines = [f"{keyword}{self.colon}{value}" for keyword, value in keys.items()]
        for keyword, rows in sections.items():
            lines.append(keyword)
            tokens = [[self.number.format(x) for x in row] for row in rows]
            if self.numbers_per_line is not None:
                flat = [token for row in tokens for token in row]
                step = self.numbers_per_line
                tokens = [flat[k : k + step] for k in range(0, len(flat), step)]
            lines += [self.indent + " ".join(row) for row in tokens]
        data = self.newline.join([*lines, self.end.replace("\n", self.newline)]).encode()
        data = b"\xef\xbb\xbf" + data if self.has_mark else data
        return gzip.compress(data, compresslevel=1) if self.is_compressed else data


def layouts() -> st.SearchStrategy[Layout]:
    """Layouts, such as CRLF, a colon without blanks, one number a line, scientific notation, gzip."""
    return st.builds(
        Layout,
        colon=st.sampled_from((" : ", ": ", ":", "\t:\t")),
        newline=st.sampled_from(("\n", "\r\n", "\r", "\n\n", " \n")),
        end=st.sampled_from(("EOF\n", "EOF", "", "  EOF  \n", "EOF\nand whatever 1 2 follows\n")),
        numbers_per_line=st.sampled_from((None, 1, 2, 7, 1000)),
        number=st.sampled_from(("{!r}", "{:+.17e}", "{:.17E}")),
        indent=st.sampled_from(("", "  ", "\t")),
        is_compressed=st.booleans(),
        has_mark=st.booleans(),
    )


def point_rows(points: NDArray[np.float64]) -> list[list[float]]:
    """The lines ``node x y`` of a NODE_COORD_SECTION."""
    return [[node, *row] for node, row in enumerate(points.tolist(), 1)]


@st.composite
def clusters(draw: st.DrawFn, max_n: int = 60) -> NDArray[np.float64]:
    """Points in clusters, each with a scale of its own from 1 down to 1e-12; many tie and some coincide."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        centre = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
        scale = 2.0 ** -draw(st.integers(0, 40))
        size = draw(st.integers(1, max_n // 4))
        offsets = draw(arrays(np.int64, (size, 2), elements=st.integers(0, 8)))
        parts.append(np.array(centre) + scale * offsets)
    return np.concatenate(parts)


@st.composite
def lattice_instances(draw: st.DrawFn, metrics: tuple[str, ...], min_n: int = 1, max_n: int = 30) -> Instance:
    """Instances on a small lattice, or a line of it: many ties, many cities in one place."""
    metric = draw(st.sampled_from(metrics))
    n, side = draw(sizes(min_n, max_n)), draw(st.integers(1, 6))
    spans = [side] * draw(st.sampled_from(METRICS[metric].widths))
    if draw(st.booleans()):
        spans[draw(st.integers(0, len(spans) - 1))] = 1
    numbers = [draw(st.integers(0, span - 1)) for _ in range(n) for span in spans]
    return Instance.from_coordinates(np.array(numbers, dtype=np.float64).reshape(n, -1), metric)


@st.composite
def rearranged(draw: st.DrawFn, n: int) -> NDArray[np.int32]:
    """Tours of the cities 0, …, n - 1 in pieces of two and more, such as [0, 1, 4, 3, 2]: each keeps a neighbour."""
    bounds = sorted(draw(st.sets(st.integers(1, max(1, n // 2 - 1)).map(lambda c: 2 * c), max_size=8)) | {0, n})
    pieces = [list(range(low, high)) for low, high in itertools.pairwise(bounds) if low < high]
    order = draw(st.permutations(pieces))
    tour = [city for piece in order for city in (piece[::-1] if draw(st.booleans()) else piece)]
    return np.array(tour, dtype=np.int32)
