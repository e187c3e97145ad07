"""The tables and figures of five papers again, by pytsp, beside theirs: `python -m bench.reproduce PAPER`."""
