"""Let pip build the kernels by the functions that build.py uses, and put them into wheels and source distributions."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

sys.path.insert(0, str(Path(__file__).resolve().parent))

from buildtools.errors import BuildError  # noqa: E402
from buildtools.install import BESIDE  # noqa: E402
from buildtools.kernels import build_levels, options_from_environment  # noqa: E402
from buildtools.manpage import NAME, PLACE, write_manual  # noqa: E402
from buildtools.paths import KERNELS, ROOT, TRANSLATIONS  # noqa: E402
from buildtools.processor import ADDED  # noqa: E402
from buildtools.sdist import KEPT, make_translations, write_archive  # noqa: E402

SHIPPED = ("__init__.py", "*.abi3.so", "*.pyi", "*.json")


class BuildWithKernels(build_py):
    """Build the kernels in the checkout, then the package with these kernels, and the manual page."""

    def run(self) -> None:
        if self.editable_mode and os.environ.get(BESIDE):
            return super().run()
        try:
            print(build_levels(options_from_environment()).table(), flush=True)
        except BuildError as error:
            sys.exit(f"pytsp: {error}")
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib) / "pytsp"
            copy_files(KERNELS, SHIPPED, package / KERNELS.name)
            for level in ADDED:
                if (KERNELS / level).is_dir():
                    copy_files(KERNELS / level, SHIPPED, package / KERNELS.name / level)
            copy_files(ROOT / "data", ("*.tsp", "*.md"), package / "data")
            page = write_manual(Path(self.build_lib).parent / "man" / NAME)
            self.distribution.data_files = [(PLACE, [str(page)])]
        return None


class SourcesWithTranslations(sdist):
    """Put the programs as C beside the sources, and pack the same files into the same bytes."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        try:
            make_translations()
        except BuildError as error:
            sys.exit(f"pytsp: {error}")
        copy_files(KEPT, ("*",), Path(base_dir) / TRANSLATIONS.name)

    def make_archive(
        self,
        base_name: Any,
        format: str,
        root_dir: Any = None,
        base_dir: str | None = None,
        owner: str | None = None,
        group: str | None = None,
    ) -> str:
        if format != "gztar" or base_dir is None:
            sys.exit(f"pytsp: a source distribution is a .tar.gz file, not {format}")
        return str(write_archive(Path(root_dir or ".") / base_dir, Path(f"{base_name}.tar.gz")))


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
    cmdclass={"build_py": BuildWithKernels, "sdist": SourcesWithTranslations},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
