"""The heap: memory that nobody uses any more goes back to the system, where the C library can be told to; and what is there for as long as
the process is left alone by Python's collector."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from functools import cache

MAX_ARENAS, ARENAS = -8, 2  # glibc's number of the setting, and how many pools of free memory all threads share
RARELY = 200  # looks at what is new, for one at all there is
MMAP_THRESHOLD, TRIM_THRESHOLD, MOST_KEPT = -3, -1, 1 << 30  # bytes of a block, and of the free end of a heap, that stay with the process


@cache
def _call(name: str) -> Callable[..., int] | None:
    """A function of the C library; None where it has none of this name (Windows, macOS, musl)."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):
        return None


def share_arenas() -> None:
    """By default each thread that allocates gets a pool of its own, up to eight for a core, and what is free in one is of no use to
    another. To be said before threads are started."""
    if mallopt := _call("mallopt"):
        mallopt(MAX_ARENAS, ARENAS)


def keep_free_pages() -> None:
    """What a step of training frees, the next step takes again, and a fresh page costs more than what is computed in it: with a target
    vocabulary of 8,000 a step takes 114 ms of processor time by default, and 93 so, at the same peak. `give_back` still gives all back."""
    if mallopt := _call("mallopt"):
        mallopt(MMAP_THRESHOLD, MOST_KEPT)
        mallopt(TRIM_THRESHOLD, MOST_KEPT)


def give_back() -> None:
    """Free pages go back to the system. By itself glibc only gives back what lies at the end of the heap, and that is often in use."""
    if trim := _call("malloc_trim"):
        trim(0)


def leave_alone() -> None:
    """Whatever there is by now, libraries and the page, is there for good: Python's collector looks at it once more and never again. Each
    full look at these half a million objects takes a quarter of a second, in which the interpreter answers nobody. What comes later (a
    class's models, answers and sentences) takes nearly as long, so that is looked at once a minute and not every three seconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], RARELY)
