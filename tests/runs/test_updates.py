import json

import pytest

from playground.config import Refusal
from playground.runs.run import Run, Snapshot
from playground.runs.updates import Updates
from tests.runs.tiny import tiny


def a_run():
    return Run("a-run-with-an-id-of-22", "brisk-otter", tiny(steps=5000), status="training")


def train(run, steps):
    for _ in range(steps):
        run.step += 1
        run.history.steps.append(run.step, 1 / run.step, 0.1, 0.5, 1234.5678)
    run.touch()


class Page:
    """What a page does with updates."""

    def __init__(self, updates, run):
        self.updates, self.run, self.since, self.rows = updates, run, 0, []

    def ask(self):
        data, self.since = self.updates.get(self.run, self.since)
        said = json.loads(data)
        assert said["version"] == self.since
        self.rows = self.rows[: said["from"]] + said["rows"]["step"]
        return said


def test_increments_add_up_to_the_whole():
    run, updates = a_run(), Updates()
    pages = [Page(updates, run) for _ in range(3)]
    for turn in range(60):
        train(run, turn % 7)
        for page in pages[: 1 + turn % 3]:
            page.ask()
    for page in pages:
        page.ask()
        assert page.rows == list(range(1, run.step + 1))


def test_an_increment_is_small_and_the_same_bytes_for_everyone():
    run, updates = a_run(), Updates()
    train(run, 500)
    pages = [Page(updates, run) for _ in range(30)]
    for page in pages:
        page.ask()
    train(run, 3)
    answers = [updates.get(run, page.since)[0] for page in pages]
    assert all(answer is answers[0] for answer in answers)
    assert json.loads(answers[0])["rows"]["step"] == [501, 502, 503]
    assert json.loads(answers[0])["from"] == 500


def test_an_increment_tells_of_the_newest_picture_and_reads_none_for_it():
    run, updates = a_run(), Updates()
    page = Page(updates, run)
    assert page.ask()["picture"] is None
    run.parts["snapshot"] = Snapshot(run.version + 1, 7, {})
    train(run, 9)
    assert (page.ask()["picture"], run.step) == (7, 9)
    run.loaders = {"snapshot": lambda: pytest.fail("read from the disk for a number")}
    run.release()
    run.touch()
    assert page.ask()["picture"] is None


WHOLE = ("validations", "events", "replay", "parameter_steps")


def test_what_comes_whole_comes_only_when_there_is_another():
    """A page that hears ten times a second of a step is not told the same validations each time."""
    run, updates = a_run(), Updates()
    train(run, 5)
    page = Page(updates, run)
    assert set(WHOLE) <= page.ask().keys()
    train(run, 1)
    assert not set(WHOLE) & page.ask().keys()
    run.history.validations.append(6, 0.5, 0.5, 0.25, 10, 10)
    run.replay.capture(6, lambda: (), {})
    run.touch()
    said = page.ask()
    assert (said["validations"]["step"], said["replay"]) == ([6], [6])
    assert "events" not in said
    run.history.events.append((6, "clip", 0.5))
    train(run, 1)
    said = page.ask()
    assert said["events"] == [[6, "clip", 0.5]]
    assert "validations" not in said


def test_what_was_written_just_after_a_version_is_told_with_the_next_at_the_latest():
    run, updates = a_run(), Updates()
    train(run, 5)
    run.history.validations.append(5, 0.5, 0.5, 0.25, 10, 10)
    page = Page(updates, run)
    page.ask()
    train(run, 1)
    assert page.ask()["validations"]["step"] == [5]


def test_rows_written_after_the_version_wait_for_the_next():
    """Everyone who asks for a version gets the same rows, though the worker goes on writing."""
    run, updates = a_run(), Updates()
    page = Page(updates, run)
    train(run, 2)
    run.history.steps.append(3, 0.1, 0.1, 0.1, 1.0)
    page.ask()
    assert page.rows == [1, 2]
    run.touch()
    page.ask()
    assert page.rows == [1, 2, 3]


def test_a_long_history_is_thinned_but_its_end_is_exact():
    run, updates = a_run(), Updates()
    train(run, 5000)
    said = Page(updates, run).ask()
    assert 500 <= len(said["rows"]["step"]) <= 1002
    assert said["rows"]["step"][-1] == 5000


def test_an_unknown_version_gets_everything():
    run, updates = a_run(), Updates()
    train(run, 10)
    for since in (0, 1, 10**9, -5, run.version + 1000):
        assert json.loads(updates.get(run, since)[0])["from"] == 0


def test_a_page_that_outlived_the_server_gets_everything():
    """Versions of a new server never look like those of an old one, however busy that was."""
    old, updates = a_run(), Updates()
    page = Page(updates, old)
    train(old, 10)
    page.ask()
    page.run = a_run()
    page.run.marks.clear()
    train(page.run, 4)
    if page.since != page.run.version:  # made within the same tenth of a second, the test's two servers may agree
        page.ask()
        assert page.rows == list(range(1, 5))


def test_it_says_everything_in_both_languages_and_in_ascii():
    run = a_run()
    run.label = "<s> 你好 \ud800"
    run.history.steps.append(1, float("nan"), 0.1, float("inf"), 10.0)
    run.history.validations.append(1, 0.123456789, 0.5, 0.25, 10, 40)
    run.history.events.append((1, "clip", 0.5))
    run.say("diverged", Refusal("runs.diverged", step=2))
    said = json.loads(Updates().get(run, 0)[0].decode("ascii"))
    assert said["label"] == run.label
    assert said["message"]["en"] != said["message"]["zh"]
    assert said["rows"]["loss"] == [None]
    assert said["rows"]["grad_norm"] == [None]
    shares = {"token_accuracy": [0.5], "exact_match": [0.25]}
    assert said["validations"] == {"step": [1], "loss": [0.123457], **shares, "pairs": [10], "all_pairs": [40]}
    assert said["events"] == [[1, "clip", 0.5]]
    assert {
        "status",
        "step",
        "steps",
        "seconds",
        "eta",
        "place",
        "live",
        "replay",
        "parameter_steps",
        "checkpoint_step",
        "name",
    } <= said.keys()


def test_a_touch_of_a_run_that_is_on_the_disk_hides_none_of_its_history():
    run, updates = a_run(), Updates()
    train(run, 5)
    kept = run.parts.pop("history")
    run.loaders["history"] = lambda: kept
    run.touch()
    page = Page(updates, run)
    page.ask()
    assert page.rows == [1, 2, 3, 4, 5]


def test_a_reader_writes_nothing():
    """Neither of a run that has just been made, nor of one whose history is still on the disk."""
    new, kept = a_run(), a_run()
    history = kept.parts.pop("history")
    kept.loaders["history"] = lambda: history
    for run in (new, kept):
        marks = dict(run.marks)
        for since in (0, run.version, run.version - 1):
            Updates().get(run, since)
        assert run.marks == marks


def test_increments_of_a_run_from_the_disk_add_up_when_it_goes_on():
    run, updates = a_run(), Updates()
    train(run, 5)
    kept = run.parts.pop("history")
    run.marks.clear()
    run.loaders["history"] = lambda: kept
    page = Page(updates, run)
    page.ask()
    run.hold(history=kept)
    run.say("training")
    page.ask()
    train(run, 3)
    said = page.ask()
    assert page.rows == list(range(1, 9))
    assert said["from"] == 5


def test_old_versions_are_forgotten():
    run = a_run()
    for _ in range(2000):
        train(run, 1)
    assert len(run.marks) < 600


@pytest.mark.parametrize(
    ("status", "message", "told"),
    [
        ("training", Refusal("runs.went_on", step=2, tries=1), ("This run went on", False)),
        ("done", Refusal("runs.went_on", step=2, tries=1), ("", False)),
        ("done", Refusal("runs.minutes_over", step=2, minutes="1"), ("Stopped at step 2", False)),
        ("done", Refusal("runs.end_not_on_disk"), ("The server’s disk", True)),
        ("diverged", Refusal("runs.diverged", step=2), ("The loss", True)),
    ],
)
def test_news_of_a_run_is_no_trouble_and_ends_with_it(status, message, told):
    run = a_run()
    run.say(status, message)
    said = json.loads(Updates().get(run, 0)[0])
    begins, trouble = told
    assert ((said["message"] or {"en": ""})["en"][: len(begins)], bool(said["message"]), said["trouble"]) == (begins, bool(begins), trouble)
