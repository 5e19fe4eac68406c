"""Next-token log probabilities from a model, step by step, for a batch of growing sentences; the trace of one
given sentence; greedy decoding and sampling."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.config import BOS, EOS, MAX_POSITIONS
from playground.decoding.fast_decoder import FastDecoder, is_readable, is_stock_model, name_arrays
from playground.decoding.single_decoder import SingleDecoder
from playground.model.costs import Pass
from playground.model.masks import padded, padding_mask
from playground.model.transformer import Transformer


@dataclass(frozen=True)
class Hypothesis:
    """A written sentence: its tokens (with EOS if it ended), the log probability of each in nats, and its score."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    score: float

    @property
    def finished(self) -> bool:
        return bool(self.ids) and self.ids[-1] == EOS


class ModelDecoder:
    """Decodes with the model's own code: sources (B, S), encoded once, and optionally a key-value cache."""

    def __init__(self, model: Transformer, src: Tensor, cache: bool) -> None:
        self.model, self.cache = model, model.new_cache() if cache else None
        self.memory, self.memory_mask = model.encode(src)[0], padding_mask(src)  # (B, S, D), (B, 1, 1, S)

    def logits(self, tgt_in: Tensor, last: int) -> tuple[Tensor, int]:
        """Returns the logits after each of the `last` tokens of tgt_in (B, T): (B, last, V), and the number of tokens computed."""
        states, _, _ = self.model.decode(tgt_in, self.memory, self.memory_mask, cache=self.cache)
        return self.model.project(states[:, -last:]), states.shape[1]

    def select_rows(self, rows: Tensor) -> None:
        """Selects and reorders batch rows (N,); a row may repeat."""
        self.memory, self.memory_mask = self.memory[rows], self.memory_mask[rows]
        if self.cache:
            self.cache.select_rows(rows)


class SingleModelDecoder(SingleDecoder):
    """The decoder of one source (1, S), with tensors. Requires a stock, `is_readable` model in eval mode."""

    def __init__(self, model: Transformer, src: Tensor) -> None:
        super().__init__(name_arrays(model), model.config, src[0].tolist())

    def logits(self, tgt_in: Tensor, last: int = 1) -> tuple[Tensor, int]:
        """Returns the logits after the last token of tgt_in (1, T), whose earlier tokens were fed before: (1, 1, V), and 1, the number of
        tokens computed."""
        return torch.from_numpy(self.next_logits(tgt_in.select(1, -1).item())).view(1, 1, -1), 1

    def select_rows(self, rows: Tensor) -> None:
        """Does nothing: there is only one row."""


class DecodingState:
    """The sources, encoded once as a batch, and the caches of their growing targets. Each pass is appended to `record`.

    A source never has more than `width` targets. `fast` selects the fast code, but the model's own is used without a cache, with a prefix,
    and for a model that was changed or has hooks.
    """

    def __init__(
        self, model: Transformer, sources: Sequence[Sequence[int]], prefix: Sequence[int], cache: bool, record: list[Pass] | None,
        fast: bool, width: int = 1,
    ) -> None:  # fmt: skip
        require_eval(model)
        cache = cache and model.cacheable
        src = padded([(*source, EOS) for source in sources]).to(model.projection.weight.device)
        self.prefix, self.record, self.src = prefix, [] if record is None else record, src
        if fast and cache and not prefix and is_stock_model(model):
            is_single = len(sources) * width == 1 and is_readable(model)
            self.code = SingleModelDecoder(model, src) if is_single else FastDecoder(model, src)
        else:
            self.code = ModelDecoder(model, src, cache)

    def begin(self) -> tuple[Tensor, Tensor]:
        """Returns BOS and the prefix of P tokens for each source (B, 1 + P), and the log probability of each prefix token (B, P)."""
        written = torch.tensor([(BOS, *self.prefix)] * len(self.src), device=self.src.device)
        if not self.prefix:
            return written, written.new_empty(written.shape[0], 0, dtype=torch.float32)
        logprobs = self.logprobs(written[:, :-1], len(self.prefix))  # (B, P, V)
        return written, logprobs.gather(2, written[:, 1:, None])[..., 0]

    def logprobs(self, tgt_in: Tensor, last: int = 1) -> Tensor:
        """Returns the next-token log probabilities after each of the `last` tokens of tgt_in (B, T) -> (B, last, V)."""
        logits, computed = self.code.logits(tgt_in, last)
        self.record.append(Pass(*tgt_in.shape, computed, scored=last))
        return logits.log_softmax(dim=-1)

    def select_rows(self, rows: Tensor) -> None:
        self.code.select_rows(rows)


def next_logprobs(model: Transformer, source: Sequence[int], prefixes: Tensor | Sequence[Sequence[int]]) -> Tensor:
    """Returns the next-token log probabilities after each of N prefixes of one length, BOS first: (N, L) -> (N, V)."""
    src = torch.tensor([[*source, EOS]]).expand(len(prefixes), -1)
    return model(src, torch.as_tensor(prefixes)).logits[:, -1].log_softmax(dim=-1)


def require_eval(model: Transformer) -> None:
    if model.training:
        raise ValueError("a model decodes in eval mode")


def clip_prefix(prefix: Sequence[int], max_length: int) -> tuple[tuple[int, ...], int]:
    """Returns the prefix cut to what may be written (no more than `max_length`, nothing after EOS), and the maximum number of tokens."""
    most = min(max_length, MAX_POSITIONS)
    prefix = tuple(prefix[:most])
    return (prefix[: prefix.index(EOS) + 1] if EOS in prefix else prefix), most


@dataclass(frozen=True)
class Trace:
    """Attention and probabilities while the model wrote tgt_ids (T tokens) for src_ids (S tokens, EOS at the end).

    Row t belongs to the step that wrote tgt_ids[t]: probabilities (V), self-attention over tgt_in, cross-attention over src_ids. L layers.
    """

    src_ids: tuple[int, ...]
    tgt_ids: tuple[int, ...]
    encoder: np.ndarray  # (L, H, S, S) float32; L = 0 for a model without attention layers
    decoder: np.ndarray  # (L, H, T, T)
    cross: np.ndarray  # (L, H, T, S)
    probabilities: np.ndarray  # (T, V)

    @property
    def tgt_in(self) -> tuple[int, ...]:
        """The tokens the decoder was fed: BOS, and all of tgt_ids but the last."""
        return (BOS, *self.tgt_ids[:-1])


@torch.inference_mode()
def trace(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Trace:
    """Traces one teacher-forced pass: the model at each step of writing `target` (with EOS to include that step).

    A model whose states depend on later tokens is run anew for each step; the weights are those of the last run. Raises ValueError for an
    empty target.
    """
    if not target:
        raise ValueError("a trace needs at least one target token")
    require_eval(model)
    src = torch.tensor([(*source, EOS)], device=model.projection.weight.device)
    tgt_in = torch.tensor([(BOS, *target[:-1])], device=src.device)
    output = model(src, tgt_in)
    if not model.cacheable:
        before = [model(src, tgt_in[:, :length]).logits[:, -1:] for length in range(1, tgt_in.shape[1])]
        output = output._replace(logits=torch.cat((*before, output.logits[:, -1:]), dim=1))
    sides = {"encoder": (src, src), "decoder": (tgt_in, tgt_in), "cross": (tgt_in, src)}
    encoder, decoder, cross = (_stack_layers(getattr(output, part), *map(len, (q[0], k[0]))) for part, (q, k) in sides.items())
    probabilities = output.logits[0].softmax(dim=-1).cpu().numpy()
    return Trace((*source, EOS), tuple(target), encoder, decoder, cross, probabilities)


def _stack_layers(weights: Sequence[torch.Tensor | None], queries: int, keys: int) -> np.ndarray:
    """Concatenates the weights of all attention layers (L, H, Q, K); a recurrent model has none."""
    layers = [layer for layer in weights if layer is not None]
    return torch.cat(layers).cpu().numpy() if layers else np.zeros((0, 0, queries, keys), dtype=np.float32)


# ---- greedy decoding and sampling: one token after the other, the likeliest or a random one ----


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
        ids, logprobs = state.code.write(most)
        state.record += [Pass(1, length, 1, scored=1) for length in range(1, len(ids) + 1)]
        return [Hypothesis(ids, logprobs, sum(logprobs))]
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
        if 0 < len(rows) < len(growing):  # sentences that have ended leave the batch
            remaining = torch.tensor(rows, device=written.device)
            written = written[remaining]
            state.select_rows(remaining)
        growing = [growing[row] for row in rows]
    for grew, values in likely:
        for (_, own), value in zip(grew, values.tolist(), strict=True):
            own.append(value)
    return [Hypothesis(tuple(ids), tuple(own), sum(own)) for ids, own in sentences]
