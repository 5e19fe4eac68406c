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
    printed = {table.symbol: np.array([[float(number) for number in row] for row in table.rows]) for table in sheet.tables}
    x, q = printed["X"][sheet.row], printed["Q"][sheet.row]
    scores = printed["K"] @ q
    masked = np.where([box.answer != "-1e30" for box in sheet.tasks[2].boxes], scores / 2, -1e30)
    powers = np.exp(masked - masked.max())
    weights = powers / powers.sum()
    mixed = weights @ printed["V"]
    output = mixed @ printed["W_O"]
    residual = x + output
    norm = (residual - residual.mean()) / math.sqrt(residual.var() + 1e-5)
    return dict(zip(TASKS, (scores, scores / 2, masked, weights, mixed, output, residual, norm), strict=True))


@pytest.mark.trust
@pytest.mark.parametrize("kind", KINDS)
def test_the_key_is_what_the_printed_numbers_give(kind):
    words = [*TASKS, "X", "Q", "K", "V", "W_O", f"kind_{kind}"]
    assert all(known(language, f"map.worksheet_{name}") for language in LANGUAGES for name in words)
    for seed in range(3):
        sheet = worksheet(seed, kind)
        deviation = min(float(sheet.tasks[-1].way[-1].answer), 1.0)
        for task, expected in zip(sheet.tasks, solve(sheet).values(), strict=True):
            # In cross-attention what is given is rounded itself; a small deviation magnifies that.
            enough = (0.6 if kind != "cross" else 6 / deviation) * 10**-DECIMALS
            result = [float(box.answer) for box in task.boxes]
            assert result == pytest.approx(expected.tolist(), abs=enough, rel=1e-9), (seed, task.name)
            for box in task.boxes:
                assert calculate(box.line, EMPTY) == pytest.approx(float(box.answer), abs=5e-4 / deviation, rel=1e-9), (seed, task.name)
        hidden = [False, False, kind == "decoder"]
        assert [box.answer == "-1e30" for box in sheet.tasks[2].boxes] == hidden
        assert [box.answer == "0" for box in sheet.tasks[3].boxes] == hidden
    assert (sheet.queries[0] == "<bos>", sheet.keys[-1] == "<eos>") == (kind != "encoder", kind != "decoder")
