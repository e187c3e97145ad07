"""The processor that kernels are compiled for: its level, and a module that this one cannot run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from checkout import needs_checkout

from pytsp.backends import cpu, status
from pytsp.backends.devices import missing_features
from pytsp.backends.kind import DeviceKind

needs_checkout("buildtools")

from buildtools import processor, toolchain  # noqa: E402
from buildtools.errors import BuildError  # noqa: E402


def cpuinfo(folder: Path, features: tuple[str, ...]) -> Path:
    """Write what Linux tells of a processor with these features."""
    file = folder / "cpuinfo"
    file.write_text(f"processor\t: 0\nflags\t\t: fpu {' '.join(features)} sse2\nbugs\t:\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("level", processor.CHOICES)
def test_a_processor_has_the_highest_level_whose_features_it_has(tmp_path: Path, level: str) -> None:
    features = processor.features_of(level)
    file = cpuinfo(tmp_path, features)
    assert processor.level_here(file) == level
    for higher in processor.CHOICES:
        missing = set(processor.features_of(higher)) - set(features)
        assert set(missing_features(processor.features_of(higher), file)) == missing
    for feature in features:
        assert processor.level_of(set(features) - {feature}) != level


def test_a_machine_that_tells_no_features_is_portable_and_refuses_nothing(tmp_path: Path) -> None:
    (tmp_path / "arm").write_text("Features\t: fp asimd\n", encoding="utf-8")
    for file in (tmp_path / "arm", tmp_path / "none"):
        assert processor.level_here(file) == "portable"
        assert missing_features(["avx2"], file) == []


def test_unknown_levels_are_refused_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BuildError, match="no such level of processors: 'native'; there are portable, x86-64-v2"):
        processor.check_level("native")
    monkeypatch.setattr(processor.platform, "machine", lambda: "aarch64")
    assert processor.check_level("portable") == "portable"
    with pytest.raises(BuildError, match="this machine is aarch64"):
        processor.check_level("x86-64-v3")


def test_a_compiler_that_does_not_know_the_level_compiles_for_all(tmp_path: Path) -> None:
    old = tmp_path / "cc"
    old.write_text('#!/bin/sh\ncase "$*" in *march*) exit 1;; esac\n', encoding="utf-8")
    old.chmod(0o755)
    assert toolchain.choose_level(None, str(old)) == "portable"
    assert toolchain.choose_level(None, toolchain.find_c_compiler()) in processor.CHOICES


def test_a_module_for_another_processor_is_refused_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"level": "x86-64-v9", "needs": ["sse2", "avx1024"]}
    (tmp_path / "build.json").write_text(json.dumps({"modules": {"c": entry}}), encoding="utf-8")
    (tmp_path / "c.json").write_text(json.dumps({"version": "0.25.27"}), encoding="utf-8")
    (tmp_path / "_c.abi3.so").write_bytes(b"")
    monkeypatch.setattr(DeviceKind, "kernels", tmp_path)
    monkeypatch.setattr(cpu, "missing_features", lambda needs: sorted(set(needs) - {"sse2"}))
    found = status()[0]
    assert (found.built, found.usable) == (True, False)
    assert found.reason == "built for x86-64-v9, but this processor lacks avx1024"
    assert "python build.py" in found.remedy
