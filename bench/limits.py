"""`python -m bench.limits`, which is bench.checks.limits."""

import sys

from bench.checks.limits import main

if __name__ == "__main__":
    sys.exit(main())
