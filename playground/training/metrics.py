"""Validation: loss, token accuracy and exact match on sentences the model was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from playground.config import BOS, EOS, PAD, UNK
from playground.data.batches import Batch, collate
from playground.data.corpus import Corpus, Item
from playground.decoding.model_decoder import ModelDecoder
from playground.model.costs import CHUNK, VALIDATION_CELLS
from playground.model.transformer import Transformer
from playground.training.step import token_losses


@dataclass(frozen=True)
class Validation:
    """Metrics on `pairs` sources: the loss in nats per token, without label smoothing; the teacher-forced token accuracy; the fraction of
    sentences that greedy decoding gets exactly right."""

    loss: float
    token_accuracy: float
    exact_match: float
    pairs: int


@dataclass(frozen=True)
class Tally:
    """The sums of a validation over the sources that one model has scored; tallies of parts add up."""

    loss: float  # the sum over the tokens
    right_tokens: int
    tokens: int
    right: int
    pairs: int

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(first + second for first, second in zip(astuple(self), astuple(other), strict=True)))

    @property
    def validation(self) -> Validation:
        return Validation(self.loss / self.tokens, self.right_tokens / self.tokens, self.right / self.pairs, self.pairs)


class EvalBatch(NamedTuple):
    """Part of an evaluation set: one reference answer per row."""

    batch: Batch
    question: Tensor  # (B,) long, the number of its source
    own: Tensor  # (B,) bool, True for the item's own target, False for another reference
    spellable: Tensor  # (B,) bool, False for an answer with a word outside the vocabulary
    answers: tuple[tuple[int, ...], ...]  # ids of the answers, each with its EOS


@dataclass(frozen=True)
class EvalSet:
    """Items with all their references, sorted by length and split into batches, reusable."""

    batches: tuple[EvalBatch, ...]
    pairs: int


def build_eval_set(
    corpus: Corpus, items: tuple[Item, ...], device: torch.device | str = "cpu", change: Callable[[Batch], Batch] | None = None
) -> EvalSet:
    """Builds an evaluation set of these items; `change` is the training's own change of a batch. Raises ValueError when there are none."""
    if not items:
        raise ValueError("an evaluation set needs at least one item")
    rows = [(item, question, True) for question, item in enumerate(items)]
    for question, item in enumerate(items):
        for other in set(corpus.references.get(item.src, ())) - {item.tgt}:
            ids = tuple(corpus.tgt_tokenizer.encode(other))
            rows.append((Item(item.src, other, item.src_ids, ids), question, False))
    rows.sort(key=lambda row: (max(len(row[0].src_ids), len(row[0].tgt_ids)), row[1], row[0].tgt_ids))
    batches, start = [], 0
    while start < len(rows):
        stop = start + 1
        while stop < len(rows) and (stop + 1 - start) * _cells(rows[stop][0]) <= VALIDATION_CELLS:
            stop += 1
        batches.append(_eval_batch(rows[start:stop], device, change))
        start = stop
    return EvalSet(tuple(batches), len(items))


def validate(
    model: Transformer, eval_set: EvalSet, parallel_map: Callable[[Callable, Iterable], Iterable] = map, written: bool = False
) -> Validation:
    """Returns the metrics of a model on an evaluation set, see `tally`."""
    return tally(model, eval_set, parallel_map, written).validation


def tally(
    model: Transformer, eval_set: EvalSet, parallel_map: Callable[[Callable, Iterable], Iterable] = map, written: bool = False
) -> Tally:
    """Scores all answers in one teacher-forced pass; the model is in eval mode. `parallel_map` works on the batches, like `map`.

    Greedy decoding writes an answer exactly if and only if the likeliest token is right at every step of it: as long as all is right, both
    see the same prefix. So one pass gives both accuracies. A source counts as right if one of its answers is.

    That holds for causal models. Others have to decode the answers: `written`.
    """
    if model.training:
        raise ValueError("a model is validated in eval mode")
    losses, right_tokens, tokens, answered = zip(*parallel_map(partial(_score_batch, model, written), eval_set.batches), strict=True)
    right = len(torch.cat(answered).unique())
    return Tally(sum(losses), sum(right_tokens), sum(tokens), right, eval_set.pairs)


@torch.inference_mode()
def _score_batch(model: Transformer, written: bool, eval_batch: EvalBatch) -> tuple[float, int, int, Tensor]:
    """Returns (sum of the losses, right likeliest tokens, all tokens, the questions with a right answer) of a batch."""
    batch, question, own, spellable, _ = eval_batch
    logits = model(batch.src, batch.tgt_in).logits
    real = batch.tgt_out != PAD
    right = logits.argmax(dim=-1) == batch.tgt_out
    counted = real & own[:, None]
    some = max(1, CHUNK // logits[0].numel())  # rows: their logarithms take as much memory as their logits
    losses = torch.cat([token_losses(*part) for part in zip(logits.split(some), batch.tgt_out.split(some), strict=True)])[counted]
    answered = _decodes_exactly(model, eval_batch) if written else (right | ~real).all(dim=1)
    return losses.sum().item(), int(right[counted].sum()), len(losses), question[answered & spellable]


def _decodes_exactly(model: Transformer, eval_batch: EvalBatch) -> Tensor:
    """Returns (B,) whether greedy decoding writes the answer of each row, from the sources as they stand in the batch."""
    src = eval_batch.batch.src
    decoder, written = ModelDecoder(model, src, cache=False), torch.full((len(src), 1), BOS, device=src.device)
    for _ in range(max(map(len, eval_batch.answers))):
        logits, _ = decoder.logits(written, last=1)
        written = torch.cat((written, logits.argmax(dim=-1)), dim=1)
    rows = zip(written[:, 1:].tolist(), eval_batch.answers, strict=True)
    return torch.tensor([tuple(ids[: len(answer)]) == answer for ids, answer in rows], device=src.device)


def _cells(item: Item) -> int:
    return len(item.src_ids) + len(item.tgt_ids) + 2


def _eval_batch(rows: list[tuple[Item, int, bool]], device: torch.device | str, change: Callable[[Batch], Batch] | None) -> EvalBatch:
    items, questions, own = zip(*rows, strict=True)
    batch = collate(items).to(device)
    return EvalBatch(
        change(batch) if change else batch,
        torch.tensor(questions, device=device),
        torch.tensor(own, device=device),
        torch.tensor([UNK not in item.tgt_ids for item in items], device=device),
        tuple((*item.tgt_ids, EOS) for item in items),
    )
