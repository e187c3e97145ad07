"""Parts that all benchmarks share: the machine, the command line, tables, pictures, and the solvers beside pytsp."""
