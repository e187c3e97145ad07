"""The date, the commit and the machine of a benchmark, and the folder of TSPLIB's files."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

import pytsp
from pytsp.backends import status
from pytsp.datasets.registry import cached

ROOT = Path(__file__).resolve().parents[2]
TSPLIB = ROOT.parent / "shared" / "tsplib"
# Instances that are too large for TSPLIB.
LARGE = ROOT.parent / "shared" / "large"
# Test sets of the learning literature.
NEURAL = ROOT.parent / "shared" / "neural"
# The command line, in a process of its own.
PYTSP = [sys.executable, "-m", "pytsp"]


def tsplib(folder: Path, name: str) -> pytsp.Instance:
    """Read TSPLIB's instance `name`, from the folder or where `pytsp datasets` puts it, or end the program."""
    file = file_of(folder, name)
    if file is not None:
        return pytsp.read(file)
    raise SystemExit(
        f"{name}.tsp.gz is not in {folder}; download it by 'pytsp datasets --fetch {name}', or name the folder of "
        "TSPLIB's files by --tsplib"
    )


def file_of(folder: Path, name: str) -> Path | None:
    """Return the file of TSPLIB's instance `name`, in the folder or where `pytsp datasets` puts it; None if neither."""
    files = (folder / f"{name}.tsp.gz", folder / f"{name}.tsp", cached(name))
    return next((file for file in files if file is not None and file.is_file()), None)


def find(folder: Path, name: str) -> pytsp.Instance:
    """Read an instance of TSPLIB, or one of those beside it that are too large for it."""
    file = LARGE / f"{name}.tsp.gz"
    return pytsp.read(file) if file.is_file() else tsplib(folder, name)


def describe() -> str:
    """Say when, on what, and from which sources the figures were made."""
    report = json.loads((Path(pytsp.__file__).parent / "_kernels" / "build.json").read_text(encoding="utf-8"))
    level = report["modules"]["c"].get("level", "portable")
    return (
        f"{datetime.date.today()}, commit {commit()}, {processor()}, {os.cpu_count()} cores; "
        f"Futhark {report['futhark']}, c and multicore for {level}; usable: "
        f"{', '.join(found.name for found in status() if found.usable)}"
    )


def commit() -> str:
    """Give the checkout's commit, with a plus where files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def processor() -> str:
    """Give the processor's name as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "unknown processor"
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "unknown processor")
