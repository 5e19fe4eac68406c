"""The exact match of a run at its last step is one number: in the header, on every tab, and on the command line."""

import json
import re

import pytest

from playground.cli import main
from playground.config import Experiment
from playground.runs.registry import SHIPPED
from playground.words import LANGUAGES, say
from tests.runs.tiny import TINY, done
from tests.ui.panels.looking import block, complete

TOKEN = "who counts"
KNOBS = TINY | {"task": "sort", "d_model": 32, "steps": 80, "eval_every": 20, "train_size": 2000, "validation_size": 300, "batch_size": 32}
NAMES = ["reverse", *(pytest.param(name, marks=pytest.mark.night) for name in ("numbers_de", "german_english", "fresh"))]


@pytest.fixture(scope="module")
def fresh(site):
    run = done(site.runs.create(Experiment().with_(**KNOBS), TOKEN))
    yield run
    site.runs.delete(run.id, TOKEN)


def percents(text: str) -> list[str]:
    return re.findall(r"[\d.]+(?=\s?%)", text)


@pytest.mark.parametrize("name", NAMES)
def test_everybody_says_the_same_number(site, fresh, name, capsys):
    run = fresh if name == "fresh" else site.runs.get(name)
    update = json.loads(site.runs.update(run)[0])  # from this the page takes what the header and the first tab say
    newest = {name: values[-1] for name, values in update["validations"].items()}
    assert (newest["step"], newest["pairs"]) == (run.step, newest["all_pairs"]), "at the end all held-out sentences were asked"
    number = f"{100 * newest['exact_match']:.1f}"
    query = {"run": run.id}

    exact = block(complete(site, "evaluation", **query), "scores")["rows"][0]
    assert percents(exact[1]) == [number]
    for change in ({}, {"off": "c1.1"}):
        before = block(complete(site, "score", **query, **change), "score")["rows"][0][1]
        assert percents(before) == [number]
    assert percents(block(complete(site, "importance", **query), "importance-said")["text"])[-1] == number
    assert percents(block(site.panel("teacher_forcing", **query), "caption")["text"])[-1] == number

    folder = SHIPPED / name if run.shipped else site.runs.store.path(run)
    assert main(["history", str(folder), "--validations"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    last = dict(zip(head.split(), rows[-1].split(), strict=True))
    assert (f"{100 * float(last['exact_match']):.1f}", last["pairs"]) == (number, last["all_pairs"])
    (row,) = site.runs.table([run]).to_dict("records")
    assert f"{100 * row['exact_match']:.1f}" == number


def test_a_sample_says_that_it_is_one(site, fresh, monkeypatch, capsys):
    """While the run trains, where the page is asked for a step at which only some sentences were asked, and on the command line."""
    rows = fresh.history.validations.rows()
    at = next((at for at, pairs in enumerate(rows["pairs"]) if pairs < 300), None)
    assert at is not None, "a model that knows nothing yet is asked few sentences"
    caption = block(site.panel("teacher_forcing", run=fresh.id, step=str(int(rows["step"][at]))), "caption")["text"]
    assert "a sample of 100 of 300 held-out sentences" in caption
    assert "≈" in caption
    monkeypatch.setattr(fresh, "status", "training")
    for language in LANGUAGES:
        scores = block(site.panel("evaluation", run=fresh.id, split="harder", lang=language), "scores")["rows"]
        for part in say(language, "page.sample", value="|", pairs="250", all="300").split("|"):
            assert part in scores[0][1]
        assert "25" in scores[2][1]
    knobs = KNOBS | {"steps": 20, "eval_every": 10}
    assert main(["train", *(f"--{name.replace('_', '-')}={value}" for name, value in knobs.items())]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("step")]
    assert lines[0].endswith("of 100 of 300 sentences")
    assert lines[-1].endswith("%")
