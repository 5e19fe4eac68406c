"""README.md: the model card, with the metadata that the Hugging Face Hub reads at its head."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from playground.config import default
from playground.export.scores import Scores
from playground.export.taken import Taken
from playground.runs.tables import parameters_of
from playground.tasks.toy_tasks import drawn
from playground.words import say
from playground.words.amounts import percentage

BAR = r"\|"  # as a cell of a table holds it
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


def card(taken: Taken, found: tuple[str, Scores] | None, link: str, language: str) -> str:
    """The whole file. `found` are the split and the scores on it, None where they are not known."""
    sections = {
        "use": _use(taken, language),
        "settings": _settings(taken, language),
        "scores": _scores(taken, found, language),
        "sentences": [_sentences(taken, language)],
        "again": [say(language, "export.card_again")],
    }
    lines = [f"# {plain(taken.name)}", "", say(language, "export.card_intro", task=_task(taken, language)), ""]
    lines += [say(language, "export.card_link", link=link), ""] if link else []
    for name, section in sections.items():
        lines += [f"## {say(language, f'export.card_{name}_title')}", "", *section, ""]
    return "\n".join([*_metadata(taken, found, language), "", *lines])


def _metadata(taken: Taken, found: tuple[str, Scores] | None, language: str) -> list[str]:
    """YAML. Every value is written as JSON, which YAML reads as it is."""
    own = taken.run.experiment.data.task == "own"
    about: dict[str, Any] = {
        "library_name": "transformer-playground",
        "pipeline_tag": "translation",
        "license": "other" if own else "apache-2.0",
        "tags": ["transformer", "encoder-decoder", "attention", "education", "pytorch"],
    }
    if found:
        split, scores = found
        task, name = {"type": "translation"}, {"name": say(language, f"tasks.{taken.run.experiment.data.task}.label"), "type": "sentences"}
        numbers = {"bleu": round(scores.measured.bleu, 2), "chrf": round(scores.measured.chrf, 2)}
        metrics = [{"type": kind, "value": value} for kind, value in numbers.items()]
        results = [{"task": task, "dataset": {**name, "split": split}, "metrics": metrics}]
        about["model-index"] = [{"name": taken.name, "results": results}]
    return ["---", *(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in about.items()), "---"]


def _task(taken: Taken, language: str) -> str:
    name = taken.run.experiment.data.task
    if name == "own":
        return say(language, "export.card_own")
    return f"**{say(language, f'tasks.{name}.label')}** ({say(language, f'tasks.{name}.about')})"


def _use(taken: Taken, language: str) -> list[str]:
    packages = "torch safetensors" + (" sentencepiece" if any(t.kind in ("bpe", "unigram") for t in taken.tokenizers) else "")
    example = _example(taken)
    code = ["```", f"pip install {packages}", f'python use.py "{example}" --svg attention.svg', "```"]
    python = ["```python", "import playground", "", 'model = playground.load(".")', f'model.translate("{example}")', "```"]
    return [say(language, "export.card_use"), "", *code, "", say(language, "export.card_load"), "", *python]


def _example(taken: Taken) -> str:
    """A held-out sentence; of own ones none is shown to strangers."""
    name = taken.run.experiment.data.task
    if name == "own":
        return "…"
    return next(drawn(name, "heldout", 1)).src.replace('"', "")


def _settings(taken: Taken, language: str) -> list[str]:
    run, changed = taken.run, taken.experiment.difference()
    told = {"step": f"{taken.step:,}", "steps": f"{run.steps:,}", "seed": run.experiment.training.seed}
    told |= {"parameters": f"{parameters_of(run) or 0:,}", "device": run.device, "threads": run.threads, "precision": run.precision}
    lines = [say(language, "export.card_trained", **told)]
    lines += [say(language, "export.card_fork", step=f"{run.parent[1]:,}")] if run.parent else []
    lines += [say(language, "export.card_moved", knob=knob, value=value, step=step) for step, knob, value in taken.history.events]
    if not changed:
        return [*lines, "", say(language, "export.card_default")]
    head = [say(language, f"export.card_{name}") for name in ("setting", "here", "usual")]
    return [*lines, "", *_table(head, ([f"`{name}`", f"`{value}`", f"`{default(name)}`"] for name, value in changed.items()))]


def _scores(taken: Taken, found: tuple[str, Scores] | None, language: str) -> list[str]:
    lines = []
    last = taken.history.validations.last()
    if last:
        told = {"pairs": int(last["pairs"]), "step": int(last["step"]), "loss": f"{last['loss']:.4f}"}
        told |= {name: f"{percentage(last[name], 2)} %" for name in ("exact_match", "token_accuracy")}
        lines.append(say(language, "export.card_validation", **told))
    if found is None:
        return [*lines, "", say(language, "export.card_no_scores")]
    split, scores = found
    measured = scores.measured
    head = [say(language, f"export.card_{name}") for name in ("metric", "value", "signature")]
    numbers = {
        "BLEU": (measured.bleu, measured.bleu_reach, measured.bleu_signature),
        "chrF": (measured.chrf, measured.chrf_reach, measured.chrf_signature),
    }
    rows = [
        [name, f"{value:.2f}" + (f" ± {reach:.2f}" if reach else ""), f"`{signature.replace('|', BAR)}`"]
        for name, (value, reach, signature) in numbers.items()
    ]
    count = say(language, f"export.card_split_{split}", sentences=scores.sentences, step=scores.step)
    return [*lines, "", count, "", *_table(head, rows)]


def _sentences(taken: Taken, language: str) -> str:
    if taken.run.experiment.data.task != "own":
        return say(language, "export.card_generated", task=taken.run.experiment.data.task, seed=taken.run.experiment.data.data_seed)
    credit = taken.run.credit
    return say(language, "export.card_credit", credit=plain(credit)) if credit else say(language, "export.card_no_credit")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(head)
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def plain(text: str) -> str:
    """Text that somebody typed, in one line and without marks of Markdown or HTML."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))

