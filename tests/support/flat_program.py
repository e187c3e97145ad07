"""The flattened crossover as a program of the tests' own, compiled by futhark-ffi where it changed."""

from __future__ import annotations

import shutil
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import needs_checkout
from paths import ROOT

NAME = "flat_testing"
PROGRAM = ROOT / "futhark" / "flat" / f"{NAME}.fut"
FOLDER = ROOT / "build" / "flat"
# What takes longest is gcc; tests run for less than a second.
FLAGS = ("-std=gnu11", "-O1", "-fPIC", "-pthread", "-ffp-contract=off", "-w")


def translate_into(work: Path) -> str:
    """Write the C of the program into a folder, translated or from the store, and give its checksum."""
    from buildtools import store  # noqa: PLC0415
    from buildtools.compiler import find_compiler  # noqa: PLC0415
    from buildtools.kernels import (  # noqa: PLC0415
        PASSES,
        PIPELINES,
        Options,
        copy_program,
        hash_of,
        hash_of_c,
        hash_of_program,
        uses_store,
    )
    from buildtools.shell import run  # noqa: PLC0415

    compiler = find_compiler()
    if compiler is None:
        pytest.skip("there is no Futhark compiler: run `python build.py`")
    sources = hash_of_program(PROGRAM)
    command = ["dev", *PASSES, PIPELINES["c"], "--backend=c"]
    key = hash_of([NAME, sources, compiler.version, *command])
    if not (uses_store(Options()) and store.take(key, NAME, work)):
        program = copy_program(PROGRAM, work / "sources")
        run([compiler.path, *command, program.name], cwd=program.parent, env={"LC_ALL": "C.UTF-8"})
        for suffix in ("c", "h", "json"):
            program.with_suffix(f".{suffix}").replace(work / f"{NAME}.{suffix}")
        if uses_store(Options()):
            store.keep(key, NAME, work, compiler.version, sources)
    return hash_of_c(NAME, work)


def compile_program() -> Path:
    """Compile the program where it changed, and give the module."""
    from buildtools.kernels import generate_module_source, hash_of  # noqa: PLC0415
    from buildtools.shell import locked  # noqa: PLC0415
    from buildtools.toolchain import compile_module  # noqa: PLC0415

    FOLDER.mkdir(parents=True, exist_ok=True)
    with locked(FOLDER):
        work = FOLDER / ".work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        key = hash_of([translate_into(work), *FLAGS, sys.implementation.cache_tag or ""])
        module = FOLDER / key[:16] / f"_{NAME}.abi3.so"
        if not module.is_file():
            generate_module_source(NAME, work)
            compile_module("c", work / "module.c", work / module.name, (), list(FLAGS))
            for old in FOLDER.glob("*/"):
                if old != work:
                    shutil.rmtree(old)
            module.parent.mkdir()
            (work / module.name).replace(module)
        shutil.rmtree(work)
    return module


class FlatProgram:
    """The steps of the flattened crossover, called by their names: arrays in, arrays out."""

    def __init__(self) -> None:
        needs_checkout("buildtools", "futhark")
        futhark_ffi = pytest.importorskip("futhark_ffi", reason="the tests compile a program by it")
        spec = spec_from_file_location(f"_{NAME}", compile_program())
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        self._program = futhark_ffi.Futhark(module)

    def call(self, entry: str, *arguments: object) -> Any:
        """Call a step with arrays of the right types and numbers, and return lists and numbers."""
        found = getattr(self._program, f"flat_{entry}")(*arguments)
        results = found if isinstance(found, tuple) else (found,)
        made = tuple(each if isinstance(each, int) else self._program.from_futhark(each).tolist() for each in results)
        return made if isinstance(found, tuple) else made[0]


def whole(numbers: object) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return whole numbers as Futhark has most of them."""
    return np.ascontiguousarray(numbers, dtype=np.int32)
