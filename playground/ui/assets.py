"""The files of the page: its scripts, its style and Plotly, compressed once and kept by browsers for ever."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

import plotly

PREFIX = "/gradio_api/playground"  # of all our routes: what a Space's proxy forwards
STATIC = Path(__file__).parent / "static"
TYPES = {".js": "text/javascript", ".css": "text/css"}
# What Plotly has no setting for: a true minus in numbers on cells and beside the pointer, and the colour of numbers on light cells, whose
# contrast on our scales is 2.5 at worst in #444 and 4.9 in #111.
MENDED = {
    b'.minus===void 0?"-":': '.minus===void 0?"−":'.encode(),
    b',minus:"-"}': ',minus:"−"}'.encode(),
    b'.defaultLine="#444"': b'.defaultLine="#111"',
}


@cache
def asset(name: str) -> tuple[bytes, str]:
    """One file of the page, compressed once, and its type. Raises KeyError for a name that isn't one of them."""
    if name == "plotly.js":
        body, kind = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_bytes(), "text/javascript"
        for theirs, ours in MENDED.items():
            body = body.replace(theirs, ours)
    else:
        files = {file.name: file for file in STATIC.iterdir() if file.suffix in TYPES}
        body, kind = files[name].read_bytes(), TYPES[files[name].suffix]
    return gzip.compress(body, 6), kind


@cache
def asset_version() -> str:
    """Changes when any file of the page changes. It stands in the path, so that browsers may keep what they have for ever, and a file never
    imports one of another version."""
    digest = hashlib.sha256(f"{plotly.__version__} {MENDED}".encode())
    for file in sorted(STATIC.iterdir()):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def asset_path(name: str) -> str:
    """Where the page finds a file of its own, relative to the page: that holds behind a proxy and inside a Space's frame."""
    return f".{PREFIX}/asset/{asset_version()}/{name}"
