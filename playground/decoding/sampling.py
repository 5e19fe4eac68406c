"""Greedy decoding and sampling: one token after the other, the likeliest or a random one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from playground.config import BOS, EOS
from playground.decoding.model_decoder import DecodingState, Hypothesis, clip_prefix
from playground.decoding.single_decoder import SingleDecoder
from playground.model.costs import Pass
from playground.model.transformer import Transformer


@torch.inference_mode()
def greedy(
    model: Transformer, sources: Sequence[Sequence[int]], max_length: int, prefix: Sequence[int] = (), cache: bool = True,
    record: list[Pass] | None = None, fast: bool = True,
) -> list[Hypothesis]:  # fmt: skip
    """Decodes the likeliest token at each step, all sources at once."""
    if not sources:
        return []
    prefix, most = clip_prefix(prefix, max_length)
    state = DecodingState(model, sources, prefix, cache, record, fast)
    if isinstance(state.code, SingleDecoder):
        return [_write_one(state.code, most, state.record)]
    return _write(state, prefix, most, lambda logprobs: logprobs.max(dim=-1))


@torch.inference_mode()
def sample(
    model: Transformer, source: Sequence[int], temperature: float, max_length: int, seed: int, prefix: Sequence[int] = (),
    top_k: int = 0, top_p: float = 1.0, cache: bool = True, record: list[Pass] | None = None, fast: bool = True,
) -> Hypothesis:  # fmt: skip
    """Samples each token from the model's distribution: sharper below temperature 1, flatter above; filtered by top-k and top-p.

    The seed decides the sentence, with its own generator. The log probabilities are the model's own, at temperature 1 and without filter.
    Raises ValueError unless temperature is positive, top_k at least 0, and top_p above 0 and at most 1.
    """
    if not temperature > 0:
        raise ValueError("temperature must be positive")
    if top_k < 0 or not 0 < top_p <= 1:
        raise ValueError("top_k can't be negative; top_p lies above 0 and is at most 1")
    generator = torch.Generator().manual_seed(seed)

    def draw(logprobs: Tensor) -> tuple[Tensor, Tensor]:
        probabilities = (logprobs.double().cpu() / temperature).softmax(dim=-1)
        probabilities = probabilities * top_k_top_p_filter(probabilities, top_k, top_p)  # multinomial divides by their sum
        tokens = torch.multinomial(probabilities, 1, generator=generator).to(logprobs.device)
        return logprobs.gather(1, tokens)[:, 0], tokens[:, 0]

    prefix, most = clip_prefix(prefix, max_length)
    return _write(DecodingState(model, [source], prefix, cache, record, fast), prefix, most, draw)[0]


def top_k_top_p_filter(probabilities: Tensor, top_k: int, top_p: float) -> Tensor:
    """Returns a mask of the tokens that may be sampled, (B, V) -> (B, V): of the `top_k` likeliest (0: of all) the fewest whose share among
    these reaches `top_p` (nucleus sampling, Holtzman et al. 2020). The likeliest always passes; ties rank by token id."""
    ranked, order = probabilities.sort(dim=-1, descending=True, stable=True)
    if top_k:
        ranked[:, top_k:] = 0
    before = ranked.cumsum(dim=-1) - ranked  # the mass of the likelier tokens
    chosen = (before < top_p * ranked.sum(dim=-1, keepdim=True)) & (ranked > 0)
    return torch.zeros_like(chosen).scatter(1, order, chosen)


def _write_one(code: SingleDecoder, most: int, record: list[Pass]) -> Hypothesis:
    """Decodes one source greedily in numpy: with so little to compute, torch's calls would take half of the time."""
    ids, logprobs, token = [], [], BOS
    while len(ids) < most and token != EOS:
        logits = code.next_logits(token)  # (V,)
        logits -= np.maximum.reduce(logits)
        logits -= np.log(np.add.reduce(np.exp(logits)))  # rounded as in torch: of two that are then equal the first is taken
        token = int(logits.argmax())
        logprobs.append(float(logits[token]))
        ids.append(token)
        record.append(Pass(1, len(ids), 1, scored=1))
    return Hypothesis(tuple(ids), tuple(logprobs), sum(logprobs))


def _write(
    state: DecodingState, prefix: Sequence[int], most: int, choose: Callable[[Tensor], tuple[Tensor, Tensor]]
) -> list[Hypothesis]:  # fmt: skip
    """Writes one sentence per source; `choose` maps log probabilities (B, V) to the chosen tokens' log probabilities and ids, both (B,)."""
    written, logprobs = state.begin()  # (B, 1 + P), (B, P)
    sentences = [(list(prefix), values) for values in logprobs.tolist()]
    growing = [] if EOS in prefix else sentences  # sentences with a row in `written`
    likely = []  # of each step its growing sentences and their log probabilities, read back only at the end
    while growing and written.shape[1] <= most:
        values, tokens = choose(state.logprobs(written).select(1, -1))
        likely.append((growing, values))
        for (ids, _), token in zip(growing, tokens.tolist(), strict=True):
            ids.append(token)
        written = torch.cat((written, tokens.unsqueeze(1)), dim=1)
        rows = [row for row, (ids, _) in enumerate(growing) if ids[-1] != EOS]
        if len(rows) < len(growing):  # sentences that have ended leave the batch
            growing, remaining = [growing[row] for row in rows], torch.tensor(rows, dtype=torch.long, device=written.device)
            written = written[remaining]
            state.select_rows(remaining)
    for grew, values in likely:
        for (_, own), value in zip(grew, values.tolist(), strict=True):
            own.append(value)
    return [Hypothesis(tuple(ids), tuple(own), sum(own)) for ids, own in sentences]
