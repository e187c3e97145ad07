"""Instances by name: those that come with the package, and TSPLIB's, downloaded on demand."""

from pytsp.datasets.registry import TSPLIB_URL, Dataset, cached, fetch, find, names, tsplib

__all__ = ["Dataset", "TSPLIB_URL", "cached", "fetch", "find", "names", "tsplib"]
