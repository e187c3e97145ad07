"""Bring the pages of docs/papers up to date with bench/results: their tables, and the figures that they show.

A page holds, between the lines <!-- reproduce-PAPER-TAG.json --> and <!-- end -->, what the stored report says.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from bench.harness.machine import ROOT
from bench.harness.pictures import pyplot
from bench.papers.tables import Figure, Report, stored

PAGES = ROOT / "docs" / "papers"
FIGURES = ROOT / "docs" / "images" / "papers"
RESULTS = ROOT / "bench" / "results"
MARKED = re.compile(r"<!-- (reproduce-(\w+)-([\w-]+)\.json) -->\n.*?<!-- end -->", re.DOTALL)


def shown(file: str) -> Report:
    """Read a stored report as its page shows it: as the paper's module revises it, if it does."""
    report = stored(RESULTS / file)
    revise = getattr(import_module(f"bench.papers.{report.paper}"), "revised", None)
    return revise(report, RESULTS) if revise else report


def filled(page: str) -> str:
    """Return a page with what the stored reports say in all marked places."""

    def fill(found: re.Match[str]) -> str:
        report = shown(found[1])
        pictures = [f"![{each.title}](../images/papers/{picture(report, each, found[3])})" for each in report.figures]
        told = "\n".join([report.markdown(), *(f"{line}\n" for line in pictures)])
        return f"<!-- {found[1]} -->\n\n{told}\n<!-- end -->"

    return MARKED.sub(fill, page)


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
        for file, _, tag in MARKED.findall(text):
            report = shown(file)
            for figure in report.figures:
                draw(figure, FIGURES / picture(report, figure, tag))


if __name__ == "__main__":
    main()
