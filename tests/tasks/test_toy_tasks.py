"""Promises of every toy task, and the sentences that the harder split keeps back."""

import random
import re
from collections import Counter
from functools import partial
from itertools import accumulate, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from playground import config
from playground.tasks import chinese, german, grammars
from playground.tasks.numbers import DATE_FORMS, FIRST_STAGE, TWO_FORMS, UNSEEN_PAIRS, date_pattern
from playground.tasks.sequences import COMPOSED, COUNTS, MOST_ACTIONS
from playground.tasks.toy_tasks import SPLITS, TASKS, answers, draw_of_length, examples, references, split_of, units
from playground.words import LANGUAGES, known

LEARNT = [name for name, task in TASKS.items() if not task.memorised]
SYMBOLS = st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789+=?()[]{} .年月日三本书ßä\ud800\x00"), max_size=30)
names = st.sampled_from(sorted(TASKS))


def test_every_task_of_the_knob_is_here_and_explained():
    assert (*TASKS, "own") == config.limits("task").choices
    assert all(name == task.name for name, task in TASKS.items())
    for name, language in product((*TASKS, "own"), LANGUAGES):
        parts = [known(language, f"tasks.{name}.{part}") for part in ("label", "about", "harder")]
        assert parts == [True, True, name in LEARNT], (name, language)


@given(names, st.sampled_from(SPLITS), st.integers(0, 99))
def test_every_example_is_an_answer_that_fits_and_belongs_to_its_split_alone(name, split, seed):
    """So no source is in two splits, for any seed: a sentence has one split."""
    task, room, before = TASKS[name], config.default("max_tokens") - 2, random.getstate()
    drawn = examples(name, split, 60, seed)
    assert drawn == examples(name, split, 60, seed)
    assert random.getstate() == before, "the global dice are left alone"
    assert len(drawn) == (60 if name in LEARNT else split != "harder")
    assert split == "train" or len({example.src for example in drawn}) == len(drawn)
    for example in drawn:
        assert split_of(name, example.src) == (split if name in LEARNT else split_of(name, drawn[0].src))
        assert example in answers(name, example.src)
        assert len(references(name, example.src)) == (2 if name == "one_to_many" else 1)
        src, tgt = units(example.src, task.src_unit), units(example.tgt, task.tgt_unit)
        assert 0 < len(src) <= room
        assert len(example.alignment) == len(tgt) <= room
        assert all(place is None or 0 <= place < len(src) for place in example.alignment)
        assert all(text == " ".join(text.split()) for text in example[:2])


@pytest.mark.parametrize("name", [name if name in ("reverse", "dates") else pytest.param(name, marks=pytest.mark.night) for name in TASKS])
def test_training_shows_every_unit_that_the_other_splits_use(name):
    task, training = TASKS[name], examples(name, "train", 8_000, 1)
    for at, unit in enumerate((task.src_unit, task.tgt_unit)):
        known_units = {part for example in training for part in units(example[at], unit)}
        for split in ("heldout", "harder"):
            assert {part for example in examples(name, split, 500, 1) for part in units(example[at], unit)} <= known_units


@given(st.sampled_from(LEARNT), st.integers(0, 99))
@settings(max_examples=settings.default.max_examples // 4)
def test_a_tenth_of_what_is_not_harder_is_held_out_and_another_seed_draws_others(name, seed):
    rng = random.Random(seed)
    sources = {TASKS[name].draw(rng, False).src for _ in range(2000)}
    assert 0.06 < sum(split_of(name, source) == "heldout" for source in sources) / len(sources) < 0.14
    assert examples(name, "train", 30, seed) != examples(name, "train", 30, seed + 1)


def test_examples_of_a_seed_are_the_same_on_every_machine_and_python():
    assert [example.src for example in examples("reverse", "train", 3, 1)] == ["viynie", "lonmhxjgvdrzyae", "pyiojxfi"]
    assert examples("beer", "train", 20_000, 1) == examples("beer", "heldout", 500, 2)
    assert examples("reverse", "train", 0, 1) == []
    for task, split in (("own", "train"), ("reverse", "test"), ("", "")):
        with pytest.raises(ValueError):
            examples(task, split, 1, 1)
    assert draw_of_length("numbers_de", 4, 6, 1) == draw_of_length("copy", 5, 0, 1) == ()
    assert draw_of_length("sort", 27, 6, 1) == (), "there are 26 different letters"
    assert draw_of_length("copy", 27, 6, 1)


@given(names, SYMBOLS)
def test_anything_may_be_typed(name, src):
    assert references(name, src) is None or all(references(name, src))
    for answer in answers(name, src):
        assert (answer.src, len(answer.alignment)) == (src, len(units(answer.tgt, TASKS[name].tgt_unit)))


@given(st.sampled_from([task for task in TASKS if TASKS[task].draw_long]), st.integers(1, 26))
def test_sentences_made_to_measure_are_right_and_never_shown_by_training(task, length):
    drawn = draw_of_length(task, length, 6, 1)
    assert drawn == draw_of_length.__wrapped__(task, length, 6, 1)
    assert drawn[:2] == draw_of_length(task, length, 2, 1), "fewer are the first of them"
    assert len({example.src for example in drawn}) == len(drawn) <= 6
    assert len(drawn) == 6 or length < 3, "of one letter there are 26, of which a tenth is held out"
    for example in drawn:
        assert len(example.src) == length
        assert example in answers(task, example.src)
        assert split_of(task, example.src) == ("harder" if length > 16 else "heldout")


def sources(task: str, split: str = "train", count: int = 0) -> list[str]:
    return [example.src for example in examples(task, split, count or {"train": 4_000}.get(split, 500), 1)]


LENGTHS, LONGER = set(range(4, 17)), set(range(17, 25))


def carries(src: str) -> int:
    carry = total = 0
    for a, b in zip(*(reversed(number) for number in src.split("+")), strict=True):
        carry = int(int(a) + int(b) + carry >= 10)
        total += carry
    return total


@pytest.mark.night
def test_letters_are_more_brackets_deeper_people_more_carries_three_and_days_in_the_nineties():
    for task, measure, train, harder in (
        ("addition", carries, {0, 1, 2}, {3}),
        ("brackets", lambda src: max(accumulate(1 if symbol in "([{" else -1 for symbol in src)), {1, 2, 3, 4}, {5, 6, 7}),
        ("lookup", lambda src: src.count("="), {3, 4, 5}, {6, 7, 8}),
        *((task, len, LENGTHS, LONGER) for task in ("copy", "reverse", "rotate")),
        ("sort", lambda src: len(src) if len(set(src)) == len(src) else 0, LENGTHS, LONGER),  # no letter twice
    ):  # fmt: skip
        assert [set(map(measure, sources(task, split))) for split in ("train", "heldout", "harder")] == [train, train, harder]
    train, harder = ({example.tgt for example in examples("dates", split, 10_000, 1)} for split in ("train", "harder"))
    nineties = {str(year) for year in range(1990, 2000)}
    assert {day[:4] for day in train} == {str(year) for year in range(1900, 2100)} - nineties
    assert {day[:4] for day in harder} == nineties
    assert {day[5:7] for day in train} == {f"{month:02}" for month in range(1, 13)}
    assert all({day[place] for day in train} >= {day[place] for day in harder} for place in range(4))
    first = sources("dates", count=2000)
    assert min(sum(pattern.fullmatch(src) is not None for src in first) for pattern in map(date_pattern, DATE_FORMS)) > 200


def test_numbers_have_a_pair_that_training_never_has():
    for task, width in (("numbers_de", 3), ("numbers_zh", 4), ("numbers_en", 3)):
        train, pairs = sources(task), partial(pairs_of, width=width)
        assert set().union(*map(pairs, train)) == {f"{pair:02}" for pair in range(100)} - set(UNSEEN_PAIRS)
        assert all(pairs(src) & set(UNSEEN_PAIRS) for src in sources(task, "harder"))
        lengths = Counter(map(len, train))
        assert set(lengths) == {1, 2, 3, 4, 5, 6}
        assert min(lengths.values()) / len(train) > 700 / 6000, "short numbers come as often as long ones"
        assert split_of(task, "0") == "train", "nothing else shows the word"


def pairs_of(src: str, width: int) -> set[str]:
    groups = [src[max(0, end - width) : end] for end in range(len(src), 0, -width)]
    return {group[-2:] for group in groups if len(group) >= 2}


def test_the_second_form_comes_after_the_first_stage_with_as_much_rehearsal_as_the_words_say():
    first, second = (date_pattern(form).fullmatch for form in TWO_FORMS)
    for task, before, after in (("dates_later", 0, 1), ("dates_rehearsed", 0, 0.9), ("dates_mixed", 0.5, 0.5)):
        drawn = [bool(second(src)) for src in sources(task, count=FIRST_STAGE + 2000)]
        assert [np.mean(part) for part in (drawn[:FIRST_STAGE], drawn[FIRST_STAGE:])] == pytest.approx([before, after], abs=0.02)
        assert all(map(first, sources(task, "heldout")))


def triple(src: str) -> tuple | None:
    words = src.split()
    nouns = [word for word in words if word in german.GENDER_OF]
    return (nouns[0], next(german.VERB_OF[word] for word in words if word in german.VERB_OF), nouns[1]) if len(nouns) == 2 else None


@pytest.mark.night
def test_german_has_triples_chinese_counts_and_meanings_pairs_that_training_never_has():
    train, harder = (set(map(triple, sources("german_english", *which))) for which in (("train", 10_000), ("harder",)))
    train -= {None}
    assert None not in harder
    assert not train & harder
    assert len(train) >= 1000, "nearly all others are seen"
    assert all(subject != thing for subject, _, thing in train | harder)
    train, harder = set().union(*map(counts, sources("chinese_english"))), list(map(counts, sources("chinese_english", "harder")))
    assert all(harder)
    assert not train & set().union(*harder)
    assert train | set().union(*harder) == {(number, noun) for number in chinese.NUMBERS for noun in chinese.NOUNS}
    def pairs(split: str) -> set[tuple[str, str]]:
        known = grammars.VERB_OF
        return {(known[verb], src.split()[-1]) for src in sources("one_to_many", split) for verb in src.split() if verb in known}

    train, harder = pairs("train"), pairs("harder")
    assert not train & harder
    assert train | harder == {(verb[2], noun) for verb in grammars.VERBS for group in grammars.NOUNS.values() for noun in group}
    usual, targets = 0, {}
    for example in examples("one_to_many", "train", 20_000, 1):
        both = references("one_to_many", example.src)
        assert example.tgt in both
        usual += example.tgt == both[0]
        targets.setdefault(example.src, set()).add(example.tgt)
    assert abs(usual / 20_000 - 0.7) < 0.01
    assert sum(len(both) == 2 for both in targets.values()) > 0.95 * len(targets)


def counts(src: str) -> set[tuple[str, str]]:
    words = src.split()
    return {
        (words[place], next(word for word in words[place + 2 :] if word in chinese.NOUNS))
        for place, (word, after) in enumerate(zip(words, [*words[1:], ""], strict=True))
        if word in chinese.NUMBERS and after in chinese.MEASURES
    }


@pytest.mark.night
def test_commands_have_jump_with_a_modifier_training_has_it_alone_and_longer_ones_have_halves_that_are_not():
    def after_jump(src: str) -> set[str]:
        return {after for word, after in pairwise([*src.split(), ""]) if word == "jump"}

    assert set().union(*map(after_jump, sources("commands"))) == {"", "and", "after"}
    assert all(after_jump(src) & {"left", "right", "back", "twice", "thrice"} for src in sources("commands", "harder"))
    for count in COUNTS:
        task, composed = f"commands_jump_{count}" if count else "commands_jump", set(COMPOSED[:count])
        train, harder = sources(task, count=4000), sources(task, "harder")
        assert {src for src in train if "jump" in src.split()} == {"jump", *composed}
        assert all("jump" in src.split() and src != "jump" for src in harder)
        assert not set(harder) & composed
        assert count or 0.09 < train.count("jump") / len(train) < 0.11
        assert not any("jump" in src.split() for src in sources(task, "heldout", 100))
    train, harder = ([len(example.tgt.split()) for example in examples("commands_length", split, 2000, 1)] for split in ("train", "harder"))
    assert max(train) == MOST_ACTIONS < min(harder)
    halves = {half for src in sources("commands_length", "harder") for half in re.split(" and | after ", src)}
    assert all(split_of("commands_length", half) != "harder" for half in halves)
