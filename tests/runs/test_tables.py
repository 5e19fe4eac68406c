import io
import math

import numpy as np
import pandas

from playground.runs.disk.store import read_kept
from playground.runs.history import STEPS, VALIDATIONS, History
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.runs.tables import csv_of
from tests.runs.by_hand import begun, ended
from tests.runs.tiny import ME, alone, tiny


def test_frames_hold_the_numbers_of_the_history():
    history = alone(tiny())[0].history
    for frame, table, names in ((history.frame(), history.steps, STEPS), (history.validation_frame(), history.validations, VALIDATIONS)):
        assert tuple(frame.columns) == names
        assert len(frame) == len(table)
        assert {name: frame[name].tolist() for name in names} == table.rows()
        assert frame["step"].dtype == np.int64
        assert frame["loss"].dtype == np.float64
    assert history.validation_frame()["pairs"].dtype == np.int64


def test_an_empty_history_has_frames_of_the_same_kinds_and_half_a_row_is_left_out():
    empty, history = History(), alone(tiny())[0].history
    assert (empty.steps.last(), history.steps.last()["step"], history.steps.rows(28)["step"]) == (None, 30, [29, 30])
    assert empty.frame().dtypes.equals(history.frame().dtypes)
    assert empty.validation_frame().dtypes.equals(history.validation_frame().dtypes)
    empty.steps.append(1, 0.5, 0.1, 0.2, 10.0)
    empty.steps._columns["step"].append(2.0)
    assert empty.frame()["step"].tolist() == [1]


def test_a_curve_comes_back_from_its_csv_to_the_last_bit():
    history = alone(tiny())[0].history
    history = History.from_json(history.to_json())
    history.steps.append(31, math.nan, 0.1, math.inf, 10.0)
    back = pandas.read_csv(io.StringIO(csv_of(history.frame())), float_precision="round_trip")
    pandas.testing.assert_frame_equal(back, history.frame(), check_exact=True)


def test_runs_stand_side_by_side():
    run, training = alone(tiny(variant="batch_norm", steps=10))
    new = Run("a-new-run-with-an-id-22", "fresh-finch", tiny(task="sort"), label='=HYPERLINK("http://x", "y")', created=1_700_000_000.7)
    table = Runs.table(iter([run, new]))
    first, second = table.to_dict("records")
    last = run.history.validations.last()
    assert (first["name"], first["task"], first["status"], first["step"], first["steps"]) == (run.name, "reverse", "done", 10, 10)
    assert (first["validation_loss"], first["exact_match"]) == (last["loss"], last["exact_match"])
    assert first["parameters"] == sum(parameter.numel() for parameter in training.model.parameters())
    assert (second["label"], second["task"], second["status"], second["step"]) == (new.label, "sort", "queued", 0)
    assert str(second["created"]) == "2023-11-14 22:13:20+00:00"
    assert all(pandas.isna(second[name]) for name in ("validation_loss", "exact_match", "token_accuracy", "parameters"))
    assert table.dtypes.equals(Runs.table([]).dtypes)
    assert pandas.read_csv(io.StringIO(csv_of(table)))["label"][1] == "'" + new.label, "a label is no formula"


def test_kept_runs_are_read_beside_the_server_that_trains_them(world):
    runs, first, second = world.runs, ended(world, steps=10), begun(world)
    runs.rename(first.id, ME, "short")
    (runs.store.root / ("b" * 22)).mkdir()
    (runs.store.root / f"{first.id}.new").mkdir()  # as in the middle of a save
    before = sorted((path, path.stat().st_mtime_ns) for path in runs.store.root.rglob("*"))
    table = Runs.table(read_kept(runs.store.folder)).set_index("name")
    assert set(table.index) == {first.name, second.name}
    assert table.loc[first.name, ["label", "status", "step"]].tolist() == ["short", "done", 10]
    assert before == sorted((path, path.stat().st_mtime_ns) for path in runs.store.root.rglob("*"))
    assert list(read_kept(runs.store.folder / "nowhere")) == []
