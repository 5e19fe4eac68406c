"""What the endpoints answer: the same numbers as the core, to the bit, as lists that any language reads."""

from __future__ import annotations

import time

import numpy as np
import pytest

from playground.config import TASK_STEPS, Experiment
from playground.queries.translate import DecodingOptions
from playground.queries.translate import translate as translated
from tests.ui.endpoints.calls import call, refused
from tests.ui.test_actions import MINE, THEIRS, TINY, wait

SENTENCE = "hello"


@pytest.fixture
def owner(site):
    """Somebody of their own, whose runs are gone afterwards."""
    owner = f"somebody-{time.time_ns()}"
    yield owner
    for run in site.runs.mine(owner):
        site.runs.delete(run.id, owner)


def test_a_translation(site):
    said = call(site, "translate", run="reverse", text=SENTENCE)
    [best] = translated(site.reader, site.runs.get("reverse"), None, SENTENCE).candidates
    assert (said["text"], said["right"], said["references"]) == ("olleh", True, ["olleh"])
    assert said["tokens"] == [piece.text for piece in best.pieces]
    assert said["probabilities"] == list(best.probabilities)
    assert said["score"] == best.score


@pytest.mark.parametrize(
    ("asked", "way"),
    [
        ({"method": "beam", "beam": 3, "penalty": 1.0}, DecodingOptions("beam", 3, 1.0)),
        ({"method": "sample", "temperature": 2.0, "draw": 7}, DecodingOptions("sample", temperature=2.0, seed=7)),
        ({"method": "sample", "top_k": 2, "top_p": 0.5, "draw": 3}, DecodingOptions("sample", top_k=2, top_p=0.5, seed=3)),
        ({"prefix": "xy"}, DecodingOptions(prefix="xy")),
    ],
)
def test_every_way_of_decoding(site, asked, way):
    said = call(site, "translate", run="reverse", text=SENTENCE, **asked)
    candidates = translated(site.reader, site.runs.get("reverse"), None, SENTENCE, way).candidates
    assert [said["text"], *(other["text"] for other in said["others"])] == [candidate.text for candidate in candidates]


def test_an_earlier_step(site):
    assert call(site, "translate", run="reverse", text=SENTENCE, step=0)["step"] == 0


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_attention_is_the_model_s_own_with_names_for_rows_and_columns(site, kind):
    said = call(site, "attention", run="reverse", text=SENTENCE, kind=kind)
    look = site.reader.look(site.runs.get("reverse"), None, SENTENCE)
    assert np.array_equal(np.array(said["weights"], dtype=np.float32), getattr(look, kind))
    assert np.shape(said["weights"]) == (len(said["layers"]), len(said["heads"]), len(said["rows"]), len(said["columns"]))
    assert np.allclose(np.sum(said["weights"], axis=-1), 1)
    assert said["rows"][0] == ("h" if kind == "encoder" else "<bos> → o")
    assert said["columns"][0] == ("<bos>" if kind == "decoder" else "h")


def test_attention_of_one_head(site):
    every = call(site, "attention", run="reverse", text=SENTENCE)
    one = call(site, "attention", run="reverse", text=SENTENCE, layer=2, head=3)
    assert (one["layers"], one["heads"]) == ([2], [3])
    assert one["weights"] == [[every["weights"][1][2]]]
    for asked in ({"layer": 3}, {"head": 5}):
        assert refused(site, "attention", run="reverse", text=SENTENCE, **asked)[0] == "config.not_in_range"


def test_curves_are_the_run_s_columns(site):
    said, history = call(site, "curves", run="reverse"), site.runs.get("reverse").history
    assert said["steps"] == history.steps.rows()
    assert said["validations"] == history.validations.rows()


def test_a_training_from_beginning_to_end(site, owner):
    said = call(site, "train", owner=owner, label="first", **TINY, steps=3)
    run = site.runs.get(said["run"])
    assert site.runs.owns(run.id, owner)
    assert not site.runs.owns(run.id, THEIRS)
    assert run.experiment == Experiment().with_(**TINY, steps=3)
    assert said["link"] == f"{site.url}?run={run.id}"
    wait(run, "done")
    said = call(site, "status", run=run.id)
    assert (said["status"], said["step"], said["steps"], said["label"], said["seconds_left"]) == ("done", 3, 3, "first", None)
    assert said["exact_match"] == run.exact_match
    assert said["settings"] == {**TINY, "steps": 3}
    assert [one["run"] for one in call(site, "runs", owner=owner)["mine"]] == [run.id]


def test_a_task_gets_as_many_steps_as_it_needs(site, owner):
    task, steps = next(iter(TASK_STEPS.items()))
    assert call(site, "train", owner=owner, task=task)["steps"] == steps
    assert call(site, "train", owner=owner, task=task, steps=2)["steps"] == 2


def test_asking_is_looking(site, owner):
    run = site.runs.get(call(site, "train", owner=owner, **TINY, steps=100_000)["run"])
    run.seen_at -= 1000
    call(site, "status", run=run.id)
    assert run.watched


def test_there_is_an_end_to_unfinished_runs(site, owner):
    for _ in range(site.runs.limits.runs_each):
        call(site, "train", owner=owner, **TINY, steps=100_000)
    assert refused(site, "train", owner=owner, **TINY)[0] == "runs.too_many_yours"


def test_who_asks_without_a_name_sees_what_is_shipped_and_owns_nothing(site):
    said = call(site, "runs")
    assert [run["run"] for run in said["shipped"]] == [run.id for run in site.runs.shipped()]
    assert said["mine"] == []
    assert refused(site, "train", owner="")[0] == refused(site, "lab", name="order")[0] == "api.no_owner"


def test_a_mystery_stays_one(site, owner):
    mystery = site.runs.create_all([Experiment().with_(**TINY, variant="no_causal_mask", steps=2)], MINE, ["?"], secret=True)[0]
    assert "variant" not in call(site, "status", run=mystery.id)["settings"]
    site.runs.delete(mystery.id, MINE)


def test_a_text_that_is_too_long_is_one_sentence(site):
    assert refused(site, "translate", run="reverse", text="a" * 2001)[0] == "cursor.too_long"
    assert refused(site, "translate", run="reverse", text="a" * 1999)[0] == "runs.too_long"
    assert refused(site, "attention", run="reverse", text="")[0] == "runs.empty"


def test_a_worked_example_answers_at_once(site):
    said = call(site, "lab", name="softmax")
    assert said["done"]
    assert said["verdict"].endswith((".", ")"))
    assert said["runs"] == {}
