"""Lengths of the shortest tours of TSPLIB's instances, each proven optimal.

Source: the lists of optimal solutions for symmetric and asymmetric TSPs that G. Reinelt published with TSPLIB 95; all
are proven, the last (pla85900) by D. Applegate and others, *Certification of an optimal TSP tour through 85,900
cities*, Operations Research Letters 37 (2009). The tests compare those of symmetric ones with the independent list, and
with the optimal tours, that come with the test instances.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["DIRECTED_OPTIMA", "OPTIMA", "directed_optimum_of", "optimum_of"]

OPTIMA: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "ATT": {"att48": 10628, "att532": 27686},
        "CEIL_2D": {"dsj1000": 18660188, "pla7397": 23260728, "pla33810": 66048945, "pla85900": 142382641},
        "EUC_2D": {
            "a280": 2579,
            "berlin52": 7542,
            "bier127": 118282,
            "brd14051": 469385,
            "ch130": 6110,
            "ch150": 6528,
            "d198": 15780,
            "d493": 35002,
            "d657": 48912,
            "d1291": 50801,
            "d1655": 62128,
            "d2103": 80450,
            "d15112": 1573084,
            "d18512": 645238,
            "dsj1000": 18659688,
            "eil51": 426,
            "eil76": 538,
            "eil101": 629,
            "fl417": 11861,
            "fl1400": 20127,
            "fl1577": 22249,
            "fl3795": 28772,
            "fnl4461": 182566,
            "gil262": 2378,
            "kroA100": 21282,
            "kroA150": 26524,
            "kroA200": 29368,
            "kroB100": 22141,
            "kroB150": 26130,
            "kroB200": 29437,
            "kroC100": 20749,
            "kroD100": 21294,
            "kroE100": 22068,
            "lin105": 14379,
            "lin318": 42029,
            "nrw1379": 56638,
            "p654": 34643,
            "pcb442": 50778,
            "pcb1173": 56892,
            "pcb3038": 137694,
            "pr76": 108159,
            "pr107": 44303,
            "pr124": 59030,
            "pr136": 96772,
            "pr144": 58537,
            "pr152": 73682,
            "pr226": 80369,
            "pr264": 49135,
            "pr299": 48191,
            "pr439": 107217,
            "pr1002": 259045,
            "pr2392": 378032,
            "rat99": 1211,
            "rat195": 2323,
            "rat575": 6773,
            "rat783": 8806,
            "rd100": 7910,
            "rd400": 15281,
            "rl1304": 252948,
            "rl1323": 270199,
            "rl1889": 316536,
            "rl5915": 565530,
            "rl5934": 556045,
            "rl11849": 923288,
            "st70": 675,
            "ts225": 126643,
            "tsp225": 3916,
            "u159": 42080,
            "u574": 36905,
            "u724": 41910,
            "u1060": 224094,
            "u1432": 152970,
            "u1817": 57201,
            "u2152": 64253,
            "u2319": 234256,
            "usa13509": 19982859,
            "vm1084": 239297,
            "vm1748": 336556,
        },
        "EXPLICIT": {
            "bayg29": 1610,
            "bays29": 2020,
            "brazil58": 25395,
            "brg180": 1950,
            "dantzig42": 699,
            "fri26": 937,
            "gr17": 2085,
            "gr21": 2707,
            "gr24": 1272,
            "gr48": 5046,
            "gr120": 6942,
            "hk48": 11461,
            "pa561": 2763,
            "si175": 21407,
            "si535": 48450,
            "si1032": 92650,
            "swiss42": 1273,
        },
        "GEO": {
            "ali535": 202339,
            "burma14": 3323,
            "gr96": 55209,
            "gr137": 69853,
            "gr202": 40160,
            "gr229": 134602,
            "gr431": 171414,
            "gr666": 294358,
            "ulysses16": 6859,
            "ulysses22": 7013,
        },
    }
)
"""Optimal length by metric and name; every name ends in its number of cities.

linhp318 is left out: its 41345 holds only with a fixed edge, which pytsp does not support.
"""

DIRECTED_OPTIMA: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "br17": (17, 39),
        "ft53": (53, 6905),
        "ft70": (70, 38673),
        "ftv33": (34, 1286),
        "ftv35": (36, 1473),
        "ftv38": (39, 1530),
        "ftv44": (45, 1613),
        "ftv47": (48, 1776),
        "ftv55": (56, 1608),
        "ftv64": (65, 1839),
        "ftv70": (71, 1950),
        "ftv170": (171, 2755),
        "kro124p": (100, 36230),
        "p43": (43, 5620),
        "rbg323": (323, 1326),
        "rbg358": (358, 1163),
        "rbg403": (403, 2465),
        "rbg443": (443, 2720),
        "ry48p": (48, 14422),
    }
)
"""Number of cities and optimal length of the instances of TYPE ATSP, by name; not every name ends in the number."""

_NUMBER_AT_END = re.compile(r"\d+$")
_BY_METRIC_AND_NAME = {
    (metric, name.lower()): length for metric, lengths in OPTIMA.items() for name, length in lengths.items()
}


def optimum_of(name: str, n: int, metric: str | None = None) -> int | None:
    """Length of a shortest tour of TSPLIB's instance `name`, or None where it is not known.

    Parameters
    ----------
    name : str
        In upper or lower case, with or without ``.tsp``.
    n : int
        Number of cities; another number than TSPLIB's means another instance, whatever it is called.
    metric : str, optional
        TSPLIB's EDGE_WEIGHT_TYPE. Without it, None where two metrics give two lengths (dsj1000).

    Examples
    --------
    >>> optimum_of("kroA100", 100)
    21282
    >>> optimum_of("kroA100", 99) is None
    True
    """
    key = name.strip().lower().removesuffix(".tsp")
    ending = _NUMBER_AT_END.search(key)
    if ending is None or ending.group() != str(n):
        return None
    metrics = OPTIMA if metric is None else (metric.upper(),)
    lengths = {length for each in metrics if (length := _BY_METRIC_AND_NAME.get((each, key))) is not None}
    return lengths.pop() if len(lengths) == 1 else None


def directed_optimum_of(name: str, n: int) -> int | None:
    """Length of a shortest tour of TSPLIB's asymmetric instance `name`, or None where it is not known.

    Parameters
    ----------
    name : str
        In upper or lower case, with or without ``.atsp``.
    n : int
        Number of cities; another number than TSPLIB's means another instance.

    Examples
    --------
    >>> directed_optimum_of("ftv33", 34)
    1286
    """
    cities, length = DIRECTED_OPTIMA.get(name.strip().lower().removesuffix(".atsp"), (0, 0))
    return length if cities == n else None
