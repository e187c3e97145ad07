"""`python -m bench.batches`, which is bench.solvers.batches."""

import sys

from bench.solvers.batches import main

if __name__ == "__main__":
    sys.exit(main())
