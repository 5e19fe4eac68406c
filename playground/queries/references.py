"""Right answers: the references of a typed sentence, their alignment, and examples of a run's splits."""

from __future__ import annotations

from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.tasks.toy_tasks import TASKS, answers, examples

Alignment = tuple[int | None, ...]


def references(run: Run, text: str) -> tuple[str, ...] | None:
    """Returns every right answer to `text`; None for a text that is no sentence of the task, or not in the run's upload."""
    if run.experiment.data.task != "own":
        return tuple(example.tgt for example in answers(run.experiment.data.task, text)) or None
    return run.pairs.references.get(text) if run.pairs else None


def alignment(run: Run, text: str, target: str, tokens: int) -> Alignment | None:
    """Returns for each of `tokens` target tokens (EOS last) the aligned source token, when `target` is a right answer to `text`.

    None where the task defines no alignment, or its units are not the tokenizers' tokens.
    """
    task = TASKS.get(run.experiment.data.task)
    if task is None or tuple(tokenizer.kind for tokenizer in run.tokenizers) != (task.src_unit, task.tgt_unit):
        return None
    places = next((example.alignment for example in answers(task.name, text) if example.tgt == target), None)
    return (*places, *[None] * (tokens - len(places))) if places and len(places) <= tokens else None


def split(run: Run, name: str, count: int, corpora: Corpora) -> list[tuple[str, str]]:
    """Returns the first (source, target) sentences of a split of the corpus."""
    data = run.experiment.data
    if data.task != "own":
        return [(example.src, example.tgt) for example in examples(data.task, name, count, data.data_seed)]
    return [(item.src, item.tgt) for item in getattr(corpora.get(run.experiment, run.pairs), name)[:count]]
