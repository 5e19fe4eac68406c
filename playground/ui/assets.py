"""The files of the page: its scripts, its style and Plotly, compressed once and kept by browsers for ever."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

import brotli
import plotly

from playground.ui.plotly_bundle import TRACES, reduced

PREFIX = "/gradio_api/playground"  # of all our routes: what a Space's proxy forwards
STATIC = Path(__file__).parent / "static"
PLOTLY = "plotly.js"
TYPES = {".js": "text/javascript", ".css": "text/css"}
COMPRESSED = {"br": lambda body: brotli.compress(body, quality=9), "gzip": lambda body: gzip.compress(body, 6)}  # the smaller one first
# What Plotly has no setting for: a true minus in numbers on cells and beside the pointer, and the colour of numbers on light cells, whose
# contrast on our scales is 2.5 at worst in #444 and 4.9 in #111; and gradients, hatchings and clips are named without the page's address,
# which changes with what is looked at: they would be lost then.
MENDED = {
    b'.minus===void 0?"-":': '.minus===void 0?"−":'.encode(),
    b',minus:"-"}': ',minus:"−"}'.encode(),
    b'.defaultLine="#444"': b'.defaultLine="#111"',
    b'._baseUrl=r.size()&&r.attr("href")?window.location.href.split("#")[0]:""': b'._baseUrl=""',
}


def asset_names() -> list[str]:
    """Every file of the page."""
    return [PLOTLY, *sorted(file.name for file in STATIC.iterdir() if file.suffix in TYPES)]


def raw_asset(name: str) -> bytes:
    """One file of the page. Raises KeyError for a name that isn't one of them."""
    if name not in asset_names():
        raise KeyError(name)
    if name != PLOTLY:
        return (STATIC / name).read_bytes()
    body = reduced((Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")).encode()
    for theirs, ours in MENDED.items():
        body = body.replace(theirs, ours)
    return body


@cache
def asset(name: str, coding: str = "gzip") -> tuple[bytes, str]:
    """One file of the page, compressed once in a coding of COMPRESSED, and its type. Raises KeyError for a name that isn't one of them."""
    return COMPRESSED[coding](raw_asset(name)), TYPES[Path(name).suffix]


def coding(accepted: str) -> str:
    """The best coding of COMPRESSED that a browser with this Accept-Encoding understands; gzip is understood by all."""
    known = {word.split(";")[0].strip() for word in accepted.split(",")}
    return next((name for name in COMPRESSED if name in known), "gzip")


@cache
def asset_version() -> str:
    """Changes when any file of the page changes. It stands in the path, so that browsers may keep what they have for ever, and a file never
    imports one of another version."""
    digest = hashlib.sha256(f"{plotly.__version__} {MENDED} {TRACES}".encode())
    for file in sorted(STATIC.iterdir()):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def asset_path(name: str) -> str:
    """Where the page finds a file of its own, relative to the page: that holds behind a proxy and inside a Space's frame."""
    return f".{PREFIX}/asset/{asset_version()}/{name}"
