"""Read a GPU's own counters while one climber a block makes the first passes from random tours: what bounds kernels.

Runs `ncu` (NVIDIA Nsight Compute, part of CUDA's toolkit) over itself, at the clocks as they are; it needs the right to
read counters. "issue" is the share of the issue slots that issue an instruction, "L1" the share of the time that the
data pipe of the first cache and the shared memory is busy, "L2" the same of the second cache; "warps" the share of a
multiprocessor's places for warps that are taken. `--json FILE` stores the table.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.harness.arguments import parser
from bench.harness.machine import describe, tsplib
from bench.harness.tables import print_rows, store
from pytsp.backends import open_backend
from pytsp.problem.kernel_input import form_of

# Enough climbers to fill an H200 at least once, by the block that each gets there (gpu_climbs.fut).
CASES = (
    ("kroA100", 100_000),
    ("kroA200", 20_000),
    ("pcb442", 4_224),
    ("pr439", 4_224),
    ("rd400", 4_224),
    ("rat783", 2_112),
    ("pcb3038", 264),
    ("gr229", 10_560),
    ("gr666", 1_056),
)
PASSES = 25
METRICS = {
    "time": "gpu__time_duration.sum",
    "instructions": "smsp__inst_executed.sum",
    "issue": "sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
    "l1": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "l2": "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "registers": "launch__registers_per_thread",
    "loads": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
}


def climb(folder: Path) -> None:
    """Make the passes that are counted."""
    kernels = open_backend("cuda", part="restarts")
    for name, climbers in CASES:
        form = form_of(tsplib(folder, name))
        loaded = kernels.call(f"{form.kind}_load", *form.arguments)
        batch = kernels.call("batch_random", form.whole.n, 0, 0, climbers)
        batch = kernels.call(f"{form.kind}_climb_block", loaded, batch, 1, PASSES)
        passes = kernels.call("batch_found", batch)[2]
        if passes.min() < PASSES:
            raise SystemExit(f"{name}: a climber made {passes.min()} passes, not {PASSES}")


def counted(text: str) -> list[dict[str, float]]:
    """Read what ncu prints: a line of names, one of units, and a line a kernel; other lines are not its table."""
    lines = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    if len(lines) < 3:
        raise SystemExit(f"ncu told no counters:\n{text}")
    names = lines[0]
    return [
        {key: float(line[names.index(metric)].replace(",", "")) for key, metric in METRICS.items()}
        for line in lines[2:]
    ]


def profile(folder: Path) -> list[dict[str, float]]:
    """Run this program under ncu, and return the counters of each case."""
    ncu = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")
    if ncu is None:
        raise SystemExit("ncu, NVIDIA's Nsight Compute, is neither on PATH nor in /usr/local/cuda/bin")
    options = ["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    options += ["--kernel-name", "regex:climb_block.*intrablock", "--metrics", ",".join(METRICS.values())]
    program = [sys.executable, "-m", "bench.kernels.counters", "--tsplib", str(folder), "--climb"]
    done = subprocess.run([ncu, *options, *program], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"ncu ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    found = counted(done.stdout)
    if len(found) != len(CASES):
        raise SystemExit(f"ncu counted {len(found)} kernels, not {len(CASES)}:\n{done.stdout}")
    return found


def shown(folder: Path) -> Iterator[dict[str, object]]:
    """Yield the table's rows."""
    for (name, climbers), found in zip(CASES, profile(folder), strict=True):
        form = form_of(tsplib(folder, name))
        n = form.whole.n
        moves = PASSES * climbers * n * (n - 3) / 2
        around = round((found["wavefronts"] - found["shared"]) / found["loads"], 1)
        yield {
            "instance": name,
            "climbers": climbers,
            "G moves/s": round(moves / found["time"]),
            "issue, %": round(found["issue"]),
            "L1, %": round(found["l1"]),
            "L2, %": round(found["l2"]),
            "instructions a move": round(32 * found["instructions"] / moves, 1),
            "L1 cycles a load": around if form.kind == "matrix" else None,
            "warps, %": round(found["warps"]),
            "registers": round(found["registers"]),
        }


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--climb", action="store_true", help="only make the passes, as ncu is to see them")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="store the table here")
    options = arguments.parse_args()
    if options.climb:
        climb(options.tsplib)
        return
    machine = f"{describe()}; {open_backend('cuda', part='restarts').describe()}"
    print(machine, flush=True)
    rows = print_rows(shown(options.tsplib))
    store(options.json, {"machine": machine, "rows": rows})


if __name__ == "__main__":
    main()
