"""What a page hears of a run: increments that add up to the whole, the same bytes for all who ask for the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.runs.run import Run
from playground.runs.updates import Updates
from tests.runs.tiny import tiny

WHOLE = ("validations", "events", "replay", "parameter_steps")  # what comes whole, and only where there is another


def a_run():
    return Run("a-run-with-an-id-of-22", "brisk-otter", tiny(steps=5000), status="training")


def write(run, steps=1):
    for _ in range(steps):
        run.step += 1
        run.history.steps.append(run.step, 1 / run.step, 0.1, 0.5, 1234.5678)


def train(run, steps):
    write(run, steps)
    run.touch()


def put_on_disk(run):
    history = run.parts.pop("history")
    run.loaders["history"] = lambda: history


CHANGES = {
    "write": write,  # not to be seen before the next touch
    "train": lambda run: train(run, 3),
    "validate": lambda run: run.history.validations.append(run.step, 0.5, 0.5, 0.25, 10, 10),
    "change": lambda run: run.history.events.append((run.step, "clip", 0.5)),
    "picture": lambda run: run.replay.capture(run.step, lambda: (), {}),
    "touch": Run.touch,
    "rest": put_on_disk,
    "go on": lambda run: run.hold(history=run.history),
}


class Page:
    """What a page does with updates."""

    def __init__(self, updates, run):
        self.updates, self.run, self.since, self.rows, self.whole = updates, run, 0, [], {}

    def ask(self):
        marks = dict(self.run.marks)
        data, self.since = self.updates.get(self.run, self.since)
        assert self.run.marks == marks, "a reader writes nothing"
        answer = json.loads(data)
        assert answer["version"] == self.since
        self.rows = self.rows[: answer["from"]] + answer["rows"]["step"]
        self.whole |= {name: answer[name] for name in WHOLE if name in answer}
        return answer


def state(run):
    """What a page should have of it by now."""
    history, replay = run.history, run.replay
    events, steps = [list(event) for event in history.events], history.validations.column("step")
    return [*range(1, run.step + 1)], (steps, events, list(replay.steps), list(replay.parameter_steps))


def of(page):
    return page.rows, (page.whole["validations"]["step"], *(page.whole[name] for name in WHOLE[1:]))


@given(st.lists(st.sampled_from([*CHANGES, "ask", "other asks"]), max_size=40))
def test_increments_add_up_to_the_whole(happenings):
    run, updates = a_run(), Updates()
    pages = {"ask": Page(updates, run), "other asks": Page(updates, run)}
    train(run, 2)
    for happening in happenings:
        if happening in CHANGES:
            if happening != "rest" or "history" in run.parts:
                CHANGES[happening](run)
            continue
        page = pages[happening]
        mark = run.marks.get(run.version)
        page.ask()
        assert page.rows == [*range(1, (mark.rows if mark else run.step) + 1)], "rows after this version wait for the next"
    run.touch()
    for page in pages.values():
        page.ask()
        assert of(page) == state(run)


def test_what_comes_whole_comes_only_when_there_is_another():
    run, updates = a_run(), Updates()
    train(run, 5)
    page = Page(updates, run)
    assert page.ask().keys() >= {*WHOLE}
    for change, names in ((None, ()), ("validate", ("validations",)), ("change", ("events",)), ("picture", ("replay",))):
        if change:
            CHANGES[change](run)
        train(run, 1)
        assert {*WHOLE} & page.ask().keys() == {*names}


def test_an_increment_is_small_and_the_same_bytes_for_everyone():
    run, updates = a_run(), Updates()
    train(run, 500)
    page = Page(updates, run)
    page.ask()
    train(run, 3)
    one, other = (updates.get(run, page.since)[0] for _ in range(2))
    assert one is other
    assert (json.loads(one)["from"], json.loads(one)["rows"]["step"]) == (500, [501, 502, 503])


@pytest.mark.parametrize("since", [0, 1, 10**9, -5, "later"])
def test_an_unknown_version_gets_everything(since):
    """A page that outlived the server asks for one as well: versions of a new server never look like those of an old one."""
    run, updates = a_run(), Updates()
    train(run, 10)
    answer = json.loads(updates.get(run, run.version + 1000 if since == "later" else since)[0])
    assert (answer["from"], answer["rows"]["step"]) == (0, [*range(1, 11)])


def test_it_is_in_both_languages_and_in_ascii_whatever_was_typed():
    run = a_run()
    run.label = "<s> 你好 \ud800"
    run.history.steps.append(1, float("nan"), 0.1, float("inf"), 10.0)
    run.history.validations.append(1, 0.123456789, 0.5, 0.25, 10, 40)
    run.say("diverged", Refusal("runs.diverged", step=2))
    answer = json.loads(Updates().get(run, 0)[0].decode("ascii"))
    assert answer["label"] == run.label
    assert answer["message"]["en"] != answer["message"]["zh"]
    assert (answer["rows"]["loss"], answer["rows"]["grad_norm"]) == ([None], [None])
    shares = {"token_accuracy": [0.5], "exact_match": [0.25]}
    assert answer["validations"] == {"step": [1], "loss": [0.123457], **shares, "pairs": [10], "all_pairs": [40]}


NEWS = {
    ("training", "runs.went_on"): (True, False), ("done", "runs.went_on"): (False, False), ("done", "runs.minutes_over"): (True, False),
    ("done", "runs.end_not_on_disk"): (True, True), ("diverged", "runs.diverged"): (True, True),
}  # fmt: skip


@pytest.mark.parametrize(("status", "key"), NEWS)
def test_news_of_a_run_is_no_trouble_and_ends_with_it(status, key):
    run, message = a_run(), Refusal(key, step=2, tries=1, minutes="1")
    run.say(status, message)
    answer = json.loads(Updates().get(run, 0)[0])
    assert (bool(answer["message"]), answer["trouble"]) == NEWS[status, key]
    assert not answer["message"] or answer["message"]["en"] == message.say("en")
