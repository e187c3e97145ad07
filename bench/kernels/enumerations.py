"""Speed of the three enumerations of the 2-opt neighbourhood, in moves a second on one thread (enumerations.fut).

The program is compiled by `futhark bench` for the c backend with the C compiler's flags that the built kernels have.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from bench.harness.machine import ROOT, describe
from bench.harness.tables import print_head, row
from buildtools.compiler import find_compiler
from buildtools.processor import CHOICES, level_here
from buildtools.toolchain import flags_of

PROGRAM = Path(__file__).with_suffix(".fut")
ENTRIES = ("by_flat", "by_closed_form", "by_diagonals")


def measure(level: str) -> dict[str, dict[tuple[int, int], float]]:
    """Run the program; give the mean seconds by entry point, and by (cities, tours)."""
    compiler = find_compiler()
    if compiler is None:
        raise SystemExit("there is no Futhark compiler: run `python build.py`, which obtains one")
    with tempfile.TemporaryDirectory() as folder:
        # `futhark bench` leaves its program where the source is.
        for file in (PROGRAM, *ROOT.glob("futhark/**/*.fut")):
            copy = Path(folder) / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        report = Path(folder) / "report.json"
        flags = " ".join(flag for flag in flags_of("c", level) if not flag.startswith(("-fPIC", "-fvisibility")))
        subprocess.run(
            [compiler.path, "bench", "--backend=c", f"--json={report}", PROGRAM.relative_to(ROOT)],
            cwd=folder,
            env={**os.environ, "CFLAGS": flags, "LC_ALL": "C.UTF-8"},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        stored = json.loads(report.read_text(encoding="utf-8"))
    found: dict[str, dict[tuple[int, int], float]] = {}
    for name, results in stored.items():
        for numbers, result in results["datasets"].items():
            n, count = (int(number) for number in re.findall(r"(\d+)i64", numbers))
            runs = result["runtimes"]
            found.setdefault(name.rpartition(":")[2], {})[n, count] = sum(runs) / len(runs) / 1e6
    return found


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--march", choices=CHOICES, default=level_here(), help="default: this machine's level")
    level = arguments.parse_args().march
    print(f"{describe()}; this table is for {level}")
    print_head("n", *(f"{entry[3:]}, G moves/s" for entry in ENTRIES))
    seconds = measure(level)
    for n, count in seconds[ENTRIES[0]]:
        rates = (count * n * (n - 3) / 2 / seconds[entry][n, count] / 1e9 for entry in ENTRIES)
        print(row(n, *(f"{rate:.2f}" for rate in rates)))


if __name__ == "__main__":
    main()
