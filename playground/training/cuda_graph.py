"""CUDA graphs: a step of a small model is thousands of kernel launches, and each takes longer than its computation. So the calls of a step
are recorded once per batch shape and then replayed all at once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from functools import cache

import torch
from torch import Tensor

from playground.data.batches import Batch, pad_to_multiple

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
