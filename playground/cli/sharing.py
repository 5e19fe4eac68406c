"""Commands that take things elsewhere: export a run, freeze it, upload it to the Hub, write exercises, back up a server's store."""

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path

from playground.cli.options import FOLDER, RUN, Commands, Parser, add_command
from playground.config import Refusal
from playground.words import ENGLISH, LANGUAGES, OFFERED


def add_export(commands: Commands) -> None:
    about = "take a run home: one zip with the model, its curve, and code that needs no playground"
    command = add_command(commands, "export", export, about)
    command.add_argument("run", metavar="RUN", help=RUN)
    command.add_argument("-o", "--out", type=Path, metavar="FILE", help="the file; by default it has the name of the run")
    command.add_argument("--sentences", action="store_true", help="with the own sentences that it was trained on")
    command.add_argument("--language", choices=OFFERED, default=ENGLISH, help="of the model card and the notebook, or the workbook")
    about = "instead of the zip a workbook (d_model up to 32): this sentence through the model, every activation a formula"
    command.add_argument("--xlsx", metavar="SENTENCE", help=about)
    command.add_argument("--target", metavar="SENTENCE", help="the right answer in the workbook; by default the model's own output")
    about = "instead of the zip a folder: encoder and decoder step as ONNX graphs, config and tokenizers (pip install onnx onnxscript)"
    command.add_argument("--onnx", action="store_true", help=about)


def export(options: argparse.Namespace) -> int:
    """Writes the zip atomically, or the workbook or the graphs, and prints the path."""
    from playground.export import file_name, pack_zip, scoring
    from playground.export.exported_run import export_run, find

    if options.target is not None and options.xlsx is None:
        raise Refusal("export.target_alone")
    exported = export_run(find(options.run))
    if options.onnx:
        from playground.export.onnx_graphs import write_onnx
        from playground.pretrained import build_pretrained

        model = build_pretrained(exported.model_files())
        out = options.out or Path(f"{Path(file_name(exported)).stem}_onnx")
        write_onnx(model.model, out)
        for name in set(model.contents) - {"model.safetensors", "history.csv"}:
            (out / name).write_bytes(model.contents[name])
        print(out)
        return 0
    if options.xlsx is not None:
        from playground.pretrained import build_pretrained

        out = options.out or Path(file_name(exported)).with_suffix(".xlsx")
        build_pretrained(exported.model_files()).workbook(options.xlsx, out, options.target, options.language, exported.name)
        print(out)
        return 0
    out = options.out or Path(file_name(exported))
    unfinished = out.with_name(f"{out.name}.part")
    try:
        with scoring(exported) as scores, unfinished.open("wb") as file:
            file.writelines(pack_zip(exported, scores, options.sentences, language=options.language))
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    print(out)
    return 0


def add_push(commands: Commands) -> None:
    command = add_command(commands, "push", push, "upload a run to the Hugging Face Hub")
    command.add_argument("run", metavar="RUN", help="a run's folder, name or id")
    command.add_argument("repo", metavar="OWNER/NAME")
    command.add_argument("--private", action="store_true", help="only its owner can see it")


def push(options: argparse.Namespace) -> int:
    from playground.hub.model import push as push_run

    print(push_run(options.run, options.repo, options.private))
    return 0


def add_space(commands: Commands) -> None:
    command = add_command(commands, "space", space, "upload this app as a Space of the Hugging Face Hub")
    command.add_argument("repo", metavar="OWNER/NAME")
    command.add_argument("--hardware", choices=("cpu", "gpu", "zero"), default="cpu", help="what the Space is run on; zero: ZeroGPU")
    command.add_argument("--static", action="store_true", help="a frozen page instead of the app: free, and it never sleeps")
    command.add_argument("--folder", type=Path, default=Path("frozen"), help="the frozen page of --static; by default ./frozen")
    command.add_argument("--private", action="store_true", help="only its owner can see it")
    command.add_argument("--dry-run", action="store_true", help="only print what would be uploaded")


def space(options: argparse.Namespace) -> int:
    from playground.hub.model import plan_space, plan_static, upload_space

    upload_plan = plan_static(options.repo, options.folder) if options.static else plan_space(options.repo, options.hardware)
    if options.dry_run:
        print("\n".join(upload_plan.say()))
    else:
        print(upload_space(upload_plan, options.private), upload_plan.hardware.note, sep="\n")
    return 0


def add_exercises(commands: Commands) -> None:
    command = add_command(commands, "exercises", exercises, "write a notebook of functions to fill in, and otter-grader’s tests of them")
    command.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="where the files go; by default here")
    command.add_argument("--language", choices=LANGUAGES, default=ENGLISH, help="of the notebook")
    command.add_argument("--solutions", action="store_true", help="with the functions, for teachers")


def exercises(options: argparse.Namespace) -> int:
    from playground.exercises import write_files

    for name, content in write_files(options.language, options.solutions).items():
        path = options.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(path)
    return 0


def add_freeze(commands: Commands) -> None:
    command = add_command(commands, "freeze", freeze, "a run as a folder of files that a browser opens, without a server")
    command.add_argument("run", metavar="RUN", help="a run that ships with the app, by its name, or the folder of a run")
    command.add_argument("--sentences", type=int, default=20, metavar="N", help="how many of its sentences can be looked at")
    command.add_argument("--sentence", action="append", default=[], metavar="TEXT", help="this sentence instead (may be repeated)")
    command.add_argument("--language", nargs="+", choices=OFFERED, default=LANGUAGES, help="of the page; each takes its share")
    command.add_argument("--tabs", nargs="+", metavar="TAB", help="only these beside training, by their names in links, as in ?tab=masks")
    command.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="where the files go")
    command.add_argument("--live", default="", metavar="URL", help="a playground with a server, for all that needs one")


def freeze(options: argparse.Namespace) -> int:
    import shutil
    import tempfile

    from playground.cursor import current_value
    from playground.export.exported_run import folder_of
    from playground.features.registry import TABS
    from playground.freeze import BYTES, SECONDS, freeze as frozen, open_site, open_site_here, pack_here
    from playground.freeze.plan import Choice
    from playground.runs.limits import machine_cores
    from playground.runs.queue.parallel import map_in_processes
    from playground.runs.registry import SHIPPED

    folder, started, cores = folder_of(options.run), time.perf_counter(), machine_cores()
    tabs = tuple(current_value("tab", name) for name in options.tabs or TABS)
    for name in set(tabs) - {*TABS}:
        raise Refusal("config.not_a_choice", name="--tabs", value=name, choices=TABS)
    choice = Choice(max(options.sentences, 1), tuple(options.sentence), tuple(options.language), tabs, options.live)
    with tempfile.TemporaryDirectory() as here:
        shipped = Path(here) / "shown"
        shutil.copytree(folder.path, shipped / folder.run.name)  # a copy: a running server may write the run
        for path in SHIPPED.iterdir():  # lessons refer to them
            if path.name != folder.run.name:
                (shipped / path.name).symlink_to(path.resolve())
        work = partial(map_in_processes, pack_here, cores, open_site_here, (shipped, folder.run.name))
        with open_site(shipped, folder.run.name) as site:
            for done, all, file in frozen(site, choice, options.out, work if cores > 1 else None):
                if not done:
                    minutes, size = 1 + all * SECONDS / cores // 60, all * BYTES / 1e6 + _megabytes(options.out)
                    print(f"About {minutes:.0f} min on {cores} cores, and {size:.0f} MB.")
                print(f"{done:>7,} of {all:,} answers  {time.perf_counter() - started:6.1f} s  {file}", flush=True)
    print(f"{_megabytes(options.out):.1f} MB in {options.out}. To look at it, open {options.out / 'index.html'} in a browser.")
    return 0


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def add_store(commands: Commands) -> None:
    command = add_command(commands, "store", store, "all that a server keeps: look through it, take it along as one file, bring it back")
    subs = command.add_subparsers(dest="what", required=True, metavar="check|export|import", parser_class=Parser)
    sub = subs.add_parser("check", help="read every save and every room; 1 when one of them can't be read")
    sub.add_argument("--json", action="store_true", help="one JSON object per finding")
    sub = subs.add_parser("export", help="write one tar of all whole runs and rooms, also while a server is at work on them")
    sub.add_argument("-o", "--out", type=Path, required=True, metavar="FILE", help="the tar, which holds the sentences and names of others")
    sub.add_argument("--all-saves", action="store_true", help="of each run also the save before its newest")
    sub = subs.add_parser("import", help="bring what a tar has and the folder has not; no server may be using the folder")
    sub.add_argument("file", type=Path, metavar="FILE")
    for sub in subs.choices.values():
        sub.add_argument("--folder", type=Path, help=FOLDER)


def store(options: argparse.Namespace) -> int:
    """Returns 1 when saved data can't be read, or when an export or an import is not complete."""
    from playground.backup import bring, export
    from playground.runs.disk import default_folder

    folder = options.folder or default_folder()
    if options.what == "check":
        return _check(folder, options.json)
    report = export(folder, options.out, options.all_saves) if options.what == "export" else bring(options.file, folder)
    for name, note in report.notes.items():
        print(f"{name}: {note}", file=sys.stderr)
    where = f", {options.out.stat().st_size:,} bytes in {options.out}" if options.what == "export" else f" brought to {folder}"
    print(f"{report.runs:,} runs and {report.rooms:,} rooms{where}")
    return int(bool(report.notes))


def _check(folder: Path, as_json: bool) -> int:
    from playground.backup import LOST, VERDICTS, check

    counts: Counter[str] = Counter()
    for finding in check(folder):
        counts[finding.verdict] += 1
        step = "" if finding.step is None else f"step {finding.step:,}"
        row = f"{finding.name:<42} {finding.verdict:<13} {finding.bytes:>13,} bytes  {step}  {finding.why}".rstrip()
        print(json.dumps(asdict(finding), ensure_ascii=False) if as_json else row, flush=True)
    if not as_json:
        print(", ".join(f"{verdict}: {counts[verdict]}" for verdict in VERDICTS if counts[verdict]) or "Nothing is kept here.")
    return int(any(counts[verdict] for verdict in LOST))
