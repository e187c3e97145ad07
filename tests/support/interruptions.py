"""Ctrl-C: at any kernel call of a solve, and from outside a process."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from clocks import GREEDY, seconds_of
from paths import ROOT

from pytsp import Result
from pytsp.backends import Backend


class Interruption:
    """Ctrl-C once, before or after the kernel call number `at`; `call` stands for `Backend.call`, `calls` counts.

    Calls that make a greedy tour do not count: there is no other tour before.
    """

    def __init__(self, at: int, after: bool) -> None:
        self.calls = 0
        call = Backend.call

        def interrupted(backend: Backend, entry: str, *arguments: object) -> Any:
            if entry.startswith(GREEDY):
                return call(backend, entry, *arguments)
            self.calls += 1
            if self.calls == at + 1 and not after:
                raise KeyboardInterrupt
            result = call(backend, entry, *arguments)
            if self.calls == at + 1:
                raise KeyboardInterrupt
            return result

        self.call = interrupted


def assert_control_c_at_any_call_leaves_a_tour(solve: Callable[[], Result], calls: Iterable[int], after: bool) -> None:
    """Interrupt a solve at each of some calls, of which the last come behind its end."""
    reasons = set()
    for at in calls:
        with pytest.MonkeyPatch.context() as patch:
            interruption = Interruption(at, after)
            patch.setattr(Backend, "call", interruption.call)
            result = solve()
        assert result.stop_reason == ("interrupted" if interruption.calls > at else "finished")
        assert result.length == result.instance.tour_length(result.tour)
        reasons.add(result.stop_reason)
    assert reasons == {"interrupted", "finished"}


_SCRIPT = """
import numpy as np, pytsp
instance = pytsp.Instance.from_coordinates(np.random.default_rng(0).integers(0, 10**6, ({n}, 2)), "EUC_2D")
told = []
def progress(now):
    told.append(now)
    if len(told) == 3:
        print("calls", flush=True)
result = pytsp.solve(instance, progress=progress, **{options!r})
print("ended", result.stop_reason, result.length == instance.tour_length(result.tour), flush=True)
"""


def assert_control_c_ends(n: int, **options: object) -> float:
    """Interrupt a long solve of n cities behind its first calls; it must end with what it found.

    Returns
    -------
    float
        The seconds from the signal to the end of the process.
    """
    script = _SCRIPT.format(n=n, options=options)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], text=True, cwd=ROOT, **pipes) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "calls\n":
            raise AssertionError(process.communicate()[1])
        said: list[str] = []

        def end() -> None:
            process.send_signal(signal.SIGINT)
            said.extend(process.communicate())

        seconds = seconds_of(end)
    assert said[0].splitlines()[-1:] == ["ended interrupted True"], said[1]
    assert process.returncode == 0
    return seconds
