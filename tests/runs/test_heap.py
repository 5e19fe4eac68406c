"""What is free goes back to the system, in a process of its own; and where the C library can't be told to, nothing happens."""

import ctypes
import gc
import subprocess
import sys

import pytest

from playground.runs import heap
from playground.runs.queue import warmup

HOLES = """
import os
from pathlib import Path
from playground.runs import heap
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
heap.share_arenas()
blocks = [os.urandom(60_000) for _ in range(2000)]
del blocks[:-1]  # the last one is at the end of the heap
before = resident()
heap.give_back()
print(before - resident())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="glibc only")
def test_holes_in_the_heap_are_given_back():
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) > 80_000_000


def test_other_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(heap, "_call", lambda name: None)
    heap.share_arenas()
    heap.keep_free_pages()
    heap.give_back()


def test_once_it_is_warm_the_collector_leaves_alone_what_there_is(monkeypatch):
    """Looking at all of it takes a quarter of a second, in which the interpreter answers nobody: what comes later is looked at rarely."""
    monkeypatch.setattr(warmup, "_ready", set())
    monkeypatch.setattr(warmup, "_train_smallest", lambda device: None)
    before = [{}]
    warmup.warm_up()
    after = [{}]
    looked_at = set(map(id, gc.get_objects()))
    assert id(after) in looked_at
    assert id(before) not in looked_at
    assert gc.get_threshold()[2] == heap.RARELY
