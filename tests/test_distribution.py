"""The distribution's name and version, another distribution named pytsp, and what a type checker sees."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from checkout import needs_checkout
from paths import ROOT
from processes import run_python

import pytsp
from pytsp.distribution import NAME, VERSION, find_namesake, warn_of_namesake
from pytsp.exceptions import PytspWarning


def test_the_version_is_the_distributions() -> None:
    assert pytsp.__version__ == VERSION
    try:
        installed = metadata.version(NAME)
    except metadata.PackageNotFoundError:
        pytest.skip("pytsp is not installed, but on the path")
    assert installed == VERSION


def test_the_project_file_says_the_same_name_and_no_version() -> None:
    needs_checkout("buildtools")
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r'(?m)^name = "(.*)"', text) == [NAME]
    assert 'version = { attr = "pytsp.distribution.VERSION" }' in text
    assert not re.search(r'(?m)^version = "', text)


def test_what_is_installed_is_ours_alone() -> None:
    assert find_namesake(str(Path(pytsp.__file__).parent)) is None


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of installed packages, and the only one on the path."""
    folder = tmp_path / "site-packages"
    (folder / "pytsp").mkdir(parents=True)
    (folder / "pytsp_futhark-0.1.0.dist-info").mkdir()
    (folder / "pytspeech-1.0.dist-info").mkdir()
    (folder / "pytsp-notes.txt").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "nowhere"), str(folder)])
    return folder


@pytest.mark.parametrize(
    ("record", "version"),
    [
        ("pytsp-0.2.7.dist-info", "0.2.7"),
        ("pytsp-0.2.7-py3.11.egg-info", "0.2.7"),
        ("pytsp.egg-info", ""),
        ("pytsp.egg-link", ""),
    ],
)
@pytest.mark.filterwarnings("always")
def test_a_namesake_is_told_in_one_line(site: Path, record: str, version: str, capfd: object) -> None:
    package = str(site / "pytsp")
    assert find_namesake(package) is None
    (site / record).mkdir()
    assert find_namesake(package) == (version, str(site))
    with pytest.warns(
        PytspWarning, match=r"`pip uninstall pytsp pytsp-futhark`, then install pytsp-futhark again"
    ) as all_:
        warn_of_namesake(package)
    assert len(all_) == 1 and "\n" not in str(all_[0].message)
    assert f"{' '.join(filter(None, ('pytsp', version)))} in {site} is not this package" in str(all_[0].message)


def test_a_namesake_elsewhere_is_only_uninstalled(site: Path, tmp_path: Path) -> None:
    (site / "pytsp-0.2.7.dist-info").mkdir()
    with pytest.warns(
        PytspWarning, match=r"is not this package, which is pytsp-futhark [\d.]+: `pip uninstall pytsp`$"
    ):
        warn_of_namesake(str(tmp_path / "checkout" / "pytsp"))


def test_the_record_of_a_former_build_is_no_namesake(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "pytsp.egg-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(checkout), *sys.path])
    assert find_namesake(str(checkout / "pytsp")) == ("", str(checkout))
    (checkout / "setup.py").touch()
    assert find_namesake(str(checkout / "pytsp")) is None


def test_the_import_tells_of_a_namesake_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    (folder / "pytsp-0.2.7.dist-info").mkdir(parents=True)
    program = f"import sys; sys.path.append({str(folder)!r}); import pytsp; print(pytsp.__version__)"
    done = run_python("-c", program, check=True)
    assert done.stdout == f"{VERSION}\n"
    assert [line for line in done.stderr.splitlines() if str(folder) in line] == done.stderr.splitlines()
    assert done.stderr.startswith("pytsp:1: PytspWarning: pytsp 0.2.7 in ") and done.stderr.count("\n") == 1


def test_the_import_needs_no_metadata() -> None:
    program = "import sys, pytsp; print(sorted({'importlib.metadata', 'email'} & {*sys.modules} - before))"
    done = run_python("-c", f"import sys; before = {{*sys.modules}}\n{program}", check=True)
    assert done.stdout == "[]\n"


def documented() -> set[str]:
    """What the reference of the package tells of, `generate.uniform` and the like; in a checkout."""
    page = ROOT / "docs" / "reference" / "python.rst"
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    return {*re.findall(r"(?m)^\.\. auto(?:function|class):: pytsp\.([\w.]+)$", text)}


@pytest.mark.slow
def test_a_type_checker_knows_every_name(tmp_path: Path) -> None:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("it needs mypy: pip install mypy")
    others = {"__version__", "generate.uniform", "backends.status", "networkx.solve", "report.page"}
    names = sorted({*pytsp.__all__} - {"generate"} | documented() | others)
    # The modules that the reference names need no import of their own, but for that of the callback's argument.
    imports = ("pytsp", "pytsp.distributed", "pytsp.run.monitor")
    lines = [*(f"import {module}" for module in imports), *(f"reveal_type(pytsp.{name})" for name in names)]
    (tmp_path / "user.py").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "user.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert len(revealed) == len(names), done.stdout
    assert [kind for kind in revealed if kind in ("Any", "object", "builtins.object")] == []
    assert done.returncode == 0, done.stdout
    (tmp_path / "user.py").write_text("import pytsp\npytsp.sovle\n")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'Module has no attribute "sovle"' in done.stdout
