"""How a program becomes C, in two steps: what backends have in common is made once for all of them.

Futhark writes the program between two of its passes as text (``futhark dev``), and reads it again. Up to there c and
multicore take the same passes, the longer half of them; cuda and opencl nearly all.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

__all__ = ["PIPELINES", "Halfway", "Pipeline"]


@dataclass(frozen=True)
class Pipeline:
    """The passes of a backend.

    Attributes
    ----------
    shared : tuple of str
        Those that other backends take as well.
    suffix : str
        By which Futhark knows what these have made of a program.
    own : tuple of str
        The rest.
    """

    shared: tuple[str, ...]
    suffix: str
    own: tuple[str, ...]


# Inlining takes the longest; the passes of each CPU's backend begin with it again, and find little left.
INLINED = ("--simplify", "--inline-conservatively", "--simplify")
# The tests' own "emulated" shares its programs with no other backend that is built together with it.
PIPELINES = {
    "c": Pipeline(INLINED, ".fut_soacs", ("--seq-mem",)),
    "multicore": Pipeline(INLINED, ".fut_soacs", ("--mc-mem",)),
    "opencl": Pipeline(("--gpu-mem",), ".fut_gpu_mem", ()),
    "cuda": Pipeline(("--gpu-mem",), ".fut_gpu_mem", ()),
    "emulated": Pipeline((), ".fut", ("--seq-mem",)),
}


class Halfway:
    """Programs after the passes that backends share: whoever asks first makes one, others wait for it."""

    def __init__(self) -> None:
        self._made: dict[tuple[Path, tuple[str, ...]], Future[str]] = {}
        self._lock = Lock()

    def of(self, program: Path, passes: tuple[str, ...], make: Callable[[], str]) -> str:
        """Return the text of a program after some passes, made where it is not there."""
        with self._lock:
            is_first = (program, passes) not in self._made
            future = self._made.setdefault((program, passes), Future())
        if is_first:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
        return future.result()
