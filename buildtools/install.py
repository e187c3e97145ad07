"""Install pytsp and what it needs into the current Python environment, by pip."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import site
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.paths import KERNELS, ROOT
from buildtools.shell import run, say
from pytsp.distribution import NAME

EXTRA = "test"
# Tells setup.py that build.py builds the kernels of an editable install.
BESIDE = "PYTSP_KERNELS_BESIDE"
STAMP = KERNELS / ".installed"


def list_in_pyproject(name: str) -> list[str]:
    """Read the list of this name from pyproject.toml, where requirements are said once (Python 3.10 reads no TOML)."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(rf'(?m)^{name}\s*=\s*(\[(?:[^\]"]|"[^"]*")*\])', text)
    if found is None:
        raise BuildError(f"pyproject.toml has no line `{name} = [...]`")
    listed: list[str] = ast.literal_eval(found.group(1))
    return listed


def build_requirements() -> list[str]:
    """Give what the build needs."""
    return list_in_pyproject("requires")


def requirements() -> list[str]:
    """Give what pytsp and its tests need."""
    return [*list_in_pyproject("dependencies"), *list_in_pyproject(EXTRA)]


def recipe_hash() -> str:
    """Give the checksum of all that decides what pip installs."""
    parts = [sys.version, *((ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "setup.py"))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def is_installed() -> bool:
    """Tell whether this environment holds pytsp, installed by this recipe, and all that it requires."""
    try:
        stamps = json.loads(STAMP.read_text(encoding="utf-8"))
        required = importlib.metadata.requires(NAME) or []
        for requirement in required:
            marker = requirement.partition(";")[2]
            name = re.match(r"[\w.-]+", requirement)
            extra = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
            if name and (extra is None or extra[1] == EXTRA):
                importlib.metadata.version(name.group())
    except (OSError, ValueError, importlib.metadata.PackageNotFoundError):
        return False
    return isinstance(stamps, dict) and stamps.get(sys.prefix) == recipe_hash()


def write_stamp() -> None:
    """Note that this environment was installed by this recipe."""
    try:
        stamps = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stamps = {}
    new = STAMP.with_name(f".{STAMP.name}")
    new.write_text(json.dumps({**stamps, sys.prefix: recipe_hash()}) + "\n", encoding="utf-8")
    new.replace(STAMP)


def placement() -> list[str]:
    """Give pip's options for the place: the environment if it is ours to change, else the user's folder."""
    if sys.prefix != sys.base_prefix:
        return []
    site_packages, standard = Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("stdlib"))
    managed = (standard / "EXTERNALLY-MANAGED").exists()
    # /usr/local is the administrator's, also where the distribution manages the rest.
    ours = is_writable(site_packages) and (not managed or site_packages.is_relative_to("/usr/local"))
    options = [] if ours else ["--user"]
    if managed:
        say(f"{standard} is the system's: installing {'in /usr/local' if ours else 'for this user only'}")
        options.append("--break-system-packages")
    return options


def is_writable(folder: Path) -> bool:
    """Tell whether files can be made in `folder`, or it itself where it does not exist yet."""
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK)


def ensure_pip(options: list[str]) -> None:
    """Make sure that this Python has pip."""
    if importlib.util.find_spec("pip"):
        return
    say("this Python has no pip: installing the one that comes with Python")
    try:
        run([sys.executable, "-m", "ensurepip", *(["--user"] if "--user" in options else [])])
    except BuildError as error:
        raise BuildError(
            f"{sys.executable} has no pip ({error}). Three ways to get it: "
            "`apt install python3-pip` (or the system's like); `python3 -m venv env && . env/bin/activate`, "
            "then this again; a Python from python.org, which has it"
        ) from error


def leave_uncompiled(options: list[str]) -> list[str]:
    """Give pip's option that leaves modules uncompiled, where who imports them may write beside them: in the system's
    folders only root may, and others would compile them at each start."""
    return ["--no-compile"] if sys.prefix != sys.base_prefix or "--user" in options else []


def pip_install(arguments: list[str], env: Mapping[str, str] | None = None) -> None:
    """Run pip's install, quietly.

    In an environment or a user's folder Python compiles each module where it is first imported, most never;
    `buildtools.bytecode` compiles those that pytsp requires.
    """
    environment = {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PIP_NO_INPUT": "1",
        **(env or {}),
    }
    try:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", *leave_uncompiled(arguments)]
        run([*pip, *arguments], env=environment)
    except BuildError as error:
        raise BuildError(f"pip could not install {' '.join(arguments)}: {error}") from error


def install_build_requirements(options: list[str]) -> None:
    """Install what the build itself needs, and make it importable in this process."""
    ensure_pip(options)
    say("installing what the build needs")
    pip_install([*options, *build_requirements()])
    if "--user" in options:
        site.addsitedir(site.getusersitepackages())
    importlib.invalidate_caches()


def install_requirements(options: list[str]) -> None:
    """Install what pytsp and its tests need."""
    pip_install([*options, *requirements()])


def install_pytsp(options: list[str]) -> None:
    """Install this checkout, editable, where all that it needs is installed; its kernels are built meanwhile."""
    pip_install([*options, "--no-build-isolation", "--editable", f"{ROOT}[{EXTRA}]"], {BESIDE: "1"})
    if shutil.which("pyenv") and ".pyenv" in sys.prefix:
        run(["pyenv", "rehash"])


def scripts_folder(options: list[str]) -> Path:
    """Give the folder where pip put the program ``pytsp``."""
    scheme = f"{os.name}_user" if "--user" in options else None
    return Path(sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts"))


def tell_path(options: list[str]) -> None:
    """Say what to do where the program ``pytsp`` is not on PATH."""
    if shutil.which("pytsp") is None:
        say(f'`pytsp` is not on PATH yet: export PATH="{scripts_folder(options)}:$PATH"')
