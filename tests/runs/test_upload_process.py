"""Reading beside the page: the same answer as here, or an end within limits; by turns, cheap before costly, with a place for others."""

import gc
import gzip
import io
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import pytest

from playground.config import Refusal
from playground.reading.column_mapping import Choices
from playground.reading.formats import SECONDS
from playground.reading.uploads import read_files
from playground.runs import upload_process
from playground.runs.upload_process import HALF_LIFE_S, MAX_WAITING, UploadQueue
from playground.words import LANGUAGES
from tests.reading.test_unpacking import zipped

CREDITED = (
    "嗨。\tHi.\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 (A)\n你好\u200b。\tHello.\tCC-BY 2.0 (France) Attribution: tatoeba.org #2\n"
)
UPLOADS = [
    ([("a.tsv.gz", gzip.compress(CREDITED.encode()))], {"swap": True}),
    ([("a.csv", "source,target\ncafé,coffee\nthé vert,green tea\n,x\n".encode("latin-1"))], {"header": True}),
    ([("a.csv", "id,en,de,fr\n1,a,b,c\n2,d,e,f\n".encode("utf-16"))], {"source": "de", "target": 3, "encoding": "utf-16"}),
    ([("deu.trn", "".join(f"{n}en\t{n}t\tV;PRS\n{n}en\t{n}te\tV;PST\n" for n in "abcdefgh").encode())], {}),
    ([("a.zip", zipped(("train.tsv", b"a\tb"), ("test.tsv", b"c\td"), ("dev.tsv", b"e\tf")))], {}),
    ([("a/\u202e<b>\ud800.tsv", b"don &apos;t\tni@@ cht\n\n")], {"undo": True}),
]
REFUSED = [([], {}), ([("a", b"a\nb\nc"), ("b", b"d\ne")], {}), ([("a.tsv", b"a\tb")], {"source": 7}), ([("a", b"%PDF")], {})]
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says how much memory a process has")


def refused(files, **choices) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        upload_process.read(files, Choices(**choices))
    assert all(refusal.value.say(language) for language in LANGUAGES)
    return refusal.value


@pytest.fixture
def here(monkeypatch):
    """The other process's work is done in this one."""

    def run(command, input, **options):
        answer = io.BytesIO()
        try:
            code = upload_process.main(io.BytesIO(input), answer)
        finally:
            gc.enable()
        return subprocess.CompletedProcess(command, code, answer.getvalue(), b"")

    monkeypatch.setattr(upload_process, "_limit_resources", lambda seconds, memory: None)
    monkeypatch.setattr(subprocess, "run", run)


def test_the_same_pairs_and_refusals_as_in_this_process_and_each_gives_its_place_back(here, monkeypatch):
    for files, choices in UPLOADS:
        assert upload_process.read(files, Choices(**choices)) == read_files(files, Choices(**choices))
    for files, choices in REFUSED:
        with pytest.raises(Refusal) as directly:
            read_files(files, Choices(**choices))
        there = refused(files, **choices)
        assert (there.key, there.values) == (directly.value.key, directly.value.values)
    monkeypatch.setattr(upload_process, "QUEUE_TIMEOUT_S", 0.01)
    monkeypatch.setattr(upload_process, "UPLOAD_QUEUE", turns := UploadQueue(1))
    for _ in range(2):
        assert upload_process.read([("a.tsv", b"a\tb")], asker=("address",)).pairs
        assert refused([("a.tsv", b"")]).key
    assert turns.cost("address") > 0
    with turns.turn((), 1, 0.0):
        assert refused([("a.tsv", b"a\tb")]).key == "data.reading_busy"


def test_in_a_process_of_its_own_pairs_come_in_order_refusals_travel_and_what_is_too_large_or_slow_does_not(monkeypatch):
    content = "".join(f"s{n}\tt{n}\n" for n in range(12_345)).encode()
    assert upload_process.read([("a.tsv", content)]) == read_files([("a.tsv", content)])
    assert upload_process.read([("a.tsv", b"a\tb\nabc\td\n")], max_characters=2).dropped == {"long": (2,)}
    assert refused([("a.tsv", b"")]).key == "data.nothing_inside"
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", None)
        assert refused([("a", bytes(20 * 1024**2 + 1))]).key == "data.too_large"
    monkeypatch.setattr(upload_process, "TIMEOUT_S", 0.01)
    assert refused([("a.tsv", b"a\tb")]).key == "data.reading_slow"


@on_linux
def test_what_needs_too_much_memory_or_too_long_of_a_processor_is_stopped(monkeypatch):
    wide = "\t".join(str(column) for column in range(20, 84)) + "\n"
    found = refused([("wide.tsv", (wide * 105_000).encode())])
    assert (found.key, found.values["name"]) == ("data.reading_memory", "wide.tsv")
    monkeypatch.setattr(upload_process, "SECONDS", 1.0)
    found = refused([("long.tsv", b"".join(b"word %d in a line\tWort %d in einer Zeile\n" % (at, at) for at in range(200_000)))])
    assert (found.key, found.values) == ("data.reading_slow", {"name": "long.tsv", "limit": 1.0})


@pytest.mark.parametrize(("code", "key"), [(1, "data.reading_failed"), (-9, "data.reading_memory"), (3, "data.reading_memory")])
def test_a_process_that_dies_is_a_refusal(monkeypatch, code, key):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], code, b"", b"Traceback"))
    assert refused([("a.tsv", b"a\tb")]).key == key


class World:
    def __init__(self) -> None:
        self.now, self.order, self.threads = 0.0, [], []
        self.turns = UploadQueue(2, lambda: self.now)

    def read(self, *asker: str, seconds: float = 0.0, size: int = 1) -> None:
        with self.turns.turn(asker, size, 0.0) as turn:
            turn.seconds = seconds

    def wait(self, *asker: str, size: int = 1) -> None:
        """Another thread waits for its turn, and notes when it comes."""

        def work() -> None:
            with self.turns.turn(asker, size, 60.0):
                self.order.append((*asker, size))

        waiting = len(self.turns._waiting)
        self.threads.append(threading.Thread(target=work, daemon=True))
        self.threads[-1].start()
        while len(self.turns._waiting) == waiting:
            time.sleep(0.001)


@pytest.fixture
def world() -> World:
    return World()


def is_refused(world: World, *asker: str) -> bool:
    try:
        world.read(*asker)
    except Refusal as refusal:
        return refusal.key == "data.reading_busy"
    return False


def test_a_costly_address_leaves_a_place_and_has_few_that_wait(world):
    world.read("greedy", "g", seconds=SECONDS + 1)
    with world.turns.turn(("greedy", "g"), 1, 0.0):
        assert is_refused(world, "greedy", "h")
        for _ in range(MAX_WAITING):
            world.wait("greedy", "g")
        assert is_refused(world, "greedy", "h")
        assert not is_refused(world, "school", "a")
        with world.turns.turn(("school", "a"), 1, 0.0):
            assert is_refused(world, "school", "b")  # both places are taken
    for thread in world.threads:
        thread.join(60)
    assert world.order == [("greedy", "g", 1)] * MAX_WAITING
    world.now += 10 * HALF_LIFE_S  # what it has cost counts for little by now
    with ExitStack() as both:
        for _ in range(2):
            both.enter_context(world.turns.turn(("greedy", "g"), 1, 0.0))


def test_what_costs_little_goes_first(world):
    world.read("near", "dear", seconds=2.0)
    world.read("far", "f", seconds=3.0)
    with world.turns.turn(("x", "x"), 1, 0.0):
        with world.turns.turn(("y", "y"), 1, 0.0):
            waiting = ("far", "f", 1), ("near", "dear", 1), ("near", "cheap", 9), ("near", "cheap", 2), ("new", "n", 50)
            for address, visitor, size in waiting:
                world.wait(address, visitor, size=size)
        for thread in world.threads:
            thread.join(60)
    assert world.order == [("new", "n", 50), ("near", "cheap", 2), ("near", "cheap", 9), ("near", "dear", 1), ("far", "f", 1)]
