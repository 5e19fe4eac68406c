"""The documents of an export: README.md, the model card, with the metadata that the Hugging Face Hub reads at its head; and run.ipynb,
which trains the same run again and compares the last loss."""

import json
import re
from collections.abc import Iterable
from typing import Any

from playground.config import LIVE_KNOBS, default
from playground.export.exported_run import ExportedRun
from playground.features.evaluation.query import Scores
from playground.reading.column_mapping import BY_SOURCE
from playground.reading.writing import GROUP
from playground.runs.tables import parameters_of
from playground.tasks.toy_tasks import draw_examples
from playground.words import percentage, say

BAR = r"\|"  # escaped for a cell of a table
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


def card(exported: ExportedRun, split_scores: tuple[str, Scores] | None, link: str, language: str) -> str:
    """Returns the whole file. `split_scores` are the split and the scores on it, None if unknown."""
    sections = {
        "use": _use(exported, language),
        "settings": _settings(exported, language),
        "scores": _scores(exported, split_scores, language),
        "sentences": [_sentences(exported, language)],
        "again": [say(language, "export.card_again")],
    }
    lines = [f"# {plain(exported.name)}", "", say(language, "export.card_intro", task=_task(exported, language)), ""]
    lines += [say(language, "export.card_link", link=link), ""] if link else []
    for name, section in sections.items():
        lines += [f"## {say(language, f'export.card_{name}_title')}", "", *section, ""]
    return "\n".join([*_metadata(exported, split_scores, language), "", *lines])


def _metadata(exported: ExportedRun, split_scores: tuple[str, Scores] | None, language: str) -> list[str]:
    """Returns the YAML header. Every value is written as JSON, which is valid YAML."""
    own = exported.run.experiment.data.task == "own"
    metadata: dict[str, Any] = {
        "library_name": "transformer-playground",
        "pipeline_tag": "translation",
        "license": "other" if own else "apache-2.0",
        "tags": ["transformer", "encoder-decoder", "attention", "education", "pytorch"],
    }
    if split_scores:
        split, scores = split_scores
        label = say(language, f"tasks.{exported.run.experiment.data.task}.label")
        task, name = {"type": "translation"}, {"name": label, "type": "sentences"}
        numbers = {"bleu": round(scores.measured.bleu, 2), "chrf": round(scores.measured.chrf, 2)}
        metrics = [{"type": kind, "value": value} for kind, value in numbers.items()]
        results = [{"task": task, "dataset": {**name, "split": split}, "metrics": metrics}]
        metadata["model-index"] = [{"name": exported.name, "results": results}]
    return ["---", *(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in metadata.items()), "---"]


def _task(exported: ExportedRun, language: str) -> str:
    name = exported.run.experiment.data.task
    if name == "own":
        return say(language, "export.card_own")
    return f"**{say(language, f'tasks.{name}.label')}** ({say(language, f'tasks.{name}.about')})"


def _use(exported: ExportedRun, language: str) -> list[str]:
    packages = "torch safetensors" + (" sentencepiece" if any(t.kind in ("bpe", "unigram") for t in exported.tokenizers) else "")
    name = exported.run.experiment.data.task
    example = "…" if name == "own" else next(draw_examples(name, "heldout", 1)).src.replace('"', "")  # own sentences stay private
    code = ["```", f"pip install {packages}", f'python use.py "{example}" --svg attention.svg', "```"]
    python = ["```python", "import playground", "", 'model = playground.load(".")', f'model.translate("{example}")', "```"]
    return [say(language, "export.card_use"), "", *code, "", say(language, "export.card_load"), "", *python]


def _settings(exported: ExportedRun, language: str) -> list[str]:
    run, changed = exported.run, exported.experiment.difference()
    values = {"step": f"{exported.step:,}", "steps": f"{run.steps:,}", "seed": run.experiment.training.seed}
    values |= {"parameters": f"{parameters_of(run) or 0:,}", "device": run.device, "threads": run.threads, "precision": run.precision}
    lines = [say(language, "export.card_trained", **values)]
    lines += [say(language, "export.card_fork", step=f"{run.parent[1]:,}")] if run.parent else []
    lines += [say(language, "export.card_moved", knob=knob, value=value, step=step) for step, knob, value in exported.history.events]
    if not changed:
        return [*lines, "", say(language, "export.card_default")]
    head = [say(language, f"export.card_{name}") for name in ("setting", "here", "usual")]
    return [*lines, "", *_table(head, ([f"`{name}`", f"`{value}`", f"`{default(name)}`"] for name, value in changed.items()))]


def _scores(exported: ExportedRun, split_scores: tuple[str, Scores] | None, language: str) -> list[str]:
    lines = []
    last = exported.history.validations.last()
    if last:
        values = {"pairs": int(last["pairs"]), "step": int(last["step"]), "loss": f"{last['loss']:.4f}"}
        values |= {name: f"{percentage(last[name], 2)} %" for name in ("exact_match", "token_accuracy")}
        lines.append(say(language, "export.card_validation", **values))
    if gain := exported.run.history.beam:
        lines.append(say(language, "decoding.gain", **gain._asdict()))
    if split_scores is None:
        return [*lines, "", say(language, "export.card_no_scores")]
    split, scores = split_scores
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


def _sentences(exported: ExportedRun, language: str) -> str:
    if exported.run.experiment.data.task != "own":
        return say(language, "export.card_generated", task=exported.run.experiment.data.task, seed=exported.run.experiment.data.data_seed)
    credit = exported.run.credit
    return say(language, "export.card_credit", credit=plain(credit)) if credit else say(language, "export.card_no_credit")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(head)
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def plain(text: str) -> str:
    """Returns user text in one line, with marks of Markdown and HTML escaped."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


# --- run.ipynb: JSON (nbformat 4) ---

# Six lines, run in the unzipped folder with the playground installed.
_COMPARE = """
old, new = ([row["loss"] for row in model.run.rows] for model in (before, now))
print(old[-1], "==" if old[-1] == new[-1] else "!=", new[-1])
print(*[f"step {n}: {a} != {b}; step {len(old)}: {new[-1] / old[-1] - 1:+.1%}" for n, (a, b) in enumerate(zip(old, new), 1) if a != b][:1])
"""
_TRAIN = 'before, now = playground.load("."), playground.repeat(".", how)'
_CELLS = {"setup": "import playground", "how": "", "train": _TRAIN, "compare": _COMPARE}


def notebook(exported: ExportedRun, language: str) -> bytes:
    """Returns the whole file: a sentence in this language above each cell."""
    cells = [markdown_cell("title", say(language, "export.again_title", name=plain(exported.name)))]
    for name, source in (_CELLS | {"how": f"how = {how(exported)!r}"}).items():
        key = f"export.again_{name}"
        if name == "compare" and exported.run.parent:  # whose parameters are not in the zip
            key = "export.again_fork"
        cells += [markdown_cell(f"about-{name}", say(language, key)), code_cell(name, source)]
    return write_notebook(cells, {})


def write_notebook(cells: list[dict[str, Any]], metadata: dict[str, Any]) -> bytes:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, **metadata}
    book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, ensure_ascii=False, indent=1).encode()


def how(exported: ExportedRun) -> dict[str, Any]:
    """Returns what config.json lacks to repeat the run: its last step, knobs that differed at the beginning or were chosen by this machine,
    (after step, knob, value) of knobs changed during training, the numbers of own pairs given for validation and test, the column by
    which pairs are kept in one split, and the base of a fine-tuned run."""
    run = exported.run
    began = {name: value for name, value in run.experiment.flat().items() if name in LIVE_KNOBS}
    knobs = began | {"precision": run.precision, "minutes": 0.0}  # no time limit: it ends at the run's last step
    moved = [tuple(event) for event in exported.history.events]
    pairs = run.pairs
    group = GROUP if pairs and pairs.groups else BY_SOURCE
    base = {"base": run.base} if run.base else {}
    return {"step": exported.step, "knobs": knobs, "moved": moved, "given": pairs.given if pairs else (0, 0), "group": group} | base


def markdown_cell(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def code_cell(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [], "source": source.strip()}
