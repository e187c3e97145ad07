"""A kind of device behind one interface: how its kernels are found and loaded, and its contexts configured."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytsp.backends.devices import Device, DriverContext, Probe, missing_functions
from pytsp.exceptions import BackendError

if TYPE_CHECKING:
    from pytsp.backends.kernel_cache import KernelCache

PARTS = ("restarts", "search", "flat", "lists", "comparators", "neighbourhoods", "strategies", "blocks", "bound")
"""The names of the GPU kernels' parts: restarts and two-opt; local search and many instances; crossover of a
population; neighbour lists of many cities; annealing and ants; random restarts by other neighbourhoods; local search
by climbers in step; random restarts by a fixed number of thread blocks; Held and Karp's bound and α-nearness.

On a GPU each part is a program of its own, which the driver compiles and loads where it is asked for; on the CPU one
program holds all of them, and what GPUs do not have besides.
"""

CPU_PART = "cpu"
"""The part that only the CPU has: the search of one huge tour."""


@dataclass(frozen=True)
class BackendStatus:
    """Status of one backend on this machine.

    Attributes
    ----------
    name : str
    built : bool
        True if its kernels were compiled into this installation.
    usable : bool
        True if `open_backend` will open it.
    reason, remedy : str
        Reason why it is not usable, and the remedy; empty if it is usable.
    devices : tuple of Device
        The devices that were found, usable or not; empty for c and multicore.
    compiler : str
        The Futhark compiler that made the kernels, such as ``"Futhark 0.25.27"``; empty where not built.
    """

    name: str
    built: bool
    usable: bool
    reason: str = ""
    remedy: str = ""
    devices: tuple[Device, ...] = ()
    compiler: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON can hold them."""
        return asdict(self)


@dataclass
class Found:
    """A kind of device as it was found, what opening `part` of its kernels needs, and where they are to run.

    The part is None where one module holds all; `libraries` are what the kind loaded besides the module.
    """

    kind: DeviceKind
    status: BackendStatus
    part: str | None = None
    manifest: dict[str, Any] = field(default_factory=dict)
    module: Any = None
    libraries: Any = None
    threads: int | None = None
    device: Device | None = None


class DeviceKind(ABC):
    """A kind of device: what a backend does in its own way. Only `name` and `probe` have no default."""

    # The name for `open_backend`; the names of its modules begin with it.
    name: str
    # The folder of its modules, which the package `pytsp._kernels` has in its path.
    kernels = Path(__file__).parents[1] / "_kernels"
    # True if one module holds all parts of the kernels, without a choice of device.
    on_the_cpu = False
    # A regular expression of the driver's functions that its modules call; empty where they call none.
    foreign = b""
    # Where the self-test of a driver's first start runs: "here", in this process, "apart", in one of its own that may
    # crash; empty for no test.
    self_test = ""

    @abstractmethod
    def probe(self) -> Probe:
        """Look for its devices. A machine that has none is no error."""

    def module(self, part: str | None) -> str:
        """Name the module that holds a part of the kernels."""
        return self.name if self.on_the_cpu else f"{self.name}_{part}"

    def folder(self) -> Path:
        """Return the folder of the modules that fit this machine: `kernels`, or one in it."""
        return self.kernels

    def file(self, part: str | None) -> Path:
        """Return where a part's compiled module lies."""
        return self.folder() / f"_{self.module(part)}.abi3.so"

    def manifest(self, part: str) -> dict[str, Any]:
        """Read what Futhark wrote about a part."""
        manifest: dict[str, Any] = json.loads((self.folder() / f"{self.module(part)}.json").read_text())
        return manifest

    def build_entry(self, part: str) -> dict[str, Any]:
        """Read what the build reported about a part; empty where there is no report that can be read."""
        return read_entry(self.folder(), self.module(part))

    def load(self, part: str) -> tuple[Any, Probe]:
        """Import a part's module, or say why it does not load; the driver's libraries are loaded."""
        missing = missing_functions(self.file(part), self.foreign) if self.foreign else []
        trouble = f"the driver is older than the headers it was built with, and lacks {', '.join(missing)}"
        try:
            if not missing:
                inner = self.folder().relative_to(self.kernels).parts
                return import_module(".".join(("pytsp._kernels", *inner, f"_{self.module(part)}"))), Probe()
        except ImportError as error:
            trouble = str(error)
        remedy = "update the driver, or run 'python build.py --force' in pytsp's source folder"
        return None, Probe(reason=f"its module does not load: {trouble}", remedy=remedy)

    def search(self, part: str) -> tuple[Probe, Any, Any]:
        """Look for devices; where there are some, load a part's module, and other libraries that opening it needs."""
        probe = self.probe()
        if probe.reason:
            return probe, None, None
        module, trouble = self.load(part)
        return replace(trouble, devices=probe.devices), module, None

    def threads(self, wanted: int | None) -> int | None:
        """Return the threads that kernels run on, given what the user asks for; None on a GPU."""
        if wanted is None:
            return None
        raise BackendError(
            f"backend {self.name!r} takes no thread count, got threads={wanted}; backend 'multicore' does"
        )

    def beats_the_cpu(self, usable: list[Device]) -> bool:
        """Tell whether "auto" should try it before the CPU, with these devices."""
        return True

    def compiled_by(self, found: Found, tuning: Mapping[str, int]) -> tuple[object, ...]:
        """Return all that compiled kernels depend on besides their module."""
        return (found.device, tuple(sorted(tuning.items())))

    def configure(self, found: Found, config: Any, tuning: Mapping[str, int]) -> KernelCache | None:
        """Prepare the configuration of a context, or raise `BackendUnavailable` where making one would fail.

        Returns where compiled kernels are kept between runs, if they are.
        """
        return None

    def driver_context(self) -> DriverContext:
        """Return what the driver has of the context that this thread just made."""
        return DriverContext()

    def context_lost(self, message: str) -> None:
        """Heed that a context failed for good."""
        return


def read_entry(folder: Path, module: str) -> dict[str, Any]:
    """Read what the build reported about a module in `folder`; empty where there is no report that can be read."""
    try:
        return dict(json.loads((folder / "build.json").read_text())["modules"][module])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
