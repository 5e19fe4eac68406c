"""A playground for the Transformer of "Attention Is All You Need". Read in this order:

config (every choice) with choices (those that are more than a name) and knobs (what a knob is) · cursor (every place to look) with fields
(their kinds) · tasks (toy tasks) · model (the paper) · data (sentences in, batches out) · training (a generator of steps) · decoding
(greedy, sampling, beam search) · inspection (facts about arrays) · variants (a model changed on purpose) · runs (threads, disk, the replay)
· queries (what is asked of a run) · export (a run taken home) · hub (the Hugging Face Hub) · lessons (labs, experiments, the course) ·
rooms (a class) · backup (all that is kept, as one file) · figures (arrays in, pictures out) · zero_gpu (a Space whose GPU is lent) · ui
(the page) · freeze (the page as files) · reading (the files that people bring) · words (every sentence a person reads) · logs (a line for
each event) · fetching and pretrained (a model in a line of Python) · arguments and cli (the command line) · readme (what the README takes
from the code).
"""

import importlib
import os

# Torch's threads wait for each other many times in a step. By default they wait busily, which on a machine that has other work to do made
# a step of two threads 5 to 18 times slower. It must be said before torch is loaded for the first time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Numpy's threads always wait busily, and what is asked of them here is small: the axes of 200 vectors took two threads 0.9 ms, and 127 ms
# beside two trainings; they take one thread 0.7 and 2.3 ms. It must be said before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# So many products of matrices are kept compiled, in each of the two caches that oneDNN and torch's layer over it have. Packed batches are
# of ever new shapes: by default, 1,024, a training of width 192 in bfloat16 held 285 MB more after 160 steps, and of width 256 in float32
# 25 MB more with 64 than with 16. No step took longer with 16; with 2 it took a fifth longer.
for _capacity in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
    os.environ.setdefault(_capacity, "16")


def __getattr__(name: str) -> object:
    """`playground.load`, which needs torch, is there from the first time that somebody asks for it."""
    if name == "load":
        return importlib.import_module("playground.pretrained").load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
