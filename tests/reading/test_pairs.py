"""Pairs as they are kept: their size is known before anything is written, and says at once whether they can be."""

import json
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading import pairs as module
from playground.reading.formats import limits
from playground.reading.pairs import Pairs, check_size, json_parts, to_json
from playground.reading.text import normalise
from playground.reading.uploads import Pair, read_files

cells = st.text(st.sampled_from('ab"\\é狗𝄞👍 <&'), min_size=1, max_size=30)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=20), st.sampled_from([1, 3, 5000]))
def test_pairs_of_the_largest_size_are_read_and_larger_ones_refused(rows, part):
    content = "\n".join(["source\ttarget", *("\t".join(row) for row in rows), "alone\t"]).encode()
    try:
        pairs = read_files([("a.tsv", content)])
    except Refusal:  # nothing but spaces
        return
    plain = json.dumps(to_json(pairs) | {"pairs": pairs.pairs}, ensure_ascii=False, separators=(",", ":")).encode()
    with patch.object(module, "_PART", part):
        assert b"".join(json_parts(pairs)) == plain
    with patch.object(limits, "JSON_LIMIT", len(plain)):
        assert read_files([("a.tsv", content)]) == pairs
    with patch.object(limits, "JSON_LIMIT", len(plain) - 1), pytest.raises(Refusal) as refusal:
        read_files([("a.tsv", content)])
    assert refusal.value.key == "data.too_large_to_keep"


def test_a_refusal_names_the_size_and_the_limit():
    pairs = Pairs(tuple(("狗" * 100, "b", n) for n in range(10_000)), {}, 10_000, "tsv", ("a.txt", "b.txt"))
    with patch.object(limits, "JSON_LIMIT", 2_500_000), pytest.raises(Refusal) as refusal:
        check_size(pairs)
    assert 3_100_000 < sum(map(len, json_parts(pairs))) <= 3_200_000
    assert refusal.value.values == {"name": "a.txt + b.txt", "size": "3.2", "limit": "2.5"}


@given(st.lists(st.tuples(st.text(st.sampled_from("ab e\u0301é"), max_size=3), st.sampled_from("xyz")), max_size=20))
def test_references_are_what_a_search_through_all_pairs_finds(rows):
    pairs = Pairs(tuple(Pair(src, tgt, line) for line, (src, tgt) in enumerate(rows, 1)), {}, len(rows), "tsv", ("a.tsv",))
    sources = {normalise(src) for src, _ in rows}
    assert pairs.references == {source: tuple(dict.fromkeys(tgt for src, tgt in rows if normalise(src) == source)) for source in sources}
    assert pairs.references is pairs.references
