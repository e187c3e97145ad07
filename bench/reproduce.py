"""`python -m bench.reproduce`, which is bench.papers.reproduce."""

import sys

from bench.papers.reproduce import main

if __name__ == "__main__":
    sys.exit(main())
