"""One recording, the model's own pass, serves every cell of it; a cell that a model doesn't have has no derivation."""

import numpy as np

from playground.config import BOS, EOS
from playground.inspection.activations import record
from playground.queries.activations import Cell, activations

WEIGHTS = "decoder.0.cross_attention.weights"
KNOBS = {"task": "reverse"}


def test_another_cell_costs_no_other_recording_and_one_that_is_not_there_has_no_derivation(run, reader):
    first, nothing = activations(reader, run, None, "abc")
    assert nothing is None
    for cell, index in (
        (Cell(WEIGHTS, 1, 0, 2), (1, 0, 2)), (Cell("src.ids", 1, 3, 0), (3,)), (Cell("memory", 1, 3, 2), (3, 2)),
        (Cell("nothing", 0, 0, 0), None), (Cell(WEIGHTS, 2, 0, 0), None), (Cell(WEIGHTS, 0, 0, 4), None), (Cell("src.ids", 0, 4, 0), None),
    ):  # fmt: skip
        again, derivation = activations(reader, run, None, "abc", cell=cell)
        assert again is first
        assert (derivation and (derivation.address, derivation.index)) == (index and (cell.address, index)), cell
    assert activations(reader, run, None, "abd")[0].number != first.number


def test_it_is_the_models_own_pass_and_without_a_right_answer_every_step_is_fed_the_newest_output(run, reader, model):
    result = activations(reader, run, None, "abc", reference=True)[0]
    assert "".join(piece.text for piece in result.asked) == "cba<eos>"
    assert [result.fed[0].id, result.source[-1].id] == [BOS, EOS]
    recorded = record(model, [piece.id for piece in result.source[:-1]], [piece.id for piece in result.asked])
    assert (result.step, result.stages.keys()) == (run.step, recorded.keys())
    for address, stage in recorded.items():
        assert np.array_equal(result.stages[address].values, stage.values)
    assert result.stages.nbytes == sum(stage.values.nbytes for stage in recorded.values())
    newest, first = activations(reader, run, None, "Ä")[0], activations(reader, run, 0, "Ä", reference=True)[0]
    assert (first.step, first.asked) == (0, newest.asked)
