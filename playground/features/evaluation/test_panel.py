"""The tab of scores says what was measured, as long as it is asked, of runs of one task; and how far a run reaches, of every length."""

import numpy as np
import pytest

from playground.config import EOS
from playground.decoding import greedy
from playground.features.conftest import complete as completed
from playground.features.evaluation import lengths_query, query as evaluation
from playground.features.evaluation.panel import _build_comparison
from playground.features.registry import PANELS
from playground.features.shared import uploading
from playground.features.shared.queries import validation
from playground.features.shared.view import View
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.tasks.toy_tasks import split_of
from playground.words import say
from tests.runs.tiny import CORPORA, alone, refused, tiny
from tests.ui.looking import block, complete, ids

MINE, THEIRS = "a" * 32, "b" * 32
WORDS = ("hello", "abcd", "word", "twelve", "reverse", "stories", "abcd")


@pytest.fixture
def file():
    """An upload of which all but one target is right."""
    pairs = [Pair(word, word[::-1], line) for line, word in enumerate(WORDS, 1)]
    every = (Pair("wrong", "this", 9), *pairs, Pair("x" * 300, "x", 10))
    yield uploading.store_upload(Pairs(every, {}, 9, "tsv", ("own.tsv",)), uploading.ticket_of(MINE))
    uploading.UPLOADS.clear()


def of_visitor(site, token, **asked):
    return PANELS["evaluation"](View(site.runs, site.reader, {"run": "reverse", **asked}, token))


def test_the_table_says_what_was_measured_and_beside_this_run_stand_those_that_are_ticked(site):
    asked = {"split": "heldout", "step": "40", "method": "beam", "beam": "2", "penalty": "1.4"}  # validations are greedy
    panel = complete(site, "evaluation", run="reverse", **asked)
    scores = evaluation.scores(site.reader, site.runs.corpora, site.runs.get("reverse"), 40, "heldout", 2, 1.4)
    measured, validation, beam = scores.measured, scores.evaluated.validation, 100 * (1 - scores.wrong / scores.sentences)
    reach = [(measured.bleu, measured.bleu_reach), (measured.chrf, measured.chrf_reach)]
    assert [row[1] for row in block(panel, "scores")["rows"]] == [
        f"{beam:.1f}\N{NO-BREAK SPACE}% (greedy: {100 * validation.exact_match:.1f}\N{NO-BREAK SPACE}%)",
        f"{100 * validation.token_accuracy:.1f}\N{NO-BREAK SPACE}%",
        *(f"{score:.1f}" + (f" ± {most:.1f}" if most else "") for score, most in reach), f"{measured.length_ratio:.2f}",
    ]
    assert measured.bleu_signature in block(panel, "scores-caption")["text"]
    assert f"{scores.sentences} of {scores.evaluated.of} {say('en', 'evaluation.heldout')}" in block(panel, "scores-caption")["text"]
    assert len([id for id in ids(panel) if id.startswith("mistake-")]) == min(scores.wrong, evaluation.MAX_MISTAKES)
    view = View(site.runs, site.reader, {"run": "reverse"}, MINE)
    offered = [site.runs.get(name) for name in ("sort", "numbers_de")]
    choice = _build_comparison(view, [view.run, offered[0]], offered)
    assert (choice["value"], [option["value"] for option in choice["options"]]) == (["sort"], ["sort", "numbers_de"])


def test_a_run_is_scored_on_an_upload_and_one_that_is_gone_or_of_another_visitor_is_no_dead_end(site, file, monkeypatch):
    monkeypatch.setattr(evaluation, "MAX_SENTENCES", 4)
    monkeypatch.setattr(validation, "BUDGET_S", -1)
    asked = {"lang": "zh", "split": "file", "file": file}
    first = panel = of_visitor(site, MINE, **asked)
    while panel["more"]:
        panel = of_visitor(site, MINE, **asked)
    assert block(first, "progress")["all"] == 7  # each source once, without the one that is too long
    assert block(first, "stop")["to"] == {"split": "heldout"}
    assert "stop" not in ids(panel)
    values = dict(row[:2] for row in block(panel, "scores")["rows"])
    assert values[say("zh", "evaluation.exact_match")] == "85.7\N{NO-BREAK SPACE}%"
    assert [option["value"] for option in block(panel, "split")["options"]] == ["heldout", "harder", "file"]
    assert block(panel, "look-0")["to"] == {"text": "wrong"}
    for token, asked in ((MINE, "gone"), (THEIRS, file), ("", file)):
        panel = of_visitor(site, token, split="file", file=asked)
        assert block(panel, "split")["value"] == "heldout"
        assert "file" not in [option["value"] for option in block(panel, "split")["options"]]
    long = uploading.store_upload(Pairs((Pair("x" * 300, "x", 1),), {}, 1, "tsv", ("own.tsv",)), uploading.ticket_of(MINE))
    with refused("evaluation.file_too_long"):
        of_visitor(site, MINE, split="file", file=long)


KNOBS = {"task": "copy", "steps": 60, "dropout": 0.0, "d_model": 16, "learning_rate": 0.02}


def test_every_length_up_to_three_times_that_of_training_or_those_there_are_where_none_can_be_made(reader, run, monkeypatch):
    monkeypatch.setattr(lengths_query, "affordable", lambda run, tokens, most, least: least)  # two sentences of each length
    corpus = CORPORA.get(run.experiment)
    result = completed(lambda: lengths_query.lengths(reader, CORPORA, run, None))
    longest = max(len(item.src_ids) for item in corpus.train)
    assert result.generated
    assert result.trained == (min(len(item.tgt_ids) for item in corpus.train), longest)
    assert result.reach.counts.tolist()[2:] == [2] * (3 * longest - 2)
    made = lengths_query._generate(run, corpus)
    assert not {item.src for item in corpus.train} & {item.src for item in made}
    assert {split_of("copy", item.src) for item in made} == {"heldout", "harder"}
    monkeypatch.undo()
    run = alone(tiny(task="numbers_de", steps=5))[0]
    corpus = CORPORA.get(run.experiment)
    result = completed(lambda: lengths_query.lengths(reader, CORPORA, run, None))
    assert not result.generated
    assert result.total == result.reach.counts.sum() == len(corpus.heldout) + len(corpus.harder)
    sizes = [len(item.tgt_ids) for item in corpus.train]
    assert result.trained == (min(sizes), max(sizes))


@pytest.mark.trust
def test_right_is_what_greedy_decoding_writes(run, model):
    corpus = CORPORA.get(run.experiment)
    items = [item for item in corpus.train if len(item.src_ids) < 7][:30] + list(corpus.heldout)
    written = greedy(model, [item.src_ids for item in items], 40)
    for item, hypothesis, (right, whole) in zip(items, written, lengths_query.teacher_forced(model, corpus, items), strict=True):
        target = (*item.tgt_ids, EOS)
        assert whole == right.all() == (hypothesis.ids == target)
        wrong = np.flatnonzero(~right)
        if len(wrong):  # up to the first wrong one both see the same tokens
            assert hypothesis.ids[: wrong[0]] == target[: wrong[0]]
            assert hypothesis.ids[wrong[0]] != target[wrong[0]]
