"""Truths about the Hub: rows stream in as they are there, and a sentence says what is missing: the library, the network, the data set."""

import sys
from types import SimpleNamespace

from playground.reading import opening
from playground.reading.opening import load_from_hub, read_stream
from tests.reading.outcomes import refusal_of

RECORDS = [{"id": str(n), "translation": {"en": f"a {n}", "de": f"b {n}"}} for n in range(5)]


def library(monkeypatch, load) -> list:
    """A stand-in for the library, and its calls."""
    calls = []
    load_dataset = lambda *arguments, **options: (calls.append((arguments, options)), load())[1]  # noqa: E731
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    monkeypatch.setattr(opening, "_is_reachable", lambda: True)
    return calls


def cells(table) -> list:
    return [row.cells for row in table.rows]


class Stream(list):
    """As the library streams rows, with pictures that may be left as they are."""

    info, features = SimpleNamespace(license="cc-by-4.0"), ("image",)

    def decode(self, wanted):
        assert wanted is False
        return [{"src": "a", "tgt": "b", "image": {"bytes": b"\x89PNG", "path": "x.png"}}]


def test_all_columns(monkeypatch):
    library(monkeypatch, Stream)
    table = load_from_hub("a/b")
    assert (table.credit, cells(table)[0][:2]) == ("huggingface.co/datasets/a/b (cc-by-4.0)", ["a", "b"])
    calls = library(monkeypatch, lambda: iter(RECORDS))
    for written in ("{}", " {}\n", "https://huggingface.co/datasets/{}/"):
        table = load_from_hub(written.format("Helsinki-NLP/opus_books"), "de-en")
        assert (table.kind, table.unit, table.columns, table.pair, table.notes) == ("hub", "item", ("en", "de", "id"), None, ())
        assert cells(table) == [[f"a {n}", f"b {n}", str(n)] for n in range(5)]
        assert table.credit == "huggingface.co/datasets/Helsinki-NLP/opus_books"
        assert calls.pop() == (("Helsinki-NLP/opus_books", "de-en"), {"split": "train", "streaming": True, "token": False})


def test_only_the_first_rows_are_read():
    stream = iter(RECORDS)
    table = read_stream(stream, "x", rows=2)
    assert (len(table.rows), table.notes, len(list(stream))) == (2, (("data.note_first_rows", {"rows": 2}),), 2)
    assert read_stream(RECORDS, "x", rows=5).notes == ()


def test_what_is_no_name_and_a_library_or_a_network_that_is_missing(monkeypatch, tmp_path):
    calls = library(monkeypatch, lambda: iter(RECORDS))
    for dataset in ("", "squad", "../etc", "a/..", "a/b/c", "/etc/passwd", "a b/c", "http://x/y", "é/a", "a" * 200 + "/b"):
        assert refusal_of(load_from_hub, dataset).key == "data.hub_id", dataset
    (tmp_path / "a" / "b").mkdir(parents=True)
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        assert refusal_of(load_from_hub, "a/b").key == "data.hub_unknown"  # a folder here is no data set
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "datasets", None)
        assert refusal_of(load_from_hub, "a/b").key == "data.hub_missing"
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=lambda *a, **o: calls.append(a)))
    monkeypatch.setattr(opening, "getproxies", dict)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert refusal_of(load_from_hub, "a/b").key == "data.hub_away"
    assert not calls


def test_an_error_of_the_library_becomes_a_refusal(monkeypatch):
    def stream(first, error):
        yield from first
        raise error

    for error, key, values in (
        (type("DatasetNotFoundError", (FileNotFoundError,), {})("It doesn't exist."), "data.hub_unknown", {}),
        (RuntimeError("Dataset scripts are no longer supported, but found b.py"), "data.hub_script", {}),
        (ConnectionError("Couldn't reach 'a/b' on the Hub (ConnectError)"), "data.hub_away", {}),
        (ValueError("Config name is missing.\nPlease pick one among the available configs: ['de-en', 'de-fr']\nExample:\n\t`f('a/b')`"),
         "data.hub_config", {"configs": "de-en, de-fr"}),
        (ValueError("BuilderConfig 'c' not found. Available: ['de-en']"), "data.hub_config", {"config": "c", "configs": "de-en"}),
        (ValueError("Bad split: s. Available splits: ['train', 'test']"), "data.hub_split", {"split": "s", "splits": "train, test"}),
        (KeyError("what"), "data.hub_failed", {}),
    ):  # fmt: skip
        for failing in (lambda error=error: next(stream([], error)), lambda error=error: stream(RECORDS, error)):  # at once, or while read
            library(monkeypatch, failing)
            refused = refusal_of(load_from_hub, "a/b", "c", "s")
            assert refused.key == key
            assert values.items() <= refused.values.items()
    library(monkeypatch, lambda: iter([]))
    assert refusal_of(load_from_hub, "a/b").key == "data.hub_empty"
