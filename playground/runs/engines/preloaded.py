"""Preloads the process from which children are forked: they share its memory pages while none writes to them, and start in a tenth of a
second.

Nothing here may start a thread: threads are not inherited by a fork.
"""

import gc
from contextlib import suppress

import torch

from playground.runs.engines import children  # noqa: F401  loads its dependencies
from playground.runs.machine_speed import build_smallest

with suppress(Exception):  # the first training will report the error
    torch.set_num_threads(1)
    build_smallest()  # a process's first optimiser imports for a second
gc.collect()
gc.freeze()  # a collection would write to the shared pages
