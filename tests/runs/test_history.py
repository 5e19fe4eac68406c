import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.runs.history import History, Probe, decimate
from tests.runs.by_hand import refused


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


def test_it_comes_back_from_json_bit_for_bit():
    one = history()
    back = History.from_json(json.loads(json.dumps(one.to_json(), allow_nan=False)))
    assert str((back.steps.rows(), back.diagnostics.rows())) == str((one.steps.rows(), one.diagnostics.rows()))  # str: nan is nan
    assert (back.validations.rows(), back.events, back.probes) == (one.validations.rows(), one.events, one.probes)


def test_histories_of_before_are_read():
    """Diagnostics had another name, and validations were of as many sentences as were asked at most."""
    data = history().to_json()
    data["health"] = data.pop("diagnostics")
    assert str(History.from_json(data).diagnostics.rows()) == str(history().diagnostics.rows())
    data["validations"] = {"step": [1, 2], "loss": [2.0, 1.0], "token_accuracy": [0.1, 0.6], "exact_match": [0.0, 0.5], "pairs": [100, 500]}
    assert History.from_json(data).validations.column("all_pairs") == [500, 500]
    data["validations"] = {name: [] for name in data["validations"]}
    assert len(History.from_json(data).validations) == 0


@pytest.mark.parametrize(
    "spoil",
    [
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
    ],
)  # fmt: skip
def test_anything_else_is_refused(spoil):
    data = history().to_json()
    spoil(data)
    with refused("runs.not_a_run"):
        History.from_json(data)


def test_health_is_kept_with_four_digits_and_starts_anew_with_other_numbers():
    found = history()
    assert found.diagnostics.rows() == {
        "step": [1, 3], "memory/gradient": [0.1235, 0.0],
        "encoder.0.feed_forward/dead": [0.3333, pytest.approx(math.nan, nan_ok=True)],
    }  # fmt: skip
    found.add_diagnostics(4, {"memory/gradient": 2.0})
    assert found.diagnostics.rows() == {"step": [4], "memory/gradient": [2.0]}
    assert "diagnostics" not in History().to_json()


@given(st.lists(st.floats(allow_nan=True), max_size=300), st.integers(4, 200))
def test_a_decimated_curve_keeps_ends_and_extremes(losses, most):
    columns = {"step": [*range(1, len(losses) + 1)], "loss": losses}
    few = decimate(columns, most)
    if len(losses) <= most:
        assert few is columns
        return
    assert most // 2 <= len(few["step"]) <= most + 2
    assert few["step"] == sorted({*few["step"]})
    assert (few["step"][0], few["step"][-1]) == (1, len(losses))
    assert str([losses[step - 1] for step in few["step"]]) == str(few["loss"])
    numbers = [loss for loss in losses if not math.isnan(loss)]
    if len(numbers) == len(losses):
        assert (min(few["loss"]), max(few["loss"])) == (min(losses), max(losses))
