"""`python -m bench.same`, which is bench.checks.same."""

import sys

from bench.checks.same import main

if __name__ == "__main__":
    sys.exit(main())
