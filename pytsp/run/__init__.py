"""What one solve tells and leaves: clock, limits, progress, improvements, and its result."""
