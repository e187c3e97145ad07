"""Instances, their distances, tours, and the forms in which kernels take them."""
