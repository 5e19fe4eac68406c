"""What is known of a reading, as JSON. tests/runs/test_upload_process.py has it come back unchanged, whatever was uploaded."""

import json

import pytest

from playground.reading.uploads import read_files
from playground.reading.uploads import report as report_of
from playground.runs.disk.read_report import from_json, to_json


def test_what_runs_kept_before_there_were_accounts_is_read():
    before = {"lines": 2, "kind": "tsv", "names": ["a.tsv"], "credit": ""}
    pairs = from_json(before, [["a", "b", 1], ["c", "d", 2]])
    assert [pair[:2] for pair in pairs.pairs] == [("a", "b"), ("c", "d")]
    assert report_of(pairs, "en") == ["Lines read: 2; pairs kept: 2; dropped: 0."]


@pytest.mark.parametrize(
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
    pairs = read_files([("a.tsv", b"a\tb\nc\td\n")])
    report = json.loads(json.dumps(to_json(pairs)))
    assert from_json(report, pairs.pairs) == pairs
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        from_json(report | {name: value}, pairs.pairs)
