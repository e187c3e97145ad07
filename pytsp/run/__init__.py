"""Clock, limits, progress, improvements and result of one solve."""
