"""Lists of the cities that lie close to each city, and the curve along which close cities follow each other."""

from pytsp.neighbours.lists import check_neighbours, neighbour_lists

__all__ = ["check_neighbours", "neighbour_lists"]
