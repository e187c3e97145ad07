"""Let pip build the kernels by the very functions that build.py uses, and put them into the wheel."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).resolve().parent))

from buildtools.errors import BuildError  # noqa: E402
from buildtools.kernels import build_kernels, options_from_environment  # noqa: E402
from buildtools.manpage import NAME, PLACE, write_manual  # noqa: E402
from buildtools.paths import KERNELS, ROOT  # noqa: E402

SHIPPED = ("__init__.py", "*.abi3.so", "*.pyi", "*.json")


class BuildWithKernels(build_py):
    """Build the kernels in the checkout, then the package with these kernels, and the manual page."""

    def run(self) -> None:
        try:
            print(build_kernels(options_from_environment()).table(), flush=True)
        except BuildError as error:
            sys.exit(f"pytsp: {error}")
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib) / "pytsp"
            copy_files(KERNELS, SHIPPED, package / KERNELS.name)
            copy_files(ROOT / "data", ("*.tsp", "*.md"), package / "data")
            page = write_manual(Path(self.build_lib).parent / "man" / NAME)
            self.distribution.data_files = [(PLACE, [str(page)])]


def copy_files(source: Path, patterns: tuple[str, ...], target: Path) -> None:
    """Make `target` hold the files of `source` that match, and no others."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for pattern in patterns:
        for file in source.glob(pattern):
            if file.is_file():
                shutil.copy2(file, target)


class BinaryDistribution(Distribution):
    """A distribution for one platform, though setuptools itself compiles nothing."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithKernels},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
