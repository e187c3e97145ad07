"""Lower bounds of tours and paths: the ascent on a symmetric instance of closed tours, proved on what is given."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pytsp.backends.context import Backend
from pytsp.backends.registry import open_backend
from pytsp.bound import held_karp
from pytsp.bound.certificate import Certificate, dense_one_tree
from pytsp.bound.exact import is_in_plane
from pytsp.bound.graphs import MOST, MOST_CITIES, Graph, Kind, checked_kind
from pytsp.problem.asymmetric import JonkerVolgenant
from pytsp.problem.fixed_edges import FixedEdges
from pytsp.problem.instance import FORBIDDEN, Instance, city_number
from pytsp.problem.open_paths import OpenPath
from pytsp.run.limits import Limits

# Most seconds of a proof per node and per pair of nodes: on the globe, where distances take longest.
NODE_SECONDS, PAIR_SECONDS = 3e-5, 7e-8
# Seconds of a proof per city of the plane, by kernels.
PLANE_SECONDS = 2e-5
# About what a step takes a node, at most; how many proofs an ascent has, and how many steps at least.
STEP_SECONDS, PROOFS, LEAST_ITERATIONS = 1e-6, 13, 60
# Of more cities than are proved by all pairs there are fewer.
FEW_PROOFS = 5


def lower_bound(
    instance: Instance,
    *,
    open: bool = False,
    start_city: int | str | None = None,
    end_city: int | str | None = None,
    iterations: int | None = None,
    time_limit: float | None = None,
    limits: Limits | None = None,
    progress: Callable[[Certificate], object] | None = None,
    backend: str = "c",
    threads: int | None = None,
    device: int | str | None = None,
) -> Certificate:
    """Return Held and Karp's lower bound on the optimal length, with the penalties that prove it.

    An ascent improves one number per city, its penalty, step by step. From time to time a bound is proved from them.

    Parameters
    ----------
    instance : Instance
        At most 20,000 cities, or 10,000 if asymmetric; one city less with `open`. Closed tours in the plane (EUC_2D,
        CEIL_2D, EUCLIDEAN) without fixed edges may have any number. The bound is for tours with all fixed edges; others
        may be shorter.
    open : bool, optional
        Bound open paths through all cities instead of closed tours.
    start_city, end_city : int or str, optional
        Ends of an open path: numbers counted from 0, or labels. By default free.
    iterations : int, optional
        Steps of the ascent, at least 0. The default is 3,000,000 / n, but at least 600 and at most 8,000. Above 100,000
        cities it is 60,000,000 / n, but at least 100. The cities of an asymmetric instance count twice.
    time_limit : float, optional
        Seconds after which no further step is made; a last proof follows. With a limit the bound depends on the speed
        of the machine, otherwise on the instance and `iterations` only.
    limits : Limits, optional
        The time limit as a `pytsp.Limits`, whose other fields are refused.
    progress : callable, optional
        Called with the best certificate so far after every proof: about twelve times, or four above 20,000 cities.
        Return True to stop.
    backend, threads, device : optional
        As for `pytsp.solve`. Without a time limit, bounds do not depend on them. A CPU builds the trees on one core;
        "multicore" proves bounds of cities in the plane on several.

    Returns
    -------
    Certificate
        The best bound. Ctrl-C returns the best one so far, if there is one.

    Raises
    ------
    InstanceError
        If the instance has too many cities, or its graph does not fit the memory.
    TypeError, ValueError
        If `iterations` is negative, `time_limit` is not positive, or an end is not a city.
    BackendError
        If the backend cannot run here (`BackendUnavailable`), or there is no such backend, thread count or device.

    Examples
    --------
    >>> square = Instance.from_coordinates([[0, 0], [1, 0], [1, 1], [0, 1]], "EUC_2D")
    >>> lower_bound(square).bound
    4
    >>> lower_bound(square, open=True).bound
    3
    """
    limits = Limits.of(limits, time_limit=time_limit).only("time_limit", "lower_bound")
    kernels = open_backend(backend, threads=threads, device=device, part="bound")
    start, end = city_number(instance, "start_city", start_city), city_number(instance, "end_city", end_city)
    ascent = Ascent(instance, Kind(open, start, end), progress, kernels)
    return ascent.run(iterations=iterations, time_limit=limits.time_limit)


class Ascent:
    """The ascent to one bound. If stopped, it keeps the best bound, and `stop_reason` is "interrupted" or "callback".

    `kernels` is an open backend, on a GPU its part "bound"; by default c.
    """

    def __init__(
        self,
        instance: Instance,
        kind: Kind,
        progress: Callable[[Certificate], object] | None = None,
        kernels: Backend | None = None,
    ) -> None:
        self._kernels = kernels
        self.instance, self.kind, self.progress = instance, checked_kind(instance, kind), progress
        self.stop_reason: str | None = None
        self._began = 0.0
        self._needed = self._end = math.inf
        # How far the further city of paths is from others and they from it, where that is no end; in the graph it is 0.
        # The best certificate of the symmetric instance of closed tours, the last one that was proved of what is given,
        # and the best of those.
        self._away: tuple[int | float, ...] = ()
        # The cities of the symmetric instance, where edges are fixed.
        self._kept: NDArray[np.int32] | None = None
        self._found: Certificate | None = None
        self._last: Certificate | None = None
        self._proved: Certificate | None = None

    @property
    def proof_seconds(self) -> float:
        """About how long a proof takes at most, with one of the symmetric instance where that is another."""
        if self._is_plain and is_in_plane(self.instance):
            return PLANE_SECONDS * self.instance.n
        nodes = Graph(self.instance, 1, self.kind).nodes
        seconds = NODE_SECONDS * nodes + PAIR_SECONDS * nodes**2
        return seconds if self._is_plain else 2 * seconds

    @property
    def _is_plain(self) -> bool:
        """True if the given instance is symmetric, without fixed edges."""
        return not self.kind.open and not self.instance.asymmetric and self.instance.fixed is None

    def run_within(self, seconds: float) -> Certificate | None:
        """Climb while a last proof fits the seconds; return None if no proof fits."""
        began, needed = time.perf_counter(), self.proof_seconds
        if seconds < needed:
            return None
        self._end = began + seconds
        if seconds < 2 * needed:
            return self.run(iterations=0)
        # Enough steps that the last ones are short.
        nodes = Graph(self.instance, 1, self.kind).nodes
        proofs = PROOFS if nodes <= MOST_CITIES else FEW_PROOFS
        fitting = int((seconds - proofs * needed) / (STEP_SECONDS * nodes))
        iterations = min(max(fitting, LEAST_ITERATIONS), held_karp.default_iterations(nodes))
        return self.run(iterations=iterations, time_limit=seconds - needed)

    def run(self, *, iterations: int | None = None, time_limit: float | None = None) -> Certificate:
        """Climb, and return the best certificate."""
        self._began = time.perf_counter()
        try:
            symmetric = self._symmetric()
            self._found = held_karp.lower_bound(
                symmetric, iterations=iterations, time_limit=time_limit, progress=self._take, kernels=self._kernels
            )
        except KeyboardInterrupt:
            if self._found is None:
                raise
            self.stop_reason = "interrupted"
        return self._best()

    def _symmetric(self) -> Instance:
        """Return the symmetric instance whose closed tours represent the bounded tours or paths."""
        closed = self.instance
        if closed.fixed is not None:
            is_open, start, end = self.kind
            fixed = FixedEdges.of(closed, is_open=is_open, start_city=start, end_city=end)
            self._kept = fixed.kept
            return fixed.instance
        if self.kind.open:
            closed = _closed(self.instance, self.kind)
            n = self.instance.n
            free = next((city for city in range(n) if city not in self.kind[1:]), 0)
            self._away = closed.distance(free, n), closed.distance(n, free)
        return JonkerVolgenant.of(closed).instance if closed.asymmetric else closed

    def _take(self, certificate: Certificate) -> bool:
        """Take the best so far; tell whether that is enough."""
        now = time.perf_counter()
        # The last proof will take no longer than one did, preparations or steps with it.
        self._needed = min(self._needed, now - self._began)
        self._began, self._found = now, certificate
        if self.progress is not None and self.progress(self._best()) is True:
            self.stop_reason = "callback"
        return self.stop_reason is not None or now + self._needed > self._end

    def _best(self) -> Certificate:
        """Return the best certificate so far of what is given: its nodes are those of the symmetric instance."""
        found, proved = self._found, self._proved
        assert found is not None
        if self._is_plain:
            return found
        if proved is None or found is not self._last:
            penalties = found.penalties.copy()
            if self._kept is not None:
                # The highest keep trees from other edges at a city with two fixed ones.
                penalties = np.full(Graph(self.instance, 1, self.kind).nodes, MOST, dtype=np.int64)
                penalties[self._kept] = found.penalties
            if self._away:
                # Of one that is farther away by as much.
                nodes = Graph(self.instance, found.scale, self.kind).further
                lengths = np.minimum(np.array(self._away, np.float64) * found.scale, MOST)[: len(nodes)]
                penalties[nodes] = np.clip(penalties[nodes] + lengths.astype(np.int64), -MOST, MOST)
            bound = dense_one_tree(self.instance, penalties, found.scale, self.kind).bound
            made = Certificate(bound, found.scale, penalties, *self.kind)
            # Of what is shortened in the symmetric instance the better bound need not be the better one here.
            if proved is None or bound > proved.bound:
                proved = made
            self._last, self._proved = found, proved
        return proved


def _closed(instance: Instance, kind: Kind) -> Instance:
    """Return the instance whose closed tours represent paths, with the further city away from all others.

    At a distance of 0 it would have all edges of the first trees, which set the lengths of the steps.
    """
    path = OpenPath.of(instance, kind.start_city, kind.end_city)
    n, closed = instance.n, path.instance
    row = instance.distances(0, np.arange(n))
    away = math.ceil(np.median(row[row < FORBIDDEN[row.dtype.kind]])) or 1
    if closed.coordinates is not None:
        points = closed.coordinates.copy()
        points[:n, -1][points[:n, -1] == 0] += away if (kind.start_city, kind.end_city) == (None, None) else 0
        return Instance(closed.name, closed.metric, coordinates=points)
    assert closed.matrix is not None
    matrix = closed.matrix.copy()
    starts = kind.start_city is None and (instance.asymmetric or kind.end_city is None)
    ends = kind.end_city is None and (instance.asymmetric or kind.start_city is None)
    matrix[n, :n] += away if starts else 0
    matrix[:n, n] += away if ends else 0
    return Instance._of_lawful(matrix, closed.name, asymmetric=closed.asymmetric)
