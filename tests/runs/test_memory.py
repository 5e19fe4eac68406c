"""One budget for all that is kept in memory: what nobody has asked for longest goes first, and a training waits where there is no room."""

import json
import math
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from playground.config import Refusal
from playground.model.costs import training_bytes
from playground.runs import corpora, memory as module
from playground.runs.corpora import MAX_CORPORA, Corpora, ModelCache, sizes
from playground.runs.engines import host
from playground.runs.memory import LRU, Memory, descendants, held_bytes, size_of
from playground.runs.run import Snapshot
from playground.ui.operator import health
from tests.runs.tiny import PAIRS, YOU, alone, begun, ended, needed, ordered, tiny, wait

linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux only")
CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'data = bytearray(60_000_000); print(1, flush=True); input()'])"
OPERATIONS = st.tuples(st.sampled_from(["put", "get", "make", "pop", "give_up", "clear"]), st.integers(0, 6), st.integers(100, 1100))


def cache(**sizes):
    made = LRU(most_bytes=10_000, size=int)
    for name, size in sizes.items():
        made.put(name, size)
    return made


def budget(limit, shares=(), trainings=0, held=lambda: None):
    made = Memory(limit, held)
    for name, share in dict(shares).items():
        made.add(name, share)
    made.reserve_by(lambda: trainings)
    return made


@pytest.mark.fault("more kept at hand than the memory has room for", "what nobody has asked for longest goes, whichever share it is in")
def test_what_nobody_has_asked_for_longest_goes_whichever_share_it_is_in():
    one, other = cache(a=300), cache(b=300)
    one.put("c", 300)
    memory = budget(700, {"one": one, "two": other})
    memory.add("one", one)  # a share counts once
    assert memory.by_share() == {"trainings": 0, "one": 600, "two": 300}
    one.get("a")
    assert (memory.keep_within(), "a" in one, "b" in other, "c" in one) == (300, True, False, True)
    memory.limit = 300
    memory.keep_within()
    assert ("a" in one, "c" in one, memory.by_share()) == (True, False, {"trainings": 0, "one": 300, "two": 0})
    values = cache(a=300, b=300)
    assert (budget(1000, {"one": values}, trainings=600).keep_within(), "a" in values, "b" in values) == (300, False, True)
    assert budget(10, {"empty": cache()}, trainings=100).keep_within() == 0


@pytest.mark.parametrize(("free", "gone"), [(0, 300), (600, 0)])
def test_what_the_system_says_counts_where_it_is_more_and_free_pages_go_before_anything(monkeypatch, free, gone):
    """A process that holds 900 bytes more than at the start, of which caches know 600, and malloc some that are free."""
    held, trimmed, values = [1000], [], cache(a=300, b=300)
    monkeypatch.setattr(module, "trim_heap", lambda: trimmed.append(held.__setitem__(0, 1900 - free)))
    memory = budget(800, {"one": values}, held=lambda: held[0])
    held[0] = 1900
    assert (memory.keep_within(), "a" in values, "b" in values) == (gone, not gone, True)
    assert len(trimmed) == (2 if gone else 1), "before, which may be enough, and after"
    assert (memory.held, memory.used, memory.unaccounted) == (1900 - free, max(900 - free, 600), 2 * gone)


@linux
def test_processes_count_until_they_are_gone_also_those_of_a_child():
    others = {*descendants(os.getpid())}  # of other tests
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"1\n"
        known = {*descendants(os.getpid())} - others
        assert child.pid in known
        assert len(known) >= 2
        assert held_bytes() - 55_000_000 > module._resident(os.getpid()) > 50_000_000
    finally:
        child.communicate(b"\n")
    assert not known & {*descendants(os.getpid())}


@pytest.mark.fault("no memory left for another training", "it waits, with a sentence, and trains once there is some; /health says so")
def test_a_training_waits_for_memory_that_something_else_has_taken(world):
    """And says so. Alone it trains in any case."""
    runs = world.restart(memory=2 * needed(tiny()) + 100)
    runs.memory._measure = lambda: None
    first = begun(world)
    assert ended(world, YOU, steps=2).status == "done", "there is room for both"
    runs.memory._measure = lambda: runs.memory._at_start + 2 * needed(tiny())
    runs.memory.measure()
    third = runs.create(tiny(steps=2), YOU)
    world.turn()
    assert (third.status, third.place, third.message.key) == ("queued", 1, "runs.waits_for_memory")
    assert third.message.values["needed"] in str(third.message)
    report = health(runs)
    assert (report["status"], report["reasons"], report["runs"]["waiting"]) == ("busy", ["memory_full"], 1)
    for place in (2, 1):
        version, runs._workers._jobs[third.id].place = third.version, place
        assert third.version > version, "pages hear of it"
        assert json.loads(runs.update(third, version)[0])["place"] == place
    third.message, runs._workers._jobs[third.id].place = (refusal := Refusal("runs.not_live")), 0
    assert third.message is refusal, "only its own message goes"
    runs._workers._jobs[third.id].place = 1
    ordered(world, first, "stop")
    world.until(lambda: third.status == "done")
    assert third.message is None


@pytest.mark.fault("runs that have ended and that nobody looks at", "they leave the memory")
def test_what_a_run_at_rest_has_in_memory_goes_when_nobody_looks(world):
    old = ended(world)
    world.clock.passed += 500
    new = ended(world)
    for run in (old, new):
        _ = run.replay, run.snapshot
    world.runs.memory.limit, world.runs.memory._measure = world.runs.store.size(new), lambda: None
    world.runs._housekeeper.free_memory()
    assert ("replay" in old.parts, "replay" in new.parts) == (False, True)
    assert old.snapshot.step == 12, "it is on the disk"


@dataclass(frozen=True)
class Answer:
    array: np.ndarray


@given(st.lists(OPERATIONS, max_size=60), st.sampled_from([(3, math.inf), (math.inf, 1000), (3, 1000)]))
def test_what_was_used_last_stays_within_both_limits(operations, limits):
    """Beside a dictionary that is put in order by hand; a value larger than all the room is not kept, and nothing goes for it."""
    cache, plain, (most, most_bytes) = LRU(*limits, size=lambda value: value), OrderedDict(), limits

    def put(key, value):
        plain.pop(key, None)
        if value <= most_bytes:
            plain[key] = value
        while len(plain) > most or sum(plain.values()) > most_bytes:
            plain.popitem(last=False)

    for name, key, value in operations:
        if name == "put":
            cache.put(key, value)
            put(key, value)
        elif name == "get":
            assert cache.get(key) == plain.get(key)
        elif name == "make":
            assert cache.get_or_make(key, lambda value=value: value) == plain.get(key, value)
            if key not in plain:
                put(key, value)
        elif name == "pop":
            assert cache.pop(key) == plain.pop(key, None)
        elif name == "give_up":
            cache.evict_oldest()
            plain and plain.popitem(last=False)
        else:
            cache.clear()
            plain.clear()
        if name in ("get", "make") and key in plain:
            plain.move_to_end(key)
        assert ([key in cache for key in range(7)], len(cache)) == ([key in plain for key in range(7)], len(plain))
        assert (cache.bytes, cache.oldest == math.inf) == ((sum(plain.values()) if most_bytes < math.inf else 0), not plain)


WRAPPED = {
    "itself": lambda array: array, "tuple": lambda array: (array, 3), "lists": lambda array: [1, [array]],
    "dictionaries": lambda array: {"a": {"b": array}}, "fields": lambda array: [(Answer(array),)],
    "tensor": lambda array: SimpleNamespace(tensor=torch.from_numpy(array)), "bytes": lambda array: array.tobytes(),
    "text": lambda array: array.tobytes().decode("ascii"), "the same three times": lambda array: dict.fromkeys(range(3), array),
}  # fmt: skip


@pytest.mark.parametrize("name", WRAPPED)
def test_the_bytes_of_an_answer_are_counted_whatever_holds_them(name):
    assert 100_000 <= size_of(WRAPPED[name](np.zeros(100_000, np.int8))) < 102_000


def test_who_asks_meanwhile_waits_and_gets_the_same_or_the_same_error_and_what_was_cleared_away_does_not_come_back(monkeypatch):
    cache, waiting = LRU(2), []

    class Awaited(Future):
        def result(self, timeout=None):
            waiting.append(self)
            return super().result(timeout)

    monkeypatch.setattr(module, "Future", Awaited)
    for error in (ZeroDivisionError(), None):  # a failure is not remembered
        begun, go, made = threading.Event(), threading.Event(), []
        waiting.clear()

        def make(begun=begun, go=go, made=made, error=error):
            made.append(1)
            begun.set()
            assert go.wait(60)
            if error:
                raise error
            return object()

        with ThreadPoolExecutor(4) as askers:
            answers = [askers.submit(cache.get_or_make, "key", make)]
            assert begun.wait(60)
            answers += [askers.submit(cache.get_or_make, "key", make) for _ in range(3)]
            wait(lambda: len(waiting) == 3)
            assert cache.get_or_make("other", lambda: "at once") == "at once"
            go.set()
        assert (made, {id(answer.exception() or answer.result()) for answer in answers}) == ([1], {id(error or cache.get("key"))})
    cache = LRU(2)
    assert (cache.get_or_make("key", lambda: cache.clear() or "old"), cache.get_or_make("key", lambda: "new")) == ("old", "new")


def test_models_and_data_are_built_once_and_bounded(monkeypatch):
    run = alone(tiny())[0]
    monkeypatch.setattr(corpora, "MAX_MODEL_BYTES", 3 * ModelCache().get(run, 0).nbytes)
    cache = ModelCache()
    one = cache.get(run, 0)
    assert cache.get(run, 0) is one is cache.get_cached(run, 0)
    assert not one.model.training
    assert not any(parameter.requires_grad for parameter in one.model.parameters())
    others = [cache.get(run, step) for step in run.replay.parameter_steps[1:5]]
    assert (len({built.number for built in (one, *others)}), len(cache._built), cache.get_cached(run, 0)) == (5, 3, None)
    monkeypatch.setattr(corpora, "MAX_MODEL_BYTES", 10)
    cache = ModelCache()
    assert cache.get(run, 0) is cache.get(run, 0), "one larger than all the room has it to itself"
    run, cache = alone(tiny())[0], ModelCache()
    first, snapshot = cache.get(run, None), run.parts["snapshot"]
    changed = {name: tensor + 1 for name, tensor in snapshot.parameters.items()}
    monkeypatch.setitem(run.parts, "snapshot", Snapshot(1, snapshot.step, changed))
    second = cache.get(run, None)
    assert second.step == first.step
    assert not (second.model.projection.weight == first.model.projection.weight).any()
    built = Corpora()
    first = built.get(tiny())
    assert built.get(tiny(seed=2)) is first
    assert built.get(tiny(task="sort")) is not first
    assert built.get(tiny(share_embeddings="all")) is not first
    own = built.get(tiny(task="own", own="one"), PAIRS)
    assert built.get(tiny(task="own", own="two"), PAIRS) is own
    for _ in range(2):
        with pytest.raises(Refusal):
            built.get(tiny(task="own"))
    assert built.get(tiny()) is first
    for seed in range(MAX_CORPORA):
        built.get(tiny(data_seed=seed + 10))
    assert built.get(tiny()) is not first
    monkeypatch.setattr(host, "CORPORA_BYTES", 1)
    built = host.Host()._corpora
    first = built.get(tiny())
    newest = built.get(tiny(task="sort"))
    assert len(built.caches[0]) == 1
    assert built.get(tiny(task="sort")) is newest
    assert built.get(tiny()) is not first


@pytest.mark.trust
def test_a_corpus_weighs_about_what_its_sentences_take():
    corpus = Corpora().get(tiny(train_size=3000, validation_size=100))
    whole = size_of((tuple(corpus.train), corpus.heldout))
    assert whole / 2 < corpora._estimate_size(corpus) < 2 * whole


def real_sizes(experiment, pairs=None):
    corpus = Corpora().get(experiment, pairs)
    return corpus.src_tokenizer.size, corpus.tgt_tokenizer.size, corpus.longest


@pytest.mark.parametrize("knobs", [{}, {"task": "numbers_zh"}, {"task": "german_english"}, {"task": "commands"}, {"task": "beer"}])
def test_sizes_are_near_the_truth(knobs):
    """Close enough to admit by: the memory they stand for is within a tenth of the real corpus's. Those of own data are never too small."""
    experiment = tiny(train_size=2000, d_model=64, d_ff=256, **knobs)
    assert training_bytes(experiment, *sizes(experiment)) == pytest.approx(training_bytes(experiment, *real_sizes(experiment)), rel=0.1)
    for tokenizer in ("auto", "characters", "words", "bpe"):
        own = tiny(task="own", tokenizer=tokenizer, vocab_size=64)
        assert all(size >= real for size, real in zip(sizes(own, PAIRS), real_sizes(own, PAIRS), strict=True))
