"""Everybody writes as many tokens, ours the same by every way, and what CTranslate2 gets are our own weights."""

import pytest
import torch

from benchmarks import decoding
from benchmarks.decoding.calls import calls
from benchmarks.decoding.models import LENGTH, VOCABULARY, endless, plain, plain_greedy, sentences
from benchmarks.decoding.other import SCRIPT
from benchmarks.suite import Missing, read_options
from playground.config import BOS, EOS, ModelConfig
from playground.decoding import greedy
from tests.benchmarks.test_benchmarks import SUMMARY, result_of

SMALL = ModelConfig(d_model=16, n_heads=2, d_ff=32)


@pytest.mark.night
def test_decoding(capsys):
    result = result_of(capsys, "decoding")
    every = {kind: [*decoding.OURS, decoding.PEER] for kind in ("one", "batch")} | {"beam": [*decoding.OURS]}
    assert [(row["kind"], row["who"]) for row in result["rows"]] == [(kind, who) for kind, names in every.items() for who in names]
    for row in result["rows"]:
        for name in ("seconds", "cpu", "rate", "ratio"):
            assert row[name].keys() == SUMMARY
            assert len(row[name]["values"]) == 2
        count = result["batch"] if row["kind"] == "batch" else 1
        took = row["seconds"]["values"]
        assert row["rate"]["values"] == pytest.approx([count * LENGTH / one for one in took])
        assert row["who"] != decoding.FIRST or row["ratio"]["values"] == [1, 1]
    assert all(row["same"] == row["of"] > 0 for row in result["agreement"])
    assert {row["who"] for row in result["agreement"]} == decoding.OURS.keys() - {decoding.FIRST}
    fast, own, anew = (row["calls"] for row in result["calls"])
    assert fast < own < anew


@pytest.mark.night
def test_without_ctranslate_the_table_says_so(monkeypatch):
    def refused(*_: object) -> str:
        raise Missing("ctranslate2 can't be installed here: no network")

    monkeypatch.setattr(decoding, "interpreter", refused)
    options = read_options("decoding", ["--smoke"])
    options.without = False
    result = decoding.run(options)
    assert result["missing"] == ["ctranslate2 can't be installed here: no network"]
    assert "no network" in decoding.table(result)


def test_one_more_token_takes_few_calls():
    """It was 71 before the product of a new token was computed where its key and value are kept."""
    assert calls(endless(SMALL), {})["calls"] <= 65


def test_no_sentence_ends_early_and_nobody_writes_what_is_no_letter():
    given = sentences(5, 3)
    for found in ([one.ids for one in greedy(endless(SMALL), given, LENGTH)], plain_greedy(plain(SMALL), given)):
        assert [len(ids) for ids in found] == [LENGTH] * 5
        assert all(min(ids) > EOS and max(ids) < VOCABULARY for ids in found)


def test_the_peer_writes_the_likeliest_token_at_every_step():
    model, given = plain(SMALL), sentences(4, 1)
    found = plain_greedy(model, given)
    src = torch.tensor([[*source, EOS] for source in given])
    logits = model(src, torch.tensor([[BOS, *ids[:-1]] for ids in found]))
    assert logits.argmax(dim=-1).tolist() == [list(ids) for ids in found]


def test_what_the_other_process_needs_is_not_ours():
    """It runs where only CTranslate2 and numpy are."""
    text = SCRIPT.read_text(encoding="utf-8")
    assert "torch" not in text
    assert "playground" not in text
