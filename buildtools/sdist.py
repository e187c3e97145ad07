"""Parts of a source distribution besides the checkout's files: every program as C, so that pip needs no Futhark.

``python -m buildtools.sdist [FOLDER]`` writes dist/pytsp_futhark-*.tar.gz, as ``python -m build --sdist`` does.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from buildtools import store
from buildtools.compiler import Compiler, find_compiler, obtain_compiler
from buildtools.errors import BuildError
from buildtools.kernels import (
    MOST_AT_ONCE,
    Options,
    hash_of,
    hash_of_c,
    hash_of_program,
    key_of,
    program_of,
    translate,
    uses_store,
)
from buildtools.paths import KERNELS, ROOT, TRANSLATIONS
from buildtools.report import read_report
from buildtools.shell import locked, run, say
from buildtools.toolchain import BACKENDS, modules_of
from buildtools.translations import Translation, describe, read_translations, write_translations

# Where translations are kept between two source distributions.
KEPT = ROOT / "build" / "translations"


def make_translations(target: Path = KEPT) -> None:
    """Make `target` hold the translations of all programs for all backends, with a manifest.

    What was translated before is taken: by the build into pytsp/_kernels, for a source distribution before this one, or
    in another checkout.
    """
    jobs = {name: backend for backend in BACKENDS for name in modules_of(backend)}
    sources = {name: hash_of_program(program_of(name)) for name in jobs}
    came = {name: each for name, each in read_translations(TRANSLATIONS).items() if each.sources == sources[name]}
    if came.keys() == jobs.keys():
        return write_translations(came, target)
    compiler = find_compiler() or obtain_compiler()
    with locked(target.parent):
        found = {}
        for name, backend in jobs.items():
            built = find_built(name, backend, sources[name], compiler)
            kept = read_translations(target).get(name)
            if built is not None:
                found[name] = built
            elif kept and (kept.sources, kept.futhark) == (sources[name], compiler.version) and kept.is_whole():
                found[name] = kept
        missing = [name for name in jobs if name not in found]
        say(f"translations: {len(found)} of {len(jobs)} are there; {len(missing)} are to be made")
        with tempfile.TemporaryDirectory(dir=target.parent) as work:

            def make(name: str) -> Translation:
                folder = Path(work) / name
                folder.mkdir()
                key = key_of(name, jobs[name], compiler.version) if uses_store(Options()) else ""
                if not (key and store.take(key, name, folder)):
                    translate(compiler, jobs[name], name, folder)
                    if key:
                        store.keep(key, name, folder, compiler.version, sources[name])
                return describe(folder, name, compiler.version, sources[name])

            with ThreadPoolExecutor(min(MOST_AT_ONCE, os.cpu_count() or 1)) as pool:
                found.update(zip(missing, pool.map(make, missing), strict=True))
            write_translations(found, target)


def find_built(name: str, backend: str, sources: str, compiler: Compiler) -> Translation | None:
    """Find the translation that the build left beside the kernels, if it is of these sources and this compiler."""
    entry = read_report(KERNELS).modules.get(name)
    if entry is None or not entry.built or entry.source_hash != hash_of([sources, compiler.version, backend]):
        return None
    try:
        is_whole = hash_of_c(name, KERNELS) == entry.c_hash
        return describe(KERNELS, name, compiler.version, sources) if is_whole else None
    except OSError:
        return None


def write_archive(tree: Path, archive: Path) -> Path:
    """Write the folder `tree` as a gzipped tar file, whose bytes depend on the files alone, not on who packs them."""
    time = timestamp()
    archive.parent.mkdir(parents=True, exist_ok=True)

    def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with (
        archive.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=raw, mtime=time) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as file,
    ):
        for path in walk(tree):
            file.add(path, path.relative_to(tree.parent), recursive=False, filter=anonymous)
    return archive


def walk(folder: Path) -> Iterator[Path]:
    """Yield a folder and what is in it, in order."""
    yield folder
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from walk(path)
        else:
            yield path


def timestamp() -> int:
    """Give the time that the files of an archive bear: $SOURCE_DATE_EPOCH, else the last commit's, else 1980."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        if not given.isdecimal():
            raise BuildError(f"$SOURCE_DATE_EPOCH must be a number of seconds since 1970, got {given!r}")
        return int(given)
    try:
        return int(run(["git", "-C", ROOT, "log", "-1", "--format=%ct"]))
    except (BuildError, ValueError):
        return 315532800


def main() -> int:
    """Write the source distribution; give the exit code."""
    folder = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "dist")
    command = [sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", os.path.abspath(folder)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
