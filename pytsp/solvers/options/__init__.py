"""What the solvers may be asked for: a class each, whose fields are told in one place and checked where it is made."""
