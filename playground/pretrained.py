"""A trained model in a line of Python: `playground.load("reverse").translate("hello")`."""

from __future__ import annotations

import csv
import io
import re
import urllib.request
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urljoin, urlsplit

import numpy as np
import torch

from playground.config import EOS, KNOBS, MAX_POSITIONS, Experiment, ModelConfig, Refusal
from playground.data.tokenizers import Tokenizer, load_tokenizer
from playground.decoding import greedy, trace
from playground.export.exported_run import export_run
from playground.model.transformer import Transformer
from playground.queries.reader import max_output_tokens
from playground.runs.disk import files
from playground.runs.disk.folder import Folder
from playground.runs.disk.replay_file import read_parameters
from playground.runs.disk.store import SHIPPED
from playground.variants import build

NAMES = ("config.json", "history.csv", "model.safetensors", "src_tokenizer.json", "tgt_tokenizer.json")
KINDS = ("encoder", "decoder", "cross")
MAX_BYTES = 1_000_000_000  # of a zip, and of its uncompressed content
TIMEOUT_S = 60.0  # without data
ROUTE = "gradio_api/playground/takeaway/"  # below the page's address
_OURS = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")



@dataclass(frozen=True)
class Attention:
    """The attention weights while `output` was decoded for `source`: for each of KINDS (L, H, rows, columns), rows are queries.

    `encoder` is (L, H, S, S), `decoder` (L, H, T, T), `cross` (L, H, T, S). The rows of decoder and cross are the steps that wrote each
    token of `output`; the columns of decoder are `fed`, the decoder's input: <bos> and all but the last of them.
    """

    source: tuple[str, ...]  # S tokens, <eos> last
    output: tuple[str, ...]  # T tokens
    fed: tuple[str, ...]  # T tokens
    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray

    def labels(self, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the (rows, columns) labels of one of KINDS."""
        return {"encoder": (self.source, self.source), "decoder": (self.output, self.fed), "cross": (self.output, self.source)}[kind]


@dataclass(frozen=True)
class TrainedRun:
    """The training of a model: every knob by its name, and a row for each step."""

    settings: Mapping[str, Any]
    curve: str  # history.csv

    @cached_property
    def history(self) -> DataFrame:
        """A table of step, loss, learning_rate, …, and the validations. Raises Refusal without pandas."""
        try:
            import pandas
        except ImportError:
            raise Refusal("export.no_package", package="pandas") from None
        return pandas.read_csv(io.StringIO(self.curve), float_precision="round_trip")

    @property
    def last_loss(self) -> float:
        """The loss of the last step's batch."""
        return [float(row["loss"]) for row in csv.DictReader(io.StringIO(self.curve)) if row["loss"]][-1]


@dataclass(frozen=True)
class Pretrained:
    """A trained model with its tokenizers."""

    model: Transformer
    tokenizers: tuple[Tokenizer, Tokenizer]
    run: TrainedRun
    longest_target: int = 0  # of the training data, in tokens with EOS; 0 if unknown

    def translate(self, text: str) -> str:
        """Translates by greedy decoding. Raises Refusal for a text that is empty or too long."""
        return self.tokenizers[1].decode(self._written(self._read(text)))

    def attention(self, text: str) -> Attention:
        """Returns all attention weights of a translation. Raises Refusal for a text that is empty or too long."""
        ids, (src, tgt) = self._read(text), self.tokenizers
        traced = trace(self.model, ids, self._written(ids))
        output, fed = (tuple(map(tgt.piece, ids)) for ids in (traced.tgt_ids, traced.tgt_in))
        return Attention(tuple(map(src.piece, traced.src_ids)), output, fed, traced.encoder, traced.decoder, traced.cross)

    def _read(self, text: str) -> list[int]:
        ids = self.tokenizers[0].encode(text)
        if not ids:
            raise Refusal("runs.empty")
        if len(ids) >= MAX_POSITIONS:
            raise Refusal("runs.too_long", tokens=len(ids), most=MAX_POSITIONS - 1)
        return ids

    def _written(self, ids: list[int]) -> tuple[int, ...]:
        return greedy(self.model, [ids], max_output_tokens(self.longest_target, len(ids)))[0].ids or (EOS,)


def load(source: str | Path) -> Pretrained:
    """Loads a trained model: the name of one that ships with the playground ("reverse"), an exported folder or zip, the folder of a run, a
    link to a run, or "hf:owner/name" on the Hugging Face Hub. Raises Refusal with one sentence."""
    return _build_pretrained(_files(str(source)))


def _files(source: str) -> Mapping[str, bytes]:
    """Returns the contents of NAMES."""
    if source.startswith("hf:"):
        return _files_of_folder(snapshot_of(source.removeprefix("hf:"), NAMES))
    if source.startswith(("http://", "https://")):
        return files_of_link(source, NAMES)
    shipped = sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()) if SHIPPED.is_dir() else []
    path = SHIPPED / source if source in shipped else Path(source).expanduser()
    if path.is_dir():
        return _files_of_folder(path)
    if path.is_file():
        return files_of_zip(files.read_bytes(path, MAX_BYTES), NAMES)
    raise Refusal("export.not_found", source=source[:200], names=", ".join(shipped))


def _files_of_folder(path: Path) -> Mapping[str, bytes]:
    """Reads an exported folder, or a run's."""
    if (path / "run.json").is_file():
        return export_run(Folder(path).run).model_files()
    return {name: files.read_bytes((path / name).resolve(), MAX_BYTES, name) for name in NAMES}  # the Hub's cache holds links


def _build_pretrained(contents: Mapping[str, bytes]) -> Pretrained:
    """Builds a model from untrusted files: they are checked against the config before a model of that size is created."""
    config = files.parse_json(contents["config.json"], "config.json")
    if not isinstance(config, dict):
        raise Refusal("runs.not_a_run", what="config.json")
    experiment = Experiment().with_(**{name: config[name] for name in KNOBS if name in config})
    src, tgt = (load_tokenizer(contents[f"{side}_tokenizer.json"]) for side in ("src", "tgt"))
    longest = config.get("longest_target", 0)
    if type(longest) is not int or not 0 <= longest <= MAX_POSITIONS:
        raise Refusal("runs.not_a_run", what="config.json")
    model = _model(experiment.model, src.size, tgt.size, contents["model.safetensors"])
    return Pretrained(model, (src, tgt), TrainedRun(experiment.flat(), contents["history.csv"].decode("utf-8", "replace")), longest)


def _model(config: ModelConfig, src_vocab: int, tgt_vocab: int, data: bytes) -> Transformer:
    file_name = "model.safetensors"
    if config.share_embeddings == "all" and src_vocab != tgt_vocab:
        raise Refusal("runs.not_a_run", what=file_name)
    parameters = read_parameters(data, config, src_vocab, tgt_vocab, file_name)
    model = build(config, src_vocab, tgt_vocab).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(parameters[name]).requires_grad_(False)
    return model


def files_of_zip(data: bytes, names: Sequence[str]) -> Mapping[str, bytes]:
    """Extracts these files from a zip, from its top or one folder. Raises Refusal when one is missing or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = {entry.filename.rpartition("/")[2]: entry for entry in archive.infolist()}
            if sum(entries[name].file_size for name in names) > MAX_BYTES:
                raise Refusal("export.too_large", most=MAX_BYTES // 1_000_000)
            return {name: archive.read(entries[name]) for name in names}
    except KeyError as missing:
        raise Refusal("export.not_a_zip", name=missing.args[0]) from None
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError):
        raise Refusal("export.not_a_zip", name=names[0]) from None


def files_of_link(link: str, names: Sequence[str]) -> Mapping[str, bytes]:
    """Downloads the files of the run that a link to a page names. Raises Refusal."""
    run = parse_qs(urlsplit(link).query).get("run")
    if not run:
        raise Refusal("export.no_run_in_link", link=link[:200])
    address = urljoin(link.partition("?")[0], ROUTE + quote(run[0], safe=""))
    try:
        with urllib.request.urlopen(urllib.request.Request(address), timeout=TIMEOUT_S) as answer:
            data, kind = answer.read(MAX_BYTES + 1), answer.headers.get_content_type()
    except (OSError, HTTPException, ValueError) as error:
        raise Refusal("export.unreachable", host=urlsplit(link).netloc[:200], why=str(getattr(error, "reason", error))[:200]) from error
    if len(data) > MAX_BYTES:
        raise Refusal("export.too_large", most=MAX_BYTES // 1_000_000)
    if kind != "application/zip":
        raise Refusal("export.refused", host=urlsplit(link).netloc[:200])
    return files_of_zip(data, names)


def snapshot_of(name: str, names: Sequence[str]) -> Path:
    """Downloads these files of "owner/name" from the Hugging Face Hub to a folder. Raises Refusal."""
    if not _OURS.fullmatch(name):
        raise Refusal("export.no_such_name", name=name[:200])
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise Refusal("export.no_package", package="huggingface_hub") from None
    try:
        return Path(snapshot_download(name, allow_patterns=list(names)))
    except Exception as error:  # errors of the Hub and the network have many types
        raise Refusal("export.not_on_hub", name=name, why=type(error).__name__) from error


if TYPE_CHECKING:
    from pandas import DataFrame
