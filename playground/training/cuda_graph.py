"""CUDA graphs: on a GPU, a step of a small model is thousands of calls, and to make one takes longer than to compute it. So the calls of a
step are recorded once for each shape of batch, as a CUDA graph, and then set going all at once.
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
MAX_GRAPHS = 48  # graphs that are kept; a batch of yet another shape is computed call by call
Update = Callable[[Batch], Tensor]
_recording = threading.Lock()  # torch records one graph at a time in a process


class CapturedSteps:
    """Computes `update(batch)` for batches of any shape. `update` must work on the device alone: no number may come back to the host in it,
    and what it reads and writes besides the batch must stay where it is. It is not kept: it belongs to a training that holds this, and
    what holds each other would stay on the device until Python looks for such cycles.

    `record(update, batch)` gives what sets the recorded calls going again and returns their result; on a CUDA device it makes a graph. When
    it fails (a library that can't be recorded, too little memory for the graph), nothing has been computed, and all steps from then on are
    computed call by call. The log says so once.
    """

    def __init__(self, record: Callable[[Update, Batch], Callable[[], Tensor]]) -> None:
        self._record, self.failed = record, False
        self._met: set[Hashable] = set()
        self._kept: dict[Hashable, tuple[Batch, Callable[[], Tensor]]] = {}

    def __call__(self, update: Update, batch: Batch, constants: Hashable) -> Tensor:
        """`update` is the same every time, and `constants` all that is a plain number in it: recorded calls keep it."""
        batch = pad_to_multiple(batch)
        key = (constants, *(None if tensor is None else tensor.shape for tensor in batch))
        if key not in self._kept and not self._recorded(key, update, batch):
            return update(batch)
        place, again = self._kept[key]
        for there, new in zip(place, batch, strict=True):
            if there is not None and there is not new:
                there.copy_(new, non_blocking=True)
        return again()

    def _recorded(self, key: Hashable, update: Update, batch: Batch) -> bool:
        """Whether the update of this batch is recorded by now. The first time it isn't: then libraries get ready."""
        met = key in self._met
        self._met.add(key)
        if not met or self.failed or len(self._kept) >= MAX_GRAPHS:
            return False
        try:
            self._kept[key] = (batch, self._record(update, batch))
        except RuntimeError as error:  # as torch calls all that goes wrong on a device, too little memory among it
            self.failed = True
            log.warning("steps are computed call by call from now on, for one could not be recorded: %r", error)
        return not self.failed


def record_cuda_graph(generator: torch.Generator) -> Callable[[Update, Batch], Callable[[], Tensor]]:
    """Records on the device of this generator, from which the update draws. All graphs use the same memory for what each computes on the
    way: they are replayed one after the other, and a result is read before the next one."""
    pool, stream = torch.cuda.graph_pool_handle(), _stream(generator.device)

    def record(update: Update, batch: Batch) -> Callable[[], Tensor]:
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(generator)
        device, elsewhere = torch.cuda.device(generator.device), torch.cuda.stream(stream)  # which is left also when a recording fails
        with _recording, device, elsewhere, torch.cuda.graph(graph, pool, stream, capture_error_mode="thread_local"):
            result = update(batch)

        def again() -> Tensor:
            graph.replay()
            return result

        return again

    return record


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    """On which steps of this device are recorded. Torch's own is that of the first device, and each one more holds memory for good."""
    return torch.cuda.Stream(device)
