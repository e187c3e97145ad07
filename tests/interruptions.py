"""Ctrl-C: at any kernel call of a solve, and from outside a process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Any

from paths import ROOT

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


def assert_control_c_ends(script: str) -> None:
    """Interrupt a script that prints "call" at first; it must end well within a second, with what it found."""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "call\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        rest = process.stdout.read()
        seconds = time.monotonic() - began
    assert rest.splitlines()[-1] == "ended interrupted True"
    assert process.returncode == 0
    assert seconds < 1
