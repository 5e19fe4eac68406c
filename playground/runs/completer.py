"""Completes a run's probe sentences: with its present model, or with the parameters of a captured step."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial

import numpy as np
import torch
from torch.nn.functional import pad

from playground.config import BOS, EOS, ModelConfig
from playground.data.corpus import Item
from playground.model.masks import padded, padding_mask
from playground.model.transformer import Output, Transformer
from playground.runs.replay import TOP_TOKENS, Completion, Parameters

EXTRA_TOKENS = 4  # a probe's output may exceed its reference by this many


class Completer:
    """`longest` is the corpus's longest sentence in tokens. `make` builds a model whose parameters may be replaced; it is called on first
    use of `at`."""

    def __init__(self, probes: Sequence[Item], longest: int, make: Callable[[], Transformer]) -> None:
        self.probes, self._make = probes, make
        self.limits = [min(len(item.tgt_ids) + 1 + EXTRA_TOKENS, longest) for item in probes]
        self._newest: tuple[Completion, ...] = ()  # the last result of `at`

    @cached_property
    def _model(self) -> Transformer:
        return self._make()

    def complete(self, model: Transformer, newest: tuple[Completion, ...], step: int, attention: Sequence[bool]) -> tuple[Completion, ...]:
        """Decodes the probes with `model`, starting from the previous completions `newest` (() when unknown), with attention where
        requested."""
        model.generator.manual_seed(step)  # for a model that samples even in eval mode
        guesses = [c.ids for c in newest] if newest else [item.tgt_ids for item in self.probes]
        return complete(model, [item.src_ids for item in self.probes], guesses, self.limits, attention)

    def at(self, step: int, parameters: Parameters, config: ModelConfig, attention: Sequence[bool]) -> tuple[Completion, ...]:
        """Decodes the probes with the parameters of a step."""
        torch.set_num_threads(1)  # for the calling thread: the same bits as in a frame that is materialised at once
        self._model.config = config
        for name, parameter in self._model.named_parameters():
            parameter.data = parameters[name].to(parameter.device)
        self._newest = self.complete(self._model, self._newest, step, attention)
        return self._newest


Weights = tuple[torch.Tensor, ...]  # per layer


@torch.inference_mode()
def complete(
    model: Transformer, sources: Sequence[Sequence[int]], guesses: Sequence[Sequence[int]], limits: Sequence[int],
    attention: Sequence[bool],
) -> tuple[Completion, ...]:  # fmt: skip
    """Decodes all sources greedily, each up to its limit, in a few passes instead of one per token.

    Speculative: feeds a whole guessed output (`guesses`: an earlier output or the reference; any will do) and replaces it by the model's
    prediction at every position, until input and prediction agree: then every token is the argmax after its prefix, which is greedy
    decoding. Each pass fixes at least one more token, usually many, and the last one is the result. The model is in eval mode.
    """
    device = model.projection.weight.device
    src = padded([(*source, EOS) for source in sources]).to(device)
    memory, encoder = model.encode(src)
    decode = partial(model.decode, memory=memory, memory_mask=padding_mask(src))
    logits, decoder, cross = _decode_guessed(model, decode, guesses, limits) if model.cacheable else _decode_stepwise(model, decode, limits)
    picture = Output(logits.softmax(dim=-1).nan_to_num(), encoder, decoder, cross)
    return _split_batch(picture, logits.argmax(dim=-1).tolist(), [len(source) + 1 for source in sources], limits, attention)


def _decode_guessed(
    model: Transformer, decode: Callable, guesses: Sequence[Sequence[int]], limits: Sequence[int]
) -> tuple[torch.Tensor, Weights, Weights]:
    """Returns (logits (B, T, V), decoder weights, cross-attention weights) by fixed-point iteration, see `complete`."""
    width = max(limits)
    written = torch.tensor([[*guess, *[EOS] * width][:width] for guess in guesses], device=model.projection.weight.device)
    while True:
        shifted = torch.cat((torch.full_like(written[:, :1], BOS), written[:, :-1]), dim=1)  # (B, T): BOS and all but the last token
        states, decoder, cross = decode(shifted)
        logits = model.project(states)
        predictions = logits.argmax(dim=-1)
        if all(_matches_input(*pair, limit) for *pair, limit in zip(written.tolist(), predictions.tolist(), limits, strict=True)):
            return logits, decoder, cross
        written = predictions


def _decode_stepwise(model: Transformer, decode: Callable, limits: Sequence[int]) -> tuple[torch.Tensor, Weights, Weights]:
    """The same for a model in which later tokens change earlier ones: decodes stepwise; the weights are those of the pass that generated a
    sentence's last token."""
    most = torch.tensor(limits, device=model.projection.weight.device)
    written, growing = torch.full_like(most, BOS)[:, None], most > 0
    logits, decoder, cross = [], (), ()
    for length in range(1, max(limits) + 1):
        states, new_decoder, new_cross = decode(written)
        logits.append(model.project(states[:, -1:]))
        next_tokens = logits[-1].argmax(dim=-1)
        decoder, cross = _merge_weights(decoder, new_decoder, growing), _merge_weights(cross, new_cross, growing)
        growing = growing & (next_tokens[:, 0] != EOS) & (length < most)
        written = torch.cat((written, next_tokens), dim=1)
    return torch.cat(logits, dim=1), decoder, cross


def _merge_weights(old: Weights, new: Weights, growing: torch.Tensor) -> Weights:
    """Returns per layer the `new` weights (B, H, T, L) of sentences still `growing` (B,), and the padded old ones of the others."""
    if not old:
        return new
    growth = new[0].shape[-1] - old[0].shape[-1]
    return tuple(torch.where(growing[:, None, None, None], b, pad(a, (0, growth, 0, 1))) for a, b in zip(old, new, strict=True))


def _output_length(ids: Sequence[int], limit: int) -> int:
    """Returns the output's length: up to EOS, or the limit."""
    ids = ids[:limit]
    return ids.index(EOS) + 1 if EOS in ids else len(ids)


def _matches_input(written: list[int], predictions: list[int], limit: int) -> bool:
    """Returns whether input and prediction agree up to the output's length. Its last token was never an input, so it is free."""
    length = _output_length(predictions, limit)
    return written[: length - 1] == predictions[: length - 1]


def _split_batch(
    output: Output, ids: list[list[int]], sources: Sequence[int], limits: Sequence[int], attention: Sequence[bool]
) -> tuple[Completion, ...]:
    """Splits the batch (B, ...) into one completion per row. `output.logits` holds probabilities here."""
    top = output.logits.topk(min(TOP_TOKENS, output.logits.shape[-1]), dim=-1)
    top_ids, top_probabilities = top.indices.int().cpu().numpy(), top.values.half().cpu().numpy()
    chosen = output.logits.max(dim=-1).values.half().cpu().numpy()
    stacks = [torch.stack(weights, dim=1).nan_to_num().half().cpu().numpy() for weights in output[1:]] if any(attention) else []
    rows = []
    for row, (written, s, limit, has_attention) in enumerate(zip(ids, sources, limits, attention, strict=True)):
        t = _output_length(written, limit)
        weights: list[np.ndarray] = []
        if has_attention:
            weights = [stack[row, :, :, :q, :k].copy() for stack, q, k in zip(stacks, (s, t, t), (s, t, s), strict=True)]
        rows.append(
            Completion(tuple(written[:t]), chosen[row, :t].copy(), top_ids[row, :t].copy(), top_probabilities[row, :t].copy(), *weights)
        )
    return tuple(rows)
