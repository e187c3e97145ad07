"""The documentation site, from docs/, the docstrings and the kernels' sources: ``python -m buildtools.site [FOLDER]``.

It needs Sphinx and its like, ``pip install 'pytsp-futhark[docs]'``, the Futhark compiler, and the kernels of the c
backend, with which it draws pictures (docs/_extensions/pictures.py). A warning of Sphinx is an error.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from buildtools.compiler import find_compiler, obtain_compiler
from buildtools.entries import copy_all
from buildtools.errors import BuildError
from buildtools.paths import ROOT
from buildtools.shell import run

SITE = ROOT / "build" / "site"
SECONDS = 600


def document_kernels(futhark: Path, work: Path, folder: Path) -> None:
    """Write the kernels' documentation into `folder`; that of their tests is left aside."""
    kernels = work / "kernels"
    copy_all(kernels)
    for test in kernels.glob("*/*_tests.fut"):
        test.unlink()
    run([futhark, "doc", "-o", folder, kernels.name], cwd=work, timeout=SECONDS)


def build_site(folder: Path) -> Path:
    """Make the site in `folder`; return its first page.

    `BuildError` is raised if Futhark or Sphinx finds a fault; with what it says.
    """
    compiler = find_compiler() or obtain_compiler()
    with tempfile.TemporaryDirectory(prefix="pytsp-site-") as scratch:
        work = Path(scratch)
        document_kernels(compiler.path, work, work / "extra" / "futhark")
        options: list[str | Path] = ["--fail-on-warning", "--keep-going", "--quiet", "--doctree-dir", work / "doctrees"]
        run(
            [sys.executable, "-m", "sphinx", *options, ROOT / "docs", folder],
            env={"PYTSP_FUTHARK_DOC": os.fspath(work / "extra")},
            timeout=SECONDS,
        )
    return folder / "index.html"


def main() -> int:
    """Make the site, and print where its first page lies; give the exit code."""
    try:
        print(build_site(Path(sys.argv[1]) if len(sys.argv) > 1 else SITE))
    except (BuildError, OSError) as error:
        print(f"the site could not be made: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
