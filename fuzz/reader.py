"""Fuzz the reader of TSPLIB's files with atheris: `python -m fuzz.reader [libFuzzer's options] [FOLDER of a corpus]`.

`python -m fuzz.reader -max_total_time=600 -dict=fuzz/tsplib.dict NEW fuzz/corpus` adds to NEW what reaches new code.
A finding ends it, and is left in a file crash-…, with Python's traceback on the screen.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["pytsp"]):
    from fuzz.laws import check


def main() -> None:
    """Run libFuzzer; it ends the process."""
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
