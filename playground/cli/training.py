"""Commands that train: one new run, on a toy task or own pairs, and the runs that ship with the app."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from playground.cli.options import INTERRUPTED, RUN, SAME_LANGUAGE, Commands, add_columns, add_command, option
from playground.cli.reports import choices_of, read_pairs
from playground.config import FORMER_NAMES, KNOBS, PRESETS, Experiment, Refusal, check, default, preset, with_task_steps
from playground.knobs import as_text
from playground.words import ENGLISH, known, say

CLOCK = "seconds: from Train to the end, with data, model, steps, validations, replay and the saves of --out; torch was warmed up before"


class TestFiles(argparse.Action):
    """Files; or a number, the meaning of `--test` before there was --test-size."""

    def __call__(self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, __: str | None = None) -> None:
        if len(values) == 1 and values[0].isdecimal():
            namespace.test_size = values[0]
        else:
            namespace.test = [Path(value) for value in values]


def add_train(commands: Commands) -> None:
    command = add_command(commands, "train", train, "train a model and print its metrics")
    command.add_argument("--preset", choices=PRESETS, default="default")
    command.add_argument("--until-exact-match", type=float, metavar="X", help="end once exact match on held-out sentences reaches this")
    command.add_argument("--out", type=Path, metavar="FOLDER", help="keep the run here")
    command.add_argument("--resume", type=Path, metavar="FOLDER", help="go on with the training that --out has kept here, and keep it here")
    command.add_argument("--from", dest="base", metavar="RUN", help=f"fine-tune this run, with its model and tokenizers: {RUN}")
    command.add_argument("--film-bytes", dest="replay_bytes", type=int, help=argparse.SUPPRESS)
    command.add_argument("--replay-bytes", type=int, metavar="N", help="bytes to keep for the training replay")
    command.add_argument(
        "--data", nargs="+", type=Path, metavar="FILE", help="own pairs: a file of any format that `read` knows, or two line-aligned files"
    )
    command.add_argument("--valid", nargs="+", type=Path, metavar="FILE", help="with --data: pairs to validate on, read in the same way")
    command.add_argument("--test", nargs="+", action=TestFiles, metavar="FILE", help="with --data: pairs for a last evaluation")
    command.add_argument("--swap", action="store_true", help="the second column or file is the source")
    add_columns(command)
    command.add_argument("--same-language", action="store_true", help=SAME_LANGUAGE)
    command.add_argument("--json", action="store_true", help="one JSON object per validation, and a last one")
    for name in KNOBS:
        help = say(ENGLISH, f"knobs.{name}.help") if known(ENGLISH, f"knobs.{name}.help") else name
        command.add_argument(option(name), metavar=str(default(name)) or "ID", help=help.replace("%", "%%"))
    for former, name in FORMER_NAMES.items() - {("test", "test_size")}:  # see TestFiles
        command.add_argument(option(former), dest=name, help=argparse.SUPPRESS)


def train(options: argparse.Namespace) -> int:
    from playground.export.exported_run import find
    from playground.reading.pairs import report, with_splits
    from playground.runs.corpora import Corpora
    from playground.runs.incoming import plan_tuning
    from playground.runs.machine_speed import warm_up
    from playground.runs.queue import train_inline
    from playground.runs.replay import BUDGET_BYTES

    choices = choices_of(options)
    train, *splits = (read_pairs(files, choices) if files else None for files in (options.data, options.valid, options.test))
    if not train and any(splits):
        raise Refusal("data.splits_of_nothing")
    pairs = with_splits(train, *splits) if train else None
    if pairs:
        print("\n".join(report(pairs, ENGLISH)), *_report_splits(pairs), sep="\n", file=sys.stderr)
    saved = train_inline.open_saved(options.resume, _name_settings(options)) if options.resume else None
    base, start, parent, corpora = find(options.base) if options.base else None, None, None, Corpora()
    experiment = None if saved else _experiment(options, pairs, base)
    if base:
        experiment, pairs, step, start, message = plan_tuning(base, None, experiment, pairs)
        parent = base.id, step
        print(message, file=sys.stderr)
    run = saved.run if saved else train_inline.new_run(experiment, pairs, parent=parent)
    options.out = options.out or options.resume
    if options.out:
        train_inline.check_free(options.out)
    warm_up(run.device)
    if pairs:
        print("\n".join(_report_outlook(run.experiment, pairs, corpora)), file=sys.stderr, flush=True)
    started, printed = time.perf_counter(), len(run.history.validations)
    replay = BUDGET_BYTES if options.replay_bytes is None else max(options.replay_bytes, 0)
    before = signal.signal(signal.SIGINT, partial(_stop, run))
    try:
        for _ in train_inline.train(run, corpora, replay, saved=saved, out=options.out, start=start):
            printed = _tell(run, printed, started, options.json)
    finally:
        signal.signal(signal.SIGINT, before)
    seconds = time.perf_counter() - started
    _tell(run, printed, started, options.json)
    _tell_end(run, seconds, options)
    if run.status == "stopped":
        advice = f"go on with --resume {options.out}" if options.out else "nothing is kept (--out FOLDER keeps a training)"
        print(f"Interrupted after step {run.step}: {advice}.", file=sys.stderr)
        return INTERRUPTED
    return 0 if run.status == "done" else 2


def _stop(run: Any, *_: Any) -> None:
    """Ends a training after its present step, so that it can be kept; before the first step, and at a second Ctrl-C, the program."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if run.status != "training":
        raise KeyboardInterrupt
    run.obey("stop")


def _name_settings(options: argparse.Namespace) -> list[str]:
    """Returns the options that set something of a new run."""
    names = [name for name in (*KNOBS, "data", "valid", "test", "until_exact_match", "base") if getattr(options, name) is not None]
    return [option(name) for name in (["preset"] if options.preset != "default" else []) + names]


def _experiment(options: argparse.Namespace, pairs: Any = None, source: Any = None) -> Experiment:
    """Builds the experiment of the options. For own pairs, suggestions fill the gaps and are reported on stderr. With a `source`
    to fine-tune, the knobs of its model stay. Raises Refusal where the options set one."""
    from playground.runs.incoming import kept_knobs

    chosen = {name: getattr(options, name) for name in KNOBS if getattr(options, name) is not None}
    chosen |= kept_knobs(source, chosen) if source else {}
    if options.until_exact_match is not None:
        chosen["stop_at"] = check("stop_at", options.until_exact_match)
    if options.data:
        chosen["task"] = "own"
    if options.preset == "default":
        chosen = with_task_steps(chosen)
    base = preset(options.preset)
    if chosen.get("minutes") and "steps" not in chosen:
        chosen["steps"] = _fitting(base, chosen, pairs)
    if pairs:
        chosen |= _suggest_options(pairs, base.difference() | chosen)
    return base.with_(**chosen)


def _fitting(base: Experiment, chosen: dict[str, Any], pairs: Any) -> int:
    """Returns the steps that fit into the time limit, for own pairs with the suggested size; reported on stderr."""
    from playground.data.suggestion import suggest
    from playground.runs.forecast import fitting_steps

    suited = suggest(pairs, base.difference() | chosen).knobs if pairs else {}
    sized = base.with_(**chosen | suited)
    steps = fitting_steps(sized, pairs)
    print(say(ENGLISH, "suggestion.fitting", minutes=f"{sized.training.minutes:g}", steps=f"{steps:,}"), file=sys.stderr)
    return steps


def _tell(run: Any, printed: int, started: float, as_json: bool) -> int:
    """Prints validations after the first `printed`. Returns how many there are."""
    from playground.runs.history import COUNTS

    table = run.history.validations
    steps = run.history.steps
    for row in range(printed, len(table)):
        validation = {name: values[0] for name, values in table.rows(row, row + 1).items()}
        validation |= {name: int(validation[name]) for name in COUNTS} | {"seconds": round(time.perf_counter() - started, 3)}
        validation["train_loss"] = steps.last()["loss"] if len(steps) else None
        line = "step {step:>6}   {seconds:7.1f} s   loss {loss:.4f}   token accuracy {token_accuracy:.1%}   exact match {exact_match:.1%}"
        line += "" if validation["pairs"] == validation["all_pairs"] else " of {pairs} of {all_pairs} sentences"
        print(json.dumps(validation) if as_json else line.format(**validation), flush=True)
    return len(table)


def _tell_end(run: Any, seconds: float, options: argparse.Namespace) -> None:
    last, speeds = run.history.validations.last(), run.history.steps.column("tokens_per_second")
    end = {
        "seconds": round(seconds, 3),
        "steps": run.step,
        "exact_match": last["exact_match"],
        # all real tokens over the time of the steps: a mean weighted by time, which is the harmonic one for batches of equal size
        "tokens_per_second": round(len(speeds) / sum(1 / speed for speed in speeds)) if speeds else 0,
        "parameters": sum(tensor.numel() for tensor in run.snapshot.parameters.values()),
        "device": run.device,
        "threads": run.threads,
        "precision": run.precision,
        "status": run.status,
        "message": str(run.message) if run.message else None,
        "beam": run.history.beam and run.history.beam._asdict(),
        "best_step": run.replay.best[0] if run.replay.best else None,
        "out": str(options.out) if options.out else None,
        "clock": CLOCK,
    }
    if options.json:
        print(json.dumps(end), flush=True)
        return
    print("{steps} steps in {seconds:.1f} s, exact match {exact_match:.1%} on held-out sentences, {parameters:,} parameters".format(**end))
    print("{tokens_per_second:,} tokens a second on {device} with {threads} threads. {clock}.".format(**end))
    gain = run.history.beam
    beam = gain and say(ENGLISH, "decoding.gain", **gain._asdict())
    best = run.replay.best and f"Lowest validation loss at step {run.replay.best[0]}, kept: --step {run.replay.best[0]}."
    for sentence in filter(None, (end["message"], beam, best, options.out and f"Kept in {options.out}.")):
        print(sentence)


def _report_splits(pairs: Any) -> list[str]:
    """Reports given validation and test pairs, and training pairs dropped because their source is among them."""
    validation, test = pairs.given
    if not validation + test:
        return []
    held_out = {pair.src for pair in pairs.pairs[-validation - test :]}
    both = sum(pair.src in held_out for pair in pairs.pairs[: -validation - test])
    return [f"To validate on: {validation:,}; to test on: {test:,}; left out of training, for their source is among these: {both:,}."]


def _suggest_options(pairs: Any, chosen: dict[str, Any]) -> dict[str, Any]:
    """Returns suggested options beside those `chosen` by the user; prints them and the reasons to stderr."""
    from playground.data.suggestion import suggest

    suggestion = suggest(pairs, chosen)
    options = {name: value for name, value in suggestion.knobs.items() if name not in chosen}
    if options:
        print(say(ENGLISH, "suggestion.taken", options=_options(options)), *suggestion.sentences(ENGLISH), sep="\n", file=sys.stderr)
    return options


def _report_outlook(experiment: Experiment, pairs: Any, corpora: Any) -> list[str]:
    """Returns an estimate of the training's amount and time, and a sentence for each likely problem, with the options that help. Raises
    Refusal when these pairs can't be learnt with these settings."""
    from playground.data.corpus_check import find_epochs, find_spoilers
    from playground.data.suggestion import suggest
    from playground.runs.forecast import estimate

    corpus, statistics = corpora.get_for_preview(experiment, pairs)
    lines = [estimate(experiment, pairs, find_epochs(experiment, statistics), ENGLISH)]
    for spoiler in find_spoilers(experiment, pairs, corpus, statistics, partial(suggest, pairs)):
        lines.append(say(ENGLISH, f"sentences.warn_{spoiler.name}", **spoiler.slots))
        lines += [f"    {_mend(mend, pairs)}" for mend in spoiler.mends]
    return lines


def _mend(mend: Any, pairs: Any) -> str:
    """Returns the line of one remedy for a warning: its sentence, and the options that apply it."""
    if mend.columns is None:
        return f"{say(ENGLISH, f'sentences.mend_{mend.name}', **mend.slots)}: {_options(mend.knobs)}"
    source, target, joined = mend.columns
    name = pairs.columns[joined[-1]].name or say(ENGLISH, "page.column", number=joined[-1] + 1)
    options = f"--source {source + 1} --target {target + 1} --join {' '.join(str(place + 1) for place in joined)}"
    return f"{say(ENGLISH, f'sentences.mend_{mend.name}', name=name)}: {options}"


def _options(knobs: Mapping[str, Any]) -> str:
    return " ".join(f"--{name.replace('_', '-')} {as_text(value)}" for name, value in knobs.items())


def add_checkpoints(commands: Commands) -> None:
    command = add_command(commands, "checkpoints", checkpoints, "retrain the runs that ship with the app")
    command.add_argument("names", nargs="*", metavar="NAME", help="only these")
    command.add_argument("--folder", type=Path)


def checkpoints(options: argparse.Namespace) -> int:
    from playground.runs.disk import SHIPPED
    from playground.runs.disk.files import tree_size
    from playground.runs.machine_speed import warm_up
    from playground.runs.queue.train_inline import CHECKPOINTS, MAX_TOTAL_BYTES, make_checkpoints

    for name in options.names:
        if name not in CHECKPOINTS:
            raise Refusal("runs.no_checkpoint", name=name[:40], names=", ".join(CHECKPOINTS))
    folder = options.folder or SHIPPED
    warm_up()
    for run in make_checkpoints(folder, tuple(options.names) or tuple(CHECKPOINTS)):
        size, exact = tree_size(folder / run.name), run.exact_match or 0.0
        print(f"{run.name:<16} {run.step:>6} steps  {run.seconds:7.1f} s  exact match {exact:7.2%}  {size:>9,} bytes", flush=True)
    total = tree_size(folder)
    print(f"{total:,} of {MAX_TOTAL_BYTES:,} bytes")
    return 0 if total <= MAX_TOTAL_BYTES else 2
