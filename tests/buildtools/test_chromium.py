"""How the browser that the report's tests use is found and obtained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from checkout import needs_checkout

needs_checkout("buildtools")

from buildtools import chromium  # noqa: E402


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "pytsp"


def test_chromium_is_the_systems_or_the_one_in_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium.shutil, "which", lambda name: "/usr/bin/chromium" if name == "chromium" else None)
    assert chromium.find_chromium() == chromium.Browser(Path("/usr/bin/chromium"))
    monkeypatch.setattr(chromium.shutil, "which", lambda _: None)
    assert chromium.find_chromium() is None
    program = cache / "chromium" / chromium.PROGRAM
    program.parent.mkdir(parents=True)
    program.touch()
    (program.parent / "libEGL.so").touch()
    assert chromium.find_chromium() == chromium.Browser(program, {"LD_LIBRARY_PATH": str(program.parent)})


def test_packages_without_the_browser_are_told(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def obtain(name: str, packages: Sequence[str]) -> Path:
        asked.append((name, packages))
        return cache / name

    monkeypatch.setattr(chromium.shutil, "which", lambda _: None)
    monkeypatch.setattr(chromium, "obtain", obtain)
    assert chromium.main() == 1
    assert "do not hold lib/chromium/chromium-headless-shell" in capsys.readouterr().err
    assert asked == [("chromium", chromium.PACKAGES)]
