"""`python -m bench.peers`, which is bench.solvers.peers."""

import sys

from bench.solvers.peers import main

if __name__ == "__main__":
    sys.exit(main())
