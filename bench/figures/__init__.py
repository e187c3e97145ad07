"""The figures of docs/algorithms.md, each drawn from a run of pytsp's: ``python -m bench.figures [NAME …]``."""
