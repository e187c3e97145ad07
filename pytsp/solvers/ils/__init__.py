"""Iterated local search: climbers that kick their tour, repair it, and keep what is not longer."""
