"""Report of a build, with reasons and remedies: a file for the program, a table for the reader."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from buildtools.processor import PORTABLE
from buildtools.toolchain import BACKENDS, UNSHIPPED, modules_of

NAME = "build.json"


@dataclass(frozen=True)
class Entry:
    """The state of one module: the reason for it, and the remedy where it is not built.

    The hashes are of what it was made from: the Futhark sources and compiler; the C; the C compiler and its flags. It
    runs on processors of the level and above, or all if that is "portable"; without the features that it `needs`, as
    Linux names them, it would end the process. `seconds` are those of the last translation and compilation.
    """

    built: bool
    reason: str = ""
    remedy: str = ""
    flags: list[str] = field(default_factory=list)
    source_hash: str = ""
    c_hash: str = ""
    tools_hash: str = ""
    level: str = PORTABLE
    needs: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """The state of all modules, by their names, and the version of the Futhark compiler."""

    futhark: str = ""
    modules: dict[str, Entry] = field(default_factory=dict)

    def entry(self, backend: str) -> Entry:
        """Give a backend's entry, also where it was never asked for: that of the module which needs attention most."""
        remedy = f"`python build.py --backends {backend}`"
        unknown = Entry(built=False, reason="not asked for", remedy=remedy)
        entries = [self.modules.get(name, unknown) for name in modules_of(backend)]
        return min(entries, key=lambda entry: (entry.built, not entry.remedy))

    def table(self) -> str:
        """Write the report as a table."""
        lines = [f"{'backend':<10} {'state':<8} why, and how to get it"]
        for backend in BACKENDS:
            entry = self.entry(backend)
            reason = textwrap.shorten(entry.reason, 200, placeholder=" ...")
            text = f"{reason}: {entry.remedy}" if entry.remedy else reason
            head = f"{backend:<10} {'built' if entry.built else 'skipped':<8} "
            lines += textwrap.wrap(
                text, 110, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
            )
        return "\n".join(lines)


def read_report(folder: Path) -> Report:
    """Read the report in `folder`; a missing or unreadable one is an empty one, so that all is built anew."""
    try:
        stored: dict[str, Any] = json.loads((folder / NAME).read_text(encoding="utf-8"))
        names = {name for backend in (*BACKENDS, *UNSHIPPED) for name in modules_of(backend)}
        entries = {name: Entry(**entry) for name, entry in stored["modules"].items() if name in names}
        return Report(stored["futhark"], entries)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Report()


def write_report(report: Report, folder: Path) -> None:
    """Write the report into `folder`, in one step."""
    new = folder / f".{NAME}"
    new.write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    new.replace(folder / NAME)
