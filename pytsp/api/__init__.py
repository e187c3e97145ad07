"""Functions that users call: solve, resume, solve many instances, compare backends."""
