"""Ctrl-C: at any kernel call of a solve, and from outside a process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import emulated
import pytest
from paths import ROOT

from pytsp import Result
from pytsp.backends import Backend


class Interruption:
    """Ctrl-C once, before or after the kernel call number `at`; `call` stands for `Backend.call`, `calls` counts."""

    def __init__(self, at: int, after: bool) -> None:
        self.calls = 0
        call = Backend.call

        def interrupted(backend: Backend, entry: str, *arguments: object) -> Any:
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
    if not told:
        print("call", flush=True)
    told.append(now)
result = pytsp.solve(instance, progress=progress, **{options!r})
print("ended", result.stop_reason, result.length == instance.tour_length(result.tour), flush=True)
"""


def assert_control_c_ends(n: int, **options: object) -> None:
    """Interrupt a long solve of n cities behind its first call; it must end within a second, with what it found."""
    if options["backend"] == emulated.NAME:
        pytest.skip("of what a GPU does at a time the emulated one is not through within a second")
    script = _SCRIPT.format(n=n, options=options)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], text=True, cwd=ROOT, **pipes) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "call\n":
            raise AssertionError(process.communicate()[1])
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        rest, said = process.communicate()
        seconds = time.monotonic() - began
    assert rest.splitlines()[-1:] == ["ended interrupted True"], said
    assert process.returncode == 0
    assert seconds < 1
