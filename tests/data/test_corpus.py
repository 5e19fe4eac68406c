"""Sentences to learn from are kept apart from those that judge; and suggestions for own pairs follow from their properties."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from playground.config import UNK, DataConfig, Experiment, default
from playground.data.batches import collate
from playground.data.corpus import Corpus, Item, build_corpus
from playground.data.corpus_check import statistics
from playground.data.suggestion import KNOBS, Facts, suggest
from playground.data.tokenizers import WordTokenizer
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.reading.uploads import read_files
from playground.tasks.toy_tasks import TASKS, references, split_of
from playground.words import LANGUAGES
from tests.reading.outcomes import word
from tests.runs.tiny import refused

SMALL = DataConfig(train_size=300, validation_size=40)
OWN = DataConfig(task="own")


def own(*pairs: tuple[str, str]) -> Pairs:
    return read_files([("own.tsv", "\n".join("\t".join(pair) for pair in pairs).encode())])


def counted(count: int) -> Pairs:
    return own(*[(f"say {n}", f"word{n}") for n in range(count)])


def sources(items) -> list[str]:
    return [item.src for item in items]


@pytest.mark.parametrize("task", TASKS)
def test_every_task_makes_a_corpus(task):
    corpus = build_corpus(replace(SMALL, task=task))
    judged = sources(corpus.heldout) + sources(corpus.harder)
    assert (corpus.name, len(set(judged)), bool(corpus.harder)) == (task, len(judged), TASKS[task].has_harder)
    assert task == "beer" or not set(sources(corpus.train)) & set(judged)
    for item in (*corpus.train, *corpus.heldout, *corpus.harder):
        assert corpus.src_tokenizer.encode(item.src) == list(item.src_ids)
        assert corpus.tgt_tokenizer.encode(item.tgt) == list(item.tgt_ids)
        assert item.tgt in corpus.references[item.src]
        assert item.alignment is None or len(item.alignment) == len(item.tgt_ids)
        assert all(place is None or 0 <= place < len(item.src_ids) for place in item.alignment or ())
    assert all(corpus.references[src] == references(task, src) for src in judged)
    assert all(UNK not in item.src_ids + item.tgt_ids for item in corpus.train)
    assert corpus.longest == max(max(batch.src.shape[1], batch.tgt_in.shape[1]) for batch in map(collate, (corpus.train, corpus.heldout)))
    splits = (corpus.train, corpus.heldout, corpus.harder)
    assert corpus.longest_target == 1 + max(len(item.tgt_ids) for split in splits for item in split)
    lengths, heldout = [len(item.src_ids) for item in corpus.probes], [len(item.src_ids) for item in corpus.heldout]
    assert set(corpus.probes) <= {*corpus.heldout, corpus.telling}
    assert (lengths, len(lengths)) == (sorted(set(lengths)), min(4, len(set(heldout))))
    assert (lengths[0], lengths[-1]) == (min(heldout), max(heldout))


@given(st.integers(1, 99))
@settings(max_examples=5)
def test_the_same_arguments_give_the_same_corpus(seed):
    reversal = build_corpus(replace(SMALL, data_seed=seed)).heldout[0]
    assert (reversal.tgt, reversal.tgt_ids) == (reversal.src[::-1], reversal.src_ids[::-1])
    assert reversal.alignment == tuple(reversed(range(len(reversal.src))))
    for data, pairs in ((SMALL, None), (replace(SMALL, task="own", validation_size=10), counted(50))):
        data = replace(data, data_seed=seed)
        first, two, other = build_corpus(data, pairs), build_corpus(data, pairs), build_corpus(replace(data, data_seed=seed + 1), pairs)
        assert (first.train, first.heldout, first.harder, first.references) == (two.train, two.heldout, two.harder, two.references)
        assert first.tgt_tokenizer.to_bytes() == two.tgt_tokenizer.to_bytes()
        assert first.heldout != other.heldout


@pytest.mark.parametrize("knobs", [{}, {"task": "numbers_de", "tokenizer": "unigram"}])
def test_a_joint_vocabulary_is_one_tokenizer_for_both_sides_and_alignments_need_the_units_of_the_task(knobs):
    corpus = build_corpus(replace(SMALL, **knobs), joint=True)
    assert corpus.src_tokenizer is corpus.tgt_tokenizer
    assert corpus.src_tokenizer.kind == knobs.get("tokenizer", "characters")
    assert all(UNK not in item.src_ids + item.tgt_ids for item in corpus.train)
    for tokenizer, aligned in ((knobs.get("tokenizer", "auto"), "tokenizer" not in knobs), ("bpe", False)):
        alone = build_corpus(replace(SMALL, **knobs | {"tokenizer": tokenizer, "vocab_size": 200}))
        assert (alone.train[0].alignment is not None) == aligned


def test_the_probe_that_the_page_shows_first_makes_sense_and_is_judged_by_nothing():
    for name in [name for name, task in TASKS.items() if task.telling]:
        corpus = build_corpus(replace(SMALL, task=name, train_size=2000))
        probe = corpus.probes[-2]
        assert (probe.src, split_of(name, probe.src)) == (TASKS[name].telling, "heldout")
        assert (probe.tgt,) == corpus.references[probe.src]
        assert probe not in corpus.heldout
        assert probe.src not in sources(corpus.train)
    few = build_corpus(replace(SMALL, task="reverse", train_size=1))
    assert few.telling is None, "the model never met its letters"
    assert set(few.probes) <= set(few.heldout)


@given(st.integers(2, 60) | st.just(300), st.integers(1, 40), st.integers(0, 40))
def test_a_tenth_of_the_distinct_own_sources_is_held_out_and_another_kept_for_the_test(count, validation, test):
    data = replace(OWN, validation_size=validation, test_size=test)
    corpus = build_corpus(data, counted(count))
    held = max(1, min(validation, count // 10))
    assert (len(corpus.heldout), len(corpus.test)) == (held, min(test, count // 10, count - held - 1))
    assert sorted(sources((*corpus.train, *corpus.heldout, *corpus.test))) == sorted(f"say {n}" for n in range(count))
    assert sources(corpus.heldout) == sources(build_corpus(replace(data, test_size=0), counted(count)).heldout)
    words = build_corpus(replace(data, tokenizer="words"), counted(count))
    assert {item.tgt_ids for item in (*words.heldout, *words.test)} == {(UNK,)}, "tokenizers learn from the training split only"


def test_a_source_with_many_answers_and_a_group_stay_on_one_side_and_splits_that_were_given_are_taken():
    corpus = build_corpus(OWN, own(*[(f"s{n // 3}", f"t{n}") for n in range(60)], ("s0", "t0")))
    train, heldout, test = (set(sources(split)) for split in (corpus.train, corpus.heldout, corpus.test))
    assert not train & heldout | train & test | heldout & test
    assert (len(heldout), len(corpus.heldout), len(test), len(corpus.test)) == (2, 2, 2, 2)
    assert corpus.references == {f"s{n}": (f"t{3 * n}", f"t{3 * n + 1}", f"t{3 * n + 2}") for n in range(20)}
    assert all(item.tgt == corpus.references[item.src][0] for item in corpus.heldout + corpus.test)
    pairs = counted(30)
    given_splits = build_corpus(OWN, replace(pairs, given=(3, 2)))
    assert [sources(split) for split in (given_splits.heldout, given_splits.test)] == [["say 25", "say 26", "say 27"], ["say 28", "say 29"]]
    half = build_corpus(OWN, replace(pairs, given=(3, 0)))
    assert (sources(half.heldout), len(half.test)) == (["say 27", "say 28", "say 29"], 2)
    grouped = build_corpus(OWN, replace(pairs, groups=tuple(str(n // 5) for n in range(30))))
    for split in (grouped.train, grouped.heldout, grouped.test):
        assert len({int(src[4:]) // 5 for src in sources(split)}) * 5 == len(split)
    assert (len(grouped.heldout), len(grouped.test)) == (5, 5)


def test_own_data_have_the_natural_unit_of_each_side_and_statistics_are_counted_by_hand():
    line = "I am number {n}\t我是第{n}号\tCC-BY 2.0 (France) Attribution: tatoeba.org #{n} (A) & #1 (B)\n"
    pairs = read_files([("cmn.txt", "".join(line.format(n=n) for n in range(20)).encode())])
    corpus = build_corpus(OWN, pairs)
    assert (corpus.src_tokenizer.kind, corpus.tgt_tokenizer.kind) == ("words", "characters")
    assert build_corpus(OWN, pairs, joint=True).src_tokenizer.kind == "characters"
    assert (corpus.name, corpus.credit) == ("cmn.txt", "CC-BY 2.0 (France) Attribution: tatoeba.org")
    tokenizers = WordTokenizer(["a", "b", "c"]), WordTokenizer(["x", "y"])
    train = [item(*pair, tokenizers) for pair in (("a b", "x"), ("a b", "x"), ("a b", "y x"), ("a", "a"), ("c a a", "y"))]
    heldout, test = (item("b d", "x", tokenizers),), (item("e f", "x y", tokenizers),)
    counted = statistics(Corpus("toy", *tokenizers, train, heldout, (), {}, test))
    assert counted.sizes == {"train": 5, "heldout": 1, "test": 1, "harder": 0}
    assert (counted.sources, counted.several, counted.most_answers, counted.repeated, counted.same) == (3, 1, 2, 1, 1)
    assert (counted.src.lengths.tolist(), counted.src.frequent) == ([2, 2, 2, 1, 3], (("a", 6), ("b", 3), ("c", 1)))
    assert (counted.src.counts.tolist(), counted.src.vocabulary, counted.tgt.vocabulary) == ([6, 3, 1], 7, 6)
    assert counted.src.known == pytest.approx(1 / 4)  # b is known; d, e and f are not
    assert counted.tgt.known == 1
    assert math.isnan(statistics(Corpus("toy", *tokenizers, train, (), (), {})).src.known), "nothing is held out"


def test_long_sentences_are_left_out_their_lines_named_and_what_cannot_be_learnt_is_refused():
    corpus = build_corpus(replace(OWN, max_tokens=8), own(*[(f"a {n}", "b") for n in range(20)], ("a " * 9, "b"), ("a", "b " * 12)))
    expected = ((21, 22), 23, 3, 2)  # 23 characters of the target
    assert (corpus.left_out, corpus.longest_left_out, corpus.longest, corpus.longest_target) == expected
    items = [(item.src, item.tgt) for item in (*corpus.train, *corpus.heldout, *corpus.test)]
    assert sorted(items) == sorted((f"a {n}", "b") for n in range(20)), "no sentence is cut"
    for knobs, pairs, key in (
        ({}, None, "data.no_own_pairs"), ({}, own(("same", "one"), ("same", "two")), "data.too_few_sources"),
        ({"max_tokens": 8}, own(("a " * 9, "b"), ("b", "c")), "data.too_long_to_learn"),
        ({"tokenizer": "bpe", "vocab_size": 16}, own(*[(c, c) for c in "abcdefghijklmnopqrst"]), "data.vocabulary_too_small"),
    ):  # fmt: skip
        with refused(key):
            build_corpus(replace(OWN, **knobs), pairs)


def item(src: str, tgt: str, tokenizers) -> Item:
    return Item(src, tgt, *(tuple(tokenizer.encode(text)) for tokenizer, text in zip(tokenizers, (src, tgt), strict=True)))


CHINESE = [chr(0x4E00 + n) for n in range(600)]


def pairs_of(rows) -> Pairs:
    return Pairs(tuple(Pair(src, tgt, line) for line, (src, tgt) in enumerate(rows, 1)), {}, len(rows), "tsv", ("own.tsv",))


def sentences(count: int, words: int, length: int = 6) -> Pairs:
    """Sentences of `words` different words of two languages with one script; of few words the same ones come again and again."""
    dice = random.Random(1)
    vocabulary = [(word(dice), word(dice) + "x") for _ in range(words)]
    rows = [dice.choices(vocabulary, k=length) for _ in range(count)]
    return pairs_of([(" ".join(src for src, _ in row), " ".join(tgt for _, tgt in row)) for row in rows])


def inflections() -> Pairs:
    dice = random.Random(1)
    lemmas = [word(dice) for _ in range(300)]
    cells = {"PRS": "t", "PST": "te", "PTCP": "nd"}
    return pairs_of([(f"{lemma}n V;{tense}", lemma + end) for lemma in lemmas for tense, end in cells.items()])


def pronunciations() -> Pairs:
    dice = random.Random(1)
    words = {word(dice) for _ in range(500)}
    return pairs_of([(text.upper(), " ".join(f"{letter.upper()}0" for letter in text)) for text in words])


def translations() -> Pairs:
    dice = random.Random(1)
    rows = [[dice.randrange(600) for _ in range(6)] for _ in range(1500)]
    return pairs_of([("".join(CHINESE[n] for n in row), " ".join(f"w{n * 7 % 600}{dice.randrange(9)}" for n in row)) for row in rows])


CASES = {
    "few words": (sentences(2000, 100), {"tokenizer": "auto", "share_embeddings": "none"}, "words"),
    "many words, one script": (sentences(2000, 3000), {"tokenizer": "bpe", "share_embeddings": "all", "vocab_size": 504}, "shared_pieces"),
    "two scripts": (translations(), {"tokenizer": "bpe", "share_embeddings": "none", "vocab_size": 760}, "pieces"),
    "lemma and features": (inflections(), {"tokenizer": "characters", "share_embeddings": "none"}, "letters"),
    "a word and its sounds": (pronunciations(), {"tokenizer": "auto", "share_embeddings": "none"}, "both"),
}


@pytest.mark.parametrize("name", CASES)
def test_how_sentences_are_cut_and_why(name):
    pairs, knobs, reason = CASES[name]
    suggested = suggest(pairs)
    assert (suggested.choices[0].reason, suggested.knobs) == (reason, suggested.knobs | knobs)
    assert set(suggested.knobs) == set(KNOBS)
    corpus = build_corpus(Experiment().with_(task="own", **suggested.knobs).data, pairs, suggested.knobs["share_embeddings"] == "all")
    assert not corpus.left_out
    assert 1 - statistics(corpus).tgt.known < 0.01, "hardly a target can't be written"
    assert (corpus.src_tokenizer is corpus.tgt_tokenizer) == (knobs["share_embeddings"] == "all")
    data = Experiment().with_(task="own").data
    counted, (src, tgt) = statistics(build_corpus(data, pairs)), Facts(pairs, data).sides
    assert (src.unknown, tgt.unknown) == pytest.approx((1 - counted.src.known, 1 - counted.tgt.known)), "before there is a tokenizer"
    for language in LANGUAGES:
        reasons = suggested.sentences(language)
        assert len(set(reasons)) == 6
        assert not any("{" in sentence for sentence in reasons)


def test_the_size_follows_the_number_and_length_of_the_pairs_and_what_was_chosen_stays():
    one_long = pairs_of([*[pair[:2] for pair in sentences(500, 100).pairs], (" ".join("a" * 90), "b")])  # which alone is left out
    for pairs, knobs in (
        (sentences(2000, 100), {"d_model": default("d_model"), "steps": 100, "learning_rate": 0.05, "dropout": 0, "max_tokens": 64}),
        (sentences(25_000, 100, 3), {"d_model": 192, "label_smoothing": 0.1, "steps": pytest.approx(6 * 24_000 / 64, abs=3), "dropout": 0}),
        (sentences(300, 50), {"steps": 100, "dropout": 0.1}),  # seen often enough, and not learnt by heart
        (sentences(500, 100, 90), {"max_tokens": 90}), (one_long, {"max_tokens": 64}), (sentences(25_000, 100, 12), {"d_model": 128}),
    ):  # fmt: skip
        suggested = suggest(pairs).knobs
        assert {name: suggested[name] for name in knobs} == knobs
    pairs = pairs_of([("a b", "x"), ("a b", "y z"), *((f"{word} a", word) for word in "cdefghij")])
    facts = Facts(pairs, Experiment().with_(task="own").data)
    assert facts.lengths("words", 100, False).mean == pytest.approx((3 + 4 + 8 * 3) / 10)
    assert suggest(sentences(500, 100, 90)).choices[1].slots["lost"] == "50", "of the longest that were looked at"
    pairs = sentences(2000, 3000)
    suggested = suggest(pairs, {"tokenizer": "words", "batch_size": 48, "d_model": 128, "task": "own"})
    expected = {"tokenizer": "words", "batch_size": 48, "share_embeddings": "none", "d_model": 128, "steps": round(6 * 1600 / 48)}
    assert expected.items() <= suggested.knobs.items()
    assert len(suggested.sentences("en")) == 5, "none on how they are cut: that was chosen"
    assert suggest(pairs, suggest(pairs).knobs).choices == []
