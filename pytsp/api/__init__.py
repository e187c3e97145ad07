"""What users call: solve, resume, solve many instances, compare backends; each from arguments to results."""
