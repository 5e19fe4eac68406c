"""What a page hears of a run, and its curve: kept bit for bit, thinned, as tables; and which tokens of an output are right."""

import io
import itertools
import json
import math

import pandas
import pytest
from hypothesis import given, strategies as st

from playground.config import EOS, UNK, Refusal
from playground.runs.disk.store import open_kept_folders
from playground.runs.history import History, Probe, decimate, tokens_correct
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.runs.tables import Updates, csv_of
from tests.runs.tiny import ME, alone, begun, ended, refused, tiny

WHOLE = ("validations", "events", "replay", "parameter_steps")  # what comes whole, and only where there is another
NEWS = {
    ("training", "runs.went_on"): (True, False), ("done", "runs.went_on"): (False, False), ("done", "runs.minutes_over"): (True, False),
    ("done", "runs.end_not_on_disk"): (True, True), ("diverged", "runs.diverged"): (True, True),
}  # fmt: skip
# letters are tokens, "." is the end, "?" is <unk>; in the marks "+" is right, "-" is wrong
IDS = {".": EOS, "?": UNK}


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
    "picture": lambda run: run.replay.capture(run.step, lambda: ()),
    "touch": Run.touch,
    "rest": put_on_disk,
    "go on": lambda run: run.hold(history=run.history),
}


class Page:
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


def test_an_increment_is_small_and_the_same_ascii_for_everyone_and_an_unknown_version_gets_everything():
    """The whole comes only when there is another. Versions of a new server never look like those of an old one."""
    run, updates = a_run(), Updates()
    train(run, 5)
    page = Page(updates, run)
    assert page.ask().keys() >= {*WHOLE}
    for change, names in ((None, ()), ("validate", ("validations",)), ("change", ("events",)), ("picture", ("replay",))):
        if change:
            CHANGES[change](run)
        train(run, 1)
        assert {*WHOLE} & page.ask().keys() == {*names}
    train(run, 3)
    one, other = (updates.get(run, page.since)[0] for _ in range(2))
    assert one is other
    assert (json.loads(one)["from"], json.loads(one)["rows"]["step"]) == (9, [10, 11, 12])
    for since in (0, 1, 10**9, -5, run.version + 1000):
        answer = json.loads(updates.get(run, since)[0])
        assert (answer["from"], answer["rows"]["step"]) == (0, [*range(1, 13)]), since
    run = a_run()
    run.label = "<s> 你好 \ud800"
    run.history.steps.append(1, float("nan"), 0.1, float("inf"), 10.0)
    run.history.validations.append(1, 0.123456789, 0.5, 0.25, 10, 40)
    run.set_status("diverged", Refusal("runs.diverged", step=2))
    answer = json.loads(Updates().get(run, 0)[0].decode("ascii"))
    assert answer["message"]["en"] != answer["message"]["zh"]
    assert (answer["rows"]["loss"], answer["rows"]["grad_norm"]) == ([None], [None])
    shares = {"token_accuracy": [0.5], "exact_match": [0.25]}
    assert answer["validations"] == {"step": [1], "loss": [0.123457], **shares, "pairs": [10], "all_pairs": [40]}


@pytest.mark.parametrize(("status", "key"), NEWS)
def test_news_of_a_run_is_no_trouble_and_ends_with_it(status, key):
    run, message = a_run(), Refusal(key, step=2, tries=1, minutes="1")
    run.set_status(status, message)
    answer = json.loads(Updates().get(run, 0)[0])
    assert (bool(answer["message"]), answer["trouble"]) == NEWS[status, key]
    assert not answer["message"] or answer["message"]["en"] == message.say("en")


def history(rows=3):
    found = History()
    for step in range(1, rows + 1):
        found.steps.append(step, 1 / step, 0.1, math.nan if step == 2 else 0.5, 1000 / 3)
    found.validations.append(rows, 0.1 + 0.2, 0.5, 0.25, 10, 40)
    found.events += [(2, "max_grad_norm", 0.7), (2, "memory_mode", "cut")]
    found.add_diagnostics(1, {"memory/gradient": 0.123456, "encoder.0.feed_forward/dead": 1 / 3})
    found.add_diagnostics(rows, {"memory/gradient": 0.0, "encoder.0.feed_forward/dead": math.nan})
    found.probes = (Probe(("a",), ("b",), ("b", "<eos>"), (True, False), True),)
    return found


def test_it_comes_back_from_json_and_csv_bit_for_bit_also_as_it_was_written_before():
    one = history()
    back = History.from_json(json.loads(json.dumps(one.to_json(), allow_nan=False)))
    assert str((back.steps.rows(), back.diagnostics.rows())) == str((one.steps.rows(), one.diagnostics.rows()))  # str: nan is nan
    assert (back.validations.rows(), back.events, back.probes) == (one.validations.rows(), one.events, one.probes)
    assert one.diagnostics.rows()["memory/gradient"] == [0.1235, 0.0], "with four digits"
    one.add_diagnostics(4, {"memory/gradient": 2.0})
    assert one.diagnostics.rows() == {"step": [4], "memory/gradient": [2.0]}, "anew with other numbers"
    data = history().to_json()
    data["health"] = data.pop("diagnostics")
    assert str(History.from_json(data).diagnostics.rows()) == str(history().diagnostics.rows())
    data["validations"] = {"step": [1, 2], "loss": [2.0, 1.0], "token_accuracy": [0.1, 0.6], "exact_match": [0.0, 0.5], "pairs": [100, 500]}
    assert History.from_json(data).validations.column("all_pairs") == [500, 500]
    data["validations"] = {name: [] for name in data["validations"]}
    assert len(History.from_json(data).validations) == 0
    trained = History.from_json(alone(tiny())[0].history.to_json())
    trained.steps.append(31, math.nan, 0.1, math.inf, 10.0)
    back = pandas.read_csv(io.StringIO(csv_of(trained.steps.frame())), float_precision="round_trip")
    pandas.testing.assert_frame_equal(back, trained.steps.frame(), check_exact=True)


@pytest.mark.parametrize("spoil", [
    lambda data: data["steps"].pop("loss"), lambda data: data["steps"]["loss"].pop(),
    lambda data: data["steps"].update(extra=[1, 2, 3]), lambda data: data["steps"]["loss"].__setitem__(0, "much"),
    lambda data: data["validations"].pop("pairs"), lambda data: data["validations"].update(pairs=3),
    lambda data: data["events"].append([1, "d_model", 8]), lambda data: data["events"].append([1]),
    lambda data: data["events"].append([1, "memory_mode", "half"]), lambda data: data["events"].append([1, "max_grad_norm", "cut"]),
    lambda data: data["diagnostics"].update({"<b>": [1.0, 2.0]}), lambda data: data["diagnostics"].pop("step"),
    lambda data: data["diagnostics"]["memory/gradient"].append(1.0), lambda data: data.update(diagnostics={}),
    lambda data: data.update(diagnostics={"step": list(range(300))}),
    lambda data: data.update(diagnostics={"step": [1]} | {f"a/{n}": [0.0] for n in range(2000)}),
    lambda data: data["probes"][0].update(right=[True]), lambda data: data.pop("probes"), lambda data: data.update(steps=[1]),
    lambda data: data["steps"].update({name: [0.0] * 300_000 for name in data["steps"]}),
])  # fmt: skip
def test_anything_else_is_refused(spoil):
    data = history().to_json()
    spoil(data)
    with refused("runs.not_a_run"):
        History.from_json(data)


@given(st.lists(st.floats(allow_nan=True), max_size=300), st.integers(4, 200))
def test_a_decimated_curve_keeps_ends_and_extremes(losses, most):
    columns = {"step": [*range(1, len(losses) + 1)], "loss": losses}
    few = decimate(columns, most)
    if len(losses) <= most:
        assert few is columns
        return
    assert most // 2 <= len(few["step"]) <= most + 2
    assert (few["step"], few["step"][0], few["step"][-1]) == (sorted({*few["step"]}), 1, len(losses))
    assert str([losses[step - 1] for step in few["step"]]) == str(few["loss"])
    numbers = [loss for loss in losses if not math.isnan(loss)]
    if len(numbers) == len(losses):
        assert (min(few["loss"]), max(few["loss"])) == (min(losses), max(losses))


def test_runs_stand_side_by_side_and_are_read_beside_the_server_that_trains_them(world):
    runs, first, second = world.runs, ended(world, steps=10), begun(world)
    runs.rename(first.id, ME, "short")
    (runs.store.root / ("b" * 22)).mkdir()
    (runs.store.root / f"{first.id}.new").mkdir()  # as in the middle of a save
    before = sorted((path, path.stat().st_mtime_ns) for path in runs.store.root.rglob("*"))
    table = Runs.table(saved.run for saved in open_kept_folders(runs.store.folder)).set_index("name")
    assert set(table.index) == {first.name, second.name}
    assert table.loc[first.name, ["label", "status", "step"]].tolist() == ["short", "done", 10]
    assert before == sorted((path, path.stat().st_mtime_ns) for path in runs.store.root.rglob("*"))
    assert list(open_kept_folders(runs.store.folder / "nowhere")) == []
    run, training = alone(tiny(variant="batch_norm", steps=10))
    new = Run("a-new-run-with-an-id-22", "fresh-finch", tiny(task="sort"), label='=HYPERLINK("http://x", "y")', created=1_700_000_000.7)
    table = Runs.table(iter([run, new, Run("shipped", "shipped", tiny(), created=0.0)]))
    first, second, shipped = table.to_dict("records")
    last = run.history.validations.last()
    assert (first["name"], first["task"], first["status"], first["step"], first["steps"]) == (run.name, "reverse", "done", 10, 10)
    assert (first["validation_loss"], first["exact_match"]) == (last["loss"], last["exact_match"])
    assert first["parameters"] == sum(parameter.numel() for parameter in training.model.parameters())
    assert (second["label"], second["task"], second["status"], second["step"]) == (new.label, "sort", "queued", 0)
    assert (str(second["created"]), shipped["created"]) == ("2023-11-14 22:13:20+00:00", pandas.NaT)
    assert all(pandas.isna(second[name]) for name in ("validation_loss", "exact_match", "token_accuracy", "parameters"))
    assert table.dtypes.equals(Runs.table([]).dtypes)
    assert pandas.read_csv(io.StringIO(csv_of(table)))["label"][1] == "'" + new.label, "a label is no formula"


def ids(text: str) -> tuple[int, ...]:
    return tuple(IDS.get(letter, ord(letter)) for letter in text)


@pytest.mark.parametrize(("written", "answer", "marks"), [
    ("abcd.", "abcd", "+++++"),
    ("axcd.", "abcd", "+-+++"),  # one replaced
    ("acd.", "abcd", "+-++"),  # one missing: only the token that stands in its place
    ("abc.", "abcd", "+++-"),  # the end comes too early
    ("abxcd.", "abcd", "++-+++"),  # one too many
    ("abcdd.", "abcd", "++++-+"),  # of two that are the same the first counts
    ("abcd", "abcd", "++++"),  # not ended yet
    ("a?cd.", "a?cd", "+-+++"),  # nobody could read it
    ("xyz.", "ab", "---+"),
    ("", "ab", ""),
])  # fmt: skip
def test_one_slip_does_not_make_the_rest_wrong(written, answer, marks):
    assert "".join("-+"[right] for right in tokens_correct(ids(written), [ids(answer)])) == marks


def test_all_are_right_exactly_where_the_answer_was_written_and_the_one_that_agrees_most_counts():
    texts = ["".join(letters) for size in range(4) for letters in itertools.product("ab", repeat=size)]
    for written, answer in itertools.product(texts, texts):
        assert all(tokens_correct(ids(written + "."), [ids(answer)])) == (written == answer)
    assert tokens_correct(ids("acd."), [ids("xyz"), ids("acd"), ids("abcd")]) == (True,) * 4
    assert tokens_correct(ids("ab."), []) == (False,) * 3
