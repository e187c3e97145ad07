"""The backends: which kernels are built and usable here, and the contexts through which they are called.

This is the only part of pytsp that loads a compiled module. The modules are built through futhark-ffi; the
contexts are made here, by cffi, because futhark-ffi's own wrapper converts values silently and cannot set
threads, memory or compiler options.
"""

from __future__ import annotations

import importlib
import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pytsp.backends import cuda as _cuda
from pytsp.backends import devices as _devices
from pytsp.backends import opencl as _opencl
from pytsp.backends.cuda import CudaLibraries
from pytsp.backends.devices import Device, Probe
from pytsp.backends.marshal import Entry, Gate, Opaque
from pytsp.exceptions import BackendError, BackendUnavailable, DeviceMemoryError, KernelError
from pytsp.utils.suggestions import hint

if TYPE_CHECKING:
    from pytsp.backends.kernel_cache import KernelCache

__all__ = [
    "BACKENDS",
    "NVRTC_OPTIONS",
    "PARTS",
    "Backend",
    "BackendStatus",
    "Device",
    "Opaque",
    "open_backend",
    "status",
]

BACKENDS = ("c", "multicore", "opencl", "cuda")
"""The names of all backends that pytsp can be built for."""

PARTS = ("restarts", "search", "huge", "comparators")
"""The names of the kernels' parts: restarts and two-opt; local search, crossover and many instances; a huge tour;
annealing and ants.

On a GPU each part is a program of its own, which the driver compiles and loads where it is asked for; on the CPU one
program holds all of them.
"""

NVRTC_OPTIONS = ("--fmad=false", "--prec-sqrt=false", "--ftz=true")
"""How CUDA kernels are compiled.

Without fused multiply-add, so that double precision gives the host's results bit for bit; with the fast
square root in single precision, which every kernel that uses it corrects, and with denormal numbers, of
which none meets any, taken as zero.
"""

_OPENCL_PREFIX = b"#pragma OPENCL FP_CONTRACT OFF\n"
_KERNELS = Path(__file__).parents[1] / "_kernels"
_ON_THE_CPU = ("c", "multicore")
_MOST_THREADS = 1024
# A Ctrl-C that came so long ago was meant for another solve.
_SAME_SOLVE_SECONDS = 1.0
# Bytes; less is not worth asking the driver for.
_SMALL = 2**22
_BUILD = "run 'python build.py' in pytsp's source folder and read its table"
_BUILD_HERE = "run 'python build.py' in pytsp's source folder, on this machine"
_REBUILD = "update the driver, or run 'python build.py --force' in pytsp's source folder"
# The functions of a driver that a compiled module calls.
_FOREIGN = {"opencl": rb"cl[A-Z][A-Za-z]+", "cuda": rb"(?:cu[A-Z]|nvrtc[A-Z])\w+"}


@dataclass(frozen=True)
class BackendStatus:
    """What is known about one backend on this machine.

    Attributes
    ----------
    name : str
    built : bool
        Whether its kernels were compiled into this installation.
    usable : bool
        Whether `open_backend` will open it.
    reason, remedy : str
        Why it is not usable, and what to do; empty where it is.
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


@dataclass(frozen=True)
class Kind:
    """A kind of device besides those of `BACKENDS`: opened by its name, and by nothing else.

    Attributes
    ----------
    kernels : Path
        The folder of its modules, one for each part, which the package `pytsp._kernels` has in its path.
    probe : callable
        Looks for its devices.
    """

    kernels: Path
    probe: Callable[[], Probe]


_kinds: dict[str, Kind] = {}


def register(name: str, kind: Kind) -> None:
    """Make a kind of device known to `open_backend` by a name."""
    _kinds[name] = kind


@dataclass
class _Found:
    """A backend as it was probed: its status, and what opening `part` of it needs, or all parts where that is None."""

    status: BackendStatus
    part: str | None = None
    manifest: dict[str, Any] = field(default_factory=dict)
    module: Any = None
    libraries: CudaLibraries | None = None


def status() -> list[BackendStatus]:
    """Say of every backend whether it is built and usable here, and if not, why and what to do.

    Returns
    -------
    list of BackendStatus
        In the order of `BACKENDS`. Never raises for a missing driver, device or module.
    """
    return [_find(name).status for name in BACKENDS]


def open_backend(
    name: str = "auto",
    *,
    threads: int | None = None,
    device: int | str | None = None,
    tuning: Mapping[str, int] | None = None,
    part: str = "restarts",
) -> Backend:
    """Open a backend, or return the one that is open already with the same settings in this process.

    Parameters
    ----------
    name : str, optional
        One of `BACKENDS`, or ``"auto"`` for the fastest that works here: cuda, then opencl if it has a GPU,
        then multicore where more than one core is usable, then c.
    threads : int, optional
        Threads of the multicore backend; every usable core by default.
    device : int or str, optional
        The GPU to use, by its number in `status` or by a part of its name; the first usable one by default.
    tuning : mapping of str to int, optional
        Futhark's tuning parameters, as in a ``.tuning`` file.
    part : str, optional
        One of `PARTS`: on a GPU, the kernels to open. The CPU's backends are the same for every part.

    Returns
    -------
    Backend

    Raises
    ------
    BackendUnavailable
        If the backend is not built or cannot run here. The message says what to do.
    BackendError
        If the name, the thread count, the device, a tuning parameter or the part is not one.
    """
    if part not in PARTS:
        raise BackendError(f"part {part!r} of the kernels is not known; known: {', '.join(PARTS)}")
    if name not in (*BACKENDS, *_kinds, "auto"):
        close = hint(str(name), BACKENDS)
        raise BackendError(f"backend {name!r} is not known; known: auto, {', '.join(BACKENDS)}{close}")
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int)):
        raise BackendError(f"threads must be an int, got {type(threads).__name__} {threads!r}")
    if threads is not None and not 1 <= threads <= _MOST_THREADS:
        raise BackendError(f"threads must be from 1 to {_MOST_THREADS}, got {threads}")
    if isinstance(device, bool) or not isinstance(device, int | str | None):
        raise BackendError(f"device must be a number or a name, got {type(device).__name__} {device!r}")
    settings = (name, threads, device, repr(sorted((tuning or {}).items())))
    with _registry_lock:
        for each in (part, None):
            backend = _registry.get((settings, each))
            if backend is not None and not backend.closed:
                return backend
        opened = _open_auto if name == "auto" else partial(_open, name)
        backend = opened(threads, device, tuning, part)
        _registry[settings, backend.part] = backend
        return backend


_registry: dict[tuple[object, ...], Backend] = {}
_registry_lock = threading.Lock()
# What CUDA failed with in this process, if it did: from then on even making a context would end the process.
_failures: list[str] = []


def _forget() -> None:
    """Leave the parent's backends to the parent: neither threads nor GPU contexts outlive a fork."""
    global _registry_lock  # noqa: PLW0603
    _registry.clear()
    _registry_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# Finding and opening


def _module(name: str, part: str) -> str:
    """Name the module that holds a part of a backend's kernels."""
    return name if name in _ON_THE_CPU else f"{name}_{part}"


def _folder(name: str) -> Path:
    """Return where a backend's modules lie."""
    return _kinds[name].kernels if name in _kinds else _KERNELS


def _manifest(name: str, part: str) -> dict[str, Any]:
    """Read what Futhark wrote about a part of a backend's kernels."""
    manifest: dict[str, Any] = json.loads((_folder(name) / f"{_module(name, part)}.json").read_text())
    return manifest


def _find(name: str, part: str = PARTS[0]) -> _Found:
    """Probe one backend, and load a part of its kernels where it can run; it is built where all parts are."""
    try:
        manifest = _manifest(name, part)
        compiler = f"Futhark {str(manifest['version']).split()[0].rstrip('.')}"
        built = all((_folder(name) / f"_{_module(name, each)}.abi3.so").is_file() for each in PARTS)
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        built = False
    if not built:
        return _Found(BackendStatus(name, False, False, *_build_report(name)))
    libraries, module, trouble = _load_cuda(part) if name == "cuda" and not _failures else (None, None, "")
    probe = _probe(name)
    if isinstance(libraries, Probe):
        probe = probe if probe.reason else replace(libraries, devices=probe.devices)
        libraries = None
    if not probe.reason and module is None and not trouble:
        module, trouble = _try_to_load(name, part)
    if not probe.reason and trouble:
        probe = Probe(probe.devices, f"its module does not load: {trouble}", _REBUILD)
    if probe.reason:
        module, libraries = None, None
    if libraries is not None:
        compiler = f"{compiler}, NVRTC {libraries.version}"
    found = BackendStatus(name, True, module is not None, probe.reason, probe.remedy, probe.devices, compiler)
    return _Found(found, None if name in _ON_THE_CPU else part, manifest, module, libraries)


def _load_cuda(part: str) -> tuple[CudaLibraries | Probe | None, Any, str]:
    """Load what CUDA needs while its driver comes up: NVRTC, or say what is missing; a module, or say why not."""
    threads = _cuda.begin()
    version = _cuda.driver_version() if threads else ""
    libraries = _cuda.find_libraries(version) if version else None
    loaded = _try_to_load("cuda", part) if isinstance(libraries, CudaLibraries) else (None, "")
    if threads:
        # What imports take that are needed later is spent here, too.
        importlib.import_module("pytsp.backends.kernel_cache")
    for thread in threads:
        thread.join()
    return libraries, *loaded


def _try_to_load(name: str, part: str) -> tuple[Any, str]:
    """Load a module, or say why it does not load."""
    try:
        return _load(name, part), ""
    except ImportError as error:
        return None, str(error)


def _load(name: str, part: str) -> Any:
    """Import the compiled module of a part of a backend whose libraries are loaded.

    Raises
    ------
    ImportError
        If it does not load, or the libraries lack functions that it calls.
    """
    module = f"_{_module(name, part)}"
    if name in _FOREIGN:
        missing = _devices.missing_functions(_KERNELS / f"{module}.abi3.so", _FOREIGN[name])
        if missing:
            raise ImportError(f"the driver is older than the headers it was built with, and lacks {', '.join(missing)}")
    return importlib.import_module(f"pytsp._kernels.{module}")


def _build_report(name: str) -> tuple[str, str]:
    """Return why a backend is not built and what to do, from the build's own report where there is one."""
    try:
        modules = json.loads((_folder(name) / "build.json").read_text())["modules"]
        entries = [modules[_module(name, part)] for part in PARTS]
        entry = next(each for each in entries if not each["built"])
        reason, remedy = str(entry["reason"]), str(entry["remedy"])
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        reason, remedy = "", ""
    return (f"not built: {reason}" if reason else "not built"), remedy or _BUILD


def _probe(name: str) -> Probe:
    """Look for the devices that a backend needs."""
    if name in _kinds:
        return _kinds[name].probe()
    if name == "opencl":
        return _opencl.probe()
    if name != "cuda":
        return _probe_processor(name)
    if _failures:
        return Probe(reason=f"CUDA failed in this process: {_failures[0]}", remedy="start a new process")
    return _cuda.probe()


def _probe_processor(name: str) -> Probe:
    """Compare the processor with the one that a backend is compiled for: the wrong one would end the process."""
    try:
        entry = json.loads((_KERNELS / "build.json").read_text())["modules"][name]
        level, needs = str(entry["level"]), [str(feature) for feature in entry["needs"]]
    except (OSError, ValueError, KeyError, TypeError):
        return Probe()
    missing = _devices.missing_features(needs)
    if not missing:
        return Probe()
    return Probe(reason=f"built for {level}, but this processor lacks {', '.join(missing)}", remedy=_BUILD_HERE)


def _open_auto(threads: int | None, device: int | str | None, tuning: Mapping[str, int] | None, part: str) -> Backend:
    """Open the fastest backend that works here and that the settings concern."""
    if threads is not None and device is not None:
        raise BackendError(f"threads={threads} is for the CPU and device={device!r} for a GPU; give one of the two")
    candidates = [] if threads is not None else ["cuda", "opencl"]
    if threads is not None and threads > 1:
        candidates = ["multicore"]
    elif device is None:
        candidates += ["multicore", "c"] if threads is None and _devices.usable_cores() > 1 else ["c", "multicore"]
    failures = []
    for name in candidates:
        found = _find(name, part)
        # A CPU's OpenCL is no gain over multicore, and not trusted as much.
        if name == "opencl" and device is None and not any(each.is_gpu for each in _usable(found.status)):
            continue
        if not found.status.usable:
            failures.append(f"{name}: {found.status.reason} ({found.status.remedy})")
            continue
        try:
            return _open(name, threads if name == "multicore" else None, device, tuning, part, found)
        except BackendUnavailable as error:
            failures.append(f"{name}: {error}")
    raise BackendUnavailable("no backend can run here: " + "; ".join(failures))


def _usable(found: BackendStatus) -> list[Device]:
    """The devices of a backend that kernels can run on, GPUs first."""
    return sorted((each for each in found.devices if not each.trouble), key=lambda each: not each.is_gpu)


def _open(
    name: str,
    threads: int | None,
    device: int | str | None,
    tuning: Mapping[str, int] | None,
    part: str,
    found: _Found | None = None,
) -> Backend:
    """Open a part of the backend `name`."""
    if name != "multicore" and threads not in (None, 1 if name == "c" else None):
        raise BackendError(f"backend {name!r} takes no thread count, got threads={threads}; backend 'multicore' does")
    if device is not None and name in _ON_THE_CPU:
        raise BackendError(f"backend {name!r} runs on the CPU and takes no device, got device={device!r}")
    found = found or _find(name, part)
    if not found.status.usable:
        reason, remedy = found.status.reason, found.status.remedy
        raise BackendUnavailable(f"backend {name!r} cannot run here: {reason}; to use it, {remedy}")
    if name in _ON_THE_CPU:
        count = (threads or _devices.usable_cores()) if name == "multicore" else 1
        return Backend(found, threads=count, device=None, tuning=tuning)
    return Backend(found, threads=None, device=_choose(found.status, device), tuning=tuning)


def _choose(found: BackendStatus, wanted: int | str | None) -> Device:
    """Pick the device that the user names.

    Raises
    ------
    BackendUnavailable
        If kernels cannot run on it.
    BackendError
        If there is none, or a name fits several.
    """
    if wanted is None:
        return _usable(found)[0]
    listed = "; ".join(f"{each.index}: {each.name}" for each in found.devices)
    if isinstance(wanted, str) and not wanted.removeprefix("#").isdecimal():
        fit = [each for each in found.devices if wanted.lower() in each.name.lower()]
        # Several of one model are as good as each other.
        fit = fit[:1] if len({each.name for each in fit}) == 1 else fit
    else:
        number = int(wanted.removeprefix("#")) if isinstance(wanted, str) else wanted
        fit = [each for each in found.devices if each.index == number]
    if len(fit) != 1:
        problem = "fits several devices" if fit else "fits no device"
        raise BackendError(f"device {wanted!r} {problem} of backend {found.name!r}; it has {listed}")
    if fit[0].trouble:
        raise BackendUnavailable(f"device {fit[0].index} ({fit[0].name}) cannot run kernels: {fit[0].trouble}")
    return fit[0]


# Contexts


class Backend:
    """A context of compiled kernels: call entry points with `call`.

    Made by `open_backend`. Calls from several threads are safe and run one after another; other Python
    threads go on meanwhile. A process forked from this one must open its own.

    Attributes
    ----------
    name : str
        One of `BACKENDS`.
    part : str or None
        The part of the kernels that can be called, one of `PARTS`; None where it is all of them.
    threads : int or None
        Threads that kernels run on; None on a GPU.
    device : Device or None
        The GPU; None for c and multicore.
    compiler : str
        The Futhark compiler that made the kernels.
    """

    def __init__(
        self, found: _Found, *, threads: int | None, device: Device | None, tuning: Mapping[str, int] | None
    ) -> None:
        self.name = found.status.name
        self.part = found.part
        self.threads = threads
        self.device = device
        self.compiler = found.status.compiler
        self.ffi: Any = found.module.ffi
        self.lib: Any = found.module.lib
        self.context: Any = None
        self._gate = Gate(found.manifest, self.ffi, self.lib)
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._lost = ""
        self._adopted: dict[int, tuple[Any, Callable[..., int]]] = {}
        self._released: deque[int] = deque()
        # When a Ctrl-C came that nobody has told yet.
        self._interrupted: float | None = None
        self._tickets = 0
        self._cuda_context: Any = None
        self._config: Any = self.lib.futhark_context_config_new()
        try:
            self._open(found, tuning or {})
        except BaseException:
            self._free_context()
            raise

    def _open(self, found: _Found, tuning: Mapping[str, int]) -> None:
        """Configure and make the context."""
        self._tune(tuning)
        if self.name == "multicore":
            self.lib.futhark_context_config_set_num_threads(self._config, self.threads)
        cache = None
        if self.device is not None and self.name not in _kinds:
            cache = self._configure_gpu(self.device, found, tuning)
        self.context = self.lib.futhark_context_new(self._config)
        if cache is not None:
            cache.keep()
        if not self.context:
            raise BackendError(f"backend {self.name!r}: Futhark made no context")
        problem = self.complaint()
        if problem:
            raise BackendUnavailable(f"backend {self.name!r} does not start on {self.device_name}: {problem}")
        if self.name == "cuda":
            # Other users of CUDA in this thread must not find Futhark's context.
            self._cuda_context = _cuda.detach()

    def _tune(self, tuning: Mapping[str, int]) -> None:
        """Set tuning parameters; refuse unknown names and values that are no sizes."""
        for parameter, value in tuning.items():
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
                raise BackendError(f"tuning parameter {parameter!r} must be an int from 0 to 2**63 - 1, got {value!r}")
            if self.lib.futhark_context_config_set_tuning_param(self._config, parameter.encode(), value):
                known = [
                    self.ffi.string(self.lib.futhark_get_tuning_param_name(number)).decode()
                    for number in range(self.lib.futhark_get_tuning_param_count())
                ]
                import difflib  # noqa: PLC0415

                near = ", ".join(difflib.get_close_matches(parameter, known) or known) or "none"
                raise BackendError(f"backend {self.name!r} has no tuning parameter {parameter!r}; it has: {near}")

    def _configure_gpu(self, device: Device, found: _Found, tuning: Mapping[str, int]) -> KernelCache:
        """Set device, memory, compiler options and the kernel cache; see that a context will come up."""
        from pytsp.backends.kernel_cache import KernelCache  # noqa: PLC0415

        lib, config, libraries = self.lib, self._config, found.libraries
        lib.futhark_context_config_set_device(config, device.selector.encode())
        options: list[str] = []
        if libraries is not None:
            lib.futhark_context_config_set_unified_memory(config, 0)
            architecture = libraries.architecture(device)
            options = [
                *NVRTC_OPTIONS,
                *(["--split-compile=0"] if int(libraries.version.split(".")[0]) >= 13 else []),
                *([f"-I{libraries.include}"] if libraries.include else []),
                *([f"--gpu-architecture={architecture}"] if architecture else []),
            ]
            for option in options:
                lib.futhark_context_config_add_nvrtc_option(config, os.fsencode(option))
        else:
            lib.futhark_context_config_set_platform(config, device.platform.encode())
            program = self.ffi.string(lib.futhark_context_config_get_program(config))
            lib.futhark_context_config_set_program(config, _OPENCL_PREFIX + program)
        settings = (device, libraries and libraries.version, tuple(options), tuple(sorted(tuning.items())))
        module = _module(self.name, found.part or PARTS[0])
        cache = KernelCache(module, _KERNELS / f"_{module}.abi3.so", settings)
        if cache.path is not None:
            lib.futhark_context_config_set_cache_file(config, os.fsencode(cache.path))
        if libraries is not None:
            problem = _cuda.context_check(device)
            if not problem and not cache.warm:
                problem = _cuda.compile_check(libraries, options)
            if problem:
                raise BackendUnavailable(f"backend 'cuda' cannot run here: {problem}")
        return cache

    # Calling

    @property
    def entry_points(self) -> list[str]:
        """The names that `call` takes, sorted."""
        return self._gate.names

    def call(self, entry: str, *arguments: object) -> Any:
        """Call an entry point and wait for its results.

        Parameters
        ----------
        entry : str
            Its name.
        *arguments
            Exactly what Futhark's declaration says: NumPy arrays of that dtype and number of dimensions, ints
            in range, floats, bools, and `Opaque` values of this backend. Nothing is converted; arrays that
            are not contiguous are copied.

        Returns
        -------
        object
            A fresh NumPy array, an int, a float, a bool or an `Opaque`; a tuple where there are several
            results.

        Raises
        ------
        BackendError
            If the arguments are not what the entry point takes, it is in another part, or the backend is closed.
        KernelError
            If the kernel fails; the message holds Futhark's backtrace. The next call works.
        DeviceMemoryError
            If memory runs out, also after all memory that was kept for reuse is given back.
        """
        self._require_open()
        made = self._entry(entry)
        checked = made.check(arguments)
        with self._lock:
            self._begin_call()
            try:
                return made.run(self, checked)
            except DeviceMemoryError:
                if made.consumes_opaque or self._lost:
                    raise
                self.lib.futhark_context_clear_caches(self.context)
            return made.run(self, checked)

    def fields(self, value: Opaque) -> dict[str, Any]:
        """Return what a value on the device consists of: arrays, numbers, and dicts of records within.

        Raises
        ------
        BackendError
            If the value is not this backend's, or has no fields.
        """
        from pytsp.backends.records import record_of  # noqa: PLC0415

        self._require_open()
        record = record_of(self._gate, value.type)
        with self._lock:
            self._begin_call()
            return record.fetch(self, record.type.upload(self, value))

    def value(self, type_name: str, fields: Mapping[str, Any]) -> Opaque:
        """Return a new value on the device, made of what `fields` says of another, on this backend or any other.

        Nothing is converted, and only types are checked: whether a tour is one, the caller knows.

        Raises
        ------
        BackendError
            If there is no such type, or the fields are not exactly its own.
        DeviceMemoryError
            If memory runs out.
        """
        from pytsp.backends.records import record_of  # noqa: PLC0415

        self._require_open()
        record = record_of(self._gate, type_name)
        with self._lock:
            self._begin_call()
            return Opaque(self, type_name, self.adopt(record.make(self, fields), record.type.release))

    def _entry(self, name: str) -> Entry:
        """Return an entry point; where another part has it, say which."""
        try:
            return self._gate[name]
        except BackendError as error:
            if self.part is None or name in self.entry_points:
                raise
            for part in PARTS:
                if name in _manifest(self.name, part)["entry_points"]:
                    raise BackendError(
                        f"backend {self.name!r} has entry point {name!r} in its part {part!r}, and this is its part "
                        f"{self.part!r}; call open_backend with part={part!r}"
                    ) from error
            raise

    def checked(self, status: int) -> None:
        """Wait for the device, and raise the error of `status`, a C call's return code, or of the waiting."""
        if status or self.lib.futhark_context_sync(self.context):
            raise self.refused()

    def refused(self, complaint: str = "") -> BackendError:
        """Return the error that the context holds, or held, and leave the context ready for the next call."""
        texts = [complaint or self.complaint()]
        # The error of a kernel is cleared by reading it. An error of the driver stays: then the context is
        # lost.
        if self.lib.futhark_context_sync(self.context):
            texts.append(self.complaint())
            if self.lib.futhark_context_sync(self.context):
                self._lost = self.complaint() or texts[-1]
                if self.name == "cuda":
                    _failures.append(self._lost)
        if self._cuda_context is not None and not self._lost:
            _cuda.detach_all(self._cuda_context)
        text = "\n".join(part for part in texts if part) or "Futhark gives no reason"
        out_of_memory = text.startswith("Failed to allocate memory") or "(out of memory)" in text
        kind = DeviceMemoryError if out_of_memory else KernelError
        return kind(f"backend {self.name!r} on {self.device_name}: {text}")

    def complaint(self) -> str:
        """Take the context's error message, empty where there is none."""
        message = self.lib.futhark_context_get_error(self.context)
        if not message:
            return ""
        try:
            return str(self.ffi.string(message).decode(errors="replace")).strip()
        finally:
            self.lib.free(message)

    def reserve(self, size: int) -> None:
        """Make sure that the device has room for an argument of `size` bytes.

        Asked beforehand where the driver tells, because Futhark copies an argument also where its allocation
        failed: to wherever the memory's last pointer led.

        Raises
        ------
        DeviceMemoryError
            If it has not, also after all memory that was kept for reuse is given back.
        """
        if self._cuda_context is None or size < _SMALL:
            return
        free = _cuda.free_memory(self._cuda_context)
        if free is not None and free < size + _SMALL:
            self.lib.futhark_context_clear_caches(self.context)
            free = _cuda.free_memory(self._cuda_context)
        if free is not None and free < size + _SMALL:
            raise DeviceMemoryError(
                f"backend {self.name!r} on {self.device_name}: an argument of {size} bytes does not fit into "
                f"{free} free bytes"
            )

    # Values that stay on the device

    def adopt(self, pointer: Any, free: Callable[..., int]) -> int:
        """Take charge of a device-side value, and return a ticket for `pointer` and `release`."""
        self._tickets += 1
        self._adopted[self._tickets] = (pointer, free)
        return self._tickets

    def pointer(self, ticket: int) -> Any:
        """Return the device-side value of a ticket, or None once it is freed."""
        return self._adopted.get(ticket, (None, None))[0] if ticket not in self._released else None

    def release(self, ticket: int) -> None:
        """Free the value of a ticket now, or where another thread is in a call, before the next call.

        What finalizers raise is lost. So the next call of a solve raises a Ctrl-C that comes here.
        """
        try:
            self._release(ticket)
        except KeyboardInterrupt:
            if ticket in self._adopted and ticket not in self._released:
                self._released.append(ticket)
            self._interrupted = time.monotonic()

    def _release(self, ticket: int) -> None:
        if os.getpid() != self._process:
            return
        # Finalizers run anywhere, also inside a call of this thread: they must never wait.
        self._released.append(ticket)
        if self._lock.acquire(blocking=False):
            try:
                self._free_released()
            finally:
                self._lock.release()

    def _begin_call(self) -> None:
        """See to it that a call can begin: there is a context, what was released is freed, and no Ctrl-C was lost."""
        self._require_open()
        self._free_released()
        if self._interrupted is not None and threading.current_thread() is threading.main_thread():
            ago, self._interrupted = time.monotonic() - self._interrupted, None
            if ago < _SAME_SOLVE_SECONDS:
                raise KeyboardInterrupt

    def _free_released(self) -> None:
        while self._released:
            pointer, free = self._adopted.pop(self._released.popleft(), (None, None))
            if free is not None:
                self.free(free, pointer)

    def free(self, function: Callable[..., int], pointer: Any) -> None:
        """Free one device-side value, unless the context is gone or lost, which Futhark would not survive."""
        if self.context and not self._lost:
            function(self.context, pointer)

    # About itself

    @property
    def device_name(self) -> str:
        """The GPU's name; for the CPU, the number of threads."""
        if self.device is not None:
            return self.device.name
        return f"CPU, {self.threads} thread{'s' * (self.threads != 1)}"

    @property
    def closed(self) -> bool:
        """Whether this backend can no longer be called in this process."""
        return not self.context or bool(self._lost) or os.getpid() != self._process

    def free_memory(self) -> int | None:
        """Return the device's free memory in bytes, or None where it is not known: only CUDA says.

        Memory that Futhark keeps for reuse counts as used; `release_memory` gives it back.
        """
        self._require_open()
        with self._lock:
            self._require_open()
            return _cuda.free_memory(self._cuda_context) if self.name == "cuda" else None

    def release_memory(self) -> None:
        """Give back the memory that Futhark keeps for the next call."""
        self._require_open()
        with self._lock:
            self._begin_call()
            self.lib.futhark_context_clear_caches(self.context)

    def describe(self) -> str:
        """Say in a line what runs the kernels."""
        return f"{self.name} ({self.device or self.device_name}; {self.compiler})"

    def __repr__(self) -> str:
        return f"<Backend {self.name} on {self.device_name}{', closed' if self.closed else ''}>"

    # Closing

    def _require_open(self) -> None:
        if os.getpid() != self._process:
            raise BackendError(f"{self!r} was opened in the parent process; call open_backend in this one")
        if self._lost:
            raise BackendError(f"{self!r} failed for good: {self._lost}; start a new process")
        if not self.context:
            raise BackendError(f"{self!r} cannot be called any more; call open_backend again")

    def close(self) -> None:
        """Free the context with every value in it, once no call is running. Closing twice is harmless.

        At exit nothing needs closing: the system takes everything back.
        """
        if os.getpid() != self._process:
            return
        with self._lock:
            if not self.context:
                return
            self._released.extend(self._adopted)
            self._free_released()
            # Futhark frees in whatever CUDA context is current, and destroying that detaches it.
            if self._cuda_context is not None and not self._lost:
                _cuda.attach(self._cuda_context)
            self._free_context()

    def _free_context(self) -> None:
        context, self.context = self.context, None
        # Freeing a context whose driver has failed would end the process.
        if not self._lost:
            if context:
                self.lib.futhark_context_free(context)
            self.lib.futhark_context_config_free(self._config)

    def __enter__(self) -> Backend:
        self._require_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
