"""A playground for the Transformer of "Attention Is All You Need". Read in this order:

config (every setting) with choices (properties of named choices) and knobs (types and checks) · cursor (every view setting) · tasks (toy
tasks) · model (the paper) · data (sentences in, batches out) · training (a generator of steps) · decoding (greedy, sampling, beam search) ·
inspection (facts about arrays) · variants (deliberate changes of the model) · runs (threads, disk, the replay) · ray (training on a Ray
cluster) · queries (analyses of a run) · export (a run as a zip) · hub (the Hugging Face Hub) · lessons (labs, experiments, the course) ·
rooms (a class) · handin (signed results) · backup (a server's store as one file) · figures (arrays in, pictures out) · ui
(the page) · freeze (the page as static files) · reading (uploaded files) · words (every sentence of the interface) · logs (one line per
event) · pretrained, scripting and plot (a model, its training, and the attention of any model, in a line of Python) · exercises (a notebook
of functions to write) · cli (the command line) · readme (the README's generated parts).
"""

import importlib
import os

__version__ = "1.0.0"

# Torch's threads wait for each other many times in a step. By default they spin, which on a busy machine made a step of two threads 5 to 18
# times slower. Must be set before torch is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Numpy's threads always spin, and its workloads here are small: the axes of 200 vectors took two threads 0.9 ms, and 127 ms beside two
# trainings; one thread takes 0.7 and 2.3 ms. Must be set before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Capacity of the two caches of compiled products, oneDNN's and that of torch's layer over it. Packed batches have ever new shapes: by
# default, 1,024, a training of width 192 in bfloat16 held 285 MB more after 160 steps, and of width 256 in float32 25 MB more with 64 than
# with 16. No step took longer with 16; with 2 it took a fifth longer.
for _capacity in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
    os.environ.setdefault(_capacity, "16")


def __getattr__(name: str) -> object:
    """Imports what needs torch at its first use: `playground.load`, `train`, `repeat` and `plot`."""
    if module := {"load": "pretrained", "train": "scripting", "repeat": "scripting", "plot": "plot"}.get(name):
        imported = importlib.import_module(f"playground.{module}")
        return imported if name == module else getattr(imported, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
