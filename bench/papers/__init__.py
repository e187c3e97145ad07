"""The tables and figures of five papers again, by pytsp, beside theirs: `python -m bench.papers.reproduce PAPER`."""
