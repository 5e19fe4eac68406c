"""What every toy task promises, whichever it is."""

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import config
from playground.tasks.toy_tasks import SPLITS, TASKS, answers, examples, of_length, references, split_of, units
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


@pytest.mark.parametrize(
    "name", [name if name in ("reverse", "dates", "commands_jump") else pytest.param(name, marks=pytest.mark.night) for name in TASKS]
)
def test_training_shows_every_unit_that_the_other_splits_use(name):
    task, training = TASKS[name], examples(name, "train", 20_000, 1)
    for at, unit in enumerate((task.src_unit, task.tgt_unit)):
        known_units = {one for example in training for one in units(example[at], unit)}
        for split in ("heldout", "harder"):
            assert {one for example in examples(name, split, 500, 1) for one in units(example[at], unit)} <= known_units


@given(st.sampled_from(LEARNT), st.integers(0, 99))
@settings(max_examples=10)
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
    assert of_length("numbers_de", 4, 6, 1) == of_length("copy", 5, 0, 1) == ()
    assert of_length("sort", 27, 6, 1) == (), "there are 26 different letters"
    assert of_length("copy", 27, 6, 1)


@given(names, SYMBOLS)
def test_anything_may_be_typed(name, src):
    assert references(name, src) is None or all(references(name, src))
    for answer in answers(name, src):
        assert answer.src == src
        assert len(answer.alignment) == len(units(answer.tgt, TASKS[name].tgt_unit))


@given(st.sampled_from([task for task in TASKS if TASKS[task].draw_long]), st.integers(1, 26))
def test_sentences_made_to_measure_are_right_and_never_shown_by_training(task, length):
    drawn = of_length(task, length, 6, 1)
    assert drawn == of_length.__wrapped__(task, length, 6, 1)
    assert drawn[:2] == of_length(task, length, 2, 1), "fewer are the first of them"
    assert len({example.src for example in drawn}) == len(drawn) <= 6
    assert len(drawn) == 6 or length < 3, "of one letter there are 26, of which a tenth is held out"
    for example in drawn:
        assert len(example.src) == length
        assert example in answers(task, example.src)
        assert split_of(task, example.src) == ("harder" if length > 16 else "heldout")
