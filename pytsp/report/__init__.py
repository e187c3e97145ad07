"""The page of runs: what is in it, and its frame, style and script."""

from pytsp.report.document import page

__all__ = ["page"]
