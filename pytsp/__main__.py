"""`python -m pytsp` is the command line."""

import sys

from pytsp.cli import main

if __name__ == "__main__":
    sys.exit(main())
