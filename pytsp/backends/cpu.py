"""The CPU: the backends c, on one core, and multicore."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytsp.backends.devices import Probe, missing_features, usable_cores
from pytsp.backends.kind import PARTS, DeviceKind, Found


class Sequential(DeviceKind):
    """One core, without threads."""

    name = "c"
    on_the_cpu = True

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
    """Every usable core, or as many threads as are asked for."""

    name = "multicore"

    def threads(self, wanted: int | None) -> int | None:
        return wanted or usable_cores()

    def configure(self, found: Found, config: Any, tuning: Mapping[str, int]) -> None:
        found.module.lib.futhark_context_config_set_num_threads(config, found.threads)
