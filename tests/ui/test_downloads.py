"""What can be taken home: attention as a file for numpy, a run as a zip, and lines of code that run as they stand."""

import io
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from playground.features.shared.queries.reader import REFERENCE
from playground.pretrained import load
from playground.reading.pairs import Pairs
from playground.ui import downloads
from playground.ui.downloads import LANGUAGES
from tests.runs.tiny import ME, PAIRS, YOU, done, tiny
from tests.ui.looking import all_blocks

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
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_run_goes_home_with_its_link_before_the_model_is_measured(site, monkeypatch):
    started, measure = threading.Event(), downloads.scores_of
    monkeypatch.setattr(downloads, "scores_of", lambda *args: measure(*args) if started.wait(60) else pytest.fail("nothing came"))
    with site.http.stream("GET", "/gradio_api/playground/takeaway/reverse") as answer:
        assert answer.headers["content-disposition"] == 'attachment; filename="reverse.zip"'
        pieces = answer.iter_bytes()
        content = next(pieces)
        started.set()
        content += b"".join(pieces)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert {"model.py", "use.py", "model.safetensors", "run.ipynb", "README.md"} <= set(archive.namelist())
        card = archive.read("README.md").decode()
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
        (taken(site, own.id, "", sentences="on"), "export.not_your_sentences"),
        (taken(site, done(riddle).id, ME), "export.secret"),
        (taken(site, "no-such-run"), "runs.unknown"),
        (taken(site, "..%2F..%2Fetc"), "page.not_there"),
        (site.get("code", run="nobody"), "runs.unknown"),
        (site.get("code", run="reverse", root="x" * 3000), "cursor.too_long"),
    ):
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
