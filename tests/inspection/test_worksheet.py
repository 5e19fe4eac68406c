"""The sheet can be solved with what is printed on it, and its key is the model's own."""

import math

import numpy as np
import pytest

from playground.inspection.worksheet import DECIMALS, KINDS, TASKS, worksheet
from playground.words import LANGUAGES, known
from tests.inspection.pocket import calculate

EMPTY = type("NoTable", (), {"terms": ()})  # a line of the key names no column


def solve(sheet) -> dict[str, np.ndarray]:
    """Every answer, from the printed tables alone, by numpy and without rounding on the way."""
    given = {table.symbol: np.array([[float(number) for number in row] for row in table.rows]) for table in sheet.given}
    x, q = given["X"][sheet.row], given["Q"][sheet.row]
    scores = given["K"] @ q
    scaled = scores / 2
    allowed = np.array([box.answer != "-1e30" for box in sheet.tasks[2].boxes])
    masked = np.where(allowed, scaled, -1e30)
    powers = np.exp(masked - masked.max())
    weights = powers / powers.sum()
    mixed = weights @ given["V"]
    output = mixed @ given["W_O"]
    residual = x + output
    norm = (residual - residual.mean()) / math.sqrt(residual.var() + 1e-5)
    return dict(zip(TASKS, (scores, scaled, masked, weights, mixed, output, residual, norm), strict=True))


@pytest.mark.trust
@pytest.mark.parametrize("kind", KINDS)
def test_the_key_is_what_the_printed_numbers_give(kind):
    for seed in range(4):
        sheet = worksheet(seed, kind)
        deviation = float(sheet.tasks[-1].way[-1].answer)
        for task, expected in zip(sheet.tasks, solve(sheet).values(), strict=True):
            # In cross-attention what is given is rounded itself; a small deviation magnifies that.
            enough = (0.6 if kind != "cross" else 6 / min(deviation, 1.0)) * 10**-DECIMALS
            result = [float(box.answer) for box in task.boxes]
            assert result == pytest.approx(expected.tolist(), abs=enough, rel=1e-9), (seed, task.name)


@pytest.mark.trust
@pytest.mark.parametrize("kind", KINDS)
def test_the_lines_of_the_key_lead_to_its_answers(kind):
    for seed in range(4):
        sheet = worksheet(seed, kind)
        deviation = min(float(sheet.tasks[-1].way[-1].answer), 1.0)
        for task in sheet.tasks:
            for box in task.boxes:
                assert calculate(box.line, EMPTY) == pytest.approx(float(box.answer), abs=5e-4 / deviation, rel=1e-9), (seed, task.name)


def test_the_decoder_hides_the_future_and_the_others_hide_nothing():
    for seed in range(4):
        assert [[box.answer == "-1e30" for box in worksheet(seed, kind).tasks[2].boxes] for kind in KINDS] == [
            [False] * 3, [False, False, True], [False] * 3,
        ]  # fmt: skip
    sheet = worksheet(1, "decoder")
    assert sheet.tasks[3].boxes[2].answer == "0"
    assert (sheet.queries[0], worksheet(1, "cross").keys[-1]) == ("<bos>", "<eos>")


def test_everything_has_words():
    for language in LANGUAGES:
        assert all(known(language, f"map.worksheet_{name}") for name in (*TASKS, "X", "Q", "K", "V", "W_O"))
        assert all(known(language, f"map.worksheet_kind_{kind}") for kind in KINDS)
    with pytest.raises(KeyError):
        worksheet(1, "sideways")
