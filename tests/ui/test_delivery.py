"""What goes over the line: compressed, kept by browsers where its name changes with its content, and no more of Plotly than is drawn."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import brotli
import httpx
import plotly

from playground.ui.assets import PREFIX, asset_path, coding
from playground.ui.delivery import FOR_EVER, LEAST
from playground.ui.plotly_bundle import TRACES, reduced
from tests.figures.gallery import gallery

WHOLE = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def raw(site, path: str, accepted: str = "gzip, deflate, br") -> tuple[httpx.Headers, bytes]:
    """Headers and the bytes as they came."""
    with site.http.stream("GET", path, headers={"Accept-Encoding": accepted}) as answer:
        return answer.headers, b"".join(answer.iter_raw())


def test_answers_are_compressed_but_for_short_ones_and_streams(site):
    for path in ("/", f"{PREFIX}/boot", f"{PREFIX}/panel/training?run=german_english"):
        (headers, body), (plain, whole) = raw(site, path), raw(site, path, "identity")
        assert (headers["Content-Encoding"], plain.get("Content-Encoding")) == ("gzip", None), path
        assert "Accept-Encoding" in headers["Vary"]
        assert len(body) < 0.45 * len(whole)
        assert path == "/" or len(gzip.decompress(body)) == len(whole)  # each page has another moment in it
    headers, body = raw(site, f"{PREFIX}/run/nobody")
    assert len(body) < LEAST
    assert "Content-Encoding" not in headers
    with site.http.stream("GET", f"{PREFIX}/live/german_english", headers={"Accept-Encoding": "gzip"}) as answer:
        assert "Content-Encoding" not in answer.headers
        assert next(answer.iter_bytes()).startswith(b"id: ")


def test_files_come_in_the_best_coding_and_are_kept_for_ever(site):
    script = re.search(r"/assets/index-[\w-]+\.js", site.http.get("/").text.replace("./assets", "/assets"))[0]
    headers, _ = raw(site, script)
    assert (headers["Content-Encoding"], headers["Cache-Control"]) == ("br", FOR_EVER)  # by Gradio itself, which compresses better
    assert site.http.get("/assets/index-nobody.js").headers.get("Cache-Control") != FOR_EVER
    for name in ("plotly.js", "main.js", "style.css"):
        path = asset_path(name).removeprefix(".")
        (small, body), (large, same) = raw(site, path), raw(site, path, "gzip")
        assert (small["Content-Encoding"], large["Content-Encoding"]) == ("br", "gzip"), name
        assert brotli.decompress(body) == gzip.decompress(same)
        assert len(body) < len(same)
        assert (small["Vary"], small["Cache-Control"]) == ("Accept-Encoding", FOR_EVER)
    accepted = {"gzip, deflate, br, zstd": "br", "gzip": "gzip", "br;q=1.0, gzip": "br", "": "gzip", "brotli": "gzip"}
    assert {header: coding(header) for header in accepted} == accepted


def test_plotly_is_whole_but_for_the_traces_that_no_figure_has():
    """What a figure is made of, wherever it is made; another kind of file comes back as it is."""
    assert len(reduced(WHOLE)) < len(WHOLE) / 3
    assert {trace["type"] for figure in gallery(12).values() for trace in figure["data"]} <= set(TRACES)
    for source in ("", "var Plotly=function(){return{}}();", "var a=W((e,t)=>{t.exports=1});var b=W(e=>{a()});"):
        assert reduced(source) == source
