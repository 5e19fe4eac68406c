"""What precision a run gets, and that training in it is training."""


import pytest
import torch

from playground.config import Experiment
from playground.runs import machine_speed
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import write_run
from playground.runs.queue import train_inline
from playground.training.work import Work
from tests.training.corpora import training_of


@pytest.fixture
def rates(monkeypatch):
    """Says how many times as fast as float32 bfloat16 is on this machine."""

    def say(ratio: float) -> None:
        monkeypatch.setattr(machine_speed, "product_rate", lambda width, dtype, device: ratio if dtype == torch.bfloat16 else 1.0)

    return say


@pytest.mark.parametrize(
    ("wanted", "d_model", "ratio", "expected"),
    [
        ("auto", 512, 8.0, "bfloat16"), ("auto", 256, 8.0, "bfloat16"), ("auto", 248, 8.0, "float32"), ("auto", 512, 1.5, "float32"),
        ("auto", 512, 0.01, "float32"), ("float32", 512, 8.0, "float32"), ("bfloat16", 8, 0.01, "bfloat16"),
    ],
)  # fmt: skip
def test_what_is_chosen(rates, wanted, d_model, ratio, expected):
    rates(ratio)
    assert machine_speed.precision(wanted, d_model, "cpu") == expected


def test_the_run_says_what_was_chosen(rates, tmp_path):
    rates(8.0)
    run = train_inline.new_run(Experiment().with_(d_model=256))
    assert run.precision == "bfloat16"
    assert run.experiment.training.precision == "auto"
    write_run(tmp_path / "run", run, train_inline.first_files(run))
    assert Folder(tmp_path / "run").run.precision == "bfloat16"
    assert train_inline.new_run(Experiment()).precision == "float32"


def test_calls_products_and_elements_are_told_apart():
    """From steps whose seconds are known, and what would take less than no time takes none."""
    counted = [(5, Work(1e6, 1e5, 1, 1)), (10, Work(3e9, 2e7, 1, 1)), (10, Work(9e9, 1e7, 1, 1)), (40, Work(1e6, 2e5, 1, 1))]
    for steps, once in ((3, 0.0), (4, 0.003)):
        speed = machine_speed.MachineSpeed(0.001, 1e-11, 1e-9, once)
        again = machine_speed.solved(counted[:steps], [speed.step(*one) for one in counted[:steps]])
        assert (again.layer, again.operation, again.element, again.once) == pytest.approx((0.001, 1e-11, 1e-9, once))
    assert speed.step(*counted[2], faster=4.0) == pytest.approx(0.003 + 0.01 + 0.09 / 4 + 0.01)
    assert machine_speed.solved(counted[:3], [0.01, 0.01, 0.01]).element == 0.0


def test_products_of_a_wide_model_are_as_fast_as_its_precision_makes_them(rates):
    rates(8.0)
    assert machine_speed.products_faster(Experiment().with_(d_model=256)) == 8.0 * machine_speed.BFLOAT16
    for narrow_or_exact in (Experiment(), Experiment().with_(d_model=256, precision="float32")):
        assert machine_speed.products_faster(narrow_or_exact) == 1.0


@pytest.mark.night
@pytest.mark.parametrize("knobs", [{}, {"norm": "pre", "positions": "both", "bias": False}, {"dropout": 0.2, "memory_mode": "mean"}])
def test_bfloat16_learns_and_its_parameters_stay_float32(knobs):
    rough, fine = (training_of(task="copy", steps=60, d_model=32, batch_size=32, **knobs) for _ in range(2))
    rough.precision = "bfloat16"
    rough.diagnostic_steps = frozenset({5})
    losses = [[step.loss for step in training.steps()] for training in (rough, fine)]
    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[1], rel=0.1)
    assert losses[0][-1] < 0.95 * losses[0][0]
    assert all(parameter.dtype == torch.float32 for parameter in rough.model.parameters())
