"""Truths about reading beside the page: the same answer as in this process, or an end within the limits."""

import gzip
import io
import subprocess
import sys
import threading
import time

import pytest

from playground.config import Refusal
from playground.reading.uploads import Choices, read_files
from playground.runs import upload_process
from playground.words import LANGUAGES

CREDITED = (
    "嗨。\tHi.\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 (A)\n你好\u200b。\tHello.\tCC-BY 2.0 (France) Attribution: tatoeba.org #2\n"
)
UPLOADS = {
    "tsv": ([("a.tsv", CREDITED.encode())], {}),
    "gz": ([("a.tsv.gz", gzip.compress(CREDITED.encode()))], {"swap": True}),
    "two": ([("a.de", b"eins\n\nzwei\n"), ("a.en", b"one\n\ntwo\n")], {}),
    "guessed": ([("a.csv", "source,target\ncafé,coffee\nthé vert,green tea\n,x\n".encode("latin-1"))], {"header": True}),
    "chosen": ([("a.csv", "id,en,de,fr\n1,a,b,c\n2,d,e,f\n".encode("utf-16"))], {"source": "de", "target": 3, "encoding": "utf-16"}),
    "inflected": ([("deu.trn", "".join(f"{n}en\t{n}t\tV;PRS\n{n}en\t{n}te\tV;PST\n" for n in "abcdefgh").encode())], {}),
    "undone": ([("a.tsv", b"don &apos;t\tni@@ cht\n\n")], {"undo": True}),
    "names like <b> and \u202e": ([("a/\u202e<b>\ud800.tsv", b"a\tb\n")], {}),
    "items": ([("a.json", b'[{"translation": {"en": "a", "de": "b"}}, {"translation": {"en": "", "de": "d"}}]')], {}),
}


def refused(files, **choices) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        upload_process.read(files, Choices(**choices))
    assert all(refusal.value.say(language) for language in LANGUAGES)
    return refusal.value


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", UPLOADS)
def test_the_same_as_in_this_process(name):
    files, choices = UPLOADS[name]
    assert upload_process.read(files, Choices(**choices)) == read_files(files, Choices(**choices))


def test_libraries_that_map_much_memory_have_room():
    pyarrow = pytest.importorskip("pyarrow")
    parquet, file = pytest.importorskip("pyarrow.parquet"), io.BytesIO()
    parquet.write_table(pyarrow.table({"en": ["a", "b"], "de": ["c", "d"]}), file)
    assert [pair[:2] for pair in upload_process.read([("a.parquet", file.getvalue())]).pairs] == [("a", "c"), ("b", "d")]


def test_many_pairs_come_in_order():
    content = "".join(f"s{n}\tt{n}\n" for n in range(12_345)).encode()
    assert upload_process.read([("a.tsv", content)]) == read_files([("a.tsv", content)])


def test_characters_on_a_side_may_be_limited():
    assert upload_process.read([("a.tsv", b"a\tb\nabc\td\n")], max_characters=2).dropped == {"long": (2,)}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("files", "choices"),
    [
        ([], {}),
        ([("a.tsv", b"")], {}),
        ([("a", b"a\nb\nc"), ("b", b"d\ne")], {}),
        ([("a.tsv", b"a\tb")], {"source": 7}),
        ([("a", b"%PDF")], {}),
    ],
)  # fmt: skip
def test_refusals_travel(files, choices):
    with pytest.raises(Refusal) as here:
        read_files(files, Choices(**choices))
    there = refused(files, **choices)
    assert (there.key, there.values) == (here.value.key, here.value.values)


def test_too_large_is_not_even_sent(monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    assert refused([("a", bytes(20 * 1024**2 + 1))]).key == "data.too_large"


def test_what_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(upload_process, "TIMEOUT_S", 0.01)
    assert refused([("a.tsv", b"a\tb")]).key == "data.reading_slow"


on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says how much memory a process has")


@on_linux
def test_what_takes_too_long_of_a_processor_is_stopped(monkeypatch):
    """By the clock it may take longer: on a busy machine others have the processor meanwhile."""
    monkeypatch.setattr(upload_process, "SECONDS", 1.0)
    found = refused([("long.tsv", b"".join(b"word %d in a line\tWort %d in einer Zeile\n" % (at, at) for at in range(200_000)))])
    assert (found.key, found.values) == ("data.reading_slow", {"name": "long.tsv", "limit": 1.0})


@on_linux
def test_what_needs_too_much_memory_is_stopped():
    wide = "\t".join(str(column) for column in range(20, 84)) + "\n"
    found = refused([("wide.tsv", (wide * 105_000).encode())])
    assert (found.key, found.values["name"]) == ("data.reading_memory", "wide.tsv")


@pytest.mark.parametrize(("code", "key"), [(1, "data.reading_failed"), (-9, "data.reading_memory"), (3, "data.reading_memory")])
def test_a_process_that_dies_is_a_refusal(monkeypatch, code, key):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], code, b"", b"Traceback"))
    assert refused([("a.tsv", b"a\tb")]).key == key


def test_two_at_once_and_the_others_wait(monkeypatch):
    running, most, lock = set(), [], threading.Lock()

    def run(*_, **__):
        with lock:
            running.add(threading.get_ident())
            most.append(len(running))
        time.sleep(0.05)
        with lock:
            running.discard(threading.get_ident())
        return subprocess.CompletedProcess([], 0, b'{"refusal": "data.how_many_files", "values": {"count": 0}}', b"")

    monkeypatch.setattr(subprocess, "run", run)
    threads = [threading.Thread(target=refused, args=([("a.tsv", b"a\tb")],)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(most), max(most)) == (6, 2)


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(upload_process, "ROOM_TIMEOUT_S", 0.01)
    monkeypatch.setattr(upload_process, "_ROOM", threading.BoundedSemaphore(1))
    with upload_process._ROOM:
        assert refused([("a.tsv", b"a\tb")]).key == "data.reading_busy"
    assert upload_process.read([("a.tsv", b"a\tb")]).pairs


def test_this_process_goes_on_meanwhile():
    content = "".join(f"Satz Nummer {n}\tsentence number {n}\n" for n in range(30_000)).encode()
    found, gaps = [], [0.0]
    thread = threading.Thread(target=lambda: found.append(upload_process.read([("a.tsv", content)])))
    thread.start()
    while thread.is_alive():
        started = time.perf_counter()
        time.sleep(0.001)
        gaps.append(time.perf_counter() - started)
    assert len(found[0].pairs) == 30_000
    assert len(gaps) > 20  # it was never waited for by this thread
