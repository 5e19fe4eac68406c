"""Truths about pairs as they are kept: their size is known before anything is written, and says at once whether they can be."""

import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading.formats import limits
from playground.reading.pairs import Pairs, check_size, json_parts, to_json
from playground.reading.text import normalise
from playground.reading.uploads import Pair, read_files
from playground.words import LANGUAGES

cells = st.text(st.sampled_from('ab"\\é狗𝄞👍 <&'), min_size=1, max_size=30)


def bytes_of(pairs: Pairs) -> int:
    """What the plainest way to write them takes."""
    return len(json.dumps(to_json(pairs) | {"pairs": pairs.pairs}, ensure_ascii=False, separators=(",", ":")).encode())


def refused(content: bytes, limit: int) -> Refusal:
    with patch.object(limits, "JSON_LIMIT", limit), pytest.raises(Refusal) as refusal:
        read_files([("a.tsv", content)])
    return refusal.value


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=20))
def test_what_is_as_large_as_it_may_be_is_read_and_what_is_larger_is_refused(rows):
    content = "\n".join(["source\ttarget", *("\t".join(row) for row in rows), "alone\t"]).encode()
    try:
        pairs = read_files([("a.tsv", content)])
    except Refusal:  # nothing but spaces
        return
    size = bytes_of(pairs)
    assert sum(map(len, json_parts(pairs))) == size
    with patch.object(limits, "JSON_LIMIT", size):
        assert read_files([("a.tsv", content)]) == pairs
    assert refused(content, size - 1).key == "data.too_large_to_keep"


@pytest.mark.parametrize("count", [0, 1, 4999, 5000, 5001, 10_000])
def test_the_parts_together_are_one_object(count):
    pairs = Pairs(tuple((f"s{n}", f"t{n}", n) for n in range(count)), {"blank": (3,)}, count + 1, "tsv", ("a.tsv",))
    whole = json.loads(b"".join(json_parts(pairs)))
    assert whole["pairs"] == [list(pair) for pair in pairs.pairs]
    assert (whole["lines"], whole["dropped"]) == (count + 1, {"blank": [3]})
    assert sum(map(len, json_parts(pairs))) == bytes_of(pairs)


def test_what_was_dropped_counts_too():
    content = b"a\tb\n" + b"\n" * 3000
    assert refused(content, 10_000).key == "data.too_large_to_keep"


def test_the_sentence_says_how_large_it_is_and_may_be():
    pairs = Pairs(tuple(("狗" * 100, "b", n) for n in range(10_000)), {}, 10_000, "tsv", ("a.txt", "b.txt"))
    with patch.object(limits, "JSON_LIMIT", 2_500_000), pytest.raises(Refusal) as refusal:
        check_size(pairs)
    assert 3_100_000 < bytes_of(pairs) <= 3_200_000
    assert refusal.value.values == {"name": "a.txt + b.txt", "size": "3.2", "limit": "2.5"}
    assert all("3.2 MB" in refusal.value.say(language) and "2.5 MB" in refusal.value.say(language) for language in LANGUAGES)


@pytest.mark.night
def test_a_zip_that_keeps_every_other_limit_is_refused_when_it_is_read():
    """Chinese takes two bytes a character in UTF-16 and three where it is kept."""
    line = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥" * 5
    text, file = "".join(f"{n}{line[n % 50 :]}\t{line[: 60 + n % 50]}\n" for n in range(137_000)), io.BytesIO()
    data = text.encode("utf-16")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.tsv", data)
    assert 42 * 1024**2 < len(data) < limits.UNPACKED_LIMIT
    with pytest.raises(Refusal) as refusal:
        read_files([("a.zip", file.getvalue())])
    assert refusal.value.key == "data.too_large_to_keep"


# --- what is right ---


def pairs_of(*rows: tuple[str, str]) -> Pairs:
    return Pairs(tuple(Pair(src, tgt, line) for line, (src, tgt) in enumerate(rows, 1)), {}, len(rows), "tsv", ("a.tsv",))


@given(st.lists(st.tuples(st.text(st.sampled_from("ab e\u0301é"), max_size=3), st.sampled_from("xyz")), max_size=20))
def test_references_are_what_a_search_through_all_pairs_finds(rows):
    pairs = pairs_of(*rows)
    references = pairs.references
    assert pairs.references is references
    for source in {normalise(src) for src, _ in rows}:
        assert references[source] == tuple(dict.fromkeys(tgt for src, tgt in rows if normalise(src) == source))
    assert len(references) == len({normalise(src) for src, _ in rows})


def test_threads_get_the_same_references():
    pairs = pairs_of(*((f"s{n % 700}", f"t{n}") for n in range(3000)))
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda _: pairs.references, range(40)))
    assert all(result == results[0] for result in results)
