"""Decoding: from probabilities to sentences, one token after the other. Here torch becomes numpy.

Sources and targets are lists of token ids without BOS; a source comes without its EOS, which is added here. `max_length` counts the
tokens that are written, EOS included. The model must be in eval mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.config import BOS, EOS, MAX_POSITIONS, PAD
from playground.model.masks import padding_mask
from playground.model.transformer import Transformer


@dataclass(frozen=True)
class Hypothesis:
    """A written sentence: its tokens (EOS included if it came to that), the log probability of each in nats, and its score."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    score: float

    @property
    def finished(self) -> bool:
        return bool(self.ids) and self.ids[-1] == EOS


@dataclass(frozen=True)
class Trace:
    """What the model saw and thought while it wrote tgt_ids (T tokens) for src_ids (S tokens, EOS at the end).

    Row t belongs to the step that wrote tgt_ids[t]: probabilities (V), own attention over tgt_in, cross-attention over src_ids. L layers.
    """

    src_ids: tuple[int, ...]
    tgt_ids: tuple[int, ...]
    encoder: np.ndarray  # (L, H, S, S) float32
    decoder: np.ndarray  # (L, H, T, T)
    cross: np.ndarray  # (L, H, T, S)
    probabilities: np.ndarray  # (T, V)

    @property
    def tgt_in(self) -> tuple[int, ...]:
        """The tokens the decoder was fed: BOS, and all of tgt_ids but the last."""
        return (BOS, *self.tgt_ids[:-1])


@torch.inference_mode()
def greedy(model: Transformer, sources: Sequence[Sequence[int]], max_length: int, prefix: Sequence[int] = ()) -> list[Hypothesis]:
    """The likeliest token at each step, all sources at once. A `prefix` is written first, whatever the model thinks of it."""
    return _write(model, sources, max_length, prefix, lambda logprobs: logprobs.argmax(dim=-1))


@torch.inference_mode()
def sample(
    model: Transformer, source: Sequence[int], temperature: float, max_length: int, seed: int, prefix: Sequence[int] = ()
) -> Hypothesis:
    """Draws each token from the model's distribution: sharper below temperature 1, flatter above. The seed decides the sentence.

    The log probabilities are the model's own, at temperature 1. Raises ValueError unless temperature is positive.
    """
    if not temperature > 0:
        raise ValueError("temperature must be positive")
    generator = torch.Generator().manual_seed(seed)

    def draw(logprobs: Tensor) -> Tensor:
        probabilities = (logprobs.double().cpu() / temperature).softmax(dim=-1)
        return torch.multinomial(probabilities, 1, generator=generator)[:, 0].to(logprobs.device)

    return _write(model, [source], max_length, prefix, draw)[0]


@torch.inference_mode()
def beam(model: Transformer, source: Sequence[int], width: int, length_penalty: float, max_length: int) -> list[Hypothesis]:
    """Keeps the `width` best hypotheses at each step, the finished ones among them, until none can grow. Best first.

    score = sum of log probabilities / ((5 + n) / 6)^length_penalty for n tokens (Wu et al. 2016, equation 14): 0 is the plain sum, more
    favours long sentences. Width 1 is greedy decoding. Raises ValueError for a width below 1.
    """
    if width < 1:
        raise ValueError("a beam needs a width of at least 1")
    most, (memory, memory_mask) = min(max_length, MAX_POSITIONS), _read(model, [source])
    best = [Hypothesis((), (), 0.0)]
    while growing := [hypothesis for hypothesis in best if not hypothesis.finished and len(hypothesis.ids) < most]:
        tgt_in = torch.tensor([(BOS, *hypothesis.ids) for hypothesis in growing], device=memory.device)
        logprobs = _next_logprobs(model, tgt_in, memory.expand(len(growing), -1, -1), memory_mask)
        values, tokens = (tensor.tolist() for tensor in logprobs.topk(min(width, logprobs.shape[1])))
        candidates = [hypothesis for hypothesis in best if hypothesis not in growing]
        for hypothesis, row_values, row_tokens in zip(growing, values, tokens, strict=True):
            for value, token in zip(row_values, row_tokens, strict=True):
                candidates.append(_hypothesis((*hypothesis.ids, token), (*hypothesis.logprobs, value), length_penalty))
        best = sorted(candidates, key=lambda hypothesis: -hypothesis.score)[:width]
    return best


@torch.inference_mode()
def trace(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Trace:
    """One teacher-forced pass: what the model would have thought at each step of writing `target` (with EOS if that step is wanted).

    Raises ValueError for an empty target.
    """
    if not target:
        raise ValueError("a trace needs at least one target token")
    _check(model)
    src = torch.tensor([(*source, EOS)], device=model.projection.weight.device)
    tgt_in = torch.tensor([(BOS, *target[:-1])], device=src.device)
    output = model(src, tgt_in)
    encoder, decoder, cross = (torch.cat(weights).cpu().numpy() for weights in output[1:])
    probabilities = output.logits[0].softmax(dim=-1).cpu().numpy()
    return Trace((*source, EOS), tuple(target), encoder, decoder, cross, probabilities)


def _check(model: Transformer) -> None:
    if model.training:
        raise ValueError("a model decodes in eval mode")


def _read(model: Transformer, sources: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Encodes the sources together -> memory (B, S, D), memory mask (B, 1, 1, S)."""
    _check(model)
    longest = max(map(len, sources)) + 1
    rows = [(*source, EOS) + (PAD,) * (longest - len(source) - 1) for source in sources]
    src = torch.tensor(rows, device=model.projection.weight.device)
    return model.encode(src)[0], padding_mask(src)


def _next_logprobs(model: Transformer, tgt_in: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
    """Log probabilities of the token after tgt_in (B, T) -> (B, V)."""
    states, _, _ = model.decode(tgt_in, memory, memory_mask)
    return model.project(states[:, -1]).log_softmax(dim=-1)


def _write(
    model: Transformer, sources: Sequence[Sequence[int]], max_length: int, prefix: Sequence[int], choose: Callable[[Tensor], Tensor]
) -> list[Hypothesis]:
    """Writes one sentence for each source; `choose` takes log probabilities (B, V) to the next tokens (B,)."""
    if not sources:
        return []
    memory, memory_mask = _read(model, sources)
    written = torch.full((len(sources), 1), BOS, device=memory.device)
    chosen = torch.zeros(len(sources), 0, device=memory.device)  # log probabilities of what was written
    ended = torch.zeros(len(sources), dtype=torch.bool, device=memory.device)
    for n in range(min(max_length, MAX_POSITIONS)):
        logprobs = _next_logprobs(model, written, memory, memory_mask)
        tokens = torch.full_like(written[:, 0], prefix[n]) if n < len(prefix) else choose(logprobs)
        tokens = tokens.masked_fill(ended, PAD)  # sentences that have ended wait for the others
        written = torch.cat((written, tokens[:, None]), dim=1)
        chosen = torch.cat((chosen, logprobs.gather(1, tokens[:, None])), dim=1)
        ended |= tokens == EOS
        if ended.all():
            break
    hypotheses = []
    for ids, logprobs in zip(written[:, 1:].tolist(), chosen.tolist(), strict=True):
        length = ids.index(EOS) + 1 if EOS in ids else len(ids)
        hypotheses.append(_hypothesis(tuple(ids[:length]), tuple(logprobs[:length])))
    return hypotheses


def _hypothesis(ids: tuple[int, ...], logprobs: tuple[float, ...], length_penalty: float = 0.0) -> Hypothesis:
    return Hypothesis(ids, logprobs, sum(logprobs) / ((5 + len(ids)) / 6) ** length_penalty)
