import gc
import threading
import weakref
from concurrent.futures import Future
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from playground.runs import lru, model_cache
from playground.runs.lru import LRU, size_of
from playground.runs.model_cache import ModelCache
from playground.runs.run import Snapshot
from tests.runs.tiny import alone, tiny, wait
from tests.thoroughness import every_case


@dataclass(frozen=True)
class Answer:
    array: np.ndarray


def test_a_value_is_made_once():
    cache, made = LRU(10), []
    for _ in range(3):
        assert cache.get_or_make("key", lambda: made.append(1) or "answer") == "answer"
    assert made == [1]


def test_the_longest_unused_is_forgotten():
    cache, made = LRU(2), []
    for key in "abacab":
        cache.get_or_make(key, lambda key=key: made.append(key))
    assert "".join(made) == "abcb"
    assert [key in cache for key in "abc"] == [True, True, False]


def test_bytes_are_bounded():
    cache = LRU(most_bytes=1000, size=lambda array: array.nbytes)
    for key in range(5):
        cache.get_or_make(key, lambda: np.zeros(400, np.int8))
    assert [key in cache for key in range(5)] == [False, False, False, True, True]
    cache.get_or_make("large", lambda: np.zeros(5000, np.int8))
    assert "large" not in cache  # and nothing had to go for it
    assert len(cache) == 2


@every_case(
    "wrap",
    [
        lambda array: array,
        lambda array: (array, 3),
        lambda array: [1, [array]],
        lambda array: {"a": {"b": array}},
        lambda array: Answer(array),
        lambda array: [(Answer(array),)],
        lambda array: SimpleNamespace(tensor=torch.from_numpy(array)),
        lambda array: array.tobytes(),
        lambda array: array.tobytes().decode("ascii"),
        lambda array: dict.fromkeys(range(3), array),  # the same three times
    ],
)
def test_the_bytes_of_an_answer_are_counted_whatever_holds_them(wrap):
    answer = wrap(np.zeros(100_000, np.int8))
    assert 100_000 <= size_of(answer) < 102_000
    cache = LRU(100, 250_000)
    for key in range(5):
        cache.get_or_make(key, lambda: wrap(np.zeros(100_000, np.int8)))
    assert len(cache) == 2


def test_many_small_values_are_counted_too():
    assert size_of([float(n) for n in range(1000)]) >= 1000 * 24
    circle = []
    circle.append(circle)
    assert size_of(circle) < 1000


def test_a_failure_is_not_remembered():
    cache = LRU(2)
    with pytest.raises(ZeroDivisionError):
        cache.get_or_make("key", lambda: 1 / 0)
    assert cache.get_or_make("key", lambda: 1) == 1


def test_who_asks_meanwhile_waits_and_gets_the_same_or_the_same_error(monkeypatch):
    cache, begun, go = LRU(2), threading.Event(), threading.Event()
    found, made, waiting = [], [], []

    class Awaited(Future):
        def result(self, timeout=None):
            waiting.append(self)
            return super().result(timeout)

    monkeypatch.setattr(lru, "Future", Awaited)

    def make():
        made.append(1)
        begun.set()
        assert go.wait(30)
        if len(made) == 1:
            raise ZeroDivisionError
        return object()

    def ask():
        try:
            found.append(cache.get_or_make("key", make))
        except ZeroDivisionError as error:
            found.append(error)

    for turn in (1, 2):
        for one in (begun, go, waiting):
            one.clear()
        threads = [threading.Thread(target=ask) for _ in range(4)]
        threads[0].start()
        assert begun.wait(30)
        for thread in threads[1:]:
            thread.start()
        wait(lambda: len(waiting) == 3)
        assert cache.get_or_make("other", lambda: "at once") == "at once"  # nobody else waits
        go.set()
        for thread in threads:
            thread.join(30)
        assert len(made) == turn
    assert [type(one) for one in found] == [ZeroDivisionError] * 4 + [object] * 4
    assert len(set(map(id, found[4:]))) == 1


def test_what_is_put_in_can_be_had_and_taken_out():
    cache = LRU(2)
    for key in "abc":
        cache.put(key, key.upper())
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (None, "B", "C")
    cache.put("b", "other")
    assert (cache.get("b"), len(cache)) == ("other", 2)
    assert (cache.pop("b"), cache.pop("b"), cache.get("b")) == ("other", None, None)
    cache.clear()
    assert len(cache) == 0


def test_what_was_cleared_away_does_not_come_back():
    cache = LRU(2)

    def make():
        cache.clear()
        return "old"

    assert cache.get_or_make("key", make) == "old"
    assert cache.get_or_make("key", lambda: "new") == "new"


def test_what_is_forgotten_takes_no_memory():
    cache, answer = LRU(1), Answer(np.zeros(3))
    known = weakref.ref(answer)
    cache.put("key", answer)
    del answer
    assert known()
    cache.put("other", 1)
    gc.collect()
    assert known() is None


def test_it_holds_when_many_ask_at_once():
    cache, wrong = LRU(5, 5000, size=lambda _: 900), []

    def ask(seed):
        for n in range(500):
            key = (seed * n) % 11
            if cache.get_or_make(key, lambda key=key: key) != key or len(cache) > 5:
                wrong.append(key)
            if n % 50 == 0:
                cache.pop(key)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert wrong == []
    assert len(cache) == 5


def test_models_are_built_once_and_bounded(monkeypatch):
    run = alone(tiny(steps=60))[0]
    size = ModelCache().get(run, 0).nbytes
    monkeypatch.setattr(model_cache, "MAX_BYTES", 3 * size)
    found = ModelCache()
    one = found.get(run, 0)
    assert found.get(run, 0) is one
    assert not one.model.training
    assert not any(parameter.requires_grad for parameter in one.model.parameters())
    others = [found.get(run, step) for step in run.replay.parameter_steps[1:5]]
    assert len({built.number for built in (one, *others)}) == 5
    assert len(found._built) == 3
    assert found.get(run, 0) is not one


def test_a_model_larger_than_all_the_room_has_it_to_itself(monkeypatch):
    monkeypatch.setattr(model_cache, "MAX_BYTES", 10)
    run, found = alone(tiny(steps=60))[0], ModelCache()
    one = found.get(run, 0)
    assert found.get(run, 0) is one
    found.get(run, None)
    assert len(found._built) == 1


def test_other_parameters_at_the_same_step_are_another_model():
    run = alone(tiny(steps=60))[0]
    found, kept = ModelCache(), run.parts["snapshot"]
    first = found.get(run, None)
    try:
        run.parts["snapshot"] = Snapshot(1, kept.step, {name: tensor + 1 for name, tensor in kept.parameters.items()})
        second = found.get(run, None)
    finally:
        run.parts["snapshot"] = kept
    assert second.step == first.step
    assert not (second.model.projection.weight == first.model.projection.weight).any()
