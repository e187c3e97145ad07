"""`python -m bench.equal`, which is bench.checks.equal."""

import sys

from bench.checks.equal import main

if __name__ == "__main__":
    sys.exit(main())
