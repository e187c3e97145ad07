"""Pictures of tours and runs, for files and notebooks."""

PICTURES = ("tour", "convergence", "climbers")
"""What `pytsp plot` draws: tours; lengths over the time; how the climbers' lengths are distributed."""
