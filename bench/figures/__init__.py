"""The figures of docs/algorithms, each drawn from a run of pytsp's: ``python -m bench.figures [NAME …]``."""
