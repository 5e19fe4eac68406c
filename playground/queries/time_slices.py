"""Long questions asked of the reader in slices: nobody else's short question waits for long, and whoever asks sees how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from playground.model.size import parameter_count
from playground.model.transformer import Transformer
from playground.queries.reader import Reader
from playground.runs.run import Run

SLICE = 50  # things that are worked through before somebody else may ask
BUDGET_S = 0.3  # seconds after which no further slice is begun
OPERATIONS = 2e10  # what a busy core does in about a second, a token at a time
Thing, Answer = TypeVar("Thing"), TypeVar("Answer")


def affordable(run: Run, tokens: float, most: int, least: int) -> int:
    """How many sentences of so many tokens (both sides together) are read and written in about a second: from `least` to `most`.

    By formula: two operations for each parameter and token. So it depends on the run, not on how busy the machine is, and the same link
    shows the same numbers.
    """
    parameters = parameter_count(run.experiment.model, *(tokenizer.size for tokenizer in run.tokenizers))
    return max(least, min(most, int(OPERATIONS / (2 * parameters * max(tokens, 1)))))


def in_slices(
    reader: Reader, run: Run, step: int | None, key: tuple, things: Sequence[Thing],
    work: Callable[[Transformer, Sequence[Thing]], Answer], size: int = SLICE,
) -> tuple[int, list[Answer]]:  # fmt: skip
    """(the step the parameters are from, `work(model, slice)` for the first slices of `things`, of `size` each). Raises Refusal.

    Answered are those slices that are remembered under `key`, and as many more as are begun within a moment, but one at least: who asks
    again and again has all of them in the end, and who doesn't has stopped it. While a run trains, its parameters change from one question
    to the next: then only the first slice is asked, so that all that is said is true of one step. Raises ValueError when there is nothing
    to ask.
    """
    if not things:
        raise ValueError("there is nothing to ask")
    clock, worked = run.runtime.monotonic, []
    end = clock() + BUDGET_S
    steps, found = [], []

    def ask(start: int) -> tuple[int, Answer]:
        part = things[start : start + size]

        def asked(model: Transformer, actual: int) -> tuple[int, Answer]:
            worked.append(start)
            return actual, work(model, part)

        return reader.work(run, step, (*key, start, size, len(things)), asked)

    for start in range(0, 1 if run.working else len(things), size):
        actual, answer = ask(start)
        if steps and actual != steps[0]:
            break  # somebody let the run go on
        steps.append(actual)
        found.append(answer)
        if worked and clock() > end:
            break
    return steps[0], found
