"""Helpers without dependencies on pytsp: checks of arguments, the clock, memory, numbers."""
