"""The kinds of devices behind the backends' names, and a probe of each."""

from __future__ import annotations

from pytsp.backends.cpu import Multicore, Sequential
from pytsp.backends.cuda.kind import Cuda
from pytsp.backends.kind import PARTS, BackendStatus, DeviceKind, Found
from pytsp.backends.opencl import OpenCL

BACKENDS = ("c", "multicore", "opencl", "cuda")
"""The names of all backends that pytsp can be built for."""

KINDS: dict[str, DeviceKind] = {kind.name: kind for kind in (Sequential(), Multicore(), OpenCL(), Cuda())}
"""The kind of device behind each name; one that is added besides `BACKENDS` is opened by its name only."""


def find(kind: DeviceKind, part: str = PARTS[0]) -> Found:
    """Probe a kind of device, and load a part of its kernels where it can run; it is built where all parts are."""
    try:
        manifest = kind.manifest(part)
        compiler = f"Futhark {str(manifest['version']).split()[0].rstrip('.')}"
        built = all(kind.file(each).is_file() for each in PARTS)
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        built = False
    if not built:
        # By the build's own report, where there is one.
        entries = (kind.build_entry(each) for each in PARTS)
        entry = next((each for each in entries if not each.get("built", True)), {})
        reason = f"not built: {entry['reason']}" if entry.get("reason") else "not built"
        remedy = entry.get("remedy") or "run 'python build.py' in pytsp's source folder and read its table"
        return Found(kind, BackendStatus(kind.name, False, False, reason, remedy))
    probe, module, libraries = kind.search(part)
    if libraries is not None:
        compiler = f"{compiler}, {libraries}"
    found = BackendStatus(kind.name, True, module is not None, probe.reason, probe.remedy, probe.devices, compiler)
    return Found(kind, found, None if kind.on_the_cpu else part, manifest, module, libraries)
