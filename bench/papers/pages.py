"""Bring the pages of docs/papers up to date with bench/results: their tables, and the figures that they show.

A page holds, between the lines <!-- reproduce-PAPER-TAG.json --> and <!-- end -->, the tables and figures of the stored
report. <!-- reproduce-PAPER-TAG.json without "A", "B" --> leaves out those whose titles begin so, as another report
of the page has them. Notes of tables are left out too: the page explains each table once, in its own words.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from bench.harness.machine import ROOT
from bench.harness.pictures import pyplot
from bench.harness.tables import row
from bench.papers.tables import Figure, Report, Table, stored

PAGES = ROOT / "docs" / "papers"
FIGURES = ROOT / "docs" / "images" / "papers"
RESULTS = ROOT / "bench" / "results"
MARKED = re.compile(r"<!-- (reproduce-(?:\w+)-([\w-]+)\.json)( without [^>]+)? -->\n.*?<!-- end -->", re.DOTALL)
QUOTED = re.compile(r'"([^"]+)"')
# A longer list of what was left out is not shown: the missing rows show it.
MOST_WORDS = 30


def shown(file: str) -> Report:
    """Read a stored report as its page shows it: as the paper's module revises it, if it does."""
    report = stored(RESULTS / file)
    revise = getattr(import_module(f"bench.papers.{report.paper}"), "revised", None)
    return revise(report, RESULTS) if revise else report


def filled(page: str) -> str:
    """Return a page with what the stored reports say in all marked places."""

    def fill(found: re.Match[str]) -> str:
        report = selected(found)
        pictures = [f"![{each.title}](../images/papers/{picture(report, each, found[2])})" for each in report.figures]
        reported = "\n".join([heading(report), *map(without_note, report.tables), *(f"{line}\n" for line in pictures)])
        return f"<!-- {found[1]}{found[3] or ''} -->\n\n{reported}\n<!-- end -->"

    return MARKED.sub(fill, page)


def selected(found: re.Match[str]) -> Report:
    """Return the report of a mark without the tables and figures that the mark leaves out.

    Raises
    ------
    ValueError
        If the mark leaves out what the report does not have.
    """
    report, hidden = shown(found[1]), tuple(QUOTED.findall(found[3] or ""))
    titles = [*(table.title for table in report.tables), *(figure.title for figure in report.figures)]
    for prefix in hidden:
        if not any(title.startswith(prefix) for title in titles):
            raise ValueError(f"{found[1]} has no table or figure whose title begins with {prefix!r}")
    tables = [table for table in report.tables if not table.title.startswith(hidden or " ")]
    figures = [figure for figure in report.figures if not figure.title.startswith(hidden or " ")]
    return replace(report, tables=tables, figures=figures)


def heading(report: Report) -> str:
    """Write a report's command, machine and remarks as a table."""
    run = " ".join([f"seed {report.seed}; {report.machine}.", *report.remarks])
    return "\n".join([row("command", "run"), row("---", "---"), row(f"`{report.command}`", run), ""])


def without_note(table: Table) -> str:
    """Write a table without its note, and without a long list of what was left out."""
    left_out = table.left_out
    if len(" ".join(left_out).split()) > MOST_WORDS:
        left_out = ["the rows that are missing"]
    lines = replace(table, note="", left_out=left_out).markdown().splitlines()
    return "\n".join([*lines[:2], *lines[4:], ""])


def picture(report: Report, figure: Figure, tag: str) -> str:
    """Name the file of a figure."""
    return f"{report.paper}-{figure.name}-{tag}.svg"


def draw(figure: Figure, file: Path) -> None:
    """Draw a figure into a file of any kind that matplotlib writes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    plt = pyplot()
    # The same data make the same file, and a small one.
    plt.rcParams.update({"svg.hashsalt": file.name, "svg.fonttype": "none"})
    drawn, panel = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for line in figure.series:
        if figure.is_bars:
            panel.bar(line.label, line.y[0])
        else:
            panel.plot(line.x, line.y, ".-", label=line.label, markersize=4, linewidth=1)
    panel.set(title=figure.title, xlabel=figure.x, ylabel=figure.y, yscale=figure.scales[1])
    panel.grid(alpha=0.3)
    if figure.is_bars:
        panel.tick_params(axis="x", labelrotation=20)
    else:
        panel.set_xscale(figure.scales[0])
        panel.legend(fontsize="small")
    drawn.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    plt.close(drawn)


def main() -> None:
    """Write the pages, and draw what they show."""
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text), encoding="utf-8")
        for found in MARKED.finditer(text):
            report = selected(found)
            for figure in report.figures:
                draw(figure, FIGURES / picture(report, figure, found[2]))


if __name__ == "__main__":
    main()
