"""Benchmarks of tour quality over time, beside other solvers, and of the cost of a start."""
