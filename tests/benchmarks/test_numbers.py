"""The benchmarks: numbers by hand, a peer at the exam that ours takes, and every command with tiny settings."""

import fnmatch
import json
import re
from pathlib import Path

import pytest
import torch
from hypothesis import given, strategies as st

from benchmarks import labs, page, releases, suite
from benchmarks.classroom.records import Canaries, Records
from benchmarks.machine import machine
from benchmarks.page import INSTALL
from benchmarks.peers import plain as peer
from benchmarks.peers.common import exact_match, exam, rows_right
from benchmarks.tables import percentile, ratio, show_summary, summary
from playground.config import BOS, EOS, PAD
from playground.data.corpus import Item
from playground.lessons.labs import LABS
from playground.runs.queue.scheduler import FAIR_EVERY
from playground.tasks.toy_tasks import TASKS

LETTERS = 9
RESULTS = Path(labs.__file__).parent / "results"


@pytest.mark.parametrize(("values", "three", "text"), [
    ([3, 1, 2], (2, 1, 3), "2.00 (1.00 to 3.00)"), ([2.0, 3.0, None], (3.0, 2.0, None), "3.00 (2.00 to never)"),
    ([1.0, None, 2.0, None], (None, 1.0, None), "never (1.00 to never)"), ([2], (2, 2, 2), "2.00"), ([], (None, None, None), "–"),
])  # fmt: skip
def test_summaries_count_what_was_never_reached_as_later_than_any(values, three, text):
    assert summary(values) == dict(zip(("median", "low", "high"), three, strict=True)) | {"values": values}
    assert show_summary(summary(values), ratio) == text


@given(st.lists(st.integers(), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_the_smallest_value_that_the_share_does_not_exceed(values, share):
    assert (value := percentile(values, share)) in values
    assert sum(number <= value for number in values) >= share * len(values) > sum(number < value for number in values)


def test_what_labs_expect_is_what_the_results_say():
    results = {}
    for line in (RESULTS / "labs.md").read_text(encoding="utf-8").splitlines():
        if row := re.match(r"\| (\w+) +\| +\d+ \|[^|]*\|[^|]*\| ([\w, ×]+?) +\|", line):
            counted = re.fullmatch(r"(\w+) × (\d+)", row[2])
            results[row[1]] = [counted[1]] * int(counted[2]) if counted else row[2].split(", ")
    assert set(labs.BENCHES) == {name for name, lab in LABS.items() if hasattr(lab, "arms")}
    assert {name for name in labs.BENCHES if LABS[name].expects is not None} == set(results)
    for name, answers in results.items():
        assert len(answers) >= 5, name
        assert labs.holds(LABS[name], answers) in ("yes", "open"), name


def test_only_the_tasks_that_the_lesson_on_order_names_survive_without_positions():
    """Of all tasks; the results are of `benchmarks tasks`."""
    results: dict[str, dict[str, float]] = {}
    rows = re.compile(r"^\| (\w+) +\| (1\+1[^|]*?) +\| +([\d.]+) %", re.MULTILINE)
    for task, model, percent in rows.findall((RESULTS / "tasks.md").read_text("utf-8")):
        results.setdefault(task, {})[model] = float(percent)
    ratios = {task: of_task["1+1, no positions"] / of_task["1+1 layers"] for task, of_task in results.items()}
    assert {*ratios} == {name for name in TASKS if not re.match("beer|commands_(jump_|length)|dates_", name)}
    assert {task for task, share in ratios.items() if share > 0.7} == {"sort", "german_english", "chinese_english", "one_to_many"}
    assert max(ratios[task] for task in ("reverse", "copy", "addition")) < 0.05


def test_a_secret_is_a_leak_where_another_person_hears_it():
    people = [Canaries.of(person, "abcdefgh") for person in range(61)]
    assert len({canary for each in people for canary in each}) == 3 * 61
    assert len(people[1].name) <= 24, "a nickname is cut there"
    own, other, records = people[1], people[2], Records()
    records.heard(f'{{"name": "{own.name}", "text": "{own.words}a"}}'.encode(), own)
    assert not records.leaks
    records.heard(f"{other.name} and {other.name} and {own.token}".encode(), {own.name})
    records.heard(f"…{other.words}…".encode(), {own.name, own.words})
    assert records.leaks == {"name": 1, "token": 1, "words": 1}


@pytest.mark.night
@torch.no_grad()
def test_exact_match_of_a_peer_is_what_greedy_decoding_gets_right():
    torch.manual_seed(0)
    model = peer.Plain(LETTERS, LETTERS, 16, 2, 2, 32, 0.1).eval()

    def written(source: tuple[int, ...], most: int) -> tuple[int, ...]:
        tokens = [BOS]
        while len(tokens) <= most and tokens[-1] != EOS:
            tokens.append(int(model(torch.tensor([[*source, EOS]]), torch.tensor([tokens]))[0, -1].argmax()))
        return tuple(tokens[1:])

    sources = [(4, 5), (6, 7, 8), (8,), (5, 5, 5, 5)]
    answers = [written(source, 5) for source in sources]  # an untrained model seldom writes EOS: ask for a longer answer then
    items = [Item("", "", source, text[:-1] if text[-1] == EOS else (*text, 4)) for source, text in zip(sources, answers, strict=True)]
    right = [written(item.src_ids, len(item.tgt_ids) + 1) == (*item.tgt_ids, EOS) for item in items]
    assert exact_match(model, lambda batch: model(batch.src, batch.tgt_in), exam(tuple(items))) == sum(right) / len(right)
    wanted, output = torch.tensor([[4, 5, EOS], [4, EOS, PAD], [4, EOS, PAD]]), torch.tensor([[4, 5, 6], [4, EOS, 7], [5, EOS, PAD]])
    assert rows_right(torch.nn.functional.one_hot(output, LETTERS).float(), wanted) == 1


def result_of(capsys, *arguments: str) -> dict:
    code, output = suite.main([*arguments, "--smoke", "--json"]), capsys.readouterr()
    if INSTALL in output.err:
        pytest.skip(INSTALL)
    assert code == 0, output.err
    result = json.loads(output.out.splitlines()[-1])
    assert result["benchmark"] == arguments[0]
    assert result["machine"].keys() >= {"processor", "cores", "memory_gb", "device", "versions", "load_before"}
    assert suite.load(arguments[0]).table({name: result[name] for name in page.PARTS if name in result} or result)
    return result


def test_the_list_names_every_benchmark_and_smoke_settings_are_options(capsys):
    assert suite.main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(suite.BENCHMARKS)
    for name in suite.BENCHMARKS:
        assert suite.load(name).SMOKE.keys() <= vars(suite.read_options(name, [])).keys(), name
    assert suite.read_options("tasks", ["--set", "d_model=32", "bias=off"]).set == [("d_model", 32), ("bias", False)]
    result = result_of(capsys, "tasks", "--tasks", "reverse")
    measures = [name for name, _ in releases.list_measures({"tasks": result})]
    assert [row["steps"] for row in result["rows"]] == [3, 3]
    assert all(fnmatch.filter(measures, pattern) for pattern in releases.PAGE if pattern.startswith("tasks")), measures


def test_a_release_is_kept_on_one_page_and_what_got_worse_is_marked(capsys, monkeypatch, tmp_path):
    row = {"d_model": 64, "threads": 1, "who": "default", "type": "float32", "ratio": summary([1.5]), "seconds": summary([None])}
    files = [str(tmp_path / "old.json"), str(tmp_path / "new.json")]
    monkeypatch.setattr(suite, "_run", lambda options, name: 2)
    assert suite.main(["--keep", files[0]]) == 1  # no benchmark could run
    (tmp_path / "old.json").write_text(json.dumps({"at": "2020", "benchmarks": {"page": {"machine": machine()}}}))  # one date for all
    for file, rate, p95 in zip(files, (10.0, 8.0), (0.2, 0.1), strict=True):
        results = {"step_rate": {"rows": [row | {"rate": summary([rate])}]}, "classroom": {"times": {"own run": {"count": 9, "p95": p95}}}}
        for part, result in results.items():  # one benchmark after the other
            releases.keep(part, {"machine": machine(), "settings": {"rounds": 3}, **result}, Path(file))
    assert suite.main(["compare", *files]) == 0
    rows = re.findall(r"(\w+) +\|[^|]*\|[^|]*\| +([\d.]+) \| +(\w*)", capsys.readouterr().out)
    assert rows == [("rate", "0.80", "worse"), ("p95", "2.00", "")]
    assert suite.main(["show", files[0]]) == 0
    assert re.search(r"page 2020, step_rate 2.* UTC(.|\n)*default rate \| +10 \| +1.50 \|", capsys.readouterr().out)


@pytest.mark.parametrize(("arguments", "reason"), [
    (("compare", "nothing.json", "nowhere.json"), "nothing.json"), (("show", "a", "b"), "show takes one"),
    (("tasks", "--set", "d_model=63"), "64"), (("--smoke", "tasks"), "unrecognized arguments: tasks"), (("--nothing",), "--nothing"),
    (("page", "--parts", "start,end"), "'end' is none of start, first_load, panels"),
    (("real", "--tasks", "scan", "--smoke", "--data", "nowhere"), "tasks_train_simple.txt.gz"),
])  # fmt: skip
def test_wrong_options_and_files_that_are_not_there_are_named(capsys, arguments, reason):
    try:
        assert suite.main(arguments) == 2
    except SystemExit:
        assert "--data" not in arguments
    assert reason in capsys.readouterr().err


@pytest.mark.night
@pytest.mark.parametrize("name", ["tasks", "real", "labs", "peers", "decoding", "page", "step_rate"])
def test_it_runs(name, capsys):
    result_of(capsys, name)


@pytest.mark.night
def test_a_class_of_eight_meets_no_error_hears_no_secret_and_none_waits_for_ever(capsys):
    result = result_of(capsys, "classroom", "--students", "8", "--minutes", "0.5", "--every", "10")
    assert result["errors"] == result["leaks"] == {}
    assert result["training"]["least"] >= 0.8 / FAIR_EVERY, "every FAIR_EVERY-th turn goes round"
    assert result["heard"] > 100_000
    assert result["times"]["joining"]["count"] == 9
    assert result["times"].keys() >= {"own run", "what the teacher shows", "guessing", "what the class guessed", "board", "translating"}
    assert all(0 < times["median"] <= times["p95"] <= times["p99"] for times in result["times"].values())
