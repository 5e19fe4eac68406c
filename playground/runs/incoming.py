"""Runs that begin with parameters from elsewhere: another run's, to be fine-tuned on other data, or a downloaded run's."""

import ast
import csv
import io
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from playground.config import KNOBS, MAX_POSITIONS, Experiment, Refusal
from playground.data.corpus import draw_pairs, load_given, unknown_shares
from playground.reading.column_mapping import BY_SOURCE, Choices
from playground.reading.pairs import Pairs
from playground.reading.writing import GROUP
from playground.runs import upload_process
from playground.runs.disk import files
from playground.runs.disk.folder import Folder, SentFolder, card_of, describe, pack_run
from playground.runs.disk.replay_file import read_parameters
from playground.runs.disk.store import first_files
from playground.runs.history import MAX_ROWS, STEPS, VALIDATIONS, History
from playground.runs.identity import clean_label, new_id
from playground.runs.replay import Parameters
from playground.runs.run import Run, Snapshot
from playground.runs.starter import new_run
from playground.training.bleu import BeamGain
from playground.words import percentage


class Tuning(NamedTuple):
    """A training that goes on from another run's `step` with other sentences: the settings, the pairs with that run's tokenizers, the
    parameters to begin with, and what the vocabularies lack."""

    experiment: Experiment
    pairs: Pairs
    step: int
    parameters: Parameters
    message: Refusal


def plan_tuning(source: Run, step: int | None, wanted: Experiment, pairs: Pairs | None) -> Tuning:
    """Plans to fine-tune the run's parameters nearest to `step` on other pairs, or on sentences of the task that is `wanted`. Model and
    tokenizers are the run's, all else is as wanted. Raises Refusal when it has no parameters yet."""
    actual, parameters = source.parameters_at(step)
    if wanted.data.task != "own":
        pairs = draw_pairs(wanted.data)
    if pairs is None:
        raise Refusal("data.no_own_pairs")
    shares = [percentage(share, None) for share in unknown_shares(pairs, source.tokenizers)]
    name = {"key": f"tasks.{source.experiment.data.task}.label"} if source.name == source.id else source.name  # one that came with the app
    message = Refusal("runs.tuned", name=name, step=actual, src=shares[0], tgt=shares[1])
    pairs = replace(pairs, tokenizers=tuple(tokenizer.to_bytes().decode() for tokenizer in source.tokenizers))
    return Tuning(wanted.with_(task="own", **kept_knobs(source)), pairs, actual, parameters, message)


def kept_knobs(source: Run, chosen: Collection[str] = ()) -> dict[str, Any]:
    """Returns what a fine-tuned run has of its source: the knobs of the model, but dropout, and of the tokenizers. Raises Refusal where
    `chosen` names one of them."""
    names = {knob.name for knob in fields(source.experiment.model)} - {"dropout"} | {"tokenizer", "vocab_size"}
    if both := sorted(names & set(chosen)):
        raise Refusal("runs.keeps_its_settings", names=both)
    return {name: value for name, value in source.experiment.flat().items() if name in names}


def tune_run(
    folder: Folder, step: int | None, wanted: Experiment, pairs: Pairs | None, token: str, **values: Any
) -> tuple[Run, dict[str, bytes]]:
    """Creates the caller's run of `plan_tuning`, from step 0 and with a fresh optimiser, and its files; `values` are more of its fields.
    Raises Refusal."""
    source, tuning = folder.run, plan_tuning(folder.run, step, wanted, pairs)
    values = {"credit": tuning.pairs.credit, "secret": source.secret, "parent": (source.id, tuning.step), **values}
    run = new_run(tuning.experiment, token, data=tuning.pairs, checkpoint_step=0, message=tuning.message, **values)
    run.parts["tokenizers"] = source.tokenizers
    return run, pack_run(run, tuning.parameters)


def tune_again(folder: Folder, tuned: Run, wanted: Experiment, token: str) -> tuple[Run, dict[str, bytes]]:
    """Creates a run that begins as `tuned` did, from its base in `folder`, with the settings `wanted`, and its files. Raises Refusal, also
    where the base has no parameters of that step any more."""
    values = {"credit": tuned.credit, "secret": tuned.secret, "beside": tuned.id}
    run, contents = tune_run(folder, tuned.base[1], wanted, tuned.pairs, token, **values)
    if run.parent != tuned.base:
        raise Refusal("runs.base_gone", name=tuned.name)
    return run, contents


# --- downloaded runs: a zip of others is data, and no line of its Python files is ever executed ---

NAMES = ("config.json", "history.csv", "model.safetensors", "src_tokenizer.json", "tgt_tokenizer.json")
OPTIONAL = ("sentences.tsv", "run.ipynb")
MAX_BYTES = 1_000_000_000  # of a zip, and of its uncompressed content
MAX_OPENED_BYTES = 200_000_000  # uncompressed, of a zip that a server opens
MAX_ENTRIES = 1000
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # LZMA may take gigabytes of memory before the first byte


def files_of_zip(data: bytes, names: Sequence[str], optional: Sequence[str] = (), most: int = MAX_BYTES) -> Mapping[str, bytes]:
    """Extracts these files from a zip, from its top or one folder. Raises Refusal when one is missing, or all are larger than `most`."""
    try:
        if data.count(b"PK\x01\x02") > MAX_ENTRIES:  # before zipfile lists them
            raise Refusal("export.not_a_zip", name=names[0])
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = {entry.filename.rpartition("/")[2]: entry for entry in archive.infolist() if entry.compress_type in PACKINGS}
            present = (*names, *(name for name in optional if name in entries))
            if sum(entries[name].file_size for name in present) > most:
                raise Refusal("export.too_large", most=most // 1_000_000)
            return {name: archive.read(entries[name]) for name in present}
    except KeyError as missing:
        raise Refusal("export.not_a_zip", name=missing.args[0]) from None
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError):
        raise Refusal("export.not_a_zip", name=names[0]) from None


def open_zip(name: str, data: bytes, owner: str = "") -> tuple[Run, dict[str, bytes]]:
    """Opens a downloaded run as one that has ended, and returns its files. A run of own sentences needs them. Raises Refusal."""
    unpacked = files_of_zip(data, NAMES, OPTIONAL, MAX_OPENED_BYTES)
    config = files.parse_json(unpacked["config.json"], "config.json")
    longest = config.get("longest_target", 0) if isinstance(config, dict) else None
    if type(longest) is not int or not 0 <= longest <= MAX_POSITIONS:
        raise Refusal("runs.not_a_run", what="config.json")
    experiment = Experiment().with_(**{knob: config[knob] for knob in KNOBS if knob in config} | {"own": ""})
    history = _read_curve(unpacked["history.csv"])
    history.beam = BeamGain.read(config.get("beam"))
    step = int(max(history.steps.column("step"), default=0))
    documents = tuple(unpacked[f"{side}_tokenizer.json"].decode("utf-8", "replace") for side in ("src", "tgt"))
    pairs = _read_sentences(name, unpacked, documents) if experiment.data.task == "own" else None
    run = Run(
        new_id(), label := clean_label(Path(name).stem), experiment, owner, label, threads=experiment.training.threads, data=pairs,
        credit=pairs.credit if pairs else "", longest_target=longest, status="done", step=step, checkpoint_step=step,
    )  # fmt: skip
    src, tgt = load_given(Pairs((), {}, 0, "", (), tokenizers=documents), experiment.model.share_embeddings == "all")
    parameters = read_parameters(unpacked["model.safetensors"], experiment.model, src.size, tgt.size, "model.safetensors")
    run.parts |= {"history": history, "tokenizers": (src, tgt), "snapshot": Snapshot(run.version, step, parameters)}
    return run, first_files(run) | pack_run(run, parameters)


def folder_of_zip(path: Path) -> Folder:
    """Returns a downloaded run as a folder in memory. Raises Refusal."""
    run, contents = open_zip(path.name, files.read_bytes(path, MAX_BYTES))
    return SentFolder(contents | {"run.json": files.to_json(card_of(run, describe(contents)))})


def read_exported_pairs(name: str, sentences: bytes | None, how: Mapping[str, Any], documents: tuple[str, str]) -> Pairs:
    """Reads an export's sentences, with its tokenizers; `how` has the numbers of `given` pairs and the `group`. Raises Refusal."""
    if sentences is None:
        raise Refusal("export.without_sentences", name=name[:60])
    choices = Choices(source=0, target=1, header=True, same_language=True, joined=(), group=how["group"])
    pairs, held_out = upload_process.read([("sentences.tsv", sentences)], choices), tuple(how["given"])
    return replace(pairs, given=held_out if sum(held_out) < len(pairs.pairs) else (0, 0), tokenizers=documents)


def _read_sentences(name: str, unpacked: Mapping[str, bytes], documents: tuple[str, str]) -> Pairs:
    """Reads the own sentences, split as they were where the notebook says how."""
    how = {"group": BY_SOURCE, "given": (0, 0)}
    with suppress(LookupError, TypeError, ValueError, SyntaxError, RecursionError, MemoryError):
        (cell,) = (cell for cell in files.parse_json(unpacked["run.ipynb"], "run.ipynb")["cells"] if cell["id"] == "how")
        settings = ast.literal_eval(cell["source"].removeprefix("how = "))
        validation, test = map(int, settings["given"])
        if min(validation, test) >= 0 and settings["group"] in (BY_SOURCE, GROUP):
            how = {"group": settings["group"], "given": (validation, test)}
    return read_exported_pairs(name, unpacked.get("sentences.tsv"), how, documents)


def _read_curve(data: bytes) -> History:
    """Reads history.csv: a row for each step, with its validation. Raises Refusal."""
    history, validated = History(), [f"validation_{name}" if name in STEPS else name for name in VALIDATIONS[1:]]
    try:
        for row in islice(csv.DictReader(io.StringIO(data.decode("utf-8", "replace"))), MAX_ROWS):
            for table, names in ((history.steps, STEPS[1:]), (history.validations, validated)):
                if all(row[name] for name in names):
                    table.append(int(row["step"]), *(float(row[name]) for name in names))
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise Refusal("runs.not_a_run", what="history.csv") from error
    return history
