"""Warn of likely mistakes in the data: cities whose ways are all forbidden, and distances that rounding makes equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.instances import Instances
from pytsp.problem.metrics import metric_named
from pytsp.problem.validation import FORBIDDEN
from pytsp.utils.notices import some_of, warn_user

# Elements of a row that are checked first: most cities have an edge among them.
_FEW = 32
# Elements of rows that are compared together.
_BLOCK = 1 << 20
# Groups of near cities that are checked, and cities per group.
_GROUPS, _GROUP = 5, 200
# Most cities among which the groups are chosen.
_MOST_CITIES = 1 << 16
# The metrics that do not round, by those that do.
_UNROUNDED = {
    **dict.fromkeys(("GEO", "GEOM"), "HAVERSINE"),
    **dict.fromkeys(("EUC_2D", "EUC_3D", "CEIL_2D"), "EUCLIDEAN"),
}
# Metrics whose distances between different places of whole coordinates are 1 at least.
_WHOLE = ("EUC_2D", "EUC_3D", "CEIL_2D", "MAN_2D", "MAN_3D", "MAX_2D", "MAX_3D")


def warn_of_cut_off(instances: Sequence[Instance], *, is_open: bool = False) -> None:
    """Warn of instances with cities whose ways are all forbidden, by the names of these cities."""
    # Coordinates forbid nothing.
    for instance in () if isinstance(instances, Instances) else instances:
        cities = cut_off_cities(instance, is_open=is_open)
        if len(cities):
            noun, both = ("path", "and") if is_open else ("tour", "or")
            ways = f"to {both} from" if instance.asymmetric else "of"
            named = some_of(instance.names_of(cities))
            warn_user(
                f"{instance.name or 'instance'}: every {noun} has forbidden edges, since all ways {ways} {len(cities)} "
                f"of {instance.n} cities are forbidden: {named}"
            )


def cut_off_cities(instance: Instance, *, is_open: bool = False) -> NDArray[np.int64]:
    """Return the cities that have no way to any other, or none from any other; for an open path both.

    Work: O(n) where most ways are allowed, at most O(n²).
    """
    if instance.matrix is None or instance.n < 2:
        return np.empty(0, dtype=np.int64)
    without = _without_way(instance.matrix)
    if not instance.asymmetric:
        return without
    to_them = _without_way(instance.matrix.T)
    return np.intersect1d(without, to_them) if is_open else np.union1d(without, to_them)


def _without_way(matrix: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows that forbid all but the diagonal."""
    n, forbidden = len(matrix), FORBIDDEN[matrix.dtype.kind]
    rows: NDArray[np.int64] = np.arange(n)
    for step in range(1, min(n, _FEW + 1)):
        rows = rows[matrix[rows, (rows + step) % n] == forbidden]
        if not rows.size:
            return rows
    blocks = np.array_split(rows, -(-len(rows) * n // _BLOCK))
    counts = [np.count_nonzero(matrix[block] == forbidden, axis=1) for block in blocks]
    rows = rows[np.concatenate(counts) == n - 1]
    return rows


def warn_of_rounding(instance: Instance) -> None:
    """Warn where rounding leaves nothing of most distances between neighbours."""
    share = share_rounded_away(instance)
    if share > 0.5:
        instead = f", or take metric={_UNROUNDED[instance.metric]!r}" if instance.metric in _UNROUNDED else ""
        warn_user(
            f"{instance.name or 'instance'}: metric {instance.metric} rounds to whole numbers, but {100 * share:.0f} % "
            f"of the places lie less than one half from the nearest other one: scale the coordinates up{instead}"
        )


def share_rounded_away(instance: Instance) -> float:
    """Return the share of the places whose nearest other one is less than one half away, which is rounded.

    It is estimated from at most 1,000 cities. It is 0 where distances are given, or not rounded.
    """
    points = instance.coordinates
    if points is None or not instance.is_exact or metric_named(instance.metric).beside:
        return 0.0
    points = points[:: -(-len(points) // _MOST_CITIES)]
    if instance.metric in _WHOLE and np.array_equal(points, np.floor(points)):
        return 0.0
    near = np.concatenate([_nearest(instance, group) for group in _groups(points)])
    return float((near < 0.5).mean()) if near.size else 0.0


def _groups(points: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return all points, if they are few, or those near to some."""
    if len(points) <= _GROUP:
        return [points]
    centres = points[np.arange(_GROUPS) * len(points) // _GROUPS]
    axes = np.ascontiguousarray(points.T)
    apart = (np.maximum.reduce([np.abs(axis - x) for axis, x in zip(axes, centre, strict=True)]) for centre in centres)
    return [points[np.argpartition(each, _GROUP)[:_GROUP]] for each in apart]


def _nearest(instance: Instance, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of each place to the nearest other one, before it is rounded."""
    places = np.unique(points, axis=0)
    lengths = metric_named(instance.metric).length(places[:, None], places)
    np.fill_diagonal(lengths, np.inf)
    nearest: NDArray[np.float64] = lengths.min(axis=1)
    return nearest if len(places) > 1 else nearest[:0]
