"""Edge assembly crossover: a population of tours that take over from each other what makes them shorter."""
