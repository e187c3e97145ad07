"""Long checks of guarantees: equal results on all backends, kept limits, nothing lost."""
