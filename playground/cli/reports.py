"""Commands that print what is there: runs, the training curve of one, the labs, how files of sentence pairs are read, codes handed in."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playground.cli.options import ENCODING, FOLDER, RUN, SAME_LANGUAGE, Commands, add_columns, add_command, explain_error
from playground.config import Refusal
from playground.cursor import current_value
from playground.words import ENGLISH, OFFERED, accept, entries, review, say, translated


def add_runs(commands: Commands) -> None:
    command = add_command(commands, "runs", runs, "list the runs that ship with the app and those that are kept")
    command.add_argument("--folder", type=Path, help=FOLDER)
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the table here")


def runs(options: argparse.Namespace) -> int:
    from playground.runs.disk import default_folder
    from playground.runs.disk.store import open_kept_folders, read_shipped
    from playground.runs.registry import SHIPPED, Runs

    saved_runs = (saved.run for saved in open_kept_folders(options.folder or default_folder()))
    _tell_table(Runs.table((*read_shipped(SHIPPED), *saved_runs)), options.csv)
    return 0


def add_history(commands: Commands) -> None:
    command = add_command(commands, "history", history, "the training curve of a run, step by step")
    command.add_argument("run", metavar="RUN", help=RUN)
    command.add_argument("--validations", action="store_true", help="a row for each validation instead")
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the table here")


def history(options: argparse.Namespace) -> int:
    from playground.export.exported_run import find

    run_history = find(options.run).history
    _tell_table((run_history.validations if options.validations else run_history.steps).frame(), options.csv)
    return 0


def _tell_table(table: Any, file: Path | None) -> None:
    from playground.runs.tables import csv_of

    if file:
        file.write_text(csv_of(table), encoding="utf-8", newline="")
    else:
        print(table.to_string(index=False, na_rep="–"))


def add_lab(commands: Commands) -> None:
    command = add_command(commands, "lab", lab, "list the labs, or run one")
    command.add_argument("name", nargs="?", metavar="NAME", help="without one, all are listed")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="settings of the lab")
    command.add_argument("--language", choices=OFFERED, default=ENGLISH)
    command.add_argument("--json", action="store_true", help="one JSON object")


def lab(options: argparse.Namespace) -> int:
    from playground.lessons.labs import LABS, get

    if options.name is None:
        labs = [{"name": name, "kind": each.kind, "title": each.say(options.language, "title")} for name, each in LABS.items()]
        print(json.dumps(labs, ensure_ascii=False) if options.json else "\n".join(f"{each['name']:<14} {each['title']}" for each in labs))
        return 0
    lab = get(current_value("lab", options.name))
    outcome = lab.outcome(options.seed, **dict(setting.partition("=")[::2] for setting in options.set))
    verdict = lab.say(options.language, f"why_{outcome.answer}", **outcome.numbers)
    if options.json:
        entry = {"lab": lab.name, "kind": lab.kind, "seed": options.seed, "arms": list(lab.arms_of(options.seed)), "answer": outcome.answer}
        entry |= {"numbers": outcome.numbers, "verdict": verdict}
        print(json.dumps(entry, ensure_ascii=False))
        return 0
    print(lab.say(options.language, "question"), *(f"{name}: {value}" for name, value in outcome.numbers.items()), verdict, sep="\n")
    return 0


def add_read(commands: Commands) -> None:
    command = add_command(commands, "read", read, "show how a file of sentence pairs is read")
    command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    command.add_argument("--swap", action="store_true", help="swap source and target")
    add_columns(command)
    command.add_argument("--header", choices=("yes", "no"), help="whether the first row names the columns")
    command.add_argument("--encoding", default="", metavar="NAME", help=ENCODING)
    command.add_argument("--undo", action="store_true", help="undo what tools left in the sentences, such as &apos; and @@")
    command.add_argument("--same-language", action="store_true", help=SAME_LANGUAGE)
    command.add_argument("--language", choices=OFFERED, default=ENGLISH, help="of the report")
    command.add_argument("--json", action="store_true", help="one JSON object, also about a mistake")


def read(options: argparse.Namespace) -> int:
    from playground.reading.pairs import as_json, report

    header = {"yes": True, "no": False}.get(options.header)
    try:
        choices = choices_of(options, header=header, encoding=options.encoding, undo=options.undo or None)
        pairs = read_pairs(options.files, choices)
    except (Refusal, OSError) as mistake:
        sentence = mistake.say(options.language) if isinstance(mistake, Refusal) else explain_error(mistake)
        error = json.dumps({"error": {"kind": getattr(mistake, "key", "file"), "sentence": sentence}}, ensure_ascii=False)
        print(error if options.json else sentence, file=sys.stdout if options.json else sys.stderr)
        return 2
    print(json.dumps(as_json(pairs, options.language), ensure_ascii=False) if options.json else "\n".join(report(pairs, options.language)))
    return 0


def add_verify(commands: Commands) -> None:
    command = add_command(commands, "verify", verify, "check a column of codes that students handed in; 1 when one is not good")
    command.add_argument("file", type=Path, metavar="FILE.csv", help="a table in UTF-8 with a code in each row")
    command.add_argument("--key", type=Path, metavar="FILE", help="the server’s handin.key, if not in its folder")
    command.add_argument("--folder", type=Path, help=FOLDER)
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the table here")


def verify(options: argparse.Namespace) -> int:
    from playground import handin
    from playground.runs.disk import default_folder

    key = options.key or (options.folder or default_folder()) / handin.KEY_FILE
    table = handin.tabulate(options.file, key.read_bytes().strip())
    _tell_table(table, options.csv)
    return int(table["note"].any())


def add_words(commands: Commands) -> None:
    about = "what a partly translated language still needs: missing, stale, wrong and unknown sentences"
    command = add_command(commands, "words", list_words, about)
    command.add_argument("language", choices=OFFERED, help="a folder of words/, or of the folder PLAYGROUND_WORDS")
    command.add_argument("--accept", action="store_true", help="all of its sentences were compared with the English ones of now")


def list_words(options: argparse.Namespace) -> int:
    if options.accept:
        accept(options.language)
    for finding, key in review(options.language):
        print(f"{finding:<8} {key:<36} {' '.join(entries(ENGLISH).get(key, '').split())}")
    print(f"{say(options.language, 'language.name')}: {translated(options.language)} % translated")
    return 0


def choices_of(options: argparse.Namespace, **more: Any) -> Any:
    """Returns the options as choices for reading files."""
    from playground.reading.column_mapping import Choices, parse_column

    joined = None if options.join is None else [parse_column(column) for column in options.join]
    source, target, group = map(parse_column, (options.source, options.target, options.split_by))
    places = {"source": source, "target": target, "joined": joined, "group": group}
    return Choices(swap=options.swap, same_language=options.same_language, **places, **more)


def read_pairs(files: Sequence[Path], choices: Any) -> Any:
    """Reads pairs. Raises Refusal also for a missing column number, which the page ignores: there it was chosen for another file."""
    from playground.runs import upload_process

    pairs = upload_process.read([(file.name, file.read_bytes()) for file in files], choices)
    columns = ", ".join(column.name or str(place) for place, column in enumerate(pairs.columns, 1))
    for place in (*(choices.joined or ()), choices.group):
        if isinstance(place, int) and place >= len(pairs.columns):
            raise Refusal("data.no_column", name=files[0].name, column=place + 1, columns=columns)
    return pairs
