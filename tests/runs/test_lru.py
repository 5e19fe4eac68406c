import math
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground.runs import lru, model_cache
from playground.runs.lru import LRU, size_of
from playground.runs.model_cache import ModelCache
from playground.runs.run import Snapshot
from tests.runs.tiny import alone, tiny, wait


@dataclass(frozen=True)
class Answer:
    array: np.ndarray


OPERATIONS = st.tuples(st.sampled_from(["put", "get", "make", "pop", "give_up", "clear"]), st.integers(0, 6), st.integers(100, 1100))


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
            cache.give_up()
            plain and plain.popitem(last=False)
        else:
            cache.clear()
            plain.clear()
        if name in ("get", "make") and key in plain:
            plain.move_to_end(key)
        assert [key in cache for key in range(7)] == [key in plain for key in range(7)]
        assert len(cache) == len(cache._used) == len(plain)
        assert cache.bytes == (sum(plain.values()) if most_bytes < math.inf else 0)
        assert (cache.oldest == math.inf) == (not plain)


WRAPPED = {
    "itself": lambda array: array,
    "tuple": lambda array: (array, 3),
    "lists": lambda array: [1, [array]],
    "dictionaries": lambda array: {"a": {"b": array}},
    "fields": lambda array: [(Answer(array),)],
    "tensor": lambda array: SimpleNamespace(tensor=torch.from_numpy(array)),
    "bytes": lambda array: array.tobytes(),
    "text": lambda array: array.tobytes().decode("ascii"),
    "the same three times": lambda array: dict.fromkeys(range(3), array),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_the_bytes_of_an_answer_are_counted_whatever_holds_them(name):
    assert 100_000 <= size_of(WRAPPED[name](np.zeros(100_000, np.int8))) < 102_000


def test_who_asks_meanwhile_waits_and_gets_the_same_or_the_same_error(monkeypatch):
    cache, waiting = LRU(2), []

    class Awaited(Future):
        def result(self, timeout=None):
            waiting.append(self)
            return super().result(timeout)

    monkeypatch.setattr(lru, "Future", Awaited)
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
        assert made == [1]
        assert {id(answer.exception() or answer.result()) for answer in answers} == {id(error or cache.get("key"))}


def test_what_was_cleared_away_does_not_come_back():
    cache = LRU(2)
    assert cache.get_or_make("key", lambda: cache.clear() or "old") == "old"
    assert cache.get_or_make("key", lambda: "new") == "new"


def test_models_are_built_once_and_bounded(monkeypatch):
    run = alone(tiny())[0]
    monkeypatch.setattr(model_cache, "MAX_BYTES", 3 * ModelCache().get(run, 0).nbytes)
    cache = ModelCache()
    one = cache.get(run, 0)
    assert cache.get(run, 0) is one is cache.known(run, 0)
    assert not one.model.training
    assert not any(parameter.requires_grad for parameter in one.model.parameters())
    others = [cache.get(run, step) for step in run.replay.parameter_steps[1:5]]
    assert len({built.number for built in (one, *others)}) == 5
    assert (len(cache._built), cache.known(run, 0)) == (3, None)
    monkeypatch.setattr(model_cache, "MAX_BYTES", 10)
    cache = ModelCache()
    assert cache.get(run, 0) is cache.get(run, 0), "one larger than all the room has it to itself"


def test_other_parameters_at_the_same_step_are_another_model(monkeypatch):
    run, cache = alone(tiny())[0], ModelCache()
    first, snapshot = cache.get(run, None), run.parts["snapshot"]
    changed = {name: tensor + 1 for name, tensor in snapshot.parameters.items()}
    monkeypatch.setitem(run.parts, "snapshot", Snapshot(1, snapshot.step, changed))
    second = cache.get(run, None)
    assert second.step == first.step
    assert not (second.model.projection.weight == first.model.projection.weight).any()
