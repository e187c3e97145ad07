"""What is read and written: TSPLIB, coordinates, matrices, graphs, GeoJSON, CSV, and results as files."""
