"""Keep of found inputs those that reach something more: `python -m fuzz.reduce FOUND…` fills fuzz/corpus with them.

Reached is each step from one line to the next in pytsp's own code; the smallest inputs come first.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytsp
from fuzz.laws import CORPUS, check

OWN = str(Path(pytsp.__file__).parent)
# No seed of the corpus needs more; long ones test nothing that short ones do not.
MOST_BYTES = 4096


def steps_of(data: bytes) -> set[tuple[str, int, int]]:
    """Give the steps that `check` takes with `data`: file, line, next line."""
    steps: set[tuple[str, int, int]] = set()

    def enter(frame: FrameType, _event: str, _argument: object) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(OWN):
            return None
        last = 0

        def step(frame: FrameType, event: str, _argument: object) -> Callable[..., Any]:
            nonlocal last
            if event == "line":
                steps.add((frame.f_code.co_filename, last, frame.f_lineno))
                last = frame.f_lineno
            return step

        return step

    sys.settrace(enter)
    try:
        check(data)
    finally:
        sys.settrace(None)
    return steps


def main() -> None:
    """Add to the corpus what reaches more than what is there; print how much that is."""
    CORPUS.mkdir(exist_ok=True)
    # What is done once only, imports and caches, is no reason to keep an input.
    check(b"")
    reached: set[tuple[str, int, int]] = set()
    for file in sorted(CORPUS.iterdir()):
        reached |= steps_of(file.read_bytes())
    found = [file.read_bytes() for folder in sys.argv[1:] for file in sorted(Path(folder).iterdir())]
    for data in sorted(found, key=lambda data: (len(data), data)):
        steps = steps_of(data) if len(data) <= MOST_BYTES else set()
        if not steps <= reached:
            reached |= steps
            (CORPUS / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    print(f"{len(list(CORPUS.iterdir()))} inputs, {len(reached)} steps")


if __name__ == "__main__":
    main()
