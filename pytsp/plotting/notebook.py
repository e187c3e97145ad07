"""Display of instances and results in notebooks: a small table, and a small picture if matplotlib is installed."""

from __future__ import annotations

import base64
from collections.abc import Callable
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pytsp.exceptions import InstanceError
from pytsp.plotting.figures import encode, figure_of, figure_of_cities
from pytsp.run.saved_runs import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pytsp.problem.instance import Instance
    from pytsp.run.result import Result

_DPI = 72
# A higher picture would push the rest of a notebook from the screen.
_MOST_PIXELS = 420


def html_of_result(result: Result) -> str:
    """Return a table of what was found, and the tour."""
    facts = {
        "instance": result.instance.name,
        "cities": f"{result.instance.n:,}",
        "length": f"{result.length:,.10g}",
        "gap": None if result.gap is None else f"{100 * result.gap:.2f} %",
        "forbidden edges": str(result.forbidden_edges) if result.forbidden_edges else None,
        "solver": f"{result.solver} on {result.backend}, seed {result.seed}",
        "climbers": f"{result.climbers:,}",
        "time": f"{result.seconds:.2f} s; stopped: {result.stop_reason}",
    }
    return _html(facts, png_of_result(result))


def html_of_instance(instance: Instance) -> str:
    """Return a table of what is known of an instance, and its cities."""
    facts = {
        "instance": instance.name,
        "cities": f"{instance.n:,}",
        "metric": instance.metric,
        "optimum": None if instance.optimum is None else f"{instance.optimum:,.10g}",
        "comment": instance.comment,
    }
    return _html(facts, png_of_instance(instance))


def png_of_result(result: Result) -> bytes | None:
    """Return the tour's picture; None without matplotlib, or where nothing says where the cities lie."""
    return _png(figure_of, [Run.of(result)])


def png_of_instance(instance: Instance) -> bytes | None:
    """Return a picture of the cities; None without matplotlib, or where nothing says where they lie."""
    return _png(figure_of_cities, instance)


def _png(draw: Callable[[Any], Figure], drawn: object) -> bytes | None:
    if find_spec("matplotlib") is None:
        return None
    try:
        figure = draw(drawn)
    except InstanceError:
        return None
    return encode(figure, ".png", dpi=min(_DPI, _MOST_PIXELS / figure.get_figheight()))


def _html(facts: dict[str, str | None], png: bytes | None) -> str:
    rows = "".join(f"<tr><th>{name}</th><td>{escape(fact)}</td></tr>" for name, fact in facts.items() if fact)
    if png is None:
        return f"<table>{rows}</table>"
    source = base64.b64encode(png).decode("ascii")
    return f'<table>{rows}</table><img alt="the picture of it" src="data:image/png;base64,{source}">'
