"""Heap tuning: returns free memory to the system where the C library supports it, and exempts long-lived objects from Python's garbage
collector."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from functools import cache

MAX_ARENAS, ARENAS = -8, 2  # glibc's M_ARENA_MAX, and the number of arenas shared by all threads
FULL_COLLECTION_PERIOD = 200  # young collections per full collection
MMAP_THRESHOLD, TRIM_THRESHOLD, MOST_KEPT = -3, -1, 1 << 30  # glibc's; bytes of a block, and of the free heap end, that the process keeps


@cache
def _find_function(name: str) -> Callable[..., int] | None:
    """Returns a function of the C library; None where it is missing (Windows, macOS, musl)."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):
        return None


def share_arenas() -> None:
    """Limits malloc arenas: by default each allocating thread gets one, up to eight per core, and memory free in one can't be used by
    another. Call before starting threads."""
    if mallopt := _find_function("mallopt"):
        mallopt(MAX_ARENAS, ARENAS)


def keep_free_pages() -> None:
    """Keeps freed pages, since the next training step needs them again and fresh pages cost more than its arithmetic: with a target
    vocabulary of 8,000 a step takes 114 ms of processor time by default and 93 ms so, at the same peak. `trim_heap` still frees all."""
    if mallopt := _find_function("mallopt"):
        mallopt(MMAP_THRESHOLD, MOST_KEPT)
        mallopt(TRIM_THRESHOLD, MOST_KEPT)


def trim_heap() -> None:
    """Returns free pages to the system. By itself glibc only trims the end of the heap, which is often in use."""
    if trim := _find_function("malloc_trim"):
        trim(0)


def freeze_objects() -> None:
    """Freezes present objects (libraries, page) after a last collection: a full one over half a million objects takes a quarter of a
    second, in which no request is answered. Later objects (a class's models, answers, sentences) take nearly as long, so full collections
    run once a minute instead of every three seconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], FULL_COLLECTION_PERIOD)
