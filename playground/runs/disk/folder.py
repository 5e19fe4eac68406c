"""A run's folder, saved or shipped: config.json, weights.safetensors, tokenizers, history, replay, and run.json with a digest of each.

Files are untrusted: sizes are bounded, digests compared, and contents checked against the config before memory is allocated.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import torch

from playground import words
from playground.config import LIVE_KNOBS, MOVED_KNOBS, Refusal, check, current_name, from_json, to_json
from playground.data.tokenizers import Tokenizer, load_tokenizer
from playground.reading.pairs import Pairs, check_size, json_parts
from playground.runs.disk import FORMAT, files
from playground.runs.disk.files import FolderFiles
from playground.runs.disk.replay_file import header, pack_replay, read_parameters, read_safetensors, to_safetensors, unpack_replay
from playground.runs.history import History
from playground.runs.orders import FINISHED, STATUSES
from playground.runs.replay import Replay
from playground.runs.rounded import shapes_of
from playground.runs.run import Run, Snapshot
from playground.runs.upload_process import pairs_from_json
from playground.training.loop import Live, Training

Rest = tuple[str, Refusal | None]  # a status and the message that explains it
TRAINED_FROM = ("config.json", "pairs.json", "src_tokenizer.json", "tgt_tokenizer.json", "weights.safetensors", "state.safetensors")
LAZY_PARTS = ("history", "replay", "snapshot", "tokenizers", "pairs")  # parts of a run loaded on first access
CARD_FIELDS = (
    "name", "owner", "label", "secret", "created", "device", "threads", "precision", "credit", "status", "step", "seconds", "live",
    "checkpoint_step", "first_step", "edits", "beside", "guess", "sentences_shared", "visited", "longest_target",
)  # fmt: skip
# Missing in older runs.
ADDED_FIELDS = ("precision", "secret", "first_step", "edits", "beside", "guess", "sentences_shared", "visited", "longest_target")

TYPES = {"str": (str,), "bool": (bool,), "int": (int,), "int | None": (int, type(None)), "float": (int, float)}  # of a field in JSON
_PAIRS: WeakValueDictionary[str, Pairs] = WeakValueDictionary()  # digest -> uploaded pairs in use, shared by all runs


def pack_run(run: Run, parameters: Mapping[str, torch.Tensor]) -> dict[str, bytes]:
    """Packs a prepared run as files, except its uploaded pairs and its training state."""
    src, tgt = run.tokenizers
    return {
        "config.json": files.to_json(to_json(run.experiment)),
        "src_tokenizer.json": src.to_bytes(),
        "tgt_tokenizer.json": tgt.to_bytes(),
        "weights.safetensors": to_safetensors(parameters),
        "history.json": files.to_json(run.history.to_json()),
        **pack_replay(run.replay),
    }


def pack_state(training: Training) -> bytes:
    """Packs the state needed to resume exactly, besides the weights."""
    tensors, meta = training.pack()
    rest = {name: tensor for name, tensor in tensors.items() if not name.startswith("model/")}
    return to_safetensors(rest, files.to_json(meta).decode())


def card_of(run: Run, entries: Mapping[str, Mapping[str, Any]], rest: Rest | None = None) -> dict[str, Any]:
    """Returns run.json: the run's fields, and {"bytes", "sha256"} of every other file. `rest` is the upcoming status."""
    status, message = rest or (run.status, run.message)
    card = {name: getattr(run, name) for name in CARD_FIELDS} | {"format": FORMAT, "id": run.id, "parent": run.parent, "files": entries}
    return card | {"status": status, "message": message and {"key": message.key, "values": message.values}}


def describe(contents: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    return {name: {"bytes": len(data), "sha256": files.digest(data)} for name, data in contents.items()}


def pack_pairs(pairs: Pairs) -> bytes:
    """Returns pairs.json. Raises Refusal when it would be too large to be read back."""
    check_size(pairs)
    data = b"".join(json_parts(pairs))
    _PAIRS.setdefault(files.digest(data), pairs)
    return data


class Folder(FolderFiles):
    """A run on the disk. The constructor reads run.json and config.json; the rest is lazy. All methods raise Refusal."""

    def __init__(self, path: Path, id: str | None = None) -> None:
        super().__init__(path)
        try:
            self.experiment = from_json(files.parse_json(self.read("config.json"), "config.json"))
            self.run = self._run(id)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise Refusal("runs.not_a_run", what="run.json") from error
        self.run.loaders = {name: getattr(self, name) for name in LAZY_PARTS}
        self.run.release()

    def sent(self) -> dict[str, bytes]:
        """Returns the files that a remote trainer needs, see SentFolder."""
        needed = {self.entries[name]["called"]: self.read(name) for name in TRAINED_FROM if self.has(name)}
        return needed | {"run.json": self._bytes(files.CARD, files.MAX_CARD_BYTES, files.CARD)}

    def _run(self, id: str | None) -> Run:
        card = {name: Run.__dataclass_fields__[name].default for name in ADDED_FIELDS} | self.card
        if card["format"] != FORMAT or card["status"] not in STATUSES or not re.fullmatch(r"[0-9a-f]{64}|", card["owner"]):
            raise ValueError
        values = {name: _plain(card[name], name) for name in CARD_FIELDS if name != "live"}
        live = {current_name(name): value for name, value in card["live"].items()}  # knobs newer than the run are missing
        live = {knob: check(knob, value) for knob, value in live.items()}
        if not live.keys() <= set(MOVED_KNOBS):
            raise ValueError
        parent = card["parent"] and (str(card["parent"][0])[:64], int(card["parent"][1]))
        values |= {"parent": parent, "message": _message(card["message"]), "live": live}
        return Run(id=id or str(card["id"])[:64], experiment=self.experiment, **values)

    def history(self) -> History:
        return History.from_json(files.parse_json(self.read("history.json"), "history.json")) if self.has("history.json") else History()

    def tokenizers(self) -> tuple[Tokenizer, Tokenizer] | None:
        if not self.has("src_tokenizer.json"):
            return None
        src, tgt = (load_tokenizer(self.read(f"{side}_tokenizer.json")) for side in ("src", "tgt"))
        return src, tgt

    def snapshot(self) -> Snapshot | None:
        tokenizers = self.run.tokenizers
        if not self.has("weights.safetensors") or tokenizers is None:
            return None
        src, tgt = tokenizers
        parameters = read_parameters(self.read("weights.safetensors"), self.experiment.model, src.size, tgt.size, "weights.safetensors")
        return Snapshot(self.run.version, self.card["checkpoint_step"] or 0, parameters)

    def replay(self) -> Replay:
        if not self.has("replay.json"):
            return Replay()
        snapshot = self.run.snapshot
        if snapshot is None:
            raise Refusal("runs.not_a_run", what="replay.json")
        vocabulary = self.run.tokenizers[1].size
        shapes = shapes_of(snapshot.parameters)
        replay = unpack_replay(self.read("replay.json"), self.read("replay.safetensors"), self.experiment.model, vocabulary, shapes)
        if self.run.status in FINISHED and replay.frames and replay.frames[-1].step == snapshot.step:
            replay.end(snapshot.parameters)
        return replay

    def pairs(self) -> Pairs | None:
        if not self.has("pairs.json"):
            return None
        data, digest = self.read("pairs.json"), self.entries["pairs.json"]["sha256"]
        cached_pairs = _PAIRS.get(digest)
        if cached_pairs is not None:
            return cached_pairs
        content = files.parse_json(data, "pairs.json")
        try:
            return _PAIRS.setdefault(digest, pairs_from_json(content, content["pairs"]))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise Refusal("runs.not_a_run", what="pairs.json") from error

    def restore(self, training: Training) -> None:
        """Restores a training to the last save. Raises Refusal when its data or model have changed."""
        corpus, snapshot = training.corpus, self.run.snapshot
        if snapshot is None:
            raise Refusal("runs.not_a_run", what="weights.safetensors")
        if [t.to_bytes() for t in self.run.tokenizers] != [t.to_bytes() for t in (corpus.src_tokenizer, corpus.tgt_tokenizer)]:
            raise Refusal("runs.data_changed")
        weights = snapshot.parameters
        if not self.has("state.safetensors"):
            training.go_on(weights, snapshot.step)  # a fork not yet started, from a step of which only the parameters are saved
            training.live = Live(**{name: self.run.live[name] for name in LIVE_KNOBS})
            return
        data = self.read("state.safetensors")
        shapes, note = header(data, "state.safetensors")
        for name, (_, shape) in shapes.items():  # moments have the shape of their parameter, or are a step count
            _, parameter, _ = [*name.split("/"), "", ""][:3]
            if parameter not in weights or shape not in (weights[parameter].shape, ()):
                raise Refusal("runs.not_a_run", what="state.safetensors")
        tensors = read_safetensors(data, None, "state.safetensors", finite=False)  # moments may be infinite and harmless
        tensors |= {f"model/{name}": tensor for name, tensor in weights.items()}
        try:
            training.unpack(tensors, files.parse_json(note.encode(), "state.safetensors"))
        except (ValueError, KeyError, TypeError, RuntimeError) as error:
            raise Refusal("runs.not_a_run", what="state.safetensors") from error


class SentFolder(Folder):
    """A folder received from another process as packed by `sent`, without a path."""

    def __init__(self, sent: Mapping[str, bytes]) -> None:
        self._sent = sent
        super().__init__(Path("sent"))

    def _bytes(self, called: str, most: int, name: str) -> bytes:
        if len(data := self._sent.get(called, b"")) > most or not data:
            raise Refusal("runs.not_a_run", what=name)
        return data


def _plain(value: Any, name: str) -> Any:
    """Validates the type of a value of run.json. Raises ValueError."""
    if type(value) not in TYPES[Run.__dataclass_fields__[name].type] or (isinstance(value, str) and len(value) > 2000):
        raise ValueError(name)
    if isinstance(value, (int, float)) and not 0 <= value < 1e12:
        raise ValueError(name)
    return value


def _message(field: Any) -> Refusal | None:
    if field is None:
        return None
    values = {str(name): value for name, value in field["values"].items() if isinstance(value, (str, int, float, dict))}
    if field["key"] == "runs.tuned" and words.known(words.ENGLISH, str(values.get("name"))):  # as it was saved before 1.0
        values["name"] = {"key": values["name"]}
    message = Refusal(field["key"], **values)
    for language in words.LANGUAGES:
        words.filled(words.say(language, message.key), values)  # raises for an unknown or incomplete message
        message.say(language)
    return message
