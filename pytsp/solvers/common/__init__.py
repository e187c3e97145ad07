"""Parts of several solvers: the loop, the incumbent, the check of the reported tour."""
