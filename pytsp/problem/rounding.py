"""Check that rounding leaves an instance's distances apart: in the unit square whole numbers are all 0 or 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytsp.problem.instance import Instance
from pytsp.problem.metrics import metric_named
from pytsp.utils.notices import warn_user

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
    apart = (np.abs(points - centre).max(axis=1) for centre in centres)
    return [points[np.argpartition(each, _GROUP)[:_GROUP]] for each in apart]


def _nearest(instance: Instance, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of each place to the nearest other one, before it is rounded."""
    places = np.unique(points, axis=0)
    lengths = metric_named(instance.metric).length(places[:, None], places)
    np.fill_diagonal(lengths, np.inf)
    nearest: NDArray[np.float64] = lengths.min(axis=1)
    return nearest if len(places) > 1 else nearest[:0]
