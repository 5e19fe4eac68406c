"""The page over the line: its first screen, compressed files that browsers keep; and what goes home: attention, a run, lines of code."""

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import threading
from html import unescape
from pathlib import Path

import brotli
import httpx
import numpy as np
import plotly
import pytest

from playground.features.shared.figures.theme import Style
from playground.features.shared.queries.reader import REFERENCE
from playground.pretrained import load
from playground.reading.pairs import Pairs
from playground.ui import downloads
from playground.ui.assets import PREFIX, SCRIPT, TRACES, asset_path, choose_coding, list_modules, read_raw_asset, shake_tree
from playground.ui.delivery import FOR_EVER, MIN_GZIP_BYTES
from playground.ui.downloads import LANGUAGES
from playground.words import say
from tests.export.test_taken_home import opened
from tests.figures.gallery import gallery
from tests.runs.tiny import ME, PAIRS, YOU, done, tiny
from tests.ui.looking import all_blocks

WHOLE = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
TAGS = {"en": "en-GB,en;q=0.9", "zh": "zh-CN,zh;q=0.9,en;q=0.8"}


def raw(site, path: str, accepted: str = "gzip, deflate, br") -> tuple[httpx.Headers, bytes]:
    with site.http.stream("GET", path, headers={"Accept-Encoding": accepted}) as answer:
        return answer.headers, b"".join(answer.iter_raw())


def test_answers_are_compressed_and_files_come_in_the_best_coding_and_are_kept_for_ever(site):
    for path in ("/", f"{PREFIX}/boot", f"{PREFIX}/panel/training?run=german_english"):
        (headers, body), (plain, whole) = raw(site, path), raw(site, path, "identity")
        assert (headers["Content-Encoding"], plain.get("Content-Encoding")) == ("gzip", None), path
        assert "Accept-Encoding" in headers["Vary"]
        assert len(body) < 0.45 * len(whole)
        assert path == "/" or len(gzip.decompress(body)) == len(whole)  # each page has another moment in it
    headers, body = raw(site, f"{PREFIX}/run/nobody")
    assert len(body) < MIN_GZIP_BYTES
    assert "Content-Encoding" not in headers
    with site.http.stream("GET", f"{PREFIX}/live/german_english", headers={"Accept-Encoding": "gzip"}) as answer:
        assert "Content-Encoding" not in answer.headers
        assert next(answer.iter_bytes()).startswith(b"id: ")
    assert 'href="?lang=zh&amp;tab=map#pg-view"' in site.http.get("/", params={"lang": "zh", "tab": "map"}).text, "a base is no way out"
    script = re.search(r"/assets/index-[\w-]+\.js", site.http.get("/").text.replace("./assets", "/assets"))[0]
    headers, _ = raw(site, script)
    assert (headers["Content-Encoding"], headers["Cache-Control"]) == ("br", FOR_EVER)  # by Gradio itself, which compresses better
    assert site.http.get("/assets/index-nobody.js").headers.get("Cache-Control") != FOR_EVER
    for name in ("plotly.js", "ui/static/page.js", "ui/static/page.css"):
        path = asset_path(name).removeprefix(".")
        (small, body), (large, same) = raw(site, path), raw(site, path, "gzip")
        assert (small["Content-Encoding"], large["Content-Encoding"]) == ("br", "gzip"), name
        assert brotli.decompress(body) == gzip.decompress(same)
        assert len(body) < len(same)
        assert (small["Vary"], small["Cache-Control"]) == ("Accept-Encoding", FOR_EVER)
    accepted = {"gzip, deflate, br, zstd": "br", "gzip": "gzip", "br;q=1.0, gzip": "br", "": "gzip", "brotli": "gzip"}
    assert {header: choose_coding(header) for header in accepted} == accepted


def test_the_pages_script_is_all_modules_and_plotly_whole_but_for_the_traces_that_no_figure_has():
    script = read_raw_asset(SCRIPT).decode()
    assert len(re.findall(r"^const \$m\d+ = ", script, re.MULTILINE)) == len(list_modules()) - 1
    lines = re.findall(r"^ *(?:import|export) .*", script, re.MULTILINE)
    assert [line.rpartition(" = ")[2][:2] for line in lines] == ["$m"] * 3, "what Gradio's listeners call"
    assert len(shake_tree(WHOLE)) < len(WHOLE) / 3
    assert {trace["type"] for figure in gallery(12).values() for trace in figure["data"]} <= set(TRACES)
    for source in ("", "var Plotly=function(){return{}}();", "var a=W((e,t)=>{t.exports=1});var b=W(e=>{a()});"):
        assert shake_tree(source) == source


def page(site, query: str = "", accepted: str = TAGS["en"], **headers: str) -> str:
    answer = site.http.get(f"/{query}", headers={"Accept-Language": accepted, **headers})
    assert answer.status_code == 200
    return answer.text


def first(html: str) -> str:
    """What of the page is the first screen; "" where there is none."""
    match = re.search(r'<div id="pg-first".*?(?=<script>)', html, re.DOTALL)
    return match[0] if match else ""


def drawn(site, language: str, dark: str) -> dict:
    panel = site.panel("training", run=site.runs.shipped()[0].id, lang=language, dark=dark, width=1040)
    return next(block for block in all_blocks(panel["blocks"]) if block["id"] == "learn-cross")


def names(screen: str, kind: str) -> list[str]:
    return [unescape(text) for text in re.findall(rf'<span class="{kind}" style="--at:\d+">(.*?)</span>', screen)]


def test_the_first_screen_is_the_panel_s_own_picture_made_once_for_visitors_without_a_link(site, monkeypatch):
    language = "zh"
    screen = first(page(site, accepted=TAGS[language]))
    block = drawn(site, language, "")
    light, dark = (figure["data"][0]["z"] for figure in (block["figure"], drawn(site, language, "1")["figure"]))
    cells = re.findall(r'<rect x="(\d+)" y="(\d+)" width="1" height="1" fill="(#\w+)" style="--dark:(#\w+)"/>', screen)
    shades = lambda row, column: (Style().shades(light[row][column])[0], Style(dark=True).shades(dark[row][column])[0])  # noqa: E731
    expected = [(str(column), str(row), *shades(row, column)) for row in range(len(light)) for column in range(len(light[0]))]
    assert cells == 2 * expected  # with the labels of two widths
    axes = block["figure"]["layout"]
    assert names(screen, "row")[: len(light)] == [unescape(text) for text in axes["yaxis"]["ticktext"]]
    assert names(screen, "column")[: len(light[0])] == [unescape(text) for text in axes["xaxis"]["ticktext"]]
    for text in (block["caption"], block["title"], axes["xaxis"]["title"]["text"], axes["yaxis"]["title"]["text"]):
        assert text in unescape(screen)
    assert f'lang="{say(language, "language.html")}"' in screen
    assert say(language, "page.place_train") in screen
    shipped, before = site.runs.shipped(), first(page(site))
    assert "训练" in first(page(site, "?lang=zh"))
    monkeypatch.setattr("playground.ui.document.still", lambda *_: pytest.fail("it was made again"))
    assert first(page(site, f"?run={shipped[0].id}")) == first(page(site)) == first(page(site, "?__theme=dark")) == before
    for link in (f"?run={shipped[1].id}", "?tab=map", "?text=wir", "?d_model=32", f"?run={shipped[0].id}&step=100", "?run=nobody"):
        html = page(site, link)
        assert 'id="pg-first"' not in html, link
        assert "<gradio-app" in html
        assert "</html>" in html[-20:]


def test_a_links_preview_is_in_its_language_and_its_picture_under_the_address_that_visitors_see(site, monkeypatch):
    def tags(query: str, **headers: str) -> dict[str, str]:
        return dict(re.findall(r'<meta\s+(?:property|name)="((?:og|twitter):[\w:]+)"\s+content="([^"]*)"', page(site, query, **headers)))

    for query, language in (("?run=reverse", "en"), ("?lang=zh&run=reverse", "zh"), ('?lang="><script>', "en")):
        preview = tags(query)
        assert (preview["og:title"], "Gradio" in " ".join(preview.values())) == (say(language, "page.title"), False)
        answer = site.http.get(preview["og:image"])
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    monkeypatch.setenv("PLAYGROUND_PROXIES", "1")
    forwarded = tags("", **{"X-Forwarded-Host": "ada-playground.hf.space", "X-Forwarded-Proto": "https"})
    assert forwarded["og:image"].startswith("https://ada-playground.hf.space/gradio_api/playground/")


ROOT = Path(__file__).parents[2]
TEXT = "playground"


def arrays(answer) -> dict[str, np.ndarray]:
    """What is in a file; reading it needs no pickles."""
    assert answer.headers["Content-Type"] == "application/octet-stream", answer.text
    with np.load(io.BytesIO(answer.content)) as archive:
        return dict(archive)


def test_all_weights_of_every_layer_and_head_with_their_tokens(site):
    for part, step in (("encoder", None), ("decoder", None), ("cross", 0)):
        answer = site.get("attention", run="reverse", text=TEXT, part=part, **({} if step is None else {"step": step}))
        result, look = arrays(answer), site.reader.look(site.runs.get("reverse"), step, TEXT, REFERENCE)
        assert answer.headers["Content-Disposition"] == f'attachment; filename="reverse-step{look.step}-attention-{part}.npz"'
        np.testing.assert_array_equal(result["weights"], getattr(look, part))
        assert result["weights"].shape[2:] == (len(result["queries"]), len(result["keys"]))
        np.testing.assert_allclose(result["weights"].sum(axis=-1), 1, atol=1e-5)
        assert [str(result[name]) for name in ("run", "step", "sentence", "part")] == ["reverse", str(look.step), TEXT, part]
    panel = site.panel("attention", run="reverse", text=TEXT, part="cross", layer=2, head=1)
    figure = next(block for block in all_blocks(panel["blocks"]) if block["kind"] == "figure")
    assert figure["saved"]["file"] == "attention-cross-L2H1"
    weights = arrays(site.get("attention", **figure["saved"]["arrays"]))["weights"]
    np.testing.assert_allclose(np.array(figure["figure"]["data"][0]["z"], float), weights[1, 0], atol=5.1e-5)
    for changed, key in (({"run": "nobody"}, "runs.unknown"), ({"text": " "}, "runs.empty"), ({"text": "a" * 1000}, "runs.too_long")):
        assert site.get("attention", **{"run": "reverse", "part": "cross", "text": TEXT, **changed}).json()["key"] == key


def taken(site, run, token="", **parameters):
    return site.http.get(f"/gradio_api/playground/takeaway/{run}", params=parameters, headers={"X-Playground-Token": token})


def files(answer) -> dict[str, bytes]:
    assert answer.headers["content-type"] == "application/zip", answer.text
    return opened([answer.content])


def test_a_run_goes_home_with_its_link_before_the_model_is_measured(site, monkeypatch):
    started, measure = threading.Event(), downloads.scores_of
    monkeypatch.setattr(downloads, "scores_of", lambda *args: measure(*args) if started.wait(60) else pytest.fail("nothing came"))
    with site.http.stream("GET", "/gradio_api/playground/takeaway/reverse") as answer:
        assert answer.headers["content-disposition"] == 'attachment; filename="reverse.zip"'
        pieces = answer.iter_bytes()
        content = next(pieces)
        started.set()
        contents = opened([content, *pieces])
    assert {"model.py", "use.py", "model.safetensors", "run.ipynb", "README.md"} <= contents.keys()
    card = contents["README.md"].decode()
    assert f"{site.url.rstrip('/')}/?run=reverse" in card
    assert "nrefs:1" in card
    assert load(f"{site.url}?run=reverse&lang=zh&tab=map").translate("hello") == "olleh", "the link is loaded in code"


def test_the_model_is_for_those_who_may_read_its_sentences_and_these_for_the_owner(site):
    pairs = Pairs(PAIRS.pairs, {}, 40, "tsv", ("own.tsv",), "CC BY, somebody")
    own = done(site.runs.create(tiny(task="own", own="an-upload", steps=5), ME, pairs))
    assert "sentences.tsv" in files(taken(site, own.id, ME, sentences="on"))
    assert taken(site, own.id, YOU).json()["key"] == "runs.sentences_private"
    site.runs.share_sentences(own.id, ME, True)
    assert "sentences.tsv" not in files(taken(site, own.id, YOU))
    (riddle,) = site.runs.create_all([tiny(steps=5, variant="cosine")], ME, ["riddle"], secret=True)
    for answer, key in (
        (taken(site, own.id, YOU, sentences="on"), "export.not_your_sentences"),
        (taken(site, own.id, "", sentences="on"), "export.not_your_sentences"), (taken(site, done(riddle).id, ME), "export.secret"),
        (taken(site, "no-such-run"), "runs.unknown"), (taken(site, "..%2F..%2Fetc"), "page.not_there"),
        (site.get("code", run="nobody"), "runs.unknown"), (site.get("code", run="reverse", root="x" * 3000), "cursor.too_long"),
    ):  # fmt: skip
        assert answer.json()["key"] == key


def lines(site, text: str) -> dict[str, str]:
    answer = site.get("code", run="reverse", text=text, root=site.url).json()
    return {one["id"]: one["code"] for one in answer["languages"]}


def printed(language: str, code: str, folder) -> str:
    commands = {"curl": ["bash", "-c"], "javascript": ["node", "--input-type=module", "-e"]}
    if shutil.which({"curl": "curl", "javascript": "node"}.get(language, sys.executable)) is None:
        pytest.skip(f"{language} is not installed")
    command = [*commands.get(language, [sys.executable, "-c"]), code]
    result = subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.night
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lines_run_as_they_stand_with_any_sentence(site, language, tmp_path):
    """Quoted as the language quotes it: nothing of it is run. The model doesn't know these characters, and answers all the same."""
    output = printed(language, lines(site, "hello")[language], tmp_path)
    assert "olleh" in output
    awkward = """it's "a" $HOME `ls` \\n ${x} 中 "TEXT" 'URL'"""
    output = printed(language, lines(site, awkward)[language], tmp_path)
    assert "<eos>" in output
    assert "data: [{" in output if language == "curl" else "error" not in output
