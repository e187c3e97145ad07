"""Segments of an SVG: its paths and shapes, in the groups in which they stand, by svgelements.

A path of several parts is one segment, which begins with the first and ends with the last of them. Elements change
places within their group only, which keeps layers. What is no path or shape stays where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from xml.dom import minidom
from xml.parsers.expat import ExpatError

import numpy as np
from numpy.typing import NDArray

from pytsp.exceptions import InstanceError, PytspError
from pytsp.io.segments.drawing import Drawing, Step
from pytsp.utils.notices import warn_user

# What is drawn, and what holds what is drawn only where it is referred to.
_SHAPES = ("path", "line", "polyline", "polygon", "rect", "circle", "ellipse")
_APART = ("defs", "symbol", "clipPath", "mask", "pattern", "marker", "style", "metadata", "title", "desc")
# Groups, whose elements stay in them.
_GROUPS = ("g", "svg", "a", "switch")


@dataclass(frozen=True)
class _Segment:
    """A shape, what of the document moves with it, and its path in the shape's own coordinates."""

    shape: Any
    moved: Any
    path: Any
    points: NDArray[np.float64]


def read_svg(text: str) -> Drawing:
    """Read the paths and shapes of an SVG."""
    try:
        document: Any = minidom.parseString(text.encode())
    except (ExpatError, ValueError) as error:
        raise InstanceError(f"it is no XML: {error}") from error
    root = document.documentElement
    if _name(root) != "svg":
        raise InstanceError(f"it is no SVG: its first element is {root.tagName!r:.40}")
    left: Counter[str] = Counter()
    segments = list(_segments(root, _svgelements().Matrix(), left))
    if not segments:
        raise InstanceError(f"there are no paths and shapes in it; known: {', '.join(_SHAPES)}")
    if left:
        warn_user(f"SVG: left where they are: {', '.join(f'{count} <{name}>' for name, count in left.items())}")
    numbers: dict[int, int] = {}
    groups = [numbers.setdefault(id(each.moved.parentNode), len(numbers)) for each in segments]

    def write(order: Iterable[Step]) -> str:
        # Read again, so that it may be written in several orders.
        again: Any = minidom.parseString(text.encode())
        fresh = list(_segments(again.documentElement, _svgelements().Matrix(), Counter()))
        _rearrange(fresh, groups, order)
        made: str = again.toxml(encoding="utf-8").decode()
        return made + "\n"

    return Drawing([each.points for each in segments], groups if len(numbers) > 1 else None, "EUCLIDEAN", write)


def _svgelements() -> Any:
    try:
        import svgelements  # noqa: PLC0415
    except ImportError as error:
        raise PytspError("SVG needs svgelements: pip install 'pytsp-futhark[svg]'") from error
    return svgelements


def _name(node: Any) -> str:
    return str(node.tagName).rpartition(":")[2]


def _elements(node: Any) -> list[Any]:
    return [child for child in node.childNodes if child.nodeType == child.ELEMENT_NODE]


def _segments(node: Any, matrix: Any, left: Counter[str]) -> Iterator[_Segment]:
    """Yield the segments below an element; count what is none."""
    svg = _svgelements()
    here = svg.Matrix(node.getAttribute("transform")) * matrix if node.hasAttribute("transform") else matrix
    for child in _elements(node):
        name = _name(child)
        if name in _APART:
            continue
        if name in _GROUPS:
            yield from _segments(child, here, left)
        elif name in _SHAPES:
            path = _path(child, name)
            if not len(path):
                left[name] += 1
                continue
            own = svg.Matrix(child.getAttribute("transform")) if child.hasAttribute("transform") else svg.Matrix()
            yield _Segment(child, _moved(child), path, _points(path, own * here))
        elif ":" not in child.tagName:
            left[name] += 1


def _moved(shape: Any) -> Any:
    """Return what moves with a shape: the groups that hold nothing else."""
    moved = shape
    while _name(moved.parentNode) == "g" and len(_elements(moved.parentNode)) == 1:
        moved = moved.parentNode
    return moved


def _path(shape: Any, name: str) -> Any:
    """Return the path of a shape, in its own coordinates."""
    svg = _svgelements()
    said = dict(shape.attributes.items())
    said.pop("transform", None)
    try:
        if name == "path":
            return svg.Path(said.get("d", ""))
        kinds = {"line": svg.SimpleLine, "polyline": svg.Polyline, "polygon": svg.Polygon}
        kinds |= {"rect": svg.Rect, "circle": svg.Circle, "ellipse": svg.Ellipse}
        # Of attributes those of the shape alone: a style has nothing to do with where it is.
        names = ("x1", "y1", "x2", "y2", "points", "x", "y", "width", "height", "rx", "ry", "cx", "cy", "r")
        return svg.Path(kinds[name]({each: said[each] for each in names if each in said}))
    except (ValueError, TypeError, AttributeError, IndexError, ZeroDivisionError) as error:
        raise InstanceError(f"a <{name}> cannot be read: {error}: {shape.toxml():.80}") from error


def _points(path: Any, matrix: Any) -> NDArray[np.float64]:
    """Return the points of a segment: its ends, or, of a contour that may be entered anywhere, its corners."""
    closed = _is_contour(path)
    points = [each.end for each in path] if closed else [path.first_point, path.current_point]
    if closed and points[-1] != points[0]:
        points.append(points[0])
    elif closed and points[-1] == points[-2]:
        # It is closed where it is back already.
        points.pop()
    placement = [matrix.point_in_matrix_space(point) for point in points]
    return np.array([(float(point.x), float(point.y)) for point in placement])


def _is_contour(path: Any) -> bool:
    """Tell whether a path is one closed part, which may be begun at any of its corners."""
    svg = _svgelements()
    has_one = sum(isinstance(each, svg.Move) for each in path) == 1 and isinstance(path[0], svg.Move)
    is_closed = isinstance(path[-1], svg.Close) or path[-1].end == path[0].end
    return has_one and len(path) > 2 and is_closed and not any(isinstance(each, svg.Close) for each in path[:-1])


def _rearrange(segments: list[_Segment], groups: list[int], order: Iterable[Step]) -> None:
    """Put the elements of each group into the places of its elements, in their order, each as it is drawn."""
    places: dict[int, list[Any]] = {}
    for segment, group in zip(segments, groups, strict=True):
        marker = segment.moved.ownerDocument.createTextNode("")
        segment.moved.parentNode.replaceChild(marker, segment.moved)
        places.setdefault(group, []).append(marker)
    for number, is_flipped, entry in order:
        segment = segments[number]
        marker = places[groups[number]].pop(0)
        if is_flipped:
            _flip(segment)
        elif entry and _is_contour(segment.path):
            _enter(segment, entry)
        marker.parentNode.replaceChild(segment.moved, marker)


def _flip(segment: _Segment) -> None:
    """Have a shape drawn from its end; of a line the ends change places."""
    shape, name = segment.shape, _name(segment.shape)
    if name == "line":
        ends = {each: shape.getAttribute(each) or "0" for each in ("x1", "y1", "x2", "y2")}
        for axis in "xy":
            shape.setAttribute(f"{axis}1", ends[f"{axis}2"])
            shape.setAttribute(f"{axis}2", ends[f"{axis}1"])
    elif name == "polyline":
        shape.setAttribute("points", _listed([each.end for each in segment.path][::-1]))
    else:
        path = segment.path
        path.reverse()
        shape.setAttribute("d", path.d())


def _enter(segment: _Segment, entry: int) -> None:
    """Have a contour begin at another of its corners."""
    svg = _svgelements()
    shape, name, path = segment.shape, _name(segment.shape), segment.path
    if name in ("polygon", "polyline"):
        points = [each.end for each in path]
        # A polygon is closed without its first corner again.
        again = points[:entry] if name == "polygon" else points[: entry + 1]
        shape.setAttribute("points", _listed(points[entry:-1] + again))
        return
    parts = [each for each in path[1:] if not isinstance(each, svg.Close)]
    if isinstance(path[-1], svg.Close) and path[-1].start != path[-1].end:
        parts.append(svg.Line(path[-1].start, path[-1].end))
    begun = path[entry].end
    made = svg.Path(svg.Move(begun), *parts[entry:], *parts[:entry])
    if isinstance(path[-1], svg.Close):
        made += svg.Close(made.current_point, begun)
    shape.setAttribute("d", made.d())
    if name != "path":
        # A rectangle or an ellipse begins where it does; from elsewhere on it is a path.
        shape.tagName = shape.nodeName = shape.tagName.replace(name, "path")
        for each in ("x", "y", "width", "height", "rx", "ry", "cx", "cy", "r"):
            if shape.hasAttribute(each):
                shape.removeAttribute(each)


def _listed(points: list[Any]) -> str:
    return " ".join(f"{float(point.x):.12g},{float(point.y):.12g}" for point in points)
