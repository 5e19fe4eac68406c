"""Truths about the Hub: rows stream in as they are there, and a sentence says what is missing: the library, the network, the data set."""

import json
import sys
from types import SimpleNamespace

import pytest

from playground.config import Refusal
from playground.reading import hub
from playground.reading.hub import from_hub, table_from
from tests.reading.outcomes import check_refusal

RECORDS = [{"id": str(n), "translation": {"en": f"a {n}", "de": f"b {n}"}} for n in range(5)]


class DatasetNotFoundError(FileNotFoundError):
    """As the library calls its own."""


def library(monkeypatch, load) -> list:
    """A stand-in for the library, and its calls."""
    calls = []

    def load_dataset(*arguments, **options):
        calls.append((arguments, options))
        return load()

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    monkeypatch.setattr(hub, "_reachable", lambda: True)
    return calls


def refusal(*arguments, **options) -> Refusal:
    with pytest.raises(Refusal) as refused:
        from_hub(*arguments, **options)
    check_refusal(refused.value)
    return refused.value


def cells(table) -> list:
    return [row.cells for row in table.rows]


class Stream(list):
    """As the library streams rows, with pictures that may be left as they are."""

    info, features = SimpleNamespace(license="cc-by-4.0"), ("image",)

    def decode(self, wanted):
        assert wanted is False
        return [{"src": "a", "tgt": "b", "image": {"bytes": b"\x89PNG", "path": "x.png"}}]


@pytest.mark.parametrize("written", ["{}", " {}\n", "https://huggingface.co/datasets/{}/"])
def test_all_columns(monkeypatch, written):
    library(monkeypatch, Stream)
    assert from_hub("a/b").credit == "huggingface.co/datasets/a/b (cc-by-4.0)"
    assert cells(table_from(Stream(), "x"))[0][:2] == ["a", "b"]
    calls = library(monkeypatch, lambda: iter(RECORDS))
    table = from_hub(written.format("Helsinki-NLP/opus_books"), "de-en")
    assert (table.kind, table.unit, table.columns, table.pair, table.notes) == ("hub", "item", ("en", "de", "id"), None, ())
    assert cells(table) == [[f"a {n}", f"b {n}", str(n)] for n in range(5)]
    assert table.credit == "huggingface.co/datasets/Helsinki-NLP/opus_books"
    assert calls == [(("Helsinki-NLP/opus_books", "de-en"), {"split": "train", "streaming": True, "token": False})]


FLAT = [{"de": 1, "en": "one", "more": "x"}, {"de": 2, "en": None, "more": "x"}]


@pytest.mark.parametrize(
    ("records", "columns", "names", "expected"),
    [
        (RECORDS[:1], ("translation.de", "translation.en"), ("translation.de", "translation.en"), [["b 0", "a 0"]]),
        (FLAT, ("de", "en"), ("de", "en"), [["1", "one"], ["2", ""]]), (FLAT, ("en", "de"), ("en", "de"), [["one", "1"], ["", "2"]]),
        (RECORDS[:1], ("translation",), ("en", "de"), [["a 0", "b 0"]]),
        ([{"a.b": "c", "d": "e"}], ("a.b", "d"), ("a.b", "d"), [["c", "e"]]),
    ],
)  # fmt: skip
def test_columns_are_read_in_the_order_that_was_chosen(records, columns, names, expected):
    table = table_from(records, "x", columns)
    assert (table.columns, cells(table)) == (names, expected)
    assert table.pair == ((0, 1) if len(columns) == 2 else None)


def test_only_the_first_rows_are_asked_for():
    given = iter(RECORDS)
    table = table_from(given, "x", rows=2)
    assert len(table.rows) == 2
    assert table.notes == (("data.note_first_rows", {"rows": 2}),)
    assert len(list(given)) == 2
    assert table_from(RECORDS, "x", rows=5).notes == ()
    assert len(table_from(RECORDS, "x", rows=0).rows) == 1


# --- what can be wrong ---


def test_the_name_is_looked_at_first(monkeypatch, tmp_path):
    calls = library(monkeypatch, lambda: iter(RECORDS))
    for dataset in ("", "squad", "../etc", "a/..", "a/b/c", "/etc/passwd", "a b/c", "http://x/y", "é/a", "a" * 200 + "/b"):
        assert refusal(dataset).key == "data.hub_id", dataset
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert refusal("a/b").key == "data.hub_unknown"  # a folder here is no data set
    assert not calls


def test_without_the_library_or_a_network(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "datasets", None)
        assert refusal("a/b").key == "data.hub_missing"
    calls = library(monkeypatch, lambda: iter(RECORDS))
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=lambda *a, **o: calls.append(a)))
    monkeypatch.setattr(hub, "getproxies", dict)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert refusal("a/b").key == "data.hub_away"
    assert not calls


@pytest.mark.parametrize(
    ("error", "key", "values"),
    [
        (DatasetNotFoundError("Dataset 'a/b' doesn't exist on the Hub or cannot be accessed."), "data.hub_unknown", {}),
        (RuntimeError("Dataset scripts are no longer supported, but found b.py"), "data.hub_script", {}),
        (ConnectionError("Couldn't reach 'a/b' on the Hub (ConnectError)"), "data.hub_away", {}),
        (TimeoutError(), "data.hub_away", {}),
        (ValueError("Config name is missing.\nPlease pick one among the available configs: ['de-en', 'de-fr']\nExample:\n\t`f('a/b')`"),
         "data.hub_config", {"configs": "de-en, de-fr"}),
        (ValueError("BuilderConfig 'c' not found. Available: ['de-en']"), "data.hub_config", {"config": "c", "configs": "de-en"}),
        (ValueError("Bad split: s. Available splits: ['train', 'test']"), "data.hub_split", {"split": "s", "splits": "train, test"}),
        (KeyError("what"), "data.hub_failed", {}),
    ],
)  # fmt: skip
def test_an_error_of_the_library_becomes_a_refusal(monkeypatch, error, key, values):
    def stream(first):
        yield from first
        raise error

    for failing in (lambda: next(stream([])), lambda: stream(RECORDS)):  # at once, or while the rows are read
        library(monkeypatch, failing)
        refused = refusal("a/b", "c", "s")
        assert refused.key == key
        assert values.items() <= refused.values.items()


def test_an_empty_split_and_an_unknown_column(monkeypatch):
    library(monkeypatch, lambda: iter([]))
    assert refusal("a/b").key == "data.hub_empty"
    library(monkeypatch, lambda: iter(RECORDS))
    refused = refusal("a/b", columns=("translation.en", "nope"))
    assert (refused.key, refused.values["column"]) == ("data.hub_columns", "nope")
    assert refused.values["columns"] == "id, translation, translation.en, translation.de"


# --- the Hub's own formats, where the library is there ---


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_local_files_in_the_formats_of_the_hub(kind, tmp_path, monkeypatch):
    datasets, pyarrow, file = pytest.importorskip("datasets"), pytest.importorskip("pyarrow"), tmp_path / "file"
    from pyarrow.parquet import write_table

    if kind == "json":
        file.write_text("\n".join(map(json.dumps, RECORDS)))
    elif kind == "csv":
        file.write_text("id,en,de\n" + "".join(f"{n},a {n},b {n}\n" for n in range(5)))
    else:
        write_table(pyarrow.Table.from_pylist(RECORDS), file)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    table = table_from(datasets.load_dataset(kind, data_files=str(file), split="train", streaming=True), "x", rows=3)
    assert table.columns == ("en", "de", "id")
    assert cells(table) == [[f"a {n}", f"b {n}", str(n)] for n in range(3)]
