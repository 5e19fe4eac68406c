from dataclasses import dataclass

import numpy as np
import pytest

from playground.runs import model_cache
from playground.runs.lru import LRU
from playground.runs.model_cache import ModelCache
from playground.runs.run import Snapshot
from tests.runs.tiny import alone, tiny


@dataclass(frozen=True)
class Answer:
    array: np.ndarray


def test_an_answer_is_made_once():
    memory, made = LRU(10, 1000), []
    for _ in range(3):
        assert memory.get("key", lambda: made.append(1) or "answer") == "answer"
    assert made == [1]


def test_the_longest_unused_is_forgotten():
    memory, made = LRU(2, 1000), []
    for key in "abacab":
        memory.get(key, lambda key=key: made.append(key))
    assert "".join(made) == "abcb"


def test_bytes_are_bounded():
    memory = LRU(100, 1000)
    for key in range(5):
        memory.get(key, lambda: Answer(np.zeros(400, np.int8)))
    assert len(memory._known) == 2
    memory.get("large", lambda: Answer(np.zeros(5000, np.int8)))
    assert len(memory._known) == 0


def test_a_failure_is_not_remembered():
    memory = LRU(2, 1000)
    with pytest.raises(ZeroDivisionError):
        memory.get("key", lambda: 1 / 0)
    assert memory.get("key", lambda: 1) == 1


def test_models_are_built_once_and_bounded(monkeypatch):
    run, found = alone(tiny(steps=60))[0], ModelCache()
    one = found.get(run, 0)
    assert found.get(run, 0) is one
    assert not one.model.training
    assert not any(parameter.requires_grad for parameter in one.model.parameters())
    monkeypatch.setattr(model_cache, "MAX_BYTES", 3 * one.nbytes)
    others = [found.get(run, step) for step in run.replay.parameter_steps[1:5]]
    assert len({built.number for built in (one, *others)}) == 5
    assert len(found._built) == 3
    assert found.get(run, 0) is not one


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
