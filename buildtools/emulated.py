"""The emulated GPU, for tests: the GPU programs as C, built where they changed by `python -m buildtools.emulated`.

Python drives these kernels as it drives those of opencl and cuda, on any machine. Pip and build.py leave them alone.
"""

from __future__ import annotations

import sys

from buildtools.errors import BuildError
from buildtools.kernels import Options, build_kernels
from buildtools.paths import EMULATED


def main() -> int:
    """Build it, and print its folder; give the exit code."""
    try:
        build_kernels(Options(backends=("emulated",)), EMULATED)
    except BuildError as error:
        print(f"the emulated GPU could not be built: {error}", file=sys.stderr)
        return 1
    print(EMULATED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
