"""Options of the solvers: a class each, whose fields are defined in one place and checked when an object is made."""
