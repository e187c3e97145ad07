"""Futhark's context as C has it: how it is made and freed, its errors, and the values on its device."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from pytsp.backends.devices import DriverContext
from pytsp.backends.kind import Found
from pytsp.exceptions import BackendError, BackendUnavailable, DeviceMemoryError, KernelError

# A Ctrl-C that came so long ago was meant for another solve.
_SAME_SOLVE_SECONDS = 1.0
# Bytes; less is not worth asking the driver for.
_SMALL = 2**22


class FutharkContext:
    """A context of compiled kernels: what `Backend` calls, and what values on its device belong to."""

    def __init__(self, found: Found, tuning: Mapping[str, int]) -> None:
        self.name = found.kind.name
        self.part = found.part
        self.threads = found.threads
        self.device = found.device
        self.compiler = found.status.compiler
        self.ffi: Any = found.module.ffi
        self.lib: Any = found.module.lib
        self.context: Any = None
        self._kind = found.kind
        self._driver = DriverContext()
        self._lock = threading.RLock()
        self._process = os.getpid()
        # The error with which the context failed for good.
        self._lost = ""
        self._adopted: dict[int, tuple[Any, Callable[..., int]]] = {}
        self._released: deque[int] = deque()
        self._tickets = 0
        # When a Ctrl-C came that nobody has told yet.
        self._interrupted: float | None = None
        self._config: Any = self.lib.futhark_context_config_new()
        try:
            self._make(found, tuning)
        except BaseException:
            self._free_context()
            raise

    def _make(self, found: Found, tuning: Mapping[str, int]) -> None:
        """Configure and make the context."""
        self._tune(tuning)
        cache = self._kind.configure(found, self._config, tuning)
        self.context = self.lib.futhark_context_new(self._config)
        if cache is not None:
            cache.keep()
        if not self.context:
            raise BackendError(f"backend {self.name!r}: Futhark made no context")
        problem = self.complaint()
        if problem:
            raise BackendUnavailable(f"backend {self.name!r} does not start on {self.device_name}: {problem}")
        self._driver = self._kind.driver_context()

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

    def _free_context(self) -> None:
        context, self.context = self.context, None
        # Freeing a context whose driver has failed would end the process.
        if not self._lost:
            if context:
                self.lib.futhark_context_free(context)
            self.lib.futhark_context_config_free(self._config)

    # About itself

    @property
    def device_name(self) -> str:
        """The GPU's name; for the CPU, the number of threads."""
        if self.device is not None:
            return self.device.name
        return f"CPU, {self.threads} thread{'s' * (self.threads != 1)}"

    @property
    def closed(self) -> bool:
        """True if this backend can no longer be called in this process."""
        return not self.context or bool(self._lost) or os.getpid() != self._process

    def __repr__(self) -> str:
        return f"<Backend {self.name} on {self.device_name}{', closed' if self.closed else ''}>"

    def _require_open(self) -> None:
        if os.getpid() != self._process:
            raise BackendError(f"{self!r} was opened in the parent process; call open_backend in this one")
        if self._lost:
            raise BackendError(f"{self!r} failed for good: {self._lost}; start a new process")
        if not self.context:
            raise BackendError(f"{self!r} cannot be called any more; call open_backend again")

    # Calls of C functions

    def _begin_call(self) -> None:
        """See to it that a call can begin: there is a context, what was released is freed, and no Ctrl-C was lost."""
        self._require_open()
        self._free_released()
        if self._interrupted is not None and threading.current_thread() is threading.main_thread():
            ago, self._interrupted = time.monotonic() - self._interrupted, None
            if ago < _SAME_SOLVE_SECONDS:
                raise KeyboardInterrupt

    def output_of(self, function: Any, *arguments: Any) -> Any:
        """Call a C function that has one output, and return that."""
        out = self.ffi.new(self.ffi.typeof(function).args[1])
        self.checked(function(self.context, out, *arguments))
        return out[0]

    def checked(self, status: int) -> None:
        """Wait for the device, and raise the error of `status`, a C call's return code, or of the waiting."""
        if status or self.lib.futhark_context_sync(self.context):
            raise self.refused()

    def refused(self, complaint: str = "") -> BackendError:
        """Return the error that the context holds, or held, and leave the context ready for the next call."""
        texts = [complaint or self.complaint()]
        # The error of a kernel is cleared by reading it. An error of the driver stays: then the context is lost.
        if self.lib.futhark_context_sync(self.context):
            texts.append(self.complaint())
            if self.lib.futhark_context_sync(self.context):
                self._lost = self.complaint() or texts[-1]
                self._kind.context_lost(self._lost)
        if not self._lost:
            self._driver.detach_all()
        text = "\n".join(part for part in texts if part) or "Futhark gives no reason"
        out_of_memory = text.startswith("Failed to allocate memory") or "(out of memory)" in text
        kind = DeviceMemoryError if out_of_memory else KernelError
        return self._error(kind, text)

    def _error(self, kind: type[BackendError], text: str) -> BackendError:
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
        """Check that the device has room for an argument of `size` bytes, if the driver reports its memory.

        Futhark copies an argument also where its allocation failed: to wherever the memory's last pointer led.
        """
        free = None if size < _SMALL else self._driver.free_memory()
        if free is not None and free < size + _SMALL:
            self.lib.futhark_context_clear_caches(self.context)
            free = self._driver.free_memory()
        if free is not None and free < size + _SMALL:
            raise self._error(DeviceMemoryError, f"an argument of {size} bytes does not fit into {free} free bytes")

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

    def _free_released(self) -> None:
        while self._released:
            pointer, free = self._adopted.pop(self._released.popleft(), (None, None))
            if free is not None:
                self.free(free, pointer)

    def free(self, function: Callable[..., int], pointer: Any) -> None:
        """Free one device-side value, unless the context is gone or lost, which Futhark would not survive."""
        if self.context and not self._lost:
            function(self.context, pointer)
