"""A backend that is open: kernels to call, and values on its device to look at and to make."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytsp.backends.entry_points import EntryPoint, Manifest
from pytsp.backends.futhark import FutharkContext
from pytsp.backends.kind import PARTS, Found
from pytsp.backends.marshal import Opaque
from pytsp.exceptions import BackendError, DeviceMemoryError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Backend(FutharkContext):
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

    def __init__(self, found: Found, tuning: Mapping[str, int]) -> None:
        self._manifest = Manifest(found.manifest, found.module.ffi, found.module.lib)
        super().__init__(found, tuning)

    @property
    def entry_points(self) -> list[str]:
        """The names that `call` takes, sorted."""
        return self._manifest.names

    def call(self, entry: str, *arguments: object) -> Any:
        """Call an entry point and wait for its results.

        Parameters
        ----------
        entry : str
            Its name.
        *arguments
            Exactly what Futhark's declaration says: NumPy arrays of that dtype and number of dimensions, ints in
            range, floats, bools, and `Opaque` values of this backend. Nothing is converted; arrays that are not
            contiguous are copied.

        Returns
        -------
        object
            A fresh NumPy array, an int, a float, a bool or an `Opaque`; a tuple where there are several results.

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
        """Return what a value of this backend consists of: arrays, numbers, and dicts of records within."""
        from pytsp.backends.records import record_of  # noqa: PLC0415

        self._require_open()
        record = record_of(self._manifest, value.type)
        with self._lock:
            self._begin_call()
            return record.look_at(self, record.type.upload(self, value))

    def value(self, type_name: str, fields: Mapping[str, Any]) -> Opaque:
        """Return a new value on the device, made of what `fields` says of another, on this backend or any other.

        Nothing is converted, and only types are checked: whether a tour is one, the caller knows.
        """
        from pytsp.backends.records import record_of  # noqa: PLC0415

        self._require_open()
        record = record_of(self._manifest, type_name)
        with self._lock:
            self._begin_call()
            made = record.upload(self, record.check(fields))
            return Opaque(self, type_name, self.adopt(made, record.type.release))

    def keep(self, array: NDArray[Any]) -> Opaque:
        """Return an array on the device, which `call` takes in its place: it is copied there once for many calls.

        Raises
        ------
        BackendError
            If no entry point takes such an array.
        """
        self._require_open()
        kind = self._manifest.array_type(array)
        with self._lock:
            self._begin_call()
            return Opaque(self, kind.name, self.adopt(kind.upload(self, kind.check(array)), kind.release))

    def _entry(self, name: str) -> EntryPoint:
        """Return an entry point; where another part has it, say which."""
        try:
            return self._manifest[name]
        except BackendError as error:
            if self.part is None or name in self.entry_points:
                raise
            for part in PARTS:
                if name in self._kind.manifest(part)["entry_points"]:
                    raise BackendError(
                        f"backend {self.name!r} has entry point {name!r} in its part {part!r}, and this is its part "
                        f"{self.part!r}; call open_backend with part={part!r}"
                    ) from error
            raise

    def free_memory(self) -> int | None:
        """Return the device's free memory in bytes, or None where it is not known: only CUDA says.

        Memory that Futhark keeps for reuse counts as used; `release_memory` gives it back.
        """
        self._require_open()
        with self._lock:
            self._require_open()
            return self._driver.free_memory()

    def release_memory(self) -> None:
        """Give back the memory that Futhark keeps for the next call."""
        self._require_open()
        with self._lock:
            self._begin_call()
            self.lib.futhark_context_clear_caches(self.context)

    def describe(self) -> str:
        """Say in a line what runs the kernels."""
        return f"{self.name} ({self.device or self.device_name}; {self.compiler})"

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
            if not self._lost:
                self._driver.attach()
            self._free_context()

    def __enter__(self) -> Backend:
        self._require_open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
