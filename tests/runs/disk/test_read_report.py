"""Truths about accounts: what is known of a reading survives JSON, and what can't have been written is refused."""

import json

import pytest

from playground.reading.uploads import Choices, read_files, report
from playground.runs.disk.read_report import from_json, to_json
from tests.runs.test_upload_process import UPLOADS
from tests.thoroughness import every_case


def written(pairs) -> dict:
    return json.loads(json.dumps({"pairs": pairs.pairs} | to_json(pairs)))


@pytest.mark.parametrize("name", UPLOADS)
def test_nothing_is_lost_on_the_way(name):
    files, choices = UPLOADS[name]
    pairs = read_files(files, Choices(**choices))
    said = written(pairs)
    assert from_json(said, said["pairs"]) == pairs


def test_what_runs_kept_before_there_were_accounts_is_read():
    said = {"lines": 2, "kind": "tsv", "names": ["a.tsv"], "credit": ""}
    pairs = from_json(said, [["a", "b", 1], ["c", "d", 2]])
    assert [pair[:2] for pair in pairs.pairs] == [("a", "b"), ("c", "d")]
    assert report(pairs, "en") == ["Lines read: 2; pairs kept: 2; dropped: 0."]


@every_case(
    ("name", "value"),
    [
        ("lines", "many"), ("names", [3]), ("names", None), ("kind", None), ("credit", 3), ("dropped", [1]),
        ("dropped", {"no reason": [1]}),
        ("dropped", {"blank": ["first"]}), ("notes", [["data.no_such_note", {}]]), ("notes", [["data.note_same", {}]]),
        ("notes", [["data.note_same", {"count": [], "line": 1}]]), ("unit", "page"), ("columns", [["a", 1]]), ("chosen", [0]),
        ("encodings", [{"file": "a"}]), ("preview", [[1, [2], ""]]), ("dropped_rows", {"blank": 3}), ("traces", [None]),
    ],
)  # fmt: skip
def test_what_cannot_have_been_written_is_refused(name, value):
    said = written(read_files([("a.tsv", b"a\tb\nc\td\n")]))
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        from_json(said | {name: value}, said["pairs"])
