"""A trained model in a line of Python: `playground.load("reverse").translate("hello")`, `playground.train("sort", d_model=32)`."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch

from playground.config import EOS, KNOBS, LENGTH_PENALTY, MAX_POSITIONS, Experiment, ModelConfig, Refusal
from playground.data.readable import WORD_START
from playground.data.tokenizers import Tokenizer, load_tokenizer
from playground.decoding import best, greedy, limit_output, sample, trace
from playground.decoding.constraints import FREE
from playground.export.exported_run import files_of
from playground.export.use import svg
from playground.export.workbook import Sentence, write_workbook
from playground.features.translate.query import build_constraints
from playground.model.transformer import Transformer
from playground.runs.disk import files
from playground.runs.disk.replay_file import read_parameters
from playground.tasks.toy_tasks import TASKS, draw_examples
from playground.training.bleu import BeamGain, score_outputs
from playground.variants import build
from playground.words import ENGLISH, say

KINDS = ("encoder", "decoder", "cross")


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

    def _repr_html_(self) -> str:
        """Draws the last layer's mean over the heads, for a notebook: of cross-attention, else of what the model has."""
        for kind in reversed(KINDS):
            weights = getattr(self, kind)
            if weights.size:
                about = say(ENGLISH, "plot.example", kind=say(ENGLISH, f"plot.{kind}"))
                rows, columns = (["␣" if name == " " else name for name in names] for names in self.labels(kind))
                return f"<div>{about}</div>" + svg([weights[-1:].mean(axis=1, keepdims=True)], rows, columns, say(ENGLISH, "plot.mean"))
        return ""


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

    @cached_property
    def rows(self) -> tuple[dict[str, float], ...]:
        """The table's rows without pandas: a dict for each step, with the validation's scores where there was one."""
        return tuple({name: float(cell) for name, cell in row.items() if cell} for row in csv.DictReader(io.StringIO(self.curve)))

    @property
    def last_loss(self) -> float:
        """The loss of the last step's batch."""
        return self._last("loss")

    @property
    def exact_match(self) -> float:
        """The share of held-out sentences that were right at the last validation, 0 to 1."""
        return self._last("exact_match")

    def _last(self, name: str) -> float:
        return next(row[name] for row in reversed(self.rows) if name in row)


@dataclass(frozen=True, repr=False)
class Pretrained:
    """A trained model with its tokenizers. `contents` holds the files it was built from, by their names."""

    model: Transformer
    tokenizers: tuple[Tokenizer, Tokenizer]
    run: TrainedRun
    longest_target: int = 0  # of the training data, in tokens with EOS; 0 if unknown
    beam_width: int = 1  # that scored higher at the end of training
    contents: Mapping[str, bytes] = field(default_factory=dict)
    probe: str = ""  # a source sentence that the training showed, where it was trained here
    best: Pretrained | None = None  # as it was at the lowest validation loss, if the training kept it

    @cached_property
    def example(self) -> str:
        """A source sentence for its picture in a notebook: `probe`; else for a toy task a held-out one, and "" for own sentences."""
        if self.probe:
            return self.probe
        task = self.run.settings["task"]
        return (TASKS[task].telling or next(draw_examples(task, "heldout", self.run.settings["data_seed"])).src) if task in TASKS else ""

    def __repr__(self) -> str:
        size = sum(parameter.numel() for parameter in self.model.parameters())
        scores = f"{len(self.run.rows):,} steps, exact match {self.run.exact_match:.1%}"
        return f"<Pretrained {self.run.settings['task']}: {size:,} parameters, {scores}>"

    def _repr_html_(self) -> str:
        """Adds to the line the attention weights with which the model translates its example."""
        return f"<div>{escape(repr(self))}</div>" + (self.attention(self.example)._repr_html_() if self.example else "")

    @overload
    def translate(
        self, text: str, beam: int = ..., length_penalty: float = ..., temperature: float = ..., seed: int = ...,
        must: Sequence[str] = ..., must_not: Sequence[str] = ...,
    ) -> str: ...  # fmt: skip
    @overload
    def translate(
        self, text: Sequence[str], beam: int = ..., length_penalty: float = ..., temperature: float = ..., seed: int = ...,
        must: Sequence[str] = ..., must_not: Sequence[str] = ...,
    ) -> list[str]: ...  # fmt: skip
    def translate(
        self, text: str | Sequence[str], beam: int = 0, length_penalty: float = LENGTH_PENALTY, temperature: float = 0.0, seed: int = 0,
        must: Sequence[str] = (), must_not: Sequence[str] = (),
    ) -> str | list[str]:  # fmt: skip
        """Translates a sentence, or each of a list: with a beam of this width (1: greedily; 0: `beam_width`), or sampled at a temperature
        above 0, where the seed decides the sentence. Every output of a beam contains the words (or phrases) of `must`, and none of
        `must_not`, nor a longer word that begins with the pieces of one. Raises Refusal for a text that is empty or too long and for words
        that can't be met, ValueError for a negative width and for a beam while sampling."""
        if beam < 0 or (beam > 1 and temperature):
            raise ValueError("a beam has no negative width; where tokens are sampled there is none")
        texts = [text] if isinstance(text, str) else text
        sources = [self._read(source) for source in texts]
        limits = [limit_output(self.longest_target, len(ids)) for ids in sources]
        must, must_not = ([words] if isinstance(words, str) else words for words in (must, must_not))
        constraints = build_constraints(self.tokenizers[1], must, must_not, min(limits, default=MAX_POSITIONS))
        if temperature and constraints != FREE:
            raise Refusal("decoding.constraints_need_beam")
        if temperature:
            written = [sample(self.model, ids, temperature, limit, seed).ids for ids, limit in zip(sources, limits, strict=True)]
        else:
            written = best(self.model, sources, limits, beam or self.beam_width, length_penalty, constraints)
        outputs = [self.tokenizers[1].decode(ids) for ids in written]
        return outputs[0] if isinstance(text, str) else outputs

    def attention(self, text: str, target: str | None = None) -> Attention:
        """Returns all attention weights of a translation, or with `target` those with which the model would write that (teacher forcing).
        Raises Refusal for a text that is empty or too long."""
        ids, (src, tgt) = self._read(text), self.tokenizers
        traced = trace(self.model, ids, self._written(ids) if target is None else (*self._read(target, tgt), EOS))
        output, fed = (tuple(map(tgt.piece, ids)) for ids in (traced.tgt_ids, traced.tgt_in))
        return Attention(tuple(map(src.piece, traced.src_ids)), output, fed, traced.encoder, traced.decoder, traced.cross)

    def align(self, source: str, target: str) -> str:
        """Aligns a pair in Pharaoh's format, "0-0 1-2": for each token of the target, the source token to which the heads of the last
        layer's cross-attention attend most together. Words are numbered where tokens are pieces of words, else tokens, from 0.

        This shows where the model reads, which need not be the translation of a word. Raises Refusal as `attention`, and for a model
        without cross-attention.
        """
        attention = self.attention(source, target)
        if not attention.cross.size:
            raise Refusal("export.no_cross_attention")
        strongest = attention.cross[-1].mean(axis=0)[:-1, :-1].argmax(axis=-1).tolist()  # without the two <eos>
        src, tgt = map(_number_words, (attention.source, attention.output))
        return " ".join(f"{a}-{b}" for a, b in dict.fromkeys((src[place], tgt[at]) for at, place in enumerate(strongest)))

    def score(
        self, sources: Sequence[str], references: Sequence[str | Sequence[str]], beam: int = 0, length_penalty: float = LENGTH_PENALTY
    ) -> dict[str, float]:
        """Translates and scores by sacrebleu: {"bleu", "chrf", "ter"} from 0 to 100, {"exact_match"} from 0 to 1; a sentence may have
        several references. Raises Refusal as `translate`, ValueError without sentences or with another number of references."""
        several = [[each] if isinstance(each, str) else each for each in references]
        scored = score_outputs(self.translate(list(sources), beam, length_penalty), several)
        return {"bleu": scored.measured.bleu, "chrf": scored.measured.chrf, "ter": scored.ter, "exact_match": scored.exact_match}

    def save(self, path: str | Path) -> None:
        """Writes the model where `load` finds it again: into a folder, or a zip if the name ends so. Raises OSError."""
        path = Path(path)
        if path.suffix != ".zip":
            path.mkdir(parents=True, exist_ok=True)
            for name, data in self.contents.items():
                (path / name).write_bytes(data)
            return
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in self.contents.items():
                archive.writestr(name, data)

    def workbook(self, text: str, path: str | Path, target: str | None = None, language: str = ENGLISH, name: str = "") -> None:
        """Writes an .xlsx in which every activation is a formula: of a translation, or with `target` of the model writing that (teacher
        forcing). `name` is the run's on the first sheet. Raises Refusal as `attention`, and for a model of d_model above 32 or with a
        setting that has no formulas; OSError."""
        ids, tgt = self._read(text), self.tokenizers[1]
        written = self._written(ids) if target is None else (*self._read(target, tgt), EOS)
        sentence = Sentence(ids, written, name or self.run.settings["task"], int(self.run.rows[-1]["step"]), text, tgt.decode(written))
        Path(path).write_bytes(write_workbook(self.model, self.tokenizers, sentence, language))

    def _read(self, text: str, tokenizer: Tokenizer | None = None) -> list[int]:
        ids = (tokenizer or self.tokenizers[0]).encode(text)
        if not ids:
            raise Refusal("runs.empty")
        if len(ids) >= MAX_POSITIONS:
            raise Refusal("runs.too_long", tokens=len(ids), most=MAX_POSITIONS - 1)
        return ids

    def _written(self, ids: list[int]) -> tuple[int, ...]:
        return greedy(self.model, [ids], limit_output(self.longest_target, len(ids)))[0].ids or (EOS,)


def _number_words(tokens: Sequence[str]) -> list[int]:
    """Numbers each token by its word, from 0, where WORD_START marks the beginnings of words; else by itself."""
    begins = [token.startswith(WORD_START) for token in tokens]
    return [max(number - 1, 0) for number in accumulate(begins)] if any(begins) else list(range(len(tokens)))


def load(source: str | Path, average: int = 1) -> Pretrained:
    """Loads a trained model: the name of one that ships with the playground ("reverse"), an exported folder or zip, the folder of a run, a
    link to a run, or "hf:owner/name" on the Hugging Face Hub. Of a run's folder `average` means the mean of the last saved parameters, so
    many. Raises Refusal with one sentence."""
    return build_pretrained(files_of(str(source), average))


def build_pretrained(contents: Mapping[str, bytes]) -> Pretrained:
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
    run = TrainedRun(experiment.flat(), contents["history.csv"].decode("utf-8", "replace"))
    gain = BeamGain.read(config.get("beam"))
    return Pretrained(model, (src, tgt), run, longest, gain.best_width if gain else 1, dict(contents))


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


if TYPE_CHECKING:
    from pandas import DataFrame
