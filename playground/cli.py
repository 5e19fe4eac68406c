"""The command line, a function for each command. Every knob is an option; every mistake is one sentence on stderr."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from playground.arguments import parser
from playground.config import KNOBS, TASK_STEPS, Experiment, Refusal, check, preset
from playground.cursor import current_value
from playground.export.saving import export
from playground.words import ENGLISH

CLOCK = "seconds: from Train to the end, with data, model, steps, validations and replay; torch was warmed up before"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns the exit code: 2 when something asked for can't be done."""
    options = parser().parse_args(arguments)
    try:
        return COMMANDS[options.command](options) or 0
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
    except BrokenPipeError:  # whoever read the output has seen enough
        return 0
    except OSError as error:
        print(_unusable(error), file=sys.stderr)
    return 2


def _unusable(error: OSError) -> str:
    return f"{error.filename or 'A file'} can't be used: {error.strerror or error}."


def train(options: argparse.Namespace) -> int:
    from playground.reading.column_mapping import Choices
    from playground.reading.uploads import report
    from playground.runs.corpora import Corpora
    from playground.runs.disk.store import write_run
    from playground.runs.queue import train_inline
    from playground.runs.queue.warmup import warm_up
    from playground.runs.replay import BUDGET_BYTES

    pairs = _read_pairs(options.data, Choices(swap=options.swap, same_language=options.same_language)) if options.data else None
    if pairs:
        print("\n".join(report(pairs, ENGLISH)), file=sys.stderr)
    run = train_inline.new_run(_experiment(options), pairs)
    if options.out:
        _check_free(options.out)
    warm_up()
    started, seen = time.perf_counter(), 0
    replay = BUDGET_BYTES if options.replay_bytes is None else max(options.replay_bytes, 0)
    for _ in train_inline.train(run, Corpora(), replay):
        seen = _tell(run, seen, started, options.json)
    seconds = time.perf_counter() - started
    _tell(run, seen, started, options.json)
    if options.out:
        write_run(options.out, run, train_inline.contents(run))
    _tell_end(run, seconds, options)
    return 0 if run.status == "done" else 2


def _experiment(options: argparse.Namespace) -> Experiment:
    given = {name: getattr(options, name) for name in KNOBS if getattr(options, name) is not None}
    if options.until_exact_match is not None:
        given["stop_at"] = check("stop_at", options.until_exact_match)
    if options.data:
        given["task"] = "own"
    if options.preset == "default" and given.get("task") in TASK_STEPS:
        given.setdefault("steps", TASK_STEPS[given["task"]])
    return preset(options.preset).with_(**given)


def _tell(run: Any, seen: int, started: float, as_json: bool) -> int:
    """Prints the validations that are new. Returns how many there are."""
    from playground.runs.history import COUNTS

    table = run.history.validations
    steps = run.history.steps
    for row in range(seen, len(table)):
        found = {name: values[0] for name, values in table.rows(row, row + 1).items()}
        found |= {name: int(found[name]) for name in COUNTS} | {"seconds": round(time.perf_counter() - started, 3)}
        found["train_loss"] = steps.last()["loss"] if len(steps) else None
        line = "step {step:>6}   {seconds:7.1f} s   loss {loss:.4f}   token accuracy {token_accuracy:.1%}   exact match {exact_match:.1%}"
        line += "" if found["pairs"] == found["all_pairs"] else " of {pairs} of {all_pairs} sentences"
        print(json.dumps(found) if as_json else line.format(**found), flush=True)
    return len(table)


def _tell_end(run: Any, seconds: float, options: argparse.Namespace) -> None:
    last, speeds = run.history.validations.last(), run.history.steps.column("tokens_per_second")
    end = {
        "seconds": round(seconds, 3),
        "steps": run.step,
        "exact_match": last["exact_match"],
        # all real tokens over the time the steps took: a mean weighted by time, which is the harmonic one for batches of equal size
        "tokens_per_second": round(len(speeds) / sum(1 / speed for speed in speeds)) if speeds else 0,
        "parameters": sum(tensor.numel() for tensor in run.snapshot.parameters.values()),
        "device": run.device,
        "threads": run.threads,
        "precision": run.precision,
        "status": run.status,
        "message": str(run.message) if run.message else None,
        "out": str(options.out) if options.out else None,
        "clock": CLOCK,
    }
    if options.json:
        print(json.dumps(end), flush=True)
        return
    print("{steps} steps in {seconds:.1f} s, exact match {exact_match:.1%} on held-out sentences, {parameters:,} parameters".format(**end))
    print("{tokens_per_second:,} tokens a second on {device} with {threads} threads. {clock}.".format(**end))
    for sentence in filter(None, (end["message"], options.out and f"Kept in {options.out}.")):
        print(sentence)


def translate(options: argparse.Namespace) -> int:
    from playground.queries import translate
    from playground.queries.reader import Reader
    from playground.runs.corpora import Corpora
    from playground.runs.disk.folder import Folder

    method = "beam" if options.beam is not None else "sample" if options.sample is not None else "greedy"
    asked = {"width": options.beam, "temperature": options.sample}
    way = translate.DecodingOptions(
        method, length_penalty=options.length_penalty, top_k=options.top_k, top_p=options.top_p, seed=options.seed, prefix=options.prefix,
        **{name: value for name, value in asked.items() if value is not None},
    )  # fmt: skip
    run, reader = Folder(options.run).run, Reader(SimpleNamespace(corpora=Corpora()), threads=1)
    try:
        for text in options.text:
            found = translate.translate(reader, run, options.step, text, way)
            outputs = [
                {"text": c.text, "score": c.score, "finished": c.finished, "correct": c.correct, "probabilities": c.probabilities}
                for c in found.candidates
            ]
            said = {"source": text, "step": found.step, "outputs": outputs, "references": found.references}
            print(json.dumps(said, ensure_ascii=False) if options.json else found.candidates[0].text, flush=True)
    finally:
        reader.close()
    return 0


def runs(options: argparse.Namespace) -> int:
    from playground.runs.disk.store import read_kept, read_shipped, wanted_folder
    from playground.runs.registry import SHIPPED, Runs

    _tell_table(Runs.table((*read_shipped(SHIPPED), *read_kept(options.folder or wanted_folder()))), options.csv)
    return 0


def history(options: argparse.Namespace) -> int:
    from playground.runs.disk.folder import Folder

    found = Folder(options.run).run.history
    _tell_table(found.validation_frame() if options.validations else found.frame(), options.csv)
    return 0


def _tell_table(table: Any, file: Path | None) -> None:
    from playground.runs.tables import csv_of

    if file:
        file.write_text(csv_of(table), encoding="utf-8", newline="")
    else:
        print(table.to_string(index=False, na_rep="–"))


def read(options: argparse.Namespace) -> int:
    from playground.reading.column_mapping import Choices, column
    from playground.reading.uploads import as_json, report

    how = column(options.source), column(options.target), {"yes": True, "no": False}.get(options.header)
    try:
        choices = Choices(*how, options.encoding, options.undo or None, options.swap, options.same_language)
        pairs = _read_pairs(options.files, choices)
    except (Refusal, OSError) as mistake:
        said = mistake.say(options.language) if isinstance(mistake, Refusal) else _unusable(mistake)
        error = json.dumps({"error": {"kind": getattr(mistake, "key", "file"), "sentence": said}}, ensure_ascii=False)
        print(error if options.json else said, file=sys.stdout if options.json else sys.stderr)
        return 2
    print(json.dumps(as_json(pairs, options.language), ensure_ascii=False) if options.json else "\n".join(report(pairs, options.language)))
    return 0


def _read_pairs(files: Sequence[Path], choices: Any) -> Any:
    from playground.runs import upload_process

    return upload_process.read([(file.name, file.read_bytes()) for file in files], choices)


def _check_free(folder: Path) -> None:
    """A run replaces a run or an empty place, never anything else, and no run of a later version of this program."""
    from playground.runs.disk.folder import Folder

    try:
        Folder(folder)
    except Refusal as refusal:
        if refusal.key == "runs.newer_format":
            raise
    if folder.exists() and not (folder / "run.json").exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refusal("runs.folder_taken", folder=str(folder))


def checkpoints(options: argparse.Namespace) -> int:
    from playground.runs.disk.checkpoints import ALTOGETHER, CHECKPOINTS, make, size
    from playground.runs.queue.warmup import warm_up
    from playground.runs.registry import SHIPPED

    for name in options.names:
        if name not in CHECKPOINTS:
            raise Refusal("runs.no_checkpoint", name=name[:40], names=", ".join(CHECKPOINTS))
    folder = options.folder or SHIPPED
    warm_up()
    for run in make(folder, tuple(options.names) or tuple(CHECKPOINTS)):
        kept, exact = size(folder / run.name), run.exact_match or 0.0
        print(f"{run.name:<16} {run.step:>6} steps  {run.seconds:7.1f} s  exact match {exact:7.2%}  {kept:>9,} bytes", flush=True)
    total = size(folder)
    print(f"{total:,} of {ALTOGETHER:,} bytes")
    return 0 if total <= ALTOGETHER else 2


def hub(options: argparse.Namespace) -> int:
    from playground.hub import commands

    return commands.COMMANDS[options.command](options)


def serve(options: argparse.Namespace) -> int:
    from playground.ui.server import serve as serve_page

    serve_page()
    return 0


def freeze(options: argparse.Namespace) -> int:
    import tempfile

    from playground.freeze.folder import freeze as frozen
    from playground.queries.reader import Reader
    from playground.runs.registry import SHIPPED, Runs

    path = SHIPPED / options.run if (SHIPPED / options.run / "run.json").exists() else Path(options.run)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as nothing:
        runs = Runs(Path(nothing), path.parent)
        reader = Reader(runs)
        try:
            for done, all, file in frozen(runs, reader, runs.get(path.name), max(options.sentences, 1), options.out, options.live):
                print(f"{done:>7,} of {all:,} answers  {time.perf_counter() - started:6.1f} s  {file}", flush=True)
        finally:
            reader.close()
            runs.close()
    size = sum(file.stat().st_size for file in options.out.rglob("*") if file.is_file())
    print(f"{size / 1e6:.1f} MB in {options.out}. To look at it: python -m http.server --directory {options.out}")
    return 0


def lab(options: argparse.Namespace) -> int:
    from playground.lessons.labs import LABS, get

    if options.name is None:
        found = [{"name": name, "kind": one.kind, "title": one.say(options.language, "title")} for name, one in LABS.items()]
        print(json.dumps(found, ensure_ascii=False) if options.json else "\n".join(f"{one['name']:<14} {one['title']}" for one in found))
        return 0
    one = get(current_value("lab", options.name))
    outcome = one.outcome(options.seed, **dict(setting.partition("=")[::2] for setting in options.set))
    verdict = one.say(options.language, f"why_{outcome.answer}", **outcome.numbers)
    if options.json:
        said = {"lab": one.name, "kind": one.kind, "seed": options.seed, "arms": list(one.arms_of(options.seed)), "answer": outcome.answer}
        said |= {"numbers": outcome.numbers, "verdict": verdict}
        print(json.dumps(said, ensure_ascii=False))
        return 0
    print(one.say(options.language, "question"), *(f"{name}: {value}" for name, value in outcome.numbers.items()), verdict, sep="\n")
    return 0


COMMANDS = {
    "train": train, "translate": translate, "runs": runs, "history": history, "export": export, "read": read, "lab": lab,
    "checkpoints": checkpoints, "push": hub, "space": hub, "freeze": freeze, "serve": serve,
}  # fmt: skip
