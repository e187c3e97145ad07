"""TSPLIB's files, in and out; the only place that knows its keywords."""
