"""Packed answers are the same answers, and share what they have in common."""

from __future__ import annotations

import gzip

import orjson

from playground.freeze.packing import Pack, whole

COLOURS = [[at / 10, f"#{at:06x}"] for at in range(11)]


def test_every_answer_comes_back_as_it_was():
    answers = {str(n): {"step": n, "blocks": [{"scale": COLOURS, "z": [[n, None], [0.5, "ü"]]}], "none": None} for n in range(5)}
    pack = Pack()
    for key, answer in answers.items():
        pack.add(key, answer)
    assert {key: whole(pack.content(), key) for key in answers} == answers
    assert pack.size == 5


def test_what_answers_share_is_written_once_and_a_matrix_whole():
    """References to the rows of matrices took half of a file."""
    matrix, pack = [[row + column / 100 for column in range(40)] for row in range(40)], Pack()
    names = ["long enough to be shared " * 4]
    for n in range(50):
        pack.add(str(n), {"n": n, "scale": COLOURS, "figure": {"z": matrix, "names": names}})
    text = gzip.decompress(pack.content())
    assert text.count(orjson.dumps(COLOURS[7])) == text.count(orjson.dumps(matrix)) == 1
    assert len(text) < len(orjson.dumps(matrix)) + 50 * len(orjson.dumps([COLOURS, names])) / 3
    assert whole(pack.content(), "2")["figure"]["z"] == matrix
