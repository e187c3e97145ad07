"""The one exception of the build."""

from __future__ import annotations


class BuildError(Exception):
    """A step of the build failed; the message says which, on what, why, and what to do."""
