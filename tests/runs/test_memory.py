"""One budget for all that is kept: what nobody has asked for longest goes first, and a training waits where there is no room."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from playground.runs import memory as module
from playground.runs.health import health
from playground.runs.lru import LRU
from playground.runs.memory import Memory, descendants, held_bytes
from tests.runs.by_hand import begun, ended, ordered
from tests.runs.tiny import YOU, needed, tiny

linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux only")


def cache(**sizes):
    made = LRU(most_bytes=10_000, size=int)
    for name, size in sizes.items():
        made.put(name, size)
    return made


def budget(limit, shares=(), trainings=0, held=lambda: None):
    made = Memory(limit, held)
    for name, share in dict(shares).items():
        made.add(name, share)
    made.reserve_by(lambda: trainings)
    return made


@pytest.mark.fault("more kept at hand than the memory has room for", "what nobody has asked for longest goes, whichever share it is in")
def test_what_nobody_has_asked_for_longest_goes_whichever_share_it_is_in():
    one, other = cache(a=300), cache(b=300)
    one.put("c", 300)
    memory = budget(700, {"one": one, "two": other})
    memory.add("one", one)  # a share counts once
    assert memory.by_share() == {"trainings": 0, "one": 600, "two": 300}
    one.get("a")
    assert memory.keep_within() == 300
    assert ("a" in one, "b" in other, "c" in one) == (True, False, True)
    memory.limit = 300
    memory.keep_within()
    assert ("a" in one, "c" in one) == (True, False)
    assert memory.by_share() == {"trainings": 0, "one": 300, "two": 0}


def test_trainings_come_before_what_is_only_kept_and_where_nothing_can_go_nothing_breaks():
    values = cache(a=300, b=300)
    assert budget(1000, {"one": values}, trainings=600).keep_within() == 300
    assert ("a" in values, "b" in values) == (False, True)
    assert budget(10, {"empty": cache()}, trainings=100).keep_within() == 0


@pytest.mark.parametrize(("free", "gone"), [(0, 300), (600, 0)])
def test_what_the_system_says_counts_where_it_is_more_and_free_pages_go_before_anything(monkeypatch, free, gone):
    """A process that holds 900 bytes more than at the start, of which caches know 600, and malloc some that are free."""
    held, trimmed, values = [1000], [], cache(a=300, b=300)
    monkeypatch.setattr(module, "give_back", lambda: trimmed.append(held.__setitem__(0, 1900 - free)))
    memory = budget(800, {"one": values}, held=lambda: held[0])
    held[0] = 1900
    assert memory.keep_within() == gone
    assert ("a" in values, "b" in values) == (not gone, True)
    assert len(trimmed) == (2 if gone else 1), "before, which may be enough, and after"
    assert (memory.held, memory.used, memory.unaccounted) == (1900 - free, max(900 - free, 600), 2 * gone)


CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'data = bytearray(60_000_000); print(1, flush=True); input()'])"


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


@linux
def test_processes_count_until_they_are_gone_also_those_of_a_child():
    others = {*descendants()}  # of other tests
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"1\n"
        known = {*descendants()} - others
        assert child.pid in known
        assert len(known) >= 2
        assert held_bytes() - module._resident(os.getpid()) > 55_000_000
    finally:
        child.communicate(b"\n")
    assert not known & {*descendants()}


@pytest.mark.fault("no memory left for another training", "it waits, with a sentence, and trains once there is some; /health says so")
def test_a_training_waits_for_memory_that_something_else_has_taken(world):
    """And says so. Alone it trains in any case."""
    runs = world.restart(memory=2 * needed(tiny()) + 100)
    runs.memory._measure = lambda: None
    first = begun(world)
    assert ended(world, YOU, steps=2).status == "done", "there is room for both"
    runs.memory._measure = lambda: runs.memory._at_start + 2 * needed(tiny())
    runs.memory.look()
    third = runs.create(tiny(steps=2), YOU)
    world.turn()
    assert (third.status, third.place, third.message.key) == ("queued", 1, "runs.waits_for_memory")
    assert third.message.values["needed"] in str(third.message)
    report = health(runs)
    assert (report["status"], report["reasons"], report["runs"]["waiting"]) == ("busy", ["memory_full"], 1)
    job, version = runs._workers._jobs[third.id], third.version
    for place in (2, 1):
        job.place = place
        assert json.loads(runs.update(third, version)[0])["place"] == place, "pages hear of it"
        version += 1
    ordered(world, first, "stop")
    world.until(lambda: third.status == "done")
    assert third.message is None


@pytest.mark.fault("runs that have ended and that nobody looks at", "they leave the memory")
def test_what_a_run_at_rest_has_in_memory_goes_when_nobody_looks(world):
    old = ended(world)
    world.clock.passed += 500
    new = ended(world)
    for run in (old, new):
        _ = run.replay, run.snapshot
    world.runs.memory.limit, world.runs.memory._measure = world.runs.store.size(new), lambda: None
    world.runs._housekeeper.free_memory()
    assert ("replay" in old.parts, "replay" in new.parts) == (False, True)
    assert old.snapshot.step == 30, "it is on the disk"
