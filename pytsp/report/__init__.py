"""Pages of runs and of comparisons: content, frame, style and script."""

from pytsp.report.comparison import comparison_page, is_comparison
from pytsp.report.document import page

__all__ = ["comparison_page", "is_comparison", "page"]
