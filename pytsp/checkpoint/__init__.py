"""State of a solve in a file, from which it can resume."""
