"""Trains a model from a script or a notebook: `playground.train("sort", d_model=32)`, `playground.train(files="pairs.tsv")`."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from playground.config import KNOBS, Experiment, Refusal, default, preset, with_task_steps
from playground.data.suggestion import suggest
from playground.export.exported_run import export_run, find
from playground.pretrained import Pretrained, build_pretrained
from playground.reading.pairs import Pairs
from playground.runs import upload_process
from playground.runs.corpora import Corpora
from playground.runs.incoming import kept_knobs, plan_tuning, read_exported_pairs
from playground.runs.machine_speed import warm_up
from playground.runs.queue import train_inline
from playground.runs.replay import BUDGET_BYTES, Parameters
from playground.runs.run import Run

OnStep = Callable[[dict[str, float]], object]


def train(
    task: str | None = None,
    *,
    pairs: Iterable[tuple[str, str]] | None = None,
    files: str | Path | Sequence[str | Path] | None = None,
    on_step: OnStep | None = None,
    progress: bool = True,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    base: str | Path | None = None,
    **knobs: Any,
) -> Pretrained:
    """Trains a model in this process, as the page would, and returns it.

    The data is a toy task ("reverse" if none is named), or own sentences: `pairs` of (source, target), or `files` of any format that an
    upload may have (two files: line by line; with them a tokenizer, or one for each side: a SentencePiece .model or a vocab.txt). For own
    sentences the settings that `knobs` leaves open are suggested by the data; for a task they are the defaults. `on_step` gets {"step",
    "loss", "learning_rate", "grad_norm", "tokens_per_second"} after each step, with the scores of a validation where there was one
    ("validation_loss", "token_accuracy", "exact_match"); when it returns False, training stops there. `progress` draws a bar in a terminal
    or a notebook where tqdm is installed.

    With `keep_best=True` the model's `best` is that of the lowest validation loss; `patience=5` ends training after five validations
    without a lower one.

    `base` is a run to fine-tune, as the command line names one: its model and tokenizers are kept, and what these don't know of the new
    sentences is said before training begins.

    `out` keeps the whole run in a folder, with its replay, at the end and every quarter of a minute. `resume` goes on with a training that
    was stopped or cut off, from the folder that has it, bit for bit as if it had gone on at once, and keeps it there unless `out` is given.

    Raises Refusal with one sentence: for unknown or invalid knobs, for sentences that can't be read, and when training diverges;
    before it begins, where `out` holds something else than a run, or `resume` one that has ended.
    """
    saved = None
    if resume:
        settings = {"task": task, "pairs": pairs, "files": files, "base": base, **knobs}
        saved = train_inline.open_saved(Path(resume).expanduser(), [name for name, value in settings.items() if value is not None])
        out = out or resume
    run, start = (saved.run, None) if saved else _new_run(task, read_own(pairs, files), knobs, find(str(base)) if base else None)
    folder = Path(out).expanduser() if out else None
    if folder:
        train_inline.check_free(folder)
    return _train(run, on_step, progress, saved=saved, out=folder, start=start)


def repeat(folder: str | Path, how: Mapping[str, Any]) -> Pretrained:
    """Trains the run of an unzipped export again, as its run.ipynb does; `how` is what config.json can't hold (see `documents.how`). Raises
    Refusal, also for a fine-tuned run whose base isn't on this machine, and OSError."""
    folder = Path(folder)
    config, own = json.loads((folder / "config.json").read_text(encoding="utf-8")), None
    if config["task"] == "own":
        documents = tuple((folder / f"{side}_tokenizer.json").read_text(encoding="utf-8") for side in ("src", "tgt"))
        file = folder / "sentences.tsv"
        own = read_exported_pairs(folder.resolve().name, file.read_bytes() if file.exists() else None, how, documents)
    experiment = Experiment().with_(**{name: config[name] for name in KNOBS if name in config} | how["knobs"])
    start, base = None, how.get("base")
    if base:
        experiment, own, step, start, _ = plan_tuning(find(base[0]), base[1], experiment, own)
        if step != base[1]:
            raise Refusal("runs.base_gone", name=folder.resolve().name)
    run = train_inline.new_run(experiment, own)

    def move(row: Mapping[str, float]) -> bool:
        run.live |= {knob: value for after, knob, value in how["moved"] if after == row["step"]}
        return row["step"] < how["step"]

    move({"step": 0})
    return _train(run, move, progress=True, start=start)


def _train(run: Run, on_step: OnStep | None, progress: bool, **where: Any) -> Pretrained:
    """Trains the run; `where` are options of train_inline.train."""
    warm_up(run.device)
    with _threads_restored(), _bar(run, progress) as advance:
        for step in train_inline.train(run, Corpora(), BUDGET_BYTES if where.get("out") else 0, **where):
            row = newest_row(run, step)
            advance(row)
            if on_step and on_step(row) is False:
                run.obey("stop")
    if run.status == "diverged":
        raise run.message
    best, probe = run.replay.best and build_pretrained(export_run(run, best=True).model_files()), run.replay.plan.probes[0][0]
    return replace(build_pretrained(export_run(run).model_files()), probe=probe, best=best and replace(best, probe=probe))


def _new_run(task: str | None, own: Pairs | None, knobs: dict[str, Any], base: Run | None) -> tuple[Run, Parameters | None]:
    """Creates a run, and returns the parameters that it begins with: those of its `base`, if there is one."""
    chosen = with_task_steps({"task": "own" if own else task or default("task"), **knobs})
    chosen |= kept_knobs(base, chosen) if base else {}
    if own:
        chosen = {**suggest(own, preset("default").difference() | chosen).knobs, **chosen}
    experiment, start, parent = preset("default").with_(**chosen), None, None
    if base:
        experiment, own, step, start, message = plan_tuning(base, None, experiment, own)
        parent = base.id, step
        print(message, file=sys.stderr)
    return train_inline.new_run(experiment, own, parent=parent), start


def read_own(pairs: Iterable[tuple[str, str]] | None, files: str | Path | Sequence[str | Path] | None) -> Pairs | None:
    """Reads own sentences as an upload would, with its limits; None without any. Raises Refusal, and ValueError for both at once."""
    if pairs is not None and files is not None:
        raise ValueError("either pairs or files")
    if pairs is not None:
        lines = (json.dumps({"source": source, "target": target}, ensure_ascii=False) for source, target in pairs)
        return upload_process.read([("pairs.jsonl", "\n".join(lines).encode())])
    if files is None:
        return None
    paths = [Path(file).expanduser() for file in ([files] if isinstance(files, (str, Path)) else files)]
    return upload_process.read([(path.name, path.read_bytes()) for path in paths])


def newest_row(run: Run, step: int) -> dict[str, float]:
    """Returns the history's row of this step, with its validation's scores if there was one."""
    validation = run.history.validations.last() or {}
    scores = {"validation_loss": validation["loss"], **validation} if validation.get("step") == step else {}
    return scores | run.history.steps.last()


@contextmanager
def _bar(run: Run, progress: bool) -> Iterator[Callable[[dict[str, float]], None]]:
    """Yields what draws a step on tqdm's progress bar. Nothing is drawn without tqdm, or into a file."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        progress = False
    if not progress or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield lambda row: None
        return
    with tqdm(total=run.steps, initial=run.step, unit="step") as bar:

        def advance(row: dict[str, float]) -> None:
            bar.update()
            bar.set_postfix({name: f"{row[name]:.3f}" for name in ("loss", "exact_match") if name in row}, refresh=False)

        yield advance


@contextmanager
def _threads_restored() -> Iterator[None]:
    """Restores torch's threads: training sets them to one for the calling thread."""
    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)
