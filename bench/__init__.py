"""Programs that reproduce the figures of docs/benchmarks.md: `python -m bench.cpu`, from the checkout."""
