"""The CPU: the backends c, on one core, and multicore."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pytsp.backends.devices import Probe, missing_features, usable_cores
from pytsp.backends.kind import PARTS, DeviceKind, Found, read_entry

# The levels of the x86-64 psABI that a wheel's kernels may be compiled for besides the lowest, best first.
LEVELS = ("x86-64-v4", "x86-64-v3")


class Sequential(DeviceKind):
    """One core, without threads."""

    name = "c"
    on_the_cpu = True

    def folder(self) -> Path:
        """Return the folder of the highest level that this processor has."""
        return choose_folder(self.kernels, self.module(PARTS[0]))

    def probe(self) -> Probe:
        """Compare the processor with the one that the module is compiled for: the wrong one would end the process."""
        entry = self.build_entry(PARTS[0])
        missing = missing_features(entry.get("needs") or ())
        if not missing:
            return Probe()
        return Probe(
            reason=f"built for {entry.get('level')}, but this processor lacks {', '.join(missing)}",
            remedy="run 'python build.py' in pytsp's source folder, on this machine",
        )

    def threads(self, wanted: int | None) -> int | None:
        if wanted != 1:
            super().threads(wanted)
        return 1


class Multicore(Sequential):
    """Every usable core, or the given number of threads."""

    name = "multicore"

    def threads(self, wanted: int | None) -> int | None:
        return wanted or usable_cores()

    def configure(self, found: Found, config: Any, tuning: Mapping[str, int]) -> None:
        found.module.lib.futhark_context_config_set_num_threads(config, found.threads)


@cache
def choose_folder(kernels: Path, module: str) -> Path:
    """Return the folder in `kernels` that holds a module for the highest level of this processor, else `kernels`."""
    for folder in (kernels / level for level in LEVELS):
        if folder.is_dir():
            needs = read_entry(folder, module).get("needs")
            if needs and not missing_features(needs):
                return folder
    return kernels
