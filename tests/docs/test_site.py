"""The documentation site: it is made without a warning, its links lead somewhere, and it needs no network."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from checkout import needs_checkout
from paths import ROOT

needs_checkout("buildtools")

from buildtools import site  # noqa: E402
from buildtools.compiler import Compiler, find_compiler  # noqa: E402

# What a browser loads by itself, by element; a link is followed only by who clicks it.
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "object": "data", "source": "src"}
# Of links, those that only say where a page belongs.
UNLOADED = {"index", "search", "next", "prev", "author", "canonical"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site: the one that PYTSP_SITE names, else one that is made here."""
    made = os.environ.get("PYTSP_SITE")
    if made:
        return Path(made).resolve()
    for module in ("sphinx", "myst_nb", "furo", "matplotlib"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not here: pip install 'pytsp-futhark[docs]'")
    if find_compiler() is None:
        pytest.skip("the Futhark compiler is not here; build.py obtains it")
    # A warning is an error there.
    return site.build_site(tmp_path_factory.mktemp("site")).parent


class Links(HTMLParser):
    """What a page links to, what it loads, and the names of its places."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.names |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif LOADED.get(tag) in given and not UNLOADED & {*given.get("rel", "").split()}:
            self.loaded.append(given[LOADED[tag]])


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[Path, Links]:
    """Every page of the site."""
    return {page: Links(page) for page in folder.rglob("*.html")}


@pytest.mark.slow
def test_the_site_has_its_parts(folder: Path, pages: dict[Path, Links]) -> None:
    written = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert {folder / path.with_suffix(".html") for path in written} <= {*pages}
    reference = (folder / "reference" / "python.html").read_text(encoding="utf-8")
    assert all(f'id="pytsp.{name}"' in reference for name in ("solve", "Instance", "Result"))
    commands = (folder / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "pytsp solve" in commands and "--time-limit SEC" in commands
    kernels = (folder / "futhark" / "index.html").read_text(encoding="utf-8")
    assert "two_opt" in kernels and "_tests" not in kernels
    # The notebook was run, and drew pictures.
    assert len(pages[folder / "how-to" / "notebook.html"].loaded) >= 3
    assert list((folder / "_images").glob("*.png"))


@pytest.mark.slow
def test_the_pictures_of_all_pages_are_drawn(folder: Path) -> None:
    texts = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]
    shown = {Path(name).name for text in texts for name in re.findall(r"images/([\w/-]+\.(?:svg|png))", text)}
    drawn = {file.name: file for file in (folder / "_images").iterdir()}
    assert len(shown) >= 50 and shown <= {*drawn}
    # Each line and mark of a figure is a path.
    assert all("<path" in drawn[name].read_text(encoding="utf-8") for name in shown if name.endswith(".svg"))


@pytest.mark.slow
def test_every_link_within_the_site_leads_to_a_place(pages: dict[Path, Links]) -> None:
    astray = []
    for page, found in pages.items():
        for link in [*found.links, *found.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            named = target not in pages or not parts.fragment or unquote(parts.fragment) in pages[target].names
            # futhark doc links to places of values that a module takes over from another, and lists them there.
            if not target.is_file() or not (named or "futhark" in page.parts):
                astray.append(f"{page.name}: {link}")
    assert astray == []


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Links]) -> None:
    loaded = {link for found in pages.values() for link in found.loaded if not link.startswith("data:")}
    assert loaded and [link for link in loaded if urlsplit(link).scheme or urlsplit(link).netloc] == []


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", ["index", "tutorial", "how-to/notebook", "reference/python", "futhark/index"])
def test_pages_open_offline_without_a_fault(name: str, folder: Path, chromium: Any) -> None:
    page = chromium.new_page()
    page.context.set_offline(True)
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("requestfailed", lambda request: faults.append(request.url))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((folder / f"{name}.html").as_uri())
    assert page.inner_text("h1")
    assert faults == [] and all(url.startswith(("file:", "data:")) for url in asked)


@pytest.mark.slow
@pytest.mark.browser
def test_the_search_finds_offline(folder: Path, chromium: Any) -> None:
    page = chromium.new_page()
    page.context.set_offline(True)
    page.goto(f"{(folder / 'search.html').as_uri()}?q=checkpoint")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    assert page.locator("#search-results li a").count() >= 2


def test_a_fault_of_sphinx_or_futhark_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object, **__: object) -> str:
        raise site.BuildError("index.md:3: WARNING: a link astray")

    monkeypatch.setattr(site, "run", failing)
    monkeypatch.setattr(site, "find_compiler", lambda: Compiler(Path("futhark"), "0.0.0"))
    monkeypatch.setattr(sys, "argv", ["site", str(tmp_path / "site")])
    assert site.main() == 1
    assert "the site could not be made: index.md:3: WARNING: a link astray" in capsys.readouterr().err
