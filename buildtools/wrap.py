"""Wrap generated C into the source of a Python module: ``python -m buildtools.wrap MODULE FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from buildtools.stubs import write_stub


def wrap(name: str, work: Path) -> None:
    """Write ``module.c``, by futhark-ffi and cffi, and the type stub of module `name` into `work`, where the C is."""
    from futhark_ffi.build import build

    build(str(work / name), f"pytsp/_kernels/{name}").emit_c_code(str(work / "module.c"))
    stub = write_stub((work / f"{name}.h").read_text(encoding="utf-8"), name)
    (work / f"_{name}.pyi").write_text(stub, encoding="utf-8")


if __name__ == "__main__":
    try:
        wrap(sys.argv[1], Path(sys.argv[2]))
    except ImportError as error:
        sys.exit(f"{error.name} is not installed: run `python build.py` without --no-install")
