"""Pictures of tours and runs, for files and notebooks."""

PICTURES = ("tour", "convergence", "climbers")
"""The pictures of `pytsp plot`: tours; lengths over the time; the distribution of the climbers' lengths."""
