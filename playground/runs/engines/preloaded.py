"""What the process has in memory that children are forked off: importing this loads it. They share it with each other as long as nobody
writes to it, and begin in a tenth of a second.

Only what starts no thread is done here: a thread does not come along into a child.
"""

from __future__ import annotations

import gc
from contextlib import suppress

import torch

from playground.runs.engines import children  # noqa: F401  and all that it needs
from playground.runs.queue.warmup import smallest

with suppress(Exception):  # whoever trains will say what is wrong
    torch.set_num_threads(1)
    smallest()  # the first optimiser of a process imports for a second
gc.collect()
gc.freeze()  # the collector writes to whatever it looks at
