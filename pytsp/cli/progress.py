"""The progress of a solve on a terminal, and the log that --verbose prints."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytsp

if TYPE_CHECKING:
    from rich.console import RenderableType

# Units that phases count; all others count iterations.
_UNITS = {"lower bound": "proofs", "crossover": "generations", "passes": "passes"}
_UNITS |= {"pieces": "rounds", "between pieces": "rounds"}
_BARS = "▁▂▃▄▅▆▇█"
_CURVE_WIDTH = 32
_BAR_WIDTH = 30
# Seconds over which a speed is averaged.
_SPEED_SECONDS = 3.0


def count_work(now: pytsp.Progress) -> tuple[int, int | None, str]:
    """Return how much of a solve is done, of how much if that is known, and the unit.

    Climbers are done one by one in random restarts, and come one by one to a population that others wait for; in other
    solvers all make the same iterations.
    """
    if now.phase == "random restarts":
        return now.climbers_done, now.climbers, "climbers"
    if now.phase == "local optima":
        return now.climbers, None, "climbers"
    return now.iteration, now.iterations, _UNITS.get(now.phase, "iterations")


def sparkline(points: Sequence[tuple[float, float]], until: float, width: int = _CURVE_WIDTH) -> str:
    """Return a curve in one line: at each of `width` times, from the first point to `until`, the last value.

    `points` are pairs (seconds, value), in order.

    >>> sparkline([(0.0, 9.0), (1.0, 5.0), (3.0, 2.0)], 4.0, 8)
    '█▄▄▄▄▁▁▁'
    """
    begin, values = points[0][0], [value for _, value in points]
    low, span = min(values), max(values) - min(values)
    line, last = "", 0
    for column in range(width):
        at = until if column == width - 1 else begin + (until - begin) * (column + 1) / width
        while last + 1 < len(points) and points[last + 1][0] <= at:
            last += 1
        line += _BARS[round((len(_BARS) - 1) * (values[last] - low) / span) if span > 0 else 0]
    return line


class Display:
    """Two lines: the best length with its gap and curve; the phase, what is done of it, its speed, and the time left.

    `clock` returns the seconds; `take` is the callback of the solve.
    """

    def __init__(self, name: str, optimum: int | float | None, clock: Callable[[], float] = time.perf_counter) -> None:
        self._name = name or "instance"
        self._optimum = optimum
        self._clock = clock
        self._began = clock()
        self._now: pytsp.Progress | None = None
        self._bound: int | float | None = None
        self._taken_at = 0.0
        self._curve: list[tuple[float, float]] = []
        self._counts: deque[tuple[float, int]] = deque()

    def take(self, now: pytsp.Progress) -> None:
        """Take a snapshot of the solve."""
        if self._now is None or now.phase != self._now.phase:
            self._counts.clear()
        self._now, self._taken_at = now, self._clock()
        self._bound = self._bound if now.lower_bound is None else now.lower_bound
        if math.isfinite(now.length) and (not self._curve or now.length < self._curve[-1][1]):
            self._curve.append((now.seconds, float(now.length)))
        self._counts.append((now.seconds, count_work(now)[0]))
        while len(self._counts) > 2 and self._counts[1][0] < now.seconds - _SPEED_SECONDS:
            self._counts.popleft()

    def _headline(self) -> tuple[str, str]:
        """Return the length with its gap, and how it has fallen, once it has."""
        if self._now is None:
            return f"{self._name}: no tour yet", ""
        if not math.isfinite(self._now.length) and self._bound is not None:
            return f"{self._name}: no tour yet, and none below {self._bound:.10g}", ""
        gap = f", gap {100 * (self._now.length / self._optimum - 1):.3f} %" if self._optimum else ""
        if self._bound:
            gap += f", at most {100 * (self._now.length / self._bound - 1):.2f} % above the shortest"
        curve = sparkline(self._curve, self._now.seconds) if len(self._curve) > 1 else ""
        return f"{self._name}: length {self._now.length:.10g}{gap}", curve

    @property
    def work(self) -> str:
        """The current work, its amount, and its speed."""
        if self._now is None:
            return "preparing"
        done, total, unit = count_work(self._now)
        of = "" if total is None else f"/{total}"
        (began, first), (ended, last) = self._counts[0], self._counts[-1]
        is_known = ended > began and last > first
        speed = f", {(last - first) / (ended - began):.3g} {unit}/s" if is_known else ""
        workers = f" on {self._now.workers} workers" if self._now.workers else ""
        return f"{self._now.phase}: {done}{of} {unit}{speed}{workers}"

    @property
    def fraction(self) -> float | None:
        """The share that is done, by the limit that ends first; None without a limit."""
        now = self._now
        if now is None:
            return None
        done, total, _ = count_work(now)
        parts = [done / total] if total else []
        if now.seconds_left is not None:
            parts.append(1 - self._left / (now.seconds + now.seconds_left))
        return min(1.0, max(parts)) if parts else None

    @property
    def clock(self) -> str:
        """The time left, where there is a limit, else the time since the beginning."""
        if self._now is None or self._now.seconds_left is None:
            return str(timedelta(seconds=int(self._clock() - self._began)))
        return f"{timedelta(seconds=int(self._left))} left"

    @property
    def _left(self) -> float:
        assert self._now is not None and self._now.seconds_left is not None
        return max(0.0, self._now.seconds_left - (self._clock() - self._taken_at))

    def __rich__(self) -> RenderableType:
        from rich.console import Group  # noqa: PLC0415
        from rich.progress_bar import ProgressBar  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        rows = [Table.grid(padding=(0, 2)) for _ in range(2)]
        # Texts are no markup: a name may hold brackets.
        length, curve = self._headline()
        rows[0].add_row(Text(length, "bold", no_wrap=True), Text(curve, "cyan", no_wrap=True))
        fraction = self.fraction
        bar = ProgressBar(1.0, fraction or 0.0, width=_BAR_WIDTH, pulse=fraction is None)
        rows[1].add_row(Text(self.work, no_wrap=True), bar, Text(self.clock, "yellow", no_wrap=True))
        return Group(*rows)


@contextmanager
def show_progress(instance: pytsp.Instance, *, quiet: bool) -> Iterator[Callable[[pytsp.Progress], None] | None]:
    """Show progress where standard error is a terminal; yield the callback, or None where nothing is shown."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415

    display = Display(instance.name, instance.optimum)
    # What is printed meanwhile goes above it; standard output is for results.
    with Live(display, console=Console(stderr=True), transient=True, refresh_per_second=8, redirect_stdout=False):
        yield display.take


@contextmanager
def log_to_stderr(*, verbose: bool) -> Iterator[None]:
    """Print warnings of the library's log on standard error, each in a line, and with `verbose` the whole log."""
    # A live display that has begun takes the lines of standard error.
    logger, handler = logging.getLogger("pytsp"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("pytsp: %(message)s"))
    level, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if verbose else logging.WARNING)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates
