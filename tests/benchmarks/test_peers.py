"""The benchmark of peers: what they are given is alike, what they are asked is what greedy decoding would do, what is missing is said."""

import json
import subprocess
from dataclasses import replace

import pytest
import torch

from benchmarks import peers, suite
from benchmarks.peers import common, environment, plain
from benchmarks.peers.common import Setting, Task, Watch, batches, exact_match, exam, rows_right
from benchmarks.peers.report import ratios, rows, written
from playground.config import BOS, EOS, MAX_POSITIONS, PAD, Experiment
from playground.data.batches import collate
from playground.data.corpus import Item
from playground.model.positions import sinusoids

LETTERS = 9
SIZE = Setting(d_model=16, n_heads=2, layers=1, d_ff=32, dropout=0.0, pairs=4)


def item(*ids: int) -> Item:
    return Item("", "", ids, ids[::-1])


def task(count: int = 10) -> Task:
    items = tuple(item(4 + index % 5, *range(4, 5 + index % 4)) for index in range(count))
    return Task(items, items[:3], LETTERS, 6, SIZE, seed=3)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return plain.Plain(LETTERS, LETTERS, 16, 2, 2, 32, 0.1).eval()


def test_positions_are_those_of_the_paper(model):
    torch.testing.assert_close(model.positions, sinusoids(MAX_POSITIONS, 16))


def test_a_sentence_gets_the_same_logits_alone_and_beside_a_longer_one(model):
    short, long = item(4, 5, 6), item(7, 8, 7, 8, 4, 5)
    both, alone = collate([short, long]), collate([short])
    torch.testing.assert_close(model(both.src, both.tgt_in)[:1, :4], model(alone.src, alone.tgt_in))


def test_no_target_token_sees_a_later_one(model):
    batch = collate([item(4, 5, 6)])
    changed = batch.tgt_in.clone()
    changed[0, -1] = 8
    before, after = model(batch.src, batch.tgt_in), model(batch.src, changed)
    torch.testing.assert_close(before[:, :-1], after[:, :-1])
    assert not torch.allclose(before[:, -1], after[:, -1])


@torch.no_grad()
def test_exact_match_is_what_greedy_decoding_gets_right(model):
    def written_by(source: tuple[int, ...], most: int) -> tuple[int, ...]:
        tokens = [BOS]
        while len(tokens) <= most and tokens[-1] != EOS:
            tokens.append(int(model(torch.tensor([[*source, EOS]]), torch.tensor([tokens]))[0, -1].argmax()))
        return tuple(tokens[1:])

    sources = [(4, 5), (6, 7, 8), (8,), (5, 5, 5, 5)]
    answers = [written_by(source, 5) for source in sources]  # an untrained model seldom says EOS: ask for a longer answer then
    own = [
        Item("", "", source, answer[:-1] if answer[-1] == EOS else (*answer, 4)) for source, answer in zip(sources, answers, strict=True)
    ]
    greedy = [written_by(one.src_ids, len(one.tgt_ids) + 1) == (*one.tgt_ids, EOS) for one in own]
    right = exact_match(model, lambda batch: model(batch.src, batch.tgt_in), exam(tuple(own)))
    assert right == sum(greedy) / len(greedy)


def test_a_row_is_right_when_every_token_but_padding_is():
    wanted = torch.tensor([[4, 5, EOS], [4, EOS, PAD], [4, EOS, PAD]])
    said = torch.tensor([[4, 5, 6], [4, EOS, 7], [5, EOS, PAD]])
    assert rows_right(torch.nn.functional.one_hot(said, LETTERS).float(), wanted) == 1


def test_a_pass_takes_every_pair_once():
    order = batches(task(10))
    first = [next(order) for _ in range(3)]
    assert [len(batch.src) for batch in first] == [4, 4, 2]
    seen = sorted(tuple(row[row != PAD].tolist()) for batch in first for row in batch.src)
    assert seen == sorted((*one.src_ids, EOS) for one in task(10).train)
    assert len(next(order).src) == 4


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(common.time, "perf_counter", lambda: self.now)

    def examine(self, took: float, found: float) -> float:
        self.now += took
        return found


def test_the_watch_examines_now_and_then_and_stops_at_the_target(monkeypatch):
    clock, answers, reports = Clock(monkeypatch), iter((0.5, 1.0)), []
    watch = Watch(0.99, 1000.0, lambda found: reports.append(dict(found)))
    clock.now = 3.0
    watch.prepared()
    steps = 0
    while True:
        clock.now += 0.5
        steps += 1
        if watch.step(10, 16, lambda: clock.examine(0.25, next(answers))):
            break
    # After 1 s of training; then late enough for 0.25 s to be a twentieth of the time: 4.75 s, ten steps of half a second.
    assert [(found["step"], found["exact_match"]) for found in reports] == [(2, 0.5), (12, 1.0)]
    assert steps == watch.found["step"] == 12
    assert watch.found["reached"]
    assert (watch.found["tokens"], watch.found["cells"]) == (120, 192)
    assert watch.found["preparing"] == 3.0
    assert watch.found["validating"] == 0.5
    assert watch.found["seconds"] == 3.0 + 12 * 0.5 + 0.5


def test_the_watch_stops_when_the_time_is_up_and_still_asks(monkeypatch):
    clock = Clock(monkeypatch)
    watch = Watch(0.99, 0.3)
    watch.prepared()
    assert not watch.step(1, 1, lambda: 0.0)
    clock.now = 0.4
    assert watch.step(1, 1, lambda: 0.7)
    assert (watch.found["exact_match"], watch.found["reached"]) == (0.7, False)


@pytest.mark.night
def test_the_peer_learns_what_it_is_given():
    watch = Watch(1.0, 60.0)
    one = replace(task(), heldout=task().train, setting=replace(SIZE, d_model=32))
    learner = plain.Learner(one)
    for group in learner._optimiser.param_groups:
        group["lr"] = 3e-3
    watch.prepared()
    learner.train(watch)
    assert watch.found["reached"]


def test_equal_is_as_large_as_ours_and_own_is_no_wider_than_asked():
    ours = Experiment().with_(d_model=32, n_heads=2, d_ff=64, dropout=0.2, batch_size=7)
    equal = Setting(d_model=32, n_heads=2, layers=ours.model.encoder_layers, d_ff=64, dropout=0.2, pairs=7)
    assert {peers.sizes(peer, "equal", ours, 128) for peer in peers.PEERS} == {equal}
    assert peers.sizes("plain", "own", ours, 512) == plain.OWN
    narrow = peers.sizes("plain", "own", ours, 128)
    assert narrow == replace(plain.OWN, d_model=128, d_ff=128)
    assert peers.sizes("joey", "own", ours, 128).d_model == 64  # as in its example


@pytest.mark.night
def test_peers(capsys):
    assert suite.main(["peers", "--smoke", "--json"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    *ours, theirs = result["rows"]
    assert [(row["who"], row["setting"], row["threads"]) for row in ours] == [("default", "ours", 1)]
    assert (theirs["who"], theirs["setting"], theirs["threads"]) == ("plain", "equal", 1)
    for row in result["rows"]:
        assert 0 <= row["padding"]["median"] < 1
        assert row["steps_per_second"]["median"] > 0
        assert row["tokens_per_second"]["median"] > row["steps_per_second"]["median"]
    assert result["missing"] == []
    assert result["versions"]["torch"] == torch.__version__
    assert "nn.Transformer" in peers.table(result)


@pytest.mark.night
@pytest.mark.parametrize("failure", [subprocess.CalledProcessError(1, "pip", stderr="first\nERROR: no such thing"), OSError("no disk")])
def test_what_cannot_be_installed_is_one_line_of_the_table(failure, capsys, monkeypatch, tmp_path):
    def refuse(self, place) -> None:
        raise failure

    monkeypatch.setattr(environment.EnvBuilder, "create", refuse)
    assert suite.main(["peers", "--smoke", "--peers", "joey", "--environments", str(tmp_path)]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("joeynmt")]
    problem = "ERROR: no such thing" if isinstance(failure, subprocess.CalledProcessError) else "no disk"
    assert said == [f"joeynmt 2.3.0 can't be installed here: {problem}"]


@pytest.mark.night
def test_a_peer_that_breaks_is_one_line_and_the_rest_goes_on(capsys, monkeypatch):
    def broken(*command, **settings) -> None:
        raise subprocess.CalledProcessError(1, "drive", stderr="Traceback\nValueError: too wide")

    monkeypatch.setattr(peers.subprocess, "run", broken)
    assert suite.main(["peers", "--smoke"]) == 0
    said = capsys.readouterr().out
    assert "nn.Transformer could not be trained: ValueError: too wide" in said.splitlines()
    assert "| default" in said


def training(who: str, setting: str, seconds: float, reached: bool, threads: int = 1) -> dict:
    found = {"who": who, "setting": setting, "threads": threads, "seconds": seconds, "cpu_seconds": seconds, "reached": reached}
    found |= {"preparing": 0.5, "validating": 0.5, "step": 8, "tokens": 60, "cells": 80, "parameters": 5, "exact_match": 0.5}
    return found | ({} if setting == "ours" else {"size": {"d_model": 8, "pairs": 2}})


def test_rates_are_of_training_alone():
    (row,) = rows([training("plain", "own", 6.0, True)])
    assert row["steps_per_second"]["median"] == 1.6
    assert row["tokens_per_second"]["median"] == 12.0
    assert row["padding"]["median"] == 0.25


def test_the_best_peer_counts_and_one_that_never_arrives_is_more_than():
    found = rows(
        [
            *(training("fast", "ours", seconds, True) for seconds in (3.0, 4.0, 5.0)),
            training("fast", "ours", 2.0, True, threads=2),
            training("paper", "ours", 50.0, False),
            training("plain", "own", 100.0, False),
            training("joey", "own", 100.0, False),
            training("plain", "equal", 100.0, False),
            training("joey", "equal", 60.0, True),
            training("joey", "equal", 40.0, True, threads=2),
        ]
    )
    answers = {(one["setting"], one["preset"], one["threads"]): one for one in ratios(found, 100.0)}
    best = answers["equal", "fast", 1]
    assert (best["peer"], best["peer_threads"], best["seconds"], best["ratio"]) == ("joey", 2, 40.0, 10.0)
    assert answers["equal", "fast", 2]["ratio"] == 20.0
    assert (answers["own", "fast", 1]["peer"], answers["own", "fast", 1]["ratio"]) == (None, 25.0)
    assert answers["own", "paper", 1]["ratio"] is None
    head = {"target": 0.99, "limit": 100.0, "first_seed": 7, "versions": {"torch": "2"}, "missing": ["something is missing"]}
    text = written(head | {"rows": found, "ratios": ratios(found, 100.0)})
    assert "more than 25.00" in text
    assert "not by 100 s" in text
    assert "not in 8 steps" in text
    assert text.endswith("something is missing")
