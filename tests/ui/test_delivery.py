"""What goes over the line: compressed, and kept by browsers where its name changes with its content."""

from __future__ import annotations

import gzip
import re

import brotli
import httpx
import pytest

from playground.ui.assets import PREFIX, asset, asset_path, coding
from playground.ui.delivery import FOR_EVER, LEAST


def raw(site, path: str, accepted: str = "gzip, deflate, br") -> tuple[httpx.Headers, bytes]:
    """Headers and the bytes as they came."""
    with site.http.stream("GET", path, headers={"Accept-Encoding": accepted}) as answer:
        assert answer.status_code == 200, path
        return answer.headers, b"".join(answer.iter_raw())


@pytest.mark.parametrize("path", ["/", f"{PREFIX}/boot", f"{PREFIX}/panel/training?run=german_english"])
def test_answers_are_compressed(site, path):
    headers, body = raw(site, path)
    assert headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in headers["Vary"]
    plain, whole = raw(site, path, "identity")
    assert "Content-Encoding" not in plain
    assert len(body) < 0.45 * len(whole)
    if path != "/":  # each page has another moment in it
        assert len(gzip.decompress(body)) == len(whole)


def test_a_short_answer_stays_as_it_is(site):
    headers, body = raw(site, f"{PREFIX}/run/nobody")
    assert len(body) < LEAST
    assert "Content-Encoding" not in headers


def test_a_stream_is_not_held_back(site):
    with site.http.stream("GET", f"{PREFIX}/live/german_english", headers={"Accept-Encoding": "gzip"}) as answer:
        assert "Content-Encoding" not in answer.headers
        assert next(answer.iter_bytes()).startswith(b"id: ")


def test_gradio_s_files_are_kept_for_ever(site):
    html = site.http.get("/").text
    script = re.search(r"assets/index-[\w-]+\.js", html)[0]
    headers, _ = raw(site, f"/{script}")
    assert headers["Cache-Control"] == FOR_EVER
    assert headers["Content-Encoding"] == "br"  # by Gradio itself, which compresses better
    assert site.http.get("/assets/index-nobody.js").headers.get("Cache-Control") != FOR_EVER


@pytest.mark.parametrize("name", ["plotly.js", "main.js", "style.css"])
def test_our_files_come_in_the_best_coding(site, name):
    path = asset_path(name).removeprefix(".")
    small, body = raw(site, path)
    large, same = raw(site, path, "gzip")
    assert (small["Content-Encoding"], large["Content-Encoding"]) == ("br", "gzip")
    assert brotli.decompress(body) == gzip.decompress(same)
    assert len(body) < len(same)
    assert small["Vary"] == "Accept-Encoding"
    assert small["Cache-Control"] == FOR_EVER


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("br;q=1.0, gzip", "br"), ("", "gzip"), ("brotli", "gzip")],
)
def test_the_coding_follows_the_browser(accepted, expected):
    assert coding(accepted) == expected


def test_every_script_is_fetched_at_once(site):
    """None waits until another one names it."""
    html = site.http.get("/").text
    asked = set(re.findall(r'rel="modulepreload" href="[^"]*/(\w+\.js)"', html))
    needed, todo = {"main.js"}, ["main.js"]
    while todo:
        source = gzip.decompress(asset(todo.pop())[0]).decode()
        todo += (found := set(re.findall(r'(?:from|import) "\./(\w+\.js)"', source)) - needed)
        needed |= found
    assert needed == asked
