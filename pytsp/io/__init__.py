"""Input and output: TSPLIB, coordinates, matrices, graphs, GeoJSON, CSV, and results as files."""
