"""Pictures of tours and runs, for files and notebooks."""
