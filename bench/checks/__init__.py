"""What has to hold, tried out at length: equal results on all backends, limits that are kept, nothing lost."""
