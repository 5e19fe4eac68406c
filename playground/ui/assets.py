"""The page's static files: its scripts, its style and Plotly, compressed once and cached by browsers for ever."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

import brotli
import plotly

from playground.ui.plotly_bundle import TRACES, shake_tree

PREFIX = "/gradio_api/playground"  # of all our routes: the prefix that a Space's proxy forwards
STATIC = Path(__file__).parent / "static"
PLOTLY = "plotly.js"
TYPES = {".js": "text/javascript", ".css": "text/css"}
COMPRESSED = {"br": lambda body: brotli.compress(body, quality=9), "gzip": lambda body: gzip.compress(body, 6)}  # the smaller one first
# Patches where Plotly has no setting: a true minus in cells and hover texts; the colour of numbers on light cells, whose contrast on our
# scales is at worst 2.5 in #444 and 4.9 in #111; and ids of gradients, hatchings and clips without the page's address, which changes with
# the cursor and would break them.
PATCHES = {
    b'.minus===void 0?"-":': '.minus===void 0?"−":'.encode(),
    b',minus:"-"}': ',minus:"−"}'.encode(),
    b'.defaultLine="#444"': b'.defaultLine="#111"',
    b'._baseUrl=r.size()&&r.attr("href")?window.location.href.split("#")[0]:""': b'._baseUrl=""',
}


def list_assets() -> list[str]:
    """Returns the names of all files of the page."""
    return [PLOTLY, *sorted(file.name for file in STATIC.iterdir() if file.suffix in TYPES)]


def read_raw_asset(name: str) -> bytes:
    """Returns a file of the page. Raises KeyError for an unknown name."""
    if name not in list_assets():
        raise KeyError(name)
    if name != PLOTLY:
        return (STATIC / name).read_bytes()
    body = shake_tree((Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")).encode()
    for theirs, ours in PATCHES.items():
        body = body.replace(theirs, ours)
    return body


@cache
def read_asset(name: str, coding: str = "gzip") -> tuple[bytes, str]:
    """Returns a file of the page, compressed in a coding of COMPRESSED and cached, and its type. Raises KeyError for an unknown name."""
    return COMPRESSED[coding](read_raw_asset(name)), TYPES[Path(name).suffix]


def choose_coding(accepted: str) -> str:
    """Chooses the best coding of COMPRESSED for an Accept-Encoding header; every browser understands gzip."""
    accepted_codings = {word.split(";")[0].strip() for word in accepted.split(",")}
    return next((name for name in COMPRESSED if name in accepted_codings), "gzip")


@cache
def asset_version() -> str:
    """Returns a hash of all files of the page. As a part of the path it lets browsers cache for ever, and keeps a file from importing one
    of another version."""
    digest = hashlib.sha256(f"{plotly.__version__} {PATCHES} {TRACES}".encode())
    for file in sorted(STATIC.iterdir()):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def asset_path(name: str) -> str:
    """Returns a file's address relative to the page, valid behind a proxy and inside a Space's frame."""
    return f".{PREFIX}/asset/{asset_version()}/{name}"
