"""What the command line shows on a terminal while a solve runs, and the log that it prints with --verbose."""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pytsp.problem.instance import Instance
    from pytsp.run.monitor import Progress

__all__ = ["Display", "counted", "logged", "shown", "sparkline"]

# What a phase counts; every other one counts iterations.
_UNITS = {
    "crossover": "generations",
    "pieces": "rounds",
    "between pieces": "rounds",
    "passes": "passes",
}
_BARS = "▁▂▃▄▅▆▇█"
_CURVE_WIDTH = 32
_BAR_WIDTH = 30
# A speed is that of so many seconds.
_SPEED_SECONDS = 3.0


def counted(now: Progress) -> tuple[int, int | None, str]:
    """Say how far a solve has come: what is done, of how much if that is known, and the unit.

    Climbers are done one by one in random restarts, and come one by one to a population that others wait for; by other
    solvers all go through the same iterations.
    """
    if now.phase == "random restarts":
        return now.climbers_done, now.climbers, "climbers"
    if now.phase == "local optima":
        return now.climbers, None, "climbers"
    return now.iteration, now.iterations, _UNITS.get(now.phase, "iterations")


def sparkline(points: Sequence[tuple[float, float]], until: float, width: int = _CURVE_WIDTH) -> str:
    """Return a curve in one line of text: at each of `width` times, from the first point to `until`, the last value.

    Parameters
    ----------
    points : sequence of (seconds, value)
        Not empty, in order of their seconds.
    until : float
        Seconds, not before the last point.
    width : int

    Examples
    --------
    >>> sparkline([(0.0, 9.0), (1.0, 5.0), (3.0, 2.0)], 4.0, 8)
    '█▄▄▄▄▁▁▁'
    """
    begin, values = points[0][0], [value for _, value in points]
    low, span = min(values), max(values) - min(values)
    line, place = "", 0
    for column in range(width):
        at = until if column == width - 1 else begin + (until - begin) * (column + 1) / width
        while place + 1 < len(points) and points[place + 1][0] <= at:
            place += 1
        line += _BARS[round((len(_BARS) - 1) * (values[place] - low) / span) if span > 0 else 0]
    return line


class Display:
    """Two lines: the best length with its gap and curve; the phase, what is done of it, its speed, and the time left.

    Parameters
    ----------
    name : str
    optimum : int, float or None
    clock : callable, optional
        What tells the seconds.
    """

    def __init__(self, name: str, optimum: int | float | None, clock: Callable[[], float] = time.perf_counter) -> None:
        self._name = name or "instance"
        self._optimum = optimum
        self._clock = clock
        self._began = clock()
        self._now: Progress | None = None
        self._told_at = 0.0
        self._curve: list[tuple[float, float]] = []
        self._counts: deque[tuple[float, int]] = deque()

    def take(self, now: Progress) -> None:
        """Take what a solve tells."""
        if self._now is None or now.phase != self._now.phase:
            self._counts.clear()
        self._now, self._told_at = now, self._clock()
        if not self._curve or now.length < self._curve[-1][1]:
            self._curve.append((now.seconds, float(now.length)))
        self._counts.append((now.seconds, counted(now)[0]))
        while len(self._counts) > 2 and self._counts[1][0] < now.seconds - _SPEED_SECONDS:
            self._counts.popleft()

    @property
    def length(self) -> str:
        """The first line."""
        if self._now is None:
            return f"{self._name}: no tour yet"
        gap = f", gap {100 * (self._now.length / self._optimum - 1):.3f} %" if self._optimum else ""
        return f"{self._name}: length {self._now.length:.10g}{gap}"

    @property
    def curve(self) -> str:
        """How the length has fallen, once it has."""
        if self._now is None or len(self._curve) < 2:
            return ""
        return sparkline(self._curve, self._now.seconds)

    @property
    def work(self) -> str:
        """What is being done, how much of it there is, and how fast it goes."""
        if self._now is None:
            return "preparing"
        done, total, unit = counted(self._now)
        of = "" if total is None else f"/{total}"
        return f"{self._now.phase}: {done}{of} {unit}{self._speed(unit)}"

    def _speed(self, unit: str) -> str:
        (began, first), (ended, last) = self._counts[0], self._counts[-1]
        return f", {(last - first) / (ended - began):.3g} {unit}/s" if ended > began and last > first else ""

    @property
    def fraction(self) -> float | None:
        """How much is done, by what comes to its end first; None where nothing says when it ends."""
        now = self._now
        if now is None:
            return None
        done, total, _ = counted(now)
        parts = [done / total] if total else []
        if now.seconds_left is not None:
            parts.append(1 - self._left / (now.seconds + now.seconds_left))
        return min(1.0, max(parts)) if parts else None

    @property
    def clock(self) -> str:
        """The time left, where there is a limit, else the time since the beginning."""
        if self._now is None or self._now.seconds_left is None:
            return _hours(self._clock() - self._began)
        return f"{_hours(self._left)} left"

    @property
    def _left(self) -> float:
        assert self._now is not None and self._now.seconds_left is not None
        return max(0.0, self._now.seconds_left - (self._clock() - self._told_at))

    def __rich__(self) -> RenderableType:
        from rich.console import Group  # noqa: PLC0415
        from rich.progress_bar import ProgressBar  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        rows = [Table.grid(padding=(0, 2)) for _ in range(2)]
        # Texts are no markup: a name may hold brackets.
        rows[0].add_row(Text(self.length, "bold", no_wrap=True), Text(self.curve, "cyan", no_wrap=True))
        fraction = self.fraction
        bar = ProgressBar(1.0, fraction or 0.0, width=_BAR_WIDTH, pulse=fraction is None)
        rows[1].add_row(Text(self.work, no_wrap=True), bar, Text(self.clock, "yellow", no_wrap=True))
        return Group(*rows)


def _hours(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


@contextmanager
def shown(instance: Instance, *, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show how a solve goes on where standard error is a terminal, and nothing elsewhere or if it is to be quiet."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415

    display = Display(instance.name, instance.optimum)
    # What is printed meanwhile goes above it; results are for whoever reads standard output.
    with Live(display, console=Console(stderr=True), transient=True, refresh_per_second=8, redirect_stdout=False):
        yield display.take


class _ToStandardError(logging.Handler):
    """Prints to what is standard error when a message comes, which a live display replaces."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"pytsp: {self.format(record)}", file=sys.stderr)


@contextmanager
def logged(*, verbose: bool) -> Iterator[None]:
    """Print the library's warnings on standard error, and if it is to be verbose, all that it logs."""
    logger, handler = logging.getLogger("pytsp"), _ToStandardError()
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
