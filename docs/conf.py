"""How Sphinx makes the documentation site; `python -m buildtools.site` calls it, and names the kernels' pages."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT), str(_ROOT / "docs" / "_extensions")]

import pytsp  # noqa: E402

project = "pytsp"
author = "The pytsp developers"
copyright = author
version = release = pytsp.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "myst_nb", "commands", "pictures"]
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

_references: Counter[str] = Counter()


def _number_references(app: Any, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Let the numbers of references go on from docstring to docstring: on one page each may be there only once."""
    number = re.compile(r"(?<=\[)\d+(?=\]_)|(?<=^\.\. \[)\d+(?=\] )")
    before = _references[app.env.docname]
    found = [0, *(int(each) for line in lines for each in number.findall(line))]
    lines[:] = [number.sub(lambda each: str(before + int(each[0])), line) for line in lines]
    _references[app.env.docname] += max(found)


def setup(app: Any) -> None:
    """Have autodoc call the function above."""
    app.connect("autodoc-process-docstring", _number_references)
