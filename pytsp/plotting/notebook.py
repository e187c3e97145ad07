"""How instances and results show in notebooks: a small table, and a small picture where matplotlib is installed."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytsp.exceptions import InstanceError
from pytsp.plotting.runs import run_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pytsp.problem.instance import Instance
    from pytsp.run.result import Result

_DPI = 72
# A higher picture would push the rest of a notebook from the screen.
_MOST_PIXELS = 420


def html_of_result(result: Result) -> str:
    """Return a table of what was found, and the tour."""
    gap = None if result.gap is None else f"{100 * result.gap:.2f} %"
    facts = (
        ("instance", result.instance.name or None),
        ("cities", f"{result.instance.n:,}"),
        ("length", f"{result.length:,.10g}"),
        ("gap", gap),
        ("solver", f"{result.solver} on {result.backend}, seed {result.seed}"),
        ("climbers", f"{result.climbers:,}"),
        ("time", f"{result.seconds:.2f} s; stopped: {result.stop_reason}"),
    )
    return _html(facts, png_of_result(result))


def html_of_instance(instance: Instance) -> str:
    """Return a table of what is known of an instance, and its cities."""
    optimum = None if instance.optimum is None else f"{instance.optimum:,.10g}"
    facts = (
        ("instance", instance.name or None),
        ("cities", f"{instance.n:,}"),
        ("metric", instance.metric),
        ("optimum", optimum),
        ("comment", instance.comment or None),
    )
    return _html(facts, png_of_instance(instance))


def png_of_result(result: Result) -> bytes | None:
    """Return the tour's picture; None without matplotlib, or where nothing says where the cities lie."""
    if find_spec("matplotlib") is None:
        return None
    from pytsp.plotting.figures import figure_of  # noqa: PLC0415

    try:
        return _png(figure_of([run_of(result)]))
    except InstanceError:
        return None


def png_of_instance(instance: Instance) -> bytes | None:
    """Return a picture of the cities; None without matplotlib, or where nothing says where they lie."""
    if find_spec("matplotlib") is None:
        return None
    from pytsp.plotting.figures import figure_of_cities  # noqa: PLC0415

    try:
        return _png(figure_of_cities(instance))
    except InstanceError:
        return None


def _png(figure: Figure) -> bytes:
    from pytsp.plotting.figures import save  # noqa: PLC0415

    stream = io.BytesIO()
    save(figure, stream, ending=".png", dpi=min(_DPI, _MOST_PIXELS / figure.get_figheight()))
    return stream.getvalue()


def _html(facts: Iterable[tuple[str, str | None]], png: bytes | None) -> str:
    rows = "".join(f"<tr><th>{name}</th><td>{escape(fact)}</td></tr>" for name, fact in facts if fact is not None)
    source = "" if png is None else f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
    return f"<table>{rows}</table>" + (f'<img alt="the picture of it" src="{source}">' if source else "")
