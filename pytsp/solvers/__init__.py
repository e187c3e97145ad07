"""The solvers, a file or folder each, with what they may be asked for and what they share."""
