"""What is right: the references of a sentence somebody typed, their alignment, and examples of a run's splits."""

from __future__ import annotations

from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.tasks.toy_tasks import TASKS, answers, examples

Alignment = tuple[int | None, ...]


def references(run: Run, text: str) -> tuple[str, ...] | None:
    """Every right answer to `text`; None when nobody knows: it is no sentence of the task, or not among one's own."""
    if run.experiment.data.task != "own":
        return tuple(example.tgt for example in answers(run.experiment.data.task, text)) or None
    return run.pairs.references.get(text) if run.pairs else None


def alignment(run: Run, text: str, target: str, tokens: int) -> Alignment | None:
    """For each of `tokens` target tokens (EOS last) the source token it must look at, when `target` is a right answer to `text`.

    None where the task defines no alignment, or its units are not the tokenizers' tokens.
    """
    task = TASKS.get(run.experiment.data.task)
    if task is None or tuple(tokenizer.kind for tokenizer in run.tokenizers) != (task.src_unit, task.tgt_unit):
        return None
    found = next((example.alignment for example in answers(task.name, text) if example.tgt == target), None)
    return (*found, *[None] * (tokens - len(found))) if found and len(found) <= tokens else None


def split(run: Run, name: str, count: int, corpora: Corpora) -> list[tuple[str, str]]:
    """The first (source, target) sentences of a split of the corpus."""
    data = run.experiment.data
    if data.task != "own":
        return [(example.src, example.tgt) for example in examples(data.task, name, count, data.data_seed)]
    return [(item.src, item.tgt) for item in getattr(corpora.get(run.experiment, run.pairs), name)[:count]]
