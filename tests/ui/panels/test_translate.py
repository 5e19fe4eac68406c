"""The tab where decoding is seen: every way of it, and what each says of itself."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from playground.config import MAX_POSITIONS, UNK
from playground.queries.results import Piece
from playground.queries.translate import translate
from playground.ui.panels import translate as panel
from playground.words import say
from tests.ui.panels.looking import block, find

LONG = "wir glauben , dass die Ärztin die Frau findet"
EARLY = {"run": "german_english", "text": LONG, "step": 79}  # the model is half taught: beam search loses the right answer


def ask(site, **parameters) -> dict:
    return site.panel("translate", **{"run": "reverse", "text": "hello", **parameters})


def lines(panel: dict) -> list[list[str]]:
    return [[token["text"] for token in line["tokens"]] for line in block(panel, "candidates")["lines"]]


def written(panel: dict) -> list[str]:
    """What each step wrote, by the names of the steps."""
    return [row[0].split(" → ")[1] for row in block(panel, "steps")["rows"]]


def test_beam_search_shows_its_tree_a_score_that_can_be_worked_out_and_the_verdict(site):
    for language, penalty in (("en", 0.6), ("zh", 1.2)):
        answer = ask(site, **EARLY, method="beam", beam=4, penalty=penalty, lang=language)
        tree, verdict = block(answer, "tree"), block(answer, "beam-verdict")["text"]
        assert "we believe that the doctor finds the woman" in verdict
        assert verdict.startswith(say(language, "decoding.search_error", reference="|", score="", best="").split("|")[0])
        drawn = tree["figure"]["layout"]["meta"]
        assert 0 < drawn["drawn"] < drawn["considered"]
        assert str(drawn["considered"]) in tree["caption"]
        pattern = r"(-[\d.]+) / \(\(5 \+ (\d+)\) / 6\)\^([\d.]+) = (-[\d.]+\d)"
        total, length, exponent, score = map(float, re.search(pattern, tree["caption"].replace("−", "-")).groups())
        assert (length, exponent, len(lines(answer))) == (len(lines(answer)[0]), penalty, 4)
        assert total / ((5 + length) / 6) ** penalty == pytest.approx(score, abs=1e-3)
    assert lines(answer)[0] != [piece.text for piece in site.reader.look(site.runs.get(EARLY["run"]), EARLY["step"], LONG).asked]
    assert block(answer, "greedy")["text"] == say("zh", "decoding.frame_is_greedy")
    easy = ask(site, method="beam")
    assert (block(easy, "beam-verdict")["text"], find(easy, "greedy")) == (say("en", "decoding.found"), None)
    assert find(ask(site, method="beam", text="h9llo"), "beam-verdict") is None  # nobody knows the right answer


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_a_prefix_is_written_first_and_marked_an_unknown_one_named_and_an_empty_one_is_none(site, method):
    answer = ask(site, method=method, prefix="xy")
    output = block(answer, "candidates")["lines"][0]["tokens"]
    assert [token["text"] for token in output[:2]] == ["x", "y"]
    assert [bool(token.get("given")) for token in output] == [True, True, *[False] * (len(output) - 2)]
    assert block(answer, "at")["value"] >= 2  # a step that the model took by itself
    assert block(answer, "verdict")["text"] == say("en", "decoding.no_verdict")
    assert block(ask(site, prefix="ol"), "verdict")["text"] == say("en", "page.verdict_right")
    answer = ask(site, **{**EARLY, "method": method, "prefix": "she xyzzy"})
    assert block(answer, "unknown-prefix")["text"] == say("en", "decoding.prefix_unknown", words="xyzzy")
    assert lines(answer)[0][:2] == ["she", "<unk>"]
    assert find(ask(site, method=method, prefix=" \u200b\x00"), "given") is None
    refused = site.get("panel/translate", run="reverse", text="hello", prefix="a" * MAX_POSITIONS).json()
    assert refused["key"] == "decoding.prefix_too_long"


def test_a_draw_is_repeated_by_its_seed_and_twenty_are_counted(site):
    """Narrowed down it is greedy; where all are the same, a warmer one is offered."""
    hot = {"method": "sample", "temperature": 3}
    assert lines(ask(site, **hot, draw=3)) == lines(ask(site, **hot, draw=3))
    assert len({tuple(lines(ask(site, **hot, draw=draw))[0]) for draw in range(4)}) > 1
    for narrow in ({"top_k": 1}, {"top_p": 0.05}):
        assert lines(ask(site, **hot, **narrow))[0] == written(ask(site))
    assert block(ask(site, **hot, draw=7), "seed")["value"] == "7"
    answer = ask(site, method="sample", temperature=2, draws=20)
    rows = block(answer, "spread")["rows"]
    counts = [row[1] for row in rows]
    assert (sum(counts), counts) == (20, sorted(counts, reverse=True))
    assert len({row[0] for row in rows}) == len(rows) > 1
    assert all((row[3] == "✓") == (row[0] == "olleh") for row in rows)
    same = ask(site, method="sample", draws=20, temperature=0.1)
    assert len(block(same, "spread")["rows"]) == 1
    assert find(ask(site, method="sample", draws=20, **block(same, "warmer")["to"]), "warmer") is None


def test_it_proposes_a_sentence_that_goes_wrong_or_else_the_one_of_the_greatest_doubt(site):
    proposed = site.panel("translate", run="reverse")["telling"]
    look = site.reader.look(site.runs.get("reverse"), None, proposed)
    assert not (look.finished and all(look.right))
    german = site.runs.get("german_english")
    doubt = {text: min(site.reader.look(german, None, text).probabilities) for text, _ in site.reader.examples(german, "heldout", 100)}
    assert site.panel("translate", run="german_english")["telling"] == min(doubt, key=lambda text: doubt[text])
    assert site.panel("translate", run="german_english", method="beam")["telling"] == ""


def test_a_word_copied_from_the_source_is_marked_and_said(site, monkeypatch):
    """Only where the output holds <unk> there is a choice; the default is to leave it."""
    assert find(ask(site, text="cap"), "unknown") is None

    def unknown_first(*arguments):
        answer = translate(*arguments)
        best = answer.candidates[0]
        words = ("hello", *[None] * (len(best.pieces) - 1)) if arguments[-1].copy_unknown else ()
        return replace(answer, candidates=(replace(best, pieces=(Piece("<unk>", UNK), *best.pieces[1:]), copied=words),))

    monkeypatch.setattr(panel, "translate", unknown_first)
    left, copied = ask(site, text="cab"), ask(site, text="cab", unknown="copy")
    assert (block(left, "unknown")["value"], block(copied, "unknown")["value"], find(left, "copied")) == ("off", "copy", None)
    assert "hello" in block(copied, "copied")["text"]
    first, second, *_ = block(copied, "candidates")["lines"][0]["tokens"]
    assert (first["text"], first["id"], first["copied"], "copied" in second) == ("hello", UNK, True, False)
