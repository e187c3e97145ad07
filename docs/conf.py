"""How Sphinx makes the documentation site; `python -m buildtools.site` calls it, and names the kernels' pages."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.util.matching import patfilter

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT), str(_ROOT / "docs" / "_extensions")]

project = "pytsp"
author = "The pytsp developers"
copyright = author
_found = re.search(r'(?m)^version = "(.*)"', (_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
version = release = _found[1] if _found else ""

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "myst_nb", "commands"]
exclude_patterns = ["_extensions", "**/.ipynb_checkpoints"]

myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"pytsp {release}"
html_copy_source = False
html_extra_path = [folder for folder in (os.environ.get("PYTSP_FUTHARK_DOC"),) if folder]


def _leave_out_what_is_missing(app: Any, page: str, source: list[str]) -> None:
    """Take patterns of the navigation that no page matches out of it: pages join it once they are there."""
    if page == "index":
        lines = source[0].splitlines(keepends=True)
        patterns = {line for line in lines if line.rstrip().endswith("*")}
        missing = {line for line in patterns if not patfilter(app.env.found_docs, line.strip())}
        source[0] = "".join(line for line in lines if line not in missing)


def setup(app: Any) -> None:
    """Have Sphinx ask the function above."""
    app.connect("source-read", _leave_out_what_is_missing)
