"""Random restarts: many climbers, each from a random tour to a local optimum."""
