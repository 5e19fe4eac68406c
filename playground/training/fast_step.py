"""A faster step: the loss over a large vocabulary, a few rows at a time; and steps recorded as CUDA graphs.

All logits of a batch take more memory than everything else in a narrow model, and autograd makes six passes over them through main memory.
The gradient of cross-entropy is known with the logits of a row: so a chunk of rows is projected, its loss and gradients are added up while
it is still in the cache, and its logits are dropped. The sums are those of step.py, in another order.

A step of a small model is thousands of kernel launches, and each takes longer than its computation. So the calls of a step are recorded
once per batch shape and then replayed all at once.
"""

import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from playground.config import PAD
from playground.data.batches import Batch, pad_to_multiple
from playground.model.costs import CHUNK, is_chunked
from playground.model.transformer import Transformer
from playground.training.replicas import SIZES, multiply


def uses_chunks(model: Transformer, tgt_in: Tensor) -> bool:
    """Returns whether the loss of this batch (B, T) is computed in chunks: never when a hook on the projection expects its logits."""
    watched = bool(model.projection._forward_hooks)  # torch has no public way to ask
    return is_chunked(tgt_in.numel(), model.tgt_vocab) and torch.is_grad_enabled() and not watched


@contextmanager
def skip_projection(model: Transformer) -> Iterator[None]:
    """Makes a replica's projection return its input states (B, T, D) inside the block."""
    model.project = lambda states: states
    try:
        yield
    finally:
        del model.project


def chunked_cross_entropy(
    states: Tensor, weight: Tensor, bias: Tensor | None, tgt_out: Tensor, label_smoothing: float = 0.0, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Computes `cross_entropy` of the logits states W^T + b. states (B, T, D), weight (V, D), bias (V,), tgt_out (B, T) -> a scalar.

    The products are computed in `dtype` and everything else in float32.
    """
    with torch.autocast(states.device.type, enabled=False):
        return _ChunkedLoss.apply(states.flatten(0, 1), weight, bias, tgt_out.flatten(), label_smoothing, dtype)


class _ChunkedLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        dtype: torch.dtype,
    ) -> Tensor:
        count, vocab, rows = len(states), len(weight), max(1, CHUNK // len(weight))
        missing = -count % max(1, rows // SIZES)  # so that the last chunk has one of few shapes, see replicas.py
        x, targets = F.pad(states, (0, 0, 0, missing)), F.pad(targets, (0, missing), value=PAD)[:, None]
        real = targets != PAD
        shares = real / real.sum()  # weight of each token in the mean (N, 1)
        weighted, factor = (x * shares).to(dtype), weight.to(dtype)
        shift = None if bias is None else bias.to(dtype)
        loss, to_states, to_weight = shares.new_zeros(()), torch.empty_like(x), weight.new_zeros(weight.shape[::-1])
        to_bias = None if bias is None else torch.zeros_like(bias)
        parts = (of_all.split(rows) for of_all in (x.to(dtype), weighted, to_states, targets, shares))
        for chunk, weighted_chunk, to_chunk, target, share in zip(*parts, strict=True):
            logits = multiply(chunk, factor, shift).float()
            gradient = logits.softmax(dim=-1)
            # The likeliest token's probability is at least 1 / V, so its logarithm is exact where another token's would not be.
            normaliser = logits.amax(dim=-1, keepdim=True) - gradient.amax(dim=-1, keepdim=True).log()
            losses = normaliser - (1 - smoothing) * logits.gather(1, target)
            if smoothing:
                losses -= smoothing * logits.mean(dim=-1, keepdim=True)
                gradient -= smoothing / vocab
            loss += (losses * share).sum()
            gradient.scatter_add_(1, target, gradient.new_full(target.shape, smoothing - 1))
            narrow = gradient.to(dtype)
            torch.mul(multiply(narrow, factor.t()), share, out=to_chunk)
            to_weight += multiply(weighted_chunk.t(), narrow.t())  # the wider of the two at the right, as in replicas.py
            if to_bias is not None:
                to_bias.addmv_(gradient.t(), share.squeeze(1))
        ctx.save_for_backward(to_states[:count], to_weight, to_bias)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        to_states, to_weight, to_bias = ctx.saved_tensors
        to_weight = torch.mul(to_weight.t(), gradient, out=torch.empty_like(to_weight.t(), memory_format=torch.contiguous_format))
        return to_states * gradient, to_weight, None if to_bias is None else to_bias * gradient, None, None, None


# ---- CUDA graphs ----

log = logging.getLogger(__name__)
MAX_GRAPHS = 48  # cached graphs; a batch of yet another shape is computed call by call
Update = Callable[[Batch], Tensor]
_recording = threading.Lock()  # torch records one graph at a time in a process


class CapturedSteps:
    """Computes `update(batch)` for batches of any shape, replaying recorded calls. `update` must run on the device alone: no number may be
    copied to the host, and the tensors it reads and writes besides the batch must stay in place. It is not stored here: it belongs to a
    training that holds this object, and a reference cycle would stay on the device until Python's collector finds it.

    `record(update, batch)` returns a function that replays the recorded calls and returns their result; on a CUDA device it makes a graph.
    When recording fails (a library that can't be recorded, too little memory), nothing has been computed, the log says so once, and all
    later steps are computed call by call.
    """

    def __init__(self, record: Callable[[Update, Batch], Callable[[], Tensor]]) -> None:
        self._record, self.failed = record, False
        self._met: set[Hashable] = set()
        self._graphs: dict[Hashable, tuple[Batch, Callable[[], Tensor]]] = {}

    def __call__(self, update: Update, batch: Batch, constants: Hashable) -> Tensor:
        """Runs the update. `update` is the same every time; `constants` are its plain numbers, which recorded calls bake in."""
        batch = pad_to_multiple(batch)
        key = (constants, *(None if tensor is None else tensor.shape for tensor in batch))
        if key not in self._graphs and not self._record_graph(key, update, batch):
            return update(batch)
        inputs, replay = self._graphs[key]
        for old, new in zip(inputs, batch, strict=True):
            if old is not None and old is not new:
                old.copy_(new, non_blocking=True)
        return replay()

    def _record_graph(self, key: Hashable, update: Update, batch: Batch) -> bool:
        """Records the update of this batch, but not at its first use, a warm-up; returns whether it is recorded."""
        met = key in self._met
        self._met.add(key)
        if not met or self.failed or len(self._graphs) >= MAX_GRAPHS:
            return False
        try:
            self._graphs[key] = (batch, self._record(update, batch))
        except RuntimeError as error:  # torch's type for every device error, including too little memory
            self.failed = True
            log.warning("steps are computed call by call from now on, for one could not be recorded: %r", error)
        return not self.failed


def record_cuda_graph(generator: torch.Generator) -> Callable[[Update, Batch], Callable[[], Tensor]]:
    """Returns a recorder for the device of this generator, from which the update draws. All graphs share one memory pool for intermediate
    tensors: they are replayed one after the other, and a result is read before the next replay."""
    pool, stream = torch.cuda.graph_pool_handle(), _stream(generator.device)

    def record(update: Update, batch: Batch) -> Callable[[], Tensor]:
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(generator)
        device, side_stream = torch.cuda.device(generator.device), torch.cuda.stream(stream)  # both are left when a recording fails
        with _recording, device, side_stream, torch.cuda.graph(graph, pool, stream, capture_error_mode="thread_local"):
            result = update(batch)

        def replay() -> Tensor:
            graph.replay()
            return result

        return replay

    return record


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    """Returns the recording stream of a device, cached: torch's own is the first device's, and every stream holds memory for good."""
    return torch.cuda.Stream(device)
