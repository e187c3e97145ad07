"""Translate the Futhark programs for each backend and compile them into pytsp/_kernels, where they changed."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from buildtools import store
from buildtools.compiler import Compiler, find_compiler, obtain_compiler
from buildtools.entries import text_of
from buildtools.errors import BuildError
from buildtools.pace import Expected, about, expect, expect_all
from buildtools.paths import COMPAT, CPU_PROGRAM, GPU_PROGRAMS, KERNELS, REPAIRS, ROOT, TRANSLATIONS
from buildtools.processor import ADDED, CHOICES, PORTABLE, check_level, features_of
from buildtools.repairs import repair
from buildtools.report import Entry, Report, read_report, write_report
from buildtools.shell import available_cores, locked, run, say
from buildtools.toolchain import (
    BACKENDS,
    ON_THE_CPU,
    REQUIRED,
    can_run_here,
    choose_level,
    compile_module,
    description_of,
    find_c_compiler,
    find_headers,
    flags_of,
    identify_c_compiler,
    modules_of,
)
from buildtools.translations import Translation, read_translations
from pytsp.utils.memory import free_bytes

# What `futhark c --library` and its like run. They write the same C, but check what each of the compiler's own passes
# makes of the program, which takes a seventh of the time; `futhark test` has it checked.
PASSES = ("--no-check", "--library")
PIPELINES = {"c": "--seq-mem", "multicore": "--mc-mem", "opencl": "--gpu-mem", "cuda": "--gpu-mem"}
# Threads per module, and a heap that is seldom swept: 256 MB for what is new, and what is old is left alone up to
# 2 GB. A module then takes up to 3 GB; where less than 4 are free for each, the heap is swept more often.
HEAPS = {4 * 2**30: "-N{} -A256m -n4m -O2g", 0: "-N{} -A128m"}
# The Futhark compiler takes up to 2 GB for a module, and more where it may.
MOST_AT_ONCE = 4
PACKAGE = '"""Kernels that build.py compiled from futhark/ (generated; build.json says how)."""\n'


@dataclass(frozen=True)
class Options:
    """The request of a build."""

    # One that cannot be built is then an error. None: all that can be built and run here.
    backends: tuple[str, ...] | None = None
    # The Futhark compiler; None: find or obtain one.
    futhark: str | None = None
    # The processors that c and multicore must run on: a level of x86-64 and those above, or "portable", all. None: this
    # machine's level.
    march: str | None = None
    # Build again what has not changed.
    force: bool = False
    # Levels above `march` for which c and multicore are built besides; a processor loads the highest that it has.
    higher: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        """Give these options as the variables that `options_from_environment` reads."""
        named = {
            "PYTSP_BACKENDS": ",".join(self.backends or ()),
            "PYTSP_MARCH": ",".join(filter(None, (self.march, *self.higher))),
            "FUTHARK": self.futhark,
        }
        return {name: value for name, value in named.items() if value}


def options_from_environment() -> Options:
    """Read the options of a build by pip: PYTSP_BACKENDS, PYTSP_MARCH (FUTHARK is read where it is used).

    PYTSP_MARCH may list several levels with commas between them, the lowest first.
    """
    listed = os.environ.get("PYTSP_BACKENDS")
    levels = parse_levels(os.environ.get("PYTSP_MARCH", ""))
    backends = parse_backends(listed) if listed else None
    return Options(backends, march=next(iter(levels), None), higher=levels[1:])


def parse_levels(listed: str) -> tuple[str, ...]:
    """Read a list of levels of processors, from low to high with commas between them; it may be empty."""
    levels = tuple(check_level(level.strip()) for level in listed.split(",") if level.strip())
    if sorted(set(levels), key=CHOICES.index) != [*levels]:
        raise BuildError(f"levels of processors are listed from low to high, each once; got {listed}")
    return levels


def parse_backends(listed: str) -> tuple[str, ...]:
    """Read a list of backends with commas between them."""
    names = tuple(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
    unknown = [name for name in names if name not in BACKENDS]
    if unknown or not names:
        raise BuildError(f"no such backend: {', '.join(unknown) or repr(listed)}; there are {', '.join(BACKENDS)}")
    return names


def build_kernels(options: Options, folder: Path = KERNELS, ready: Callable[[], object] = lambda: None) -> Report:
    """Bring the kernels in `folder` up to date, and give what is there then.

    `ready` returns once pip has installed what the build needs, which may go on meanwhile.

    `BuildError` is raised if a backend that was asked for, or c or multicore, cannot be built, or one that was there
    cannot be built again; the others are built nonetheless, and a module that was there before stays.
    """
    try:
        with locked(folder):
            return _build_all(options, folder, ready)
    except OSError as error:
        raise BuildError(f"{error.filename or folder}: {error.strerror}; make room, or make it writable") from error


def build_levels(options: Options, folder: Path = KERNELS) -> Report:
    """Build the kernels, and those of the CPU for each higher level too, in a folder of its name within `folder`."""
    report = build_kernels(options, folder)
    for level in ADDED:
        if level in options.higher:
            build_kernels(Options(ON_THE_CPU, options.futhark, level, options.force), folder / level)
        else:
            shutil.rmtree(folder / level, ignore_errors=True)
    return report


def _build_all(options: Options, folder: Path, ready: Callable[[], object]) -> Report:
    for left_over in folder.glob(".work-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    wanted = options.backends or tuple(BACKENDS)
    remove_strangers(folder, wanted)
    old = read_report(folder)
    shipped = shipped_translations(options)
    all_shipped = all(name in shipped for backend in wanted for name in modules_of(backend))
    compiler = None if all_shipped else find_compiler(options.futhark)
    version = compiler.version if compiler else next((each.futhark for each in shipped.values()), old.futhark)
    texts = (file.read_text(encoding="utf-8") for file in COMPAT.values())
    tools = hash_of([identify_c_compiler(find_c_compiler()), platform.machine(), *texts])
    level = choose_level(options.march, find_c_compiler())
    jobs = [
        _Job(
            name,
            backend,
            folder,
            old.modules.get(name, Entry(built=False)),
            hash_of_program(program_of(name)),
            shipped[name].futhark if name in shipped else version,
            tools,
            level if backend in ON_THE_CPU else PORTABLE,
            options.force,
            shipped=shipped.get(name),
        )
        for backend in wanted
        for name in modules_of(backend)
    ]
    entries, stale = dict(old.modules), []
    for job in jobs:
        if not job.is_current():
            if options.backends is None and not can_run_here(job.backend):
                entries[job.name] = job.leave_out()
                continue
            try:
                stale.append(replace(job, includes=tuple(find_headers(job.backend, find_c_compiler()))))
            except BuildError as error:
                entries[job.name] = job.skip(str(error), BACKENDS[job.backend].remedy)
    if compiler is None and not all(job.shipped for job in stale):
        compiler = obtain_compiler(ready)
        stale = [job if job.shipped else replace(job, version=compiler.version) for job in stale]
    if uses_store(options):
        stale = [job if job.shipped else replace(job, key=key_of(job.name, job.backend, job.version)) for job in stale]
    entries.update(_build_stale(stale, compiler, ready))
    report = Report(compiler.version if compiler else version, entries)
    if report != old:
        (folder / "__init__.py").write_text(PACKAGE, encoding="utf-8")
        write_report(report, folder)
    kept = [job.backend for job in stale if entries[job.name].built and not job.made(entries[job.name])]
    missing = [name for name in options.backends or REQUIRED if not report.entry(name).built]
    failed = list(dict.fromkeys([*missing, *kept]))
    if failed:
        details = "\n".join(f"{name}: {report.entry(name).reason}" for name in failed)
        raise BuildError(f"{', '.join(failed)} could not be built\n{details}\n\n{report.table()}")
    return report


def shipped_translations(options: Options) -> dict[str, Translation]:
    """Give the translations that came with the sources, and are of these sources; none where a compiler is named."""
    if options.futhark or os.environ.get("FUTHARK"):
        return {}
    found = read_translations(TRANSLATIONS)
    changed = [name for name, each in found.items() if each.sources != hash_of_program(program_of(name))]
    if changed:
        say(f"futhark/ is not what {TRANSLATIONS.name}/ was made from; the Futhark compiler is needed for {changed}")
    return {name: each for name, each in found.items() if name not in changed}


def _build_stale(jobs: Sequence[_Job], compiler: Compiler | None, ready: Callable[[], object]) -> dict[str, Entry]:
    """Build modules side by side, those first that take longest, and give their entries."""
    cores = min(MOST_AT_ONCE, available_cores())
    threads = max(1, cores // max(1, len(jobs)))
    ordered = sorted(jobs, key=lambda job: -job.expected.total)
    if ordered:
        seconds = expect_all([job.expected for job in ordered], cores)
        say(f"building {', '.join(job.name for job in jobs)} on {cores} cores: {about(seconds)}")
    with ThreadPoolExecutor(cores) as pool:
        return dict(pool.map(lambda job: (job.name, job.build(compiler, threads, ready)), ordered))


def uses_store(options: Options) -> bool:
    """Tell whether translations of before may be taken, and are kept: not where a compiler is named, which may differ
    from another one of the same version."""
    return store.is_on() and not (options.futhark or os.environ.get("FUTHARK"))


def key_of(name: str, backend: str, version: str) -> str:
    """Give the key of a module's translation in the store: the checksum of all that decides it."""
    futhark = description_of(backend).futhark or backend
    return hash_of([name, hash_of_program(program_of(name)), version, futhark, PIPELINES[futhark], *PASSES])


def program_of(name: str) -> Path:
    """Give the Futhark program of a module."""
    return CPU_PROGRAM if name in ON_THE_CPU else GPU_PROGRAMS[name.partition("_")[2]]


def hash_of_program(program: Path) -> str:
    """Hash what a module's C is made of: the Futhark program with all that it imports, and the repairs of its C."""
    files = [*imported_files(program), REPAIRS]
    return hash_of(f"{os.path.relpath(file, program.parent)}\n{text_of(file)}" for file in files)


@dataclass(frozen=True)
class _Job:
    """One module, what it was built from before, and what it is to be built from."""

    name: str
    backend: str
    folder: Path
    old: Entry
    sources: str
    version: str
    tools: str
    level: str
    force: bool
    includes: tuple[Path, ...] = ()
    shipped: Translation | None = None
    key: str = ""

    @property
    def module(self) -> Path:
        return self.folder / f"_{self.name}.abi3.so"

    @property
    def flags(self) -> list[str]:
        return flags_of(self.backend, self.level)

    @property
    def source_hash(self) -> str:
        return hash_of([self.sources, self.version, self.backend])

    @property
    def tools_hash(self) -> str:
        return hash_of([self.tools, *self.flags])

    @property
    def expected(self) -> Expected:
        found = expect(self.backend, program_of(self.name), self.old)
        return replace(found, translating=0.0) if self.shipped or self.may_take() else found

    def may_take(self) -> bool:
        """Tell whether the store has the translation, and it is to be used."""
        return bool(self.key) and not self.force and store.entry_of(self.key).is_file()

    def has_module(self) -> bool:
        """Tell whether there is a module that these tools and flags made."""
        unchanged = self.old.built and self.old.tools_hash == self.tools_hash
        return unchanged and self.module.exists() and not self.force

    def is_current(self) -> bool:
        """Tell whether the module is the one that these sources give."""
        return self.has_module() and self.made(self.old)

    def made(self, entry: Entry) -> bool:
        """Tell whether `entry` is about these sources."""
        return entry.source_hash == self.source_hash

    def build(self, compiler: Compiler | None, threads: int, ready: Callable[[], object]) -> Entry:
        """Translate, and compile if the C is not what it was; the folder changes once all has succeeded."""
        work, began = self.folder / f".work-{self.name}", time.monotonic()
        seconds = self.old.seconds
        try:
            work.mkdir()
            c_hash, made = self.translate(compiler, work, threads)
            if not (self.has_module() and self.old.c_hash == c_hash):
                ready()
                translated = time.monotonic()
                say(f"{self.name}: compiling, {about(self.expected.compiling)}")
                generate_module_source(self.name, work)
                compile_module(self.backend, work / "module.c", work / self.module.name, self.includes, self.flags)
                if made:
                    seconds = [round(translated - began, 1), round(time.monotonic() - translated, 1)]
            publish(work, self.folder, self.name)
        except BuildError as error:
            return self.fail(str(error))
        finally:
            shutil.rmtree(work, ignore_errors=True)
        reason = f"Futhark {self.version}" + ("" if self.level == PORTABLE else f", for {self.level} and above")
        needs = list(features_of(self.level))
        return Entry(
            True, reason, "", self.flags, self.source_hash, c_hash, self.tools_hash, self.level, needs, seconds
        )

    def translate(self, compiler: Compiler | None, work: Path, threads: int) -> tuple[str, bool]:
        """Take the translation that came with the sources or is in the store, or make it; give the C's checksum, and
        whether Futhark made it."""
        if self.shipped is not None:
            self.shipped.copy(work)
            return hash_of_c(self.name, work), False
        if self.may_take() and store.take(self.key, self.name, work):
            say(f"{self.name}: translated before")
            return hash_of_c(self.name, work), False
        assert compiler is not None
        say(f"{self.name}: translating, {about(self.expected.translating)}")
        c_hash = translate(compiler, self.backend, self.name, work, threads)
        if self.key:
            store.keep(self.key, self.name, work, self.version, self.sources)
        return c_hash, True

    def fail(self, reason: str) -> Entry:
        """Keep the module of an earlier build, if there is one, and say so."""
        remedy = "mend that, then build again"
        if self.old.built and self.module.exists():
            kept = f"kept from an earlier build, the present one failed: {reason}"
            return replace(self.old, reason=kept, remedy=remedy)
        return Entry(False, reason, remedy)

    def leave_out(self) -> Entry:
        """Leave out what could not run here."""
        reason = f"no driver here: there is no {BACKENDS[self.backend].driver}"
        return self.skip(reason, f"`python build.py --backends {self.backend}` builds it all the same")

    def skip(self, reason: str, remedy: str) -> Entry:
        """Take away the module of other sources, which would not fit the rest."""
        self.module.unlink(missing_ok=True)
        return Entry(False, reason, remedy)


def hash_of(parts: Iterable[str]) -> str:
    """Give one checksum of several texts."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


def imported_files(program: Path) -> list[Path]:
    """Give the Futhark files that `program` consists of, itself first."""
    found, waiting = [], [program]
    while waiting:
        file = waiting.pop()
        if file in found or not file.is_file():
            continue
        found.append(file)
        names = re.findall(r'\bimport\s+"([^"]+)"', file.read_text(encoding="utf-8"))
        waiting += [(file.parent / f"{name}.fut").resolve() for name in names]
    if not found:
        raise BuildError(f"{program} is missing: the checkout is not complete")
    return found[:1] + sorted(found[1:])


def translate(compiler: Compiler, backend: str, name: str, work: Path, threads: int = 1) -> str:
    """Translate a module's program into C in `work`, and give the C's checksum."""
    # In a copy of the sources' folders: the C names them in its messages, and is then the same in every checkout.
    futhark = description_of(backend).futhark or backend
    program = copy_program(program_of(name), work / "sources")
    words = ["dev", *PASSES, PIPELINES[futhark], f"--backend={futhark}", program.name]
    run(
        [compiler.path, *words],
        cwd=program.parent,
        env={"LC_ALL": "C.UTF-8", "GHCRTS": os.environ.get("GHCRTS") or heap(threads)},
    )
    for suffix in ("c", "h", "json"):
        program.with_suffix(f".{suffix}").replace(work / f"{name}.{suffix}")
    source = work / f"{name}.c"
    source.write_text(repair(source.read_text(encoding="utf-8")), encoding="utf-8")
    return hash_of_c(name, work)


def heap(threads: int) -> str:
    """Give the options by which Futhark manages its memory, where as many modules are translated as there are cores."""
    free = free_bytes()
    at_once = min(MOST_AT_ONCE, available_cores())
    return next(options for least, options in HEAPS.items() if free is None or free >= at_once * least).format(threads)


def hash_of_c(name: str, folder: Path) -> str:
    """Hash the C of a module that lies in `folder`."""
    return hash_of((folder / f"{name}.{suffix}").read_text(encoding="utf-8") for suffix in ("c", "h"))


def copy_program(program: Path, folder: Path) -> Path:
    """Copy a Futhark program with all that it imports into `folder`, and give its place there."""
    files = imported_files(program)
    top = os.path.commonpath([file.parent for file in files])
    for file in files:
        copy = folder / os.path.relpath(file, top)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text_of(file), encoding="utf-8")
    return folder / os.path.relpath(files[0], top)


def generate_module_source(name: str, work: Path) -> None:
    """Wrap the C in `work` into the source of a Python module, in its own process: cffi holds the GIL."""
    run([sys.executable, "-m", "buildtools.wrap", name, work], cwd=ROOT, env={"PYTHONDONTWRITEBYTECODE": "1"})


def publish(work: Path, folder: Path, name: str) -> None:
    """Move the results from `work` into `folder`, each in one step."""
    for file in (f"{name}.c", f"{name}.h", f"_{name}.pyi", f"{name}.json", f"_{name}.abi3.so"):
        if (work / file).exists():
            (work / file).replace(folder / file)


def remove_strangers(folder: Path, wanted: Iterable[str] = ()) -> None:
    """Remove modules of other names, which an older checkout built: wheels are made of what lies there."""
    names = {f"_{name}" for backend in (*BACKENDS, *wanted) for name in modules_of(backend)}
    for module in folder.glob("*.abi3.so"):
        if module.name.partition(".")[0] not in names:
            module.unlink()


def clean(folder: Path = KERNELS) -> None:
    """Remove everything that was built, and the store of translations, but not the compiler in the cache."""
    for built in (folder, folder.parent.parent / "build", store.store_folder()):
        try:
            shutil.rmtree(built)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise BuildError(f"{error.filename or built} cannot be removed: {error.strerror}") from error
