"""The commands `pytsp bound` and `pytsp check-bound`."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytsp
from pytsp.cli import arguments
from pytsp.cli.help import Commands, add_command
from pytsp.cli.options import add_backend, placement_of
from pytsp.exceptions import TourError
from pytsp.io.streams import is_path, try_path, write_text
from pytsp.utils.text import json_number, printable

if TYPE_CHECKING:
    from pytsp.bound.certificate import Certificate


def add_commands(commands: Commands) -> None:
    description = "Compute Held and Karp's lower bound on the optimal length, and the gap of a tour to it."
    bound = add_command(commands, "bound", _bound, "compute a lower bound on the optimal length", description)
    _add_shared(bound)
    arguments.add_path(bound, "bound open paths, which do not return")
    words = "steps of the ascent (default: 3,000,000 / cities, 600 to 8,000; asymmetric cities count twice)"
    bound.add_argument("--iterations", type=arguments.whole(0), metavar="N", help=words)
    words = "make no step SEC seconds after the start"
    bound.add_argument("-t", "--time-limit", type=arguments.seconds, metavar="SEC", help=words)
    words = "write the proof of the bound, for 'pytsp check-bound'"
    bound.add_argument("--certificate", type=arguments.file_name, metavar="FILE", help=words)
    add_backend(bound, bound, "c", "default: c; with --iterations the bound does not depend on it")
    description = "Prove a bound again, from its certificate and all distances between the cities."
    check = add_command(commands, "check-bound", _check_bound, "prove a bound again", description)
    _add_shared(check)
    check.add_argument("certificate", metavar="CERTIFICATE", help="the file of 'pytsp bound --certificate'")
    words = "use no kernel above 20,000 cities either; the time grows with the square of the cities"
    check.add_argument("--all-pairs", action="store_true", help=words)


def _add_shared(command: argparse.ArgumentParser) -> None:
    arguments.add_instance(command)
    arguments.add_reading(command)
    command.add_argument("--tour", metavar="FILE", help="print the gap of this tour or path to the bound")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _bound(options: argparse.Namespace) -> None:
    from pytsp.bound.certificate import certificate_text  # noqa: PLC0415

    instance = arguments.read_instance(options)
    if options.certificate is not None and is_path(options.certificate):
        try_path(options.certificate)
    kind = arguments.path_of(instance, options)
    length = _tour_length(instance, options, kind)
    limits = {"iterations": options.iterations, "time_limit": arguments.time_left(options)}
    certificate = pytsp.lower_bound(instance, **kind, **limits, **placement_of(options))
    if options.certificate is not None:
        write_text(options.certificate, certificate_text(instance, certificate))
        if options.certificate == "-":
            return
    _tell(instance, certificate, length, options)


def _check_bound(options: argparse.Namespace) -> None:
    from pytsp.bound.certificate import read_certificate  # noqa: PLC0415
    from pytsp.bound.exact import check_certificate  # noqa: PLC0415

    instance = arguments.read_instance(options)
    certificate = read_certificate(options.certificate)
    length = _tour_length(instance, options, certificate.kind._asdict())
    check_certificate(instance, certificate, all_pairs=options.all_pairs)
    if certificate.open:
        instance = replace(instance, optimum=None)
    _tell(instance, certificate, length, options)


def _tour_length(instance: pytsp.Instance, options: argparse.Namespace, kind: Mapping[str, Any]) -> int | float | None:
    """Return the length of the given tour or path, if there is one; a path must have the given ends."""
    if options.tour is None:
        return None
    tour = pytsp.read_tour(options.tour)
    if not kind["open"]:
        return instance.tour_length(tour)
    length, ends = instance.path_length(tour), (int(tour[0]), int(tour[-1]))
    given = {name: kind[name] for name in ("start_city", "end_city") if kind[name] is not None}
    ways = [ends] if instance.asymmetric else [ends, ends[::-1]]
    if not any(given.items() <= {"start_city": first, "end_city": last}.items() for first, last in ways):
        asked = ", ".join(f"{name} is {city}" for name, city in given.items())
        raise TourError(f"{options.tour}: the path goes from city {ends[0]} to {ends[1]}, but {asked}")
    return length


def _tell(
    instance: pytsp.Instance, certificate: Certificate, length: int | float | None, options: argparse.Namespace
) -> None:
    took, bound = time.perf_counter() - options.began, certificate.bound
    gap_bound = length / bound - 1 if length is not None and bound else None
    if options.json:
        facts = {"instance": instance.name, "n": instance.n, "metric": instance.metric, "lower_bound": bound}
        facts |= certificate.kind._asdict() if certificate.open else {}
        known = {"optimum": instance.optimum, "length": json_number(length)}
        print(json.dumps(facts | known | {"gap_bound": gap_bound, "seconds": took}))
        return
    print(f"instance     {printable(instance.name) or 'no name'}, {instance.n} cities, {instance.metric}")
    print(f"lower bound  {bound}: no {certificate.kind.noun} is shorter")
    if instance.optimum is not None:
        print(f"optimum      {instance.optimum}{_above(instance.optimum, bound)}")
    if length is not None:
        said = (
            ": optimal, proved" if length == bound else _above(length, bound, ", at most", " longer than the shortest")
        )
        print(f"{certificate.kind.noun:12} {length}{said}")
    print(f"time         {took:.2f} s")


def _above(length: int | float, bound: int | float, before: str = ",", after: str = " above the bound") -> str:
    return f"{before} {100 * (length / bound - 1):.2f} %{after}" if bound else ""
