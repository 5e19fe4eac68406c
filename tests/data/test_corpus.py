"""Truths about a corpus: what may be learnt from is kept apart from what is judged by."""

from dataclasses import replace

import pytest

from playground.config import UNK, DataConfig, Refusal
from playground.data.batches import collate
from playground.data.corpus import build_corpus
from playground.reading.uploads import Pairs, read_files
from playground.tasks.toy_tasks import TASKS, references, split_of

SMALL = DataConfig(train_size=300, validation_size=40)


def own(*pairs: tuple[str, str]) -> Pairs:
    return read_files([("own.tsv", "\n".join("\t".join(pair) for pair in pairs).encode())])


def counted(sources: int) -> Pairs:
    return own(*[(f"say {n}", f"word{n}") for n in range(sources)])


def sources(items) -> list[str]:
    return [item.src for item in items]


@pytest.mark.parametrize("task", TASKS)
def test_every_task_makes_a_corpus(task):
    corpus = build_corpus(replace(SMALL, task=task))
    judged = sources(corpus.heldout) + sources(corpus.harder)
    assert corpus.name == task
    assert corpus.train
    assert corpus.heldout
    assert len(set(judged)) == len(judged)
    assert bool(corpus.harder) == TASKS[task].has_harder
    assert task == "beer" or not set(sources(corpus.train)) & set(judged)
    for item in (*corpus.train, *corpus.heldout, *corpus.harder):
        assert corpus.src_tokenizer.encode(item.src) == list(item.src_ids)
        assert corpus.tgt_tokenizer.encode(item.tgt) == list(item.tgt_ids)
        assert item.tgt in corpus.references[item.src]
        assert item.alignment is None or len(item.alignment) == len(item.tgt_ids)
        assert all(place is None or 0 <= place < len(item.src_ids) for place in item.alignment or ())
    for src in judged:
        assert corpus.references[src] == references(task, src)
    assert all(UNK not in item.src_ids + item.tgt_ids for item in corpus.train)
    assert corpus.longest == max(max(batch.src.shape[1], batch.tgt_in.shape[1]) for batch in map(collate, (corpus.train, corpus.heldout)))


def test_reversal_by_hand():
    item = build_corpus(SMALL).heldout[0]
    assert item.tgt == item.src[::-1]
    assert item.alignment == tuple(reversed(range(len(item.src))))
    assert item.tgt_ids == item.src_ids[::-1]


def test_the_same_arguments_give_the_same_corpus():
    for data, pairs in ((SMALL, None), (replace(SMALL, task="own", validation_size=10), counted(50))):
        one, two, other = build_corpus(data, pairs), build_corpus(data, pairs), build_corpus(replace(data, data_seed=2), pairs)
        assert (one.train, one.heldout, one.harder, one.references) == (two.train, two.heldout, two.harder, two.references)
        assert one.tgt_tokenizer.to_bytes() == two.tgt_tokenizer.to_bytes()
        assert one.heldout != other.heldout


def test_alignments_need_the_units_of_the_task():
    assert build_corpus(replace(SMALL, task="german_english")).train[0].alignment
    assert build_corpus(replace(SMALL, task="german_english", tokenizer="characters")).train[0].alignment is None
    assert build_corpus(replace(SMALL, task="german_english", tokenizer="bpe", vocab_size=200)).train[0].alignment is None


def test_a_joint_vocabulary_is_one_tokenizer_for_both_sides():
    for data in (SMALL, replace(SMALL, task="numbers_de"), replace(SMALL, task="numbers_de", tokenizer="unigram")):
        corpus = build_corpus(data, joint=True)
        assert corpus.src_tokenizer is corpus.tgt_tokenizer
        assert all(UNK not in item.src_ids + item.tgt_ids for item in corpus.train)
    assert build_corpus(replace(SMALL, task="numbers_de"), joint=True).src_tokenizer.kind == "characters"


def test_probes_are_held_out_and_of_different_lengths():
    corpus = build_corpus(SMALL)
    lengths = [len(item.src_ids) for item in corpus.probes]
    assert len(corpus.probes) == 4
    assert set(corpus.probes) <= {*corpus.heldout, corpus.telling}
    assert lengths == sorted(set(lengths))
    assert lengths[-1] == max(len(item.src_ids) for item in corpus.heldout)
    assert len(build_corpus(replace(SMALL, task="beer")).probes) == 1


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task.telling])
def test_the_probe_that_the_page_shows_first_says_something_to_a_person(name):
    """It is of the held-out kind, with the task's own answer, and replaces no sentence by which the model is judged."""
    corpus = build_corpus(replace(SMALL, task=name, train_size=2000))
    shown = corpus.probes[-2]
    assert shown.src == TASKS[name].telling
    assert split_of(name, shown.src) == "heldout"
    assert (shown.tgt,) == corpus.references[shown.src]
    assert shown not in corpus.heldout
    assert shown.src not in {item.src for item in corpus.train}


def test_a_telling_probe_whose_letters_the_model_never_met_is_left_out():
    corpus = build_corpus(replace(SMALL, task="reverse", train_size=1))
    assert corpus.telling is None
    assert set(corpus.probes) <= set(corpus.heldout)


# --- own data ---


@pytest.mark.parametrize(("count", "most", "expected"), [(2, 500, 1), (19, 500, 1), (50, 500, 5), (300, 10, 10)])
def test_own_data_is_split_by_distinct_source(count, most, expected):
    corpus = build_corpus(DataConfig(task="own", validation_size=most, test_size=0), counted(count))
    assert len(corpus.heldout) == expected
    assert corpus.test == ()
    assert sorted(sources(corpus.train + corpus.heldout)) == sorted(f"say {n}" for n in range(count))


@pytest.mark.parametrize(("count", "most", "expected"), [(3, 500, 0), (50, 500, 5), (300, 500, 30), (300, 20, 20)])
def test_some_sources_are_kept_for_the_test(count, most, expected):
    corpus = build_corpus(DataConfig(task="own", test_size=most), counted(count))
    assert len(corpus.test) == expected
    assert sorted(sources(corpus.train + corpus.heldout + corpus.test)) == sorted(f"say {n}" for n in range(count))
    without = build_corpus(DataConfig(task="own", test_size=0), counted(count))
    assert sources(corpus.heldout) == sources(without.heldout)  # how many are kept for the test changes nothing else


def test_a_source_with_many_answers_stays_on_one_side_and_all_answers_are_known():
    pairs = own(*[(f"s{n // 3}", f"t{n}") for n in range(60)], ("s0", "t0"))
    corpus = build_corpus(DataConfig(task="own"), pairs)
    for one, other in (("train", "heldout"), ("train", "test"), ("heldout", "test")):
        assert not set(sources(getattr(corpus, one))) & set(sources(getattr(corpus, other)))
    assert len(set(sources(corpus.heldout))) == len(corpus.heldout) == 2
    assert len(set(sources(corpus.test))) == len(corpus.test) == 2
    assert corpus.references == {f"s{n}": (f"t{3 * n}", f"t{3 * n + 1}", f"t{3 * n + 2}") for n in range(20)}
    assert all(item.tgt == corpus.references[item.src][0] for item in corpus.heldout + corpus.test)


def test_tokenizers_learn_from_the_training_split_only():
    corpus = build_corpus(DataConfig(task="own", tokenizer="words"), counted(30))
    for item in corpus.heldout:
        assert item.tgt_ids == (UNK,)


def test_the_natural_unit_of_each_side():
    pairs = own(*[(f"I am number {n}", f"我是第{n}号") for n in range(10)])
    corpus = build_corpus(DataConfig(task="own"), pairs)
    assert (corpus.src_tokenizer.kind, corpus.tgt_tokenizer.kind) == ("words", "characters")
    assert build_corpus(DataConfig(task="own"), pairs, joint=True).src_tokenizer.kind == "characters"


def test_long_sentences_are_left_out_and_their_lines_named():
    pairs = own(*[(f"a {n}", "b") for n in range(20)], ("a " * 9, "b"), ("a", "b " * 9))
    corpus = build_corpus(DataConfig(task="own", max_tokens=8), pairs)
    assert corpus.left_out == (21, 22)
    assert corpus.longest == 3
    assert len(corpus.train) + len(corpus.heldout) + len(corpus.test) == 20
    kept = {(item.src, item.tgt) for item in (*corpus.train, *corpus.heldout, *corpus.test)}
    assert kept == {(f"a {n}", "b") for n in range(20)}, "no sentence is cut"


def test_credit_and_name_travel_with_own_data():
    line = "Hi {n}.\tHallo {n}.\tCC-BY 2.0 (France) Attribution: tatoeba.org #{n} (A) & #1 (B)\n"
    pairs = read_files([("deu.txt", "".join(line.format(n=n) for n in range(20)).encode())])
    corpus = build_corpus(DataConfig(task="own"), pairs)
    assert (corpus.name, corpus.credit) == ("deu.txt", "CC-BY 2.0 (France) Attribution: tatoeba.org")


@pytest.mark.parametrize(
    ("data", "pairs", "key"),
    [
        (DataConfig(task="own"), None, "data.no_own_pairs"),
        (DataConfig(task="own"), own(("same", "one"), ("same", "two")), "data.too_few_sources"),
        (DataConfig(task="own", max_tokens=8), own(("a " * 9, "b"), ("b", "c")), "data.too_long_to_learn"),
        (
            DataConfig(task="own", tokenizer="bpe", vocab_size=16),
            own(*[(c, c) for c in "abcdefghijklmnopqrst"]),
            "data.vocabulary_too_small",
        ),
    ],
)
def test_what_cannot_be_learnt_is_refused_with_a_sentence(data, pairs, key):
    with pytest.raises(Refusal) as refused:
        build_corpus(data, pairs)
    assert refused.value.key == key
    assert str(refused.value)
    assert refused.value.say("zh")
