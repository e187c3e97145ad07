"""`python -m pytsp` is the command line."""

import sys

from pytsp.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
