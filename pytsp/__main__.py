"""`pytsp` and `python -m pytsp`: the command line, from its first instant on."""

import sys


def main() -> int:
    """Run one command; return its exit code."""
    try:
        from pytsp.cli.commands import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        # It came among the imports, which nothing else looks after.
        print("pytsp: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
