"""What all benchmarks share: the machine, the command line, tables, pictures, and the solvers beside pytsp."""
