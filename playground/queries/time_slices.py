"""Time slices: splits a long query to the reader, so that short queries of other visitors run in between, and a caller sees progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from playground.model.costs import parameter_count
from playground.model.transformer import Transformer
from playground.queries.reader import Reader
from playground.runs.run import Run

SLICE = 50  # inputs of a time slice
BUDGET_S = 0.3  # seconds after which no further slice begins
OPERATIONS = 2e10  # of a busy core in about a second, decoding token by token
Input, Answer = TypeVar("Input"), TypeVar("Answer")


def affordable(run: Run, tokens: float, most: int, least: int) -> int:
    """Returns how many sentences of `tokens` tokens (source and target) are read and written in about a second: from `least` to `most`.

    By formula, two operations for each parameter and token, so it depends on the run, not on the load of the machine, and the same link
    shows the same numbers.
    """
    parameters = parameter_count(run.experiment.model, *(tokenizer.size for tokenizer in run.tokenizers))
    return max(least, min(most, int(OPERATIONS / (2 * parameters * max(tokens, 1)))))


def in_slices(
    reader: Reader, run: Run, step: int | None, key: tuple, inputs: Sequence[Input],
    work: Callable[[Transformer, Sequence[Input]], Answer], size: int = SLICE,
) -> tuple[int, list[Answer]]:  # fmt: skip
    """Returns (the step of the parameters, `work(model, slice)` for the first slices of `inputs`, of `size` each). Raises Refusal.

    These are the slices cached under `key`, and as many more as begin within `BUDGET_S`, but one at least: repeated calls get them all,
    and a caller that stops calling has cancelled the rest. While a run trains, its parameters change from slice to slice: then only the
    first is computed, so that all numbers belong to one step. Raises ValueError without inputs.
    """
    if not inputs:
        raise ValueError("there are no inputs")
    clock, worked = run.runtime.monotonic, []
    end = clock() + BUDGET_S
    steps, answers = [], []

    def ask(start: int) -> tuple[int, Answer]:
        part = inputs[start : start + size]

        def work_slice(model: Transformer, actual: int) -> tuple[int, Answer]:
            worked.append(start)
            return actual, work(model, part)

        return reader.work(run, step, (*key, start, size, len(inputs)), work_slice)

    for start in range(0, 1 if run.working else len(inputs), size):
        actual, answer = ask(start)
        if steps and actual != steps[0]:
            break  # the run was resumed
        steps.append(actual)
        answers.append(answer)
        if worked and clock() > end:
            break
    return steps[0], answers
