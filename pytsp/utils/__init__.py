"""What every room may use and nothing of pytsp is needed for: checks of arguments, the clock, memory, numbers."""
