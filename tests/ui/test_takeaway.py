"""The door to the zip: who may see a run may take it home, only its owner the sentences, and a refusal is one sentence."""

import io
import threading
import time
import zipfile

import pytest

from playground.pretrained import load
from playground.reading.pairs import Pairs
from playground.ui import takeaway
from playground.words import say
from tests.runs.tiny import ME, PAIRS, TINY, YOU, done, tiny


@pytest.fixture(scope="module")
def own(site):
    pairs = Pairs(PAIRS.pairs, {}, 40, "tsv", ("own.tsv",), "CC BY, somebody")
    return done(site.runs.create(tiny(task="own", own="an-upload", steps=5), ME, pairs))


def taken(site, run, token="", **parameters):
    return site.http.get(f"/gradio_api/playground/takeaway/{run}", params=parameters, headers={"X-Playground-Token": token})


def names(answer):
    assert answer.headers["content-type"] == "application/zip", answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
        assert found.testzip() is None
        return set(found.namelist())


def test_a_shipped_run_goes_home(site):
    answer = taken(site, "reverse")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="reverse.zip"'
    assert {"model.py", "use.py", "model.safetensors", "run.ipynb", "README.md"} <= names(answer)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
        card = found.read("README.md").decode()
    assert f"{site.url.rstrip('/')}/?run=reverse" in card
    assert "nrefs:1" in card


def test_it_starts_before_the_model_is_measured(site, monkeypatch):
    """Which takes seconds, and longer while others train: the browser's download shows at once that it goes on."""
    started, measure = threading.Event(), takeaway.scores_of

    def measured(*asked):
        assert started.wait(20)
        return measure(*asked)

    monkeypatch.setattr(takeaway, "scores_of", measured)
    with site.http.stream("GET", "/gradio_api/playground/takeaway/german_english") as answer:
        pieces = answer.iter_bytes()
        found = next(pieces)
        started.set()
        found += b"".join(pieces)
    with zipfile.ZipFile(io.BytesIO(found)) as whole:
        assert whole.testzip() is None


def test_the_model_is_for_everybody_who_has_the_link_and_the_sentences_for_the_owner(site, own):
    assert "sentences.tsv" in names(taken(site, own.id, ME, sentences="on"))
    assert "sentences.tsv" not in names(taken(site, own.id, YOU))
    for token in (YOU, ""):
        assert taken(site, own.id, token, sentences="on").json()["key"] == "export.not_your_sentences"


@pytest.mark.parametrize(("language", "run"), [("en", "no-such-run"), ("zh", "..%2F..%2Fetc")])
def test_a_run_that_is_not_there_is_one_sentence(site, language, run):
    answer = taken(site, run, lang=language)
    assert answer.status_code == 404 or answer.json()["error"] == say(language, "runs.unknown")


def test_a_run_without_a_step_is_one_sentence(site):
    run = site.runs.create(tiny(steps=100_000, d_model=256, d_ff=2048), ME)
    try:
        answer = taken(site, run.id)
        assert answer.headers["content-type"] == "application/zip" or answer.json()["key"] == "export.nothing_yet"
    finally:
        site.runs.delete(run.id, ME)


def test_a_paused_run_goes_home(site):
    run = site.train(ME, {**TINY, "steps": 100_000})
    while not (run.snapshot and run.snapshot.step):
        run.seen()
        time.sleep(0.02)
    site.act(ME, "pause", run.id)
    done(run)
    assert run.status == "paused"
    assert "model.py" in names(taken(site, run.id))
    site.act(ME, "delete", run.id)


def test_a_riddle_is_not_given_away(site):
    (run,) = site.runs.create_all([tiny(steps=5, variant="cosine")], ME, ["riddle"], secret=True)
    assert taken(site, done(run).id, ME).json()["key"] == "export.secret"


def test_a_share_link_is_loaded_in_code(site):
    assert load(f"{site.url}?run=reverse&lang=zh&tab=map").translate("hello") == "olleh"
