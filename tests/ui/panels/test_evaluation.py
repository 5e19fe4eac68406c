"""The tab of scores says what was measured, goes on as long as somebody asks, and puts only runs of one task side by side."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import pytest

from playground.config import Experiment, Refusal
from playground.queries import evaluation, lengths, time_slices
from playground.reading.uploads import Pair, Pairs
from playground.ui import compare, panels
from playground.ui.panels import PANELS
from playground.ui.upload import uploading
from playground.ui.view import View
from playground.words import LANGUAGES, say
from tests.ui.test_actions import MINE, THEIRS, TINY, wait
from tests.ui.test_routes import blocks_of


def block(panel: dict, id: str) -> dict:
    return next(block for block in blocks_of(panel["blocks"]) if block["id"] == id)


def ids(panel: dict) -> set[str]:
    return {block["id"] for block in blocks_of(panel["blocks"])}


def complete(site, name: str, **asked: object) -> dict:
    """What the page shows in the end."""
    while (panel := site.panel(name, **asked)).get("more"):
        assert "error" not in panel
    return panel


@pytest.fixture(scope="module")
def rotary(site):
    """A visitor's own run of the same task as a shipped one, with other positions."""
    run = site.runs.create(Experiment().with_(**TINY, task="reverse", positions="rotary", steps=3), MINE)
    wait(run, "done")
    yield run
    site.runs.delete(run.id, MINE)


@pytest.mark.sample(1)
@pytest.mark.parametrize("run", ["reverse", "numbers_de", "german_english"])
def test_the_table_says_what_was_measured(site, run):
    for split in ("heldout", "harder"):
        panel = complete(site, "evaluation", run=run, split=split)
        found = evaluation.scores(site.reader, site.runs.corpora, site.runs.get(run), None, split)
        values = [row[1] for row in block(panel, "scores")["rows"]]
        assert values == [
            f"{100 * found.evaluated.validation.exact_match:.1f}\N{NO-BREAK SPACE}%",
            f"{100 * found.evaluated.validation.token_accuracy:.1f}\N{NO-BREAK SPACE}%",
            *(f"{score:.1f}" + (f" ± {reach:.1f}" if reach else "") for score, reach in sacrebleus(found.measured)),
            f"{found.measured.length_ratio:.2f}",
        ]
        assert found.measured.bleu_signature in block(panel, "scores")["rows"][2][2]
        assert f"{found.sentences} of {found.evaluated.of} {say('en', f'evaluation.{split}')}" in block(panel, "scores-caption")["text"]
        assert panel["step"] == site.runs.get(run).step
        assert len([id for id in ids(panel) if id.startswith("mistake-")]) == min(found.wrong, evaluation.MAX_MISTAKES)
        assert ("mistakes-none" in ids(panel)) == (found.wrong == 0)


def sacrebleus(measured):
    return (measured.bleu, measured.bleu_reach), (measured.chrf, measured.chrf_reach)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_beam_is_asked_for_and_said(site, language):
    asked = {"run": "numbers_de", "step": "0", "lang": language}
    panel = complete(site, "evaluation", **asked, method="beam", beam="2", penalty="1.4")
    found = evaluation.scores(site.reader, site.runs.corpora, site.runs.get("numbers_de"), 0, "heldout", 2, 1.4)
    assert f"{found.measured.chrf:.1f} ± {found.measured.chrf_reach:.1f}" in [row[1] for row in block(panel, "scores")["rows"]]
    assert say(language, "evaluation.decoded_beam", width=2) in block(panel, "scores-caption")["text"]
    assert {"method", "beam", "penalty"} <= ids(panel)
    drawn = complete(site, "evaluation", **asked, method="sample")  # is no way to judge a model by
    assert say(language, "evaluation.decoded_greedy") in block(drawn, "scores-caption")["text"]
    assert not {"beam", "penalty"} & ids(drawn)


def test_what_says_most_of_sentences_stands_first(site, monkeypatch):
    """And <unk> and the bootstrap are spoken of where there is something to say."""

    def some(*asked):
        found = whole(*asked)
        return replace(found, of_words=True, unknown=7, measured=found.measured._replace(bleu=34.4, bleu_reach=1.3))

    whole = evaluation.scores
    monkeypatch.setattr(panels.evaluation, "scores", some)
    panel = complete(site, "evaluation", run="numbers_zh")
    assert [row[0] for row in block(panel, "scores")["rows"]] == ["BLEU", "chrF", "Length ratio", "Exact match", "Token accuracy"]
    assert block(panel, "scores")["rows"][0][1] == "34.4 ± 1.3"
    caption = block(panel, "scores-caption")["text"]
    assert "between 33.1 and 35.7" in caption
    assert "7 outputs contain <unk>" in caption


WORDS = ("hello", "abcd", "word", "twelve", "reverse", "stories", "abcd")


@pytest.fixture
def file():
    """An upload of which all but one target is right."""
    pairs = [Pair(word, word[::-1], line) for line, word in enumerate(WORDS, 1)]
    all = (Pair("wrong", "this", 9), *pairs, Pair("x" * 300, "x", 10))
    yield uploading.keep(Pairs(all, {}, 9, "tsv", ("own.tsv",)), uploading.ticket_of(MINE))
    uploading.KEPT.clear()


def of_visitor(site, token, **asked):
    return PANELS["evaluation"](View(site.runs, site.reader, {"run": "reverse", **asked}, token))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_run_is_scored_on_an_upload(site, file, language, monkeypatch):
    monkeypatch.setattr(evaluation, "MAX_SENTENCES", 4)
    monkeypatch.setattr(time_slices, "BUDGET_S", -1)
    asked = {"lang": language, "split": "file", "file": file}
    first = panel = of_visitor(site, MINE, **asked)
    while panel["more"]:
        panel = of_visitor(site, MINE, **asked)
    assert block(first, "progress")["all"] == 7  # each source once, without the one that is too long
    assert block(first, "stop")["to"] == {"split": "heldout"}
    assert "stop" not in ids(panel)
    values = dict(row[:2] for row in block(panel, "scores")["rows"])
    assert values[say(language, "evaluation.exact_match")] == "85.7\N{NO-BREAK SPACE}%"
    assert [option["value"] for option in block(panel, "split")["options"]] == ["heldout", "harder", "file"]
    assert block(panel, "look-0")["to"] == {"text": "wrong"}


def test_an_upload_that_is_gone_or_somebody_elses_or_cant_be_read_is_no_dead_end(site, file):
    for token, asked in ((MINE, "gone"), (THEIRS, file), ("", file)):
        found = of_visitor(site, token, split="file", file=asked)
        assert block(found, "split")["value"] == "heldout"
        assert "file" not in [option["value"] for option in block(found, "split")["options"]]
    long = uploading.keep(Pairs((Pair("x" * 300, "x", 1),), {}, 1, "tsv", ("own.tsv",)), uploading.ticket_of(MINE))
    with pytest.raises(Refusal) as refused:
        of_visitor(site, MINE, split="file", file=long)
    assert refused.value.key == "evaluation.file_too_long"


def test_a_mistake_can_be_looked_at(site):
    panel = complete(site, "evaluation", run="reverse", step="30", split="harder")
    look = block(panel, "look-0")
    assert look["to"] == {"text": look["label"]}
    wrong, right = block(panel, "wrong-0")["lines"]
    assert not all(token["right"] for token in wrong["tokens"])
    assert "".join(token["text"] for token in right["tokens"]) == look["label"][::-1]


def test_it_says_how_far_it_is_and_shows_what_it_knows(site, monkeypatch):
    """The first answer comes after the first slice; nothing is said of what was not yet tried."""
    monkeypatch.setattr(time_slices, "BUDGET_S", -1)
    monkeypatch.setattr(evaluation, "MAX_SENTENCES", 50)
    asked = {"run": "numbers_zh", "step": "0"}
    tried, first = [], None
    while (panel := site.panel("evaluation", **asked))["more"]:
        bar = block(panel, "progress")
        tried.append(bar["done"])
        first = first or [row[1] for row in block(panel, "scores")["rows"]]
        assert f"{bar['done']} of {bar['all']}" in bar["label"]
        assert {"scores", "scores-caption"} <= ids(panel)
        assert not {"reach", "mistakes", "mistakes-none"} & ids(panel)
    assert tried == [*range(50, 500, 50)]
    assert [value.startswith("≈") for value in first] == [True] * 5, "all of it is of a sample"
    assert first[0].endswith("(250 of 500)")
    assert first[2].endswith("(50 of 500)")
    assert not any("≈" in row[1] for row in block(panel, "scores")["rows"])
    assert "progress" not in ids(panel)
    assert {"reach", "mistakes"} <= ids(panel)
    first = site.panel("reach", **asked)
    assert first["more"]
    assert (block(first, "progress")["done"], block(first, "progress")["all"]) == (50, 800)
    assert [found["caption"] for found in blocks_of(first["blocks"]) if found["kind"] == "figure"] == ["", ""]
    assert any(share is None for share in block(first, "reach")["figure"]["data"][0]["z"][0])
    last = complete(site, "reach", **asked)
    assert "progress" not in ids(last)
    assert block(last, "reach")["figure"]["layout"]["xaxis"] == block(first, "reach")["figure"]["layout"]["xaxis"]  # it only fills


@pytest.mark.sample
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("run", ["reverse", "numbers_de"])
def test_strips_and_places_are_what_was_measured(site, run, language):
    panel = complete(site, "reach", run=run, lang=language, width="390", dark="1")
    found = lengths.lengths(site.reader, site.runs.corpora, site.runs.get(run), None)
    strips, places = (block(panel, id)["figure"]["data"][0]["z"] for id in ("reach", "places"))
    shares = [None if share != share else pytest.approx(share, abs=1e-3) for share in found.reach.exact.tolist()]
    assert strips == [shares]
    assert len(places) == len(shares) + 1
    assert block(panel, "reach")["caption"]
    assert block(panel, "places")["caption"]
    how = {"each": max(found.reach.counts), "times": lengths.REACH} if found.made else {}
    assert (
        say(language, "evaluation.lengths_made" if found.made else "evaluation.lengths_existing", **how) in block(panel, "reach")["caption"]
    )


def test_other_runs_of_the_task_stand_beside_it(site, rotary):
    asked = {"run": "reverse", "compare": f"{rotary.id},sort,nobody"}  # what does another task, or isn't there, is left out
    panel = complete(site, "reach", **asked)
    rows = block(panel, "reach")["figure"]["layout"]["meta"]["rows"]
    assert len(rows) == 2
    assert rows[0].startswith("Reverse")
    assert rotary.name in rows[1]
    assert all(word in row for row, word in zip(rows, ("sinusoids", "rotary"), strict=True))  # what they differ in is named
    assert len(block(panel, "reach")["figure"]["data"][0]["z"]) == 2
    assert rotary.name in block(panel, "reach")["caption"]
    assert [option["value"] for option in block(panel, "mapped")["options"]] == ["reverse", rotary.id]
    own, other = (block(complete(site, "reach", **asked, mapped=id), "places")["figure"]["data"][0]["z"] for id in ("reverse", rotary.id))
    assert own != other
    assert block(complete(site, "reach", **asked, mapped="nobody"), "places")["figure"]["data"][0]["z"] == own


def test_who_asks_is_offered_their_own_runs_only(site, rotary):
    def offered(token: str, **more: str) -> list[str]:
        return [run.id for run in compare.offered(View(site.runs, site.reader, {"run": "reverse", **more}, token))]

    assert offered(MINE) == [rotary.id]
    assert offered(THEIRS) == []
    assert offered(THEIRS, compare=rotary.id) == [rotary.id]  # whoever has the link may see it
    alone = complete(site, "reach", run="reverse")
    assert "compare-try" in ids(alone)
    assert block(alone, "compare-try")["knob"] == "positions"


def test_no_more_runs_than_fit(site, monkeypatch):
    run = site.runs.get("reverse")
    many = {}
    for number in range(20):
        many[f"copy{number}"] = copy(run)
        many[f"copy{number}"].id = f"copy{number}"
    find = site.runs.find
    monkeypatch.setattr(site.runs, "find", lambda id: many.get(id) or find(id))
    view = View(site.runs, site.reader, {"run": "reverse", "compare": ",".join(many)})
    assert len(compare.chosen(view)) == compare.MAX_RUNS + 1


@pytest.mark.parametrize("value", ["<script>", "nan", "１", "," * 3000, "reverse", "../../x", "x" * 4000])
def test_a_broken_link_breaks_nothing(site, value):
    base = complete(site, "reach", run="numbers_de")
    panel = complete(site, "reach", run="numbers_de", compare=value, mapped=value)
    assert panel["blocks"] == base["blocks"]
    scores = complete(site, "evaluation", run="numbers_de", split=value, compare=value)
    assert block(scores, "split")["value"] == "heldout"
