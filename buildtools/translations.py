"""Translations that come with the sources: the C of every program, and what it was made from.

A checkout has none. A source distribution holds them, so that it builds without the Futhark compiler.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from buildtools.errors import BuildError

MANIFEST = "manifest.json"
SUFFIXES = ("c", "h", "json")


@dataclass(frozen=True)
class Translation:
    """A program in C, for one backend: its files with their SHA-256, the version of the Futhark compiler, and the
    checksum of the Futhark files that it was made from."""

    folder: Path
    futhark: str
    sources: str
    files: Mapping[str, str]

    def is_whole(self) -> bool:
        """Tell whether every file is there, as it was made."""
        try:
            return all(sha256(self.folder / name) == known for name, known in self.files.items())
        except OSError:
            return False

    def copy(self, target: Path) -> None:
        """Copy the files into the folder `target`.

        `BuildError` is raised if one is missing, or is not what the manifest says.
        """
        for name, known in self.files.items():
            file = self.folder / name
            found = sha256(file) if file.is_file() else "missing"
            if found != known:
                raise BuildError(
                    f"{file}: its SHA-256 is {found}, but {MANIFEST} beside it says {known}: unpack the source "
                    f"distribution again, or remove {self.folder} to translate with a Futhark compiler"
                )
            shutil.copyfile(file, target / name)


def sha256(file: Path) -> str:
    """Give the SHA-256 of a file's bytes."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def files_of(name: str) -> tuple[str, ...]:
    """Name the files that a module's translation consists of."""
    return tuple(f"{name}.{suffix}" for suffix in SUFFIXES)


def describe(folder: Path, name: str, futhark: str, sources: str, files: Iterable[str] = ()) -> Translation:
    """Describe the translation of a module that lies in `folder`, or of another program these files there."""
    return Translation(folder, futhark, sources, {file: sha256(folder / file) for file in files or files_of(name)})


def read_translations(folder: Path) -> dict[str, Translation]:
    """Read the manifest in `folder`, by the modules' names; empty where there is none.

    `BuildError` is raised if it cannot be read.
    """
    file = folder / MANIFEST
    if not file.is_file():
        return {}
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        return {
            name: Translation(folder, entry["futhark"], entry["sources"], dict(entry["files"]))
            for name, entry in stored.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BuildError(f"{file} cannot be read ({error!r}): unpack the source distribution again") from error


def write_translations(found: Mapping[str, Translation], folder: Path) -> None:
    """Make `folder` hold these translations with their manifest, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in found.values():
        if each.folder != folder:
            each.copy(folder)
    entries = {name: asdict(each) for name, each in sorted(found.items())}
    for entry in entries.values():
        del entry["folder"]
    (folder / MANIFEST).write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    keep = {MANIFEST, *(file for each in found.values() for file in each.files)}
    for file in folder.iterdir():
        if file.name not in keep and file.is_file():
            file.unlink()
