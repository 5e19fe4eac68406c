"""CUDA graphs: on a GPU, a step of a small model is thousands of calls, and to make one takes longer than to compute it. So the calls of a
step are recorded once for each shape of batch, as a CUDA graph, and then set going all at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable

import torch
from torch import Tensor

from playground.data.batches import Batch, pad_to_multiple

log = logging.getLogger(__name__)
MAX_GRAPHS = 16  # graphs that are kept; a batch of yet another shape is computed call by call
Update = Callable[[Batch], Tensor]


class CapturedSteps:
    """Computes `update(batch)` for batches of any shape. `update` must work on the device alone: no number may come back to the host in it,
    and what it reads and writes besides the batch must stay where it is.

    `record(update, batch)` gives what sets the recorded calls going again and returns their result; on a CUDA device it makes a graph. When
    it fails (a library that can't be recorded, too little memory for the graph), nothing has been computed, and all steps from then on are
    computed call by call. The log says so once.
    """

    def __init__(self, update: Update, record: Callable[[Update, Batch], Callable[[], Tensor]]) -> None:
        self._update, self._record, self.failed = update, record, False
        self._met: set[Hashable] = set()
        self._kept: dict[Hashable, tuple[Batch, Callable[[], Tensor]]] = {}

    def __call__(self, batch: Batch, constants: Hashable) -> Tensor:
        """`constants` is all that is a plain number in `update`: recorded calls keep it."""
        batch = pad_to_multiple(batch)
        key = (constants, *(None if tensor is None else tensor.shape for tensor in batch))
        if key not in self._kept and not self._recorded(key, batch):
            return self._update(batch)
        place, again = self._kept[key]
        for there, new in zip(place, batch, strict=True):
            if there is not None and there is not new:
                there.copy_(new, non_blocking=True)
        return again()

    def _recorded(self, key: Hashable, batch: Batch) -> bool:
        """Whether the update of this batch is recorded by now. The first time it isn't: then libraries get ready."""
        met = key in self._met
        self._met.add(key)
        if not met or self.failed or len(self._kept) >= MAX_GRAPHS:
            return False
        try:
            self._kept[key] = (batch, self._record(self._update, batch))
        except RuntimeError as error:  # as torch calls all that goes wrong on a device, too little memory among it
            self.failed = True
            log.warning("steps are computed call by call from now on, for one could not be recorded: %r", error)
        return not self.failed


def record_cuda_graph(generator: torch.Generator) -> Callable[[Update, Batch], Callable[[], Tensor]]:
    """Records on the device of this generator, from which the update draws."""

    def record(update: Update, batch: Batch) -> Callable[[], Tensor]:
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(generator)
        with torch.cuda.device(generator.device), torch.cuda.graph(graph, capture_error_mode="thread_local"):
            result = update(batch)

        def again() -> Tensor:
            graph.replay()
            return result

        return again

    return record
