"""The numbers of the benchmarks: summaries, ratios, shares and verdicts, computed by hand."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import labs
from benchmarks.classroom.records import LONGEST, Canaries, Records
from benchmarks.growth.exponent import exponent, slopes
from benchmarks.many_runs.crowds import CROWDS, jain
from benchmarks.peers import common
from benchmarks.peers.common import Watch
from benchmarks.peers.report import ratios, rows, written
from benchmarks.soak import slope, table, verdict
from benchmarks.step_rate import inside
from benchmarks.tables import markdown, percentile, ratio, shown, summary
from benchmarks.time_to_target import _ratios, _rows
from playground.lessons.labs import LABS
from playground.runs.limits import Limits


@pytest.mark.parametrize(
    ("values", "three", "text"),
    [
        ([3, 1, 2], (2, 1, 3), "2.00 (1.00 to 3.00)"), ([2.0, 3.0, None], (3.0, 2.0, None), "3.00 (2.00 to never)"),
        ([1.0, None, 2.0, None], (None, 1.0, None), "never (1.00 to never)"), ([2], (2, 2, 2), "2.00"), ([], (None, None, None), "–"),
    ],
)  # fmt: skip
def test_summaries_count_what_was_never_reached_as_later_than_any(values, three, text):
    assert summary(values) == dict(zip(("median", "low", "high"), three, strict=True)) | {"values": values}
    assert shown(summary(values), ratio) == text


@given(st.lists(st.integers(), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_the_smallest_value_that_the_share_does_not_exceed(values, share):
    value = percentile(values, share)
    assert value in values
    assert sum(one <= value for one in values) >= share * len(values) > sum(one < value for one in values)


def test_a_table_has_text_at_the_left_and_numbers_at_the_right():
    lines = markdown(("task", "how", "seconds"), [("sort", "alone", "1.5 (1.0 to 2.0)"), ("reverse", "page", "–")]).splitlines()
    assert lines == [
        "| task    | how   |          seconds |",
        "| ------- | ----- | ---------------: |",
        "| sort    | alone | 1.5 (1.0 to 2.0) |",
        "| reverse | page  |                – |",
    ]


def test_a_target_that_is_never_reached_makes_no_ratio():
    times = [(1, "headless", 2.0), (2, "headless", None), (3, "headless", None), (1, "page", 3.0), (2, "page", 9.0), (3, "page", 5.0)]
    common = {"task": "t", "preset": "default", "step": 1, "others": 0}
    trainings = [common | {"mode": mode, "seed": n, "seconds": took or 99.0, "reached": bool(took)} for n, mode, took in times]
    alone, watched = _rows(trainings)
    assert (alone["seconds"]["median"], alone["seconds"]["low"], alone["reached"]) == (None, 2.0, 1)
    assert (watched["seconds"]["median"], watched["reached"]) == (5.0, 3)
    (only,) = _ratios(trainings)
    assert (only["of"], only["to"], only["ratio"]["values"]) == ("default page", "default headless", [1.5])


def test_fairness():
    for steps, fair in (([3.0] * 3, 1), ([5.0, 0.0, 0.0, 0.0], 1 / 4), ([1.0, 1.0, 0.0, 0.0], 1 / 2), ([0.0, 0.0], 1)):
        assert jain(steps) == pytest.approx(fair)
    assert max(map(max, CROWDS.values())) <= Limits().runs_each
    assert max(map(sum, CROWDS.values())) <= Limits().runs_unfinished


@given(st.floats(0, 3), st.lists(st.floats(1, 1000), min_size=2, max_size=9, unique_by=round))
def test_the_exponent_of_a_power_is_the_power(power, sizes):
    assert exponent(sizes, [7 * size**power for size in sizes]) == pytest.approx(power, abs=1e-6)
    assert slope(sizes, [2 + power * size for size in sizes]) == pytest.approx(power, abs=1e-6)
    assert (exponent([4, 4], [1.0, 2.0]), exponent([4, 8], [0.0, 2.0]), slope([1.0], [5.0])) == (None, None, 0.0)
    flat = slopes([1, 10, 100, 1000], [50 + size for size in (1, 10, 100, 1000)])
    assert 0 < flat["all"] < flat["end"] < 1, "a constant flattens the end least"


@pytest.mark.parametrize(
    ("held", "is_flat"),
    [(lambda at: 5e8, True), (lambda at: 5e8 + min(at, 1500) * 1e5, True), (lambda at: 5e8 + at * 1e5, False)],
    ids=["flat", "fills", "grows"],
)
def test_what_fills_in_the_first_half_is_flat_and_what_goes_on_grows(held, is_flat):
    held = [{"seconds": float(at), "visits": at, "bytes": held(at), "threads": 9, "files": 30} for at in range(60, 3601, 60)]
    flat = {name: verdict(held, name) for name in ("bytes", "threads", "files")}
    assert [one["is_flat"] for one in flat.values()] == [is_flat, True, True]
    assert ("GROWS" in table({"rows": held, "flat": flat, "problems": []})) != is_flat


@pytest.mark.parametrize(
    ("expects", "answers", "holds"),
    [
        ("with", ["with"] * 4 + ["same"], "yes"), ("with", ["with"] * 3 + ["same"] * 2, "NO"), ("without", ["with"] * 5, "NO"),
        ("", ["with"] * 3 + ["same"] * 2, "open"), ("", ["with"] * 4 + ["same"], "NO"), (None, ["with"] * 5, ""),
    ],
)  # fmt: skip
def test_four_of_five_seeds_bear_out_what_is_expected(expects, answers, holds):
    assert labs.holds(SimpleNamespace(is_mystery=False, expects=expects), answers) == holds


def test_what_labs_expect_is_what_the_results_say():
    results = {}
    for line in (Path(labs.__file__).parent / "results" / "labs.md").read_text(encoding="utf-8").splitlines():
        if row := re.match(r"\| (\w+) +\| +\d+ \|[^|]*\|[^|]*\| ([\w, ×]+?) +\|", line):
            counted = re.fullmatch(r"(\w+) × (\d+)", row[2])
            results[row[1]] = [counted[1]] * int(counted[2]) if counted else row[2].split(", ")
    assert set(labs.BENCHES) == {name for name, lab in LABS.items() if hasattr(lab, "arms")}
    assert {name for name in labs.BENCHES if LABS[name].expects is not None} == set(results)
    for name, answers in results.items():
        assert len(answers) >= 5, name
        assert labs.holds(LABS[name], answers) in ("yes", "open"), name


def test_a_step_is_split_where_parts_overlap():
    spans = [("forward", 1.0, 3.0), ("forward", 1.0, 4.0), ("backward", 3.0, 6.0), ("optimiser", 8.0, 9.0)]
    assert inside.split(spans, 0.0, 10.0) == {"batch": 1.0, "forward": 2.5, "backward": 2.5, "optimiser": 1.0, "rest": 3.0}
    assert inside.split([], 2.0, 5.0) == {"batch": 3.0, "forward": 0.0, "backward": 0.0, "optimiser": 0.0, "rest": 0.0}


def test_a_secret_is_a_leak_where_another_person_hears_it():
    people = [Canaries.of(person, "abcdefgh") for person in range(61)]
    secrets = {canary for one in people for canary in one}
    assert len(secrets) == 3 * 61
    assert max(map(len, secrets)) <= LONGEST
    assert len(people[1].name) <= 24, "a nickname is cut there"
    own, other, records = people[1], people[2], Records()
    records.heard(f'{{"name": "{own.name}", "text": "{own.words}a"}}'.encode(), own)
    assert not records.leaks
    records.heard(f"{other.name} and {other.name} and {own.token}".encode(), {own.name})
    records.heard(f"…{other.words}…".encode(), {own.name, own.words}, 3)
    assert records.leaks == {"name": 1, "token": 1, "words": 1}


# ---- peers ---------------------------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self, monkeypatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(common.time, "perf_counter", lambda: self.now)

    def examine(self, took: float, score: float) -> float:
        self.now += took
        return score


def test_the_watch_examines_now_and_then_and_stops_at_the_target(monkeypatch):
    clock, answers, reports = Clock(monkeypatch), iter((0.5, 1.0)), []
    watch = Watch(0.99, 1000.0, lambda report: reports.append((report["step"], report["exact_match"])))
    clock.now = 3.0
    watch.prepared()
    for _ in range(1, 100):
        clock.now += 0.5
        if watch.step(10, 16, lambda: clock.examine(0.25, next(answers))):
            break
    # After 1 s of training; then late enough for 0.25 s to be a twentieth of the time: 4.75 s, ten steps of half a second.
    assert reports == [(2, 0.5), (12, 1.0)]
    expected = {"step": 12, "reached": True, "tokens": 120, "cells": 192, "preparing": 3.0, "validating": 0.5, "seconds": 9.5}
    assert expected.items() <= watch.found.items()


def training(who: str, setting: str, seconds: float, reached: bool, threads: int = 1) -> dict:
    common = {"who": who, "setting": setting, "threads": threads, "seconds": seconds, "cpu_seconds": seconds, "reached": reached}
    common |= {"preparing": 0.5, "validating": 0.5, "step": 8, "tokens": 60, "cells": 80, "parameters": 5, "exact_match": 0.5}
    return common | ({} if setting == "ours" else {"size": {"d_model": 8, "pairs": 2}})


def test_rates_are_of_training_alone_and_the_best_peer_counts_and_one_that_never_arrives_is_more_than():
    (row,) = rows([training("plain", "own", 6.0, True)])
    assert [row[name]["median"] for name in ("steps_per_second", "tokens_per_second", "padding")] == [1.6, 12.0, 0.25]
    counted = rows([
        *(training("fast", "ours", seconds, True) for seconds in (3.0, 4.0, 5.0)), training("fast", "ours", 2.0, True, threads=2),
        training("paper", "ours", 50.0, False), training("plain", "own", 100.0, False), training("joey", "own", 100.0, False),
        training("plain", "equal", 100.0, False), training("joey", "equal", 60.0, True), training("joey", "equal", 40.0, True, threads=2),
    ])  # fmt: skip
    answers = {(one["setting"], one["preset"], one["threads"]): one for one in ratios(counted, 100.0)}
    best = answers["equal", "fast", 1]
    assert (best["peer"], best["peer_threads"], best["seconds"], best["ratio"]) == ("joey", 2, 40.0, 10.0)
    assert answers["equal", "fast", 2]["ratio"] == 20.0
    assert (answers["own", "fast", 1]["peer"], answers["own", "fast", 1]["ratio"]) == (None, 25.0)
    assert answers["own", "paper", 1]["ratio"] is None
    head = {"target": 0.99, "limit": 100.0, "first_seed": 7, "versions": {"torch": "2"}, "missing": ["something is missing"]}
    text = written(head | {"rows": counted, "ratios": ratios(counted, 100.0)})
    assert all(part in text for part in ("more than 25.00", "not by 100 s", "not in 8 steps", "something is missing"))
