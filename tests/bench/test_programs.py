"""The programs of bench/: those that pages name are there, and bench/README.md names them all with their pages."""

from __future__ import annotations

import re

from checkout import needs_checkout
from paths import ROOT

needs_checkout("bench", "docs")

README = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
# A name that is no file's: bench.kernels.cpu, not bench.py.
NAMED = re.compile(r"\bbench\.(?!py\b)\w+(?:\.\w+)*")


def programs() -> set[str]:
    """The modules of bench/ that are run."""
    files = {file for file in (ROOT / "bench").rglob("*.py") if '__name__ == "__main__"' in file.read_text("utf-8")}
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__") for file in files}


def test_programs_that_pages_name_are_there() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md"), *ROOT.glob("*.md"), ROOT / ".ci" / "run"]
    # What was released stays as it was.
    named = {page: set(NAMED.findall(page.read_text("utf-8"))) for page in pages if page.name != "CHANGELOG.md"}
    assert {page.name: strange for page, names in named.items() if (strange := names - programs())} == {}


def test_the_table_has_every_program_once_and_its_page() -> None:
    rows = re.findall(r"^\| .+ \| `python -m ([\w.]+).*` \| \[.+\]\((.+\.md)(?:#[\w-]+)?\) \|$", README, re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(programs())
    assert all((ROOT / "bench" / page).is_file() for _, page in rows)
