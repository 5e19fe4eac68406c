"""The few kinds of blocks a panel is made of. static/panels.js knows how to draw each; what they say comes from here."""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path
from typing import Any

from playground.cursor import FIELDS

ROOT = Path(__file__).parents[2]


def figure(id: str, figure: dict, caption: str = "", title: str = "", live: bool = False, css: str = "") -> dict:
    """A Plotly figure with a caption computed from its data. `live`: its traces are filled from the run's history by the page."""
    return {"kind": "figure", "id": id, "figure": figure, "caption": caption, "title": title, "live": live, "class": css}


def row(id: str, *blocks: dict | None, css: str = "") -> dict:
    """Blocks side by side; one below the other on a narrow screen."""
    return {"kind": "row", "id": id, "blocks": [block for block in blocks if block], "class": css}


def column(id: str, *blocks: dict | None) -> dict:
    return row(id, *blocks, css="column")


def text(id: str, text: str, css: str = "") -> dict:
    return {"kind": "text", "id": id, "text": text, "class": css}


def table(id: str, head: list[str], rows: list[list[Any]], title: str = "", rowheads: bool = False, folded: bool = False) -> dict:
    """`folded`: only the title is seen until somebody opens it."""
    return {"kind": "table", "id": id, "head": head, "rows": rows, "title": title, "rowheads": rowheads, "folded": folded}


def chips(id: str, *lines: dict, pick: str = "", ids: bool = False) -> dict:
    """Lines of tokens, each {"label", "tokens", "side"}, and the "role" "asks" or "answers" where a line only does that. `pick`: the side
    on which a click chooses the token; `ids`: shown under them."""
    return {"kind": "chips", "id": id, "lines": list(lines), "pick": pick, "class": "with-ids" if ids else ""}


def choice(id: str, field: str, label: str, options: list[dict], value: str, resets: dict | None = None) -> dict:
    """One of a few values of a cursor field. Options are {"value", "label"} and perhaps a "hue"."""
    return {"kind": "choice", "id": id, "field": field, "label": label, "options": options, "value": value, "resets": resets or {}}


def live(id: str, knob: str, label: str, options: list[dict], value: str, off: bool) -> dict:
    """One of the values of a live knob, for the run on screen; `off` when whoever looks can't change it."""
    return {"kind": "choice", "id": id, "knob": knob, "label": label, "options": options, "value": value, "off": off}


def many(id: str, field: str, label: str, options: list[dict], value: list[str]) -> dict:
    """Any number of values of a cursor field."""
    return {"kind": "many", "id": id, "field": field, "label": label, "options": options, "value": value}


def slider(
    id: str, field: str, label: str, value: float, most: float | None = None, step: float | None = None, first: int = 0
) -> dict:
    """A number of a cursor field, between the bounds of its declaration; `most` where there is less here, `step` where one is longer.
    `first` is added to what is shown: 1 where people count from one and the cursor from zero."""
    declared = FIELDS[field]
    return {
        "kind": "range",
        "id": id,
        "field": field,
        "label": label,
        "low": declared.low,
        "high": declared.high if most is None else most,
        "step": step or declared.step,
        "value": value,
        "first": first,
    }


def field(id: str, field: str, label: str, value: str, hint: str = "") -> dict:
    """A line of text that a cursor field holds; `hint` stands in it while it is empty."""
    return {"kind": "field", "id": id, "field": field, "label": label, "value": value, "hint": hint}


def button(id: str, act: str, label: str, **values: Any) -> dict:
    return {"kind": "button", "id": id, "act": act, "label": label, **values}


def downloads(id: str, label: str, path: str, files: list[dict]) -> dict:
    """Files to be had from one of our routes. `files` are {"label", "query"}."""
    return {"kind": "downloads", "id": id, "label": label, "path": path, "files": files}


def progress(id: str, done: int, all: int, label: str) -> dict:
    """How much of a longer work is done. A panel that is not done says "more", and is asked again as long as somebody looks at it."""
    return {"kind": "progress", "id": id, "done": done, "all": all, "label": label}


def later(id: str, panel: str, label: str, key: str) -> dict:
    """The blocks of another panel, asked for once the rest is shown because they take longer; `label` stands there until they come. They
    are asked for again when `key` changes, which names all that they depend on."""
    return {"kind": "later", "id": id, "panel": panel, "label": label, "key": key}


def code(id: str, thing: Any, lit: tuple[int, ...] = ()) -> dict:
    """The source of the very function or class that made the picture beside it, with its place in the project; the lines `lit`, counted
    from 1, stand out."""
    thing = inspect.unwrap(thing)
    lines, first = inspect.getsourcelines(thing)
    path = Path(inspect.getsourcefile(thing) or "").resolve().relative_to(ROOT)
    return {
        "kind": "code",
        "id": id,
        "name": thing.__qualname__,
        "source": textwrap.dedent("".join(lines)),
        "place": f"{path}:{first}",
        "lit": list(lit),
    }
