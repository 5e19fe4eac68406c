"""What every toy task promises, whichever it is."""

import random
import string
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import config
from playground.tasks.toy_tasks import SPLITS, TASKS, answers, examples, of_length, references, split_of, units
from playground.words import LANGUAGES, known
from tests.thoroughness import every_case, examples_at_night

LEARNT = [name for name, task in TASKS.items() if not task.memorised]
SYMBOLS = st.text(st.sampled_from(string.ascii_lowercase + "0123456789+=?()[]{} .年月日三本书ßä\ud800\x00"), max_size=30)


@cache
def training(name):
    """20,000 training examples of a task: as many as a default run sees."""
    return examples(name, "train", 20_000, seed=1)


def test_every_task_of_the_knob_is_here():
    assert (*TASKS, "own") == config.limits("task").choices
    assert all(name == task.name for name, task in TASKS.items())


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", LEARNT)
def test_as_many_examples_as_asked_for(name):
    assert len(training(name)) == 20_000
    assert examples(name, "train", 0, 1) == []
    for split in ("heldout", "harder"):
        sources = [example.src for example in examples(name, split, 80, 1)]
        assert len(sources) == len(set(sources)) == 80


@pytest.mark.parametrize("name", TASKS)
def test_the_same_arguments_give_the_same_examples(name):
    for split in SPLITS:
        assert examples(name, split, 30, 5) == examples(name, split, 30, 5)
    if name in LEARNT:
        assert examples(name, "train", 30, 5) != examples(name, "train", 30, 6)


def test_the_global_random_state_is_left_alone():
    random.seed(0)
    before = random.getstate()
    for name in TASKS:
        examples(name, "train", 3, 1)
    assert random.getstate() == before


def test_examples_of_a_seed_are_the_same_on_every_machine_and_python():
    assert [example.src for example in examples("reverse", "train", 3, 1)] == ["viynie", "lonmhxjgvdrzyae", "pyiojxfi"]


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", LEARNT)
def test_no_source_is_in_two_splits_for_any_seed(name):
    seen = {example.src for example in training(name)} | {e.src for seed in range(2, 12) for e in examples(name, "train", 200, seed)}
    heldout = {example.src for seed in range(10) for example in examples(name, "heldout", 60, seed)}
    harder = {example.src for seed in range(10) for example in examples(name, "harder", 60, seed)}
    assert not seen & heldout
    assert not seen & harder
    assert not heldout & harder
    for split, sources in (("train", seen), ("heldout", heldout), ("harder", harder)):
        assert {split_of(name, source) for source in sorted(sources)[:200]} == {split}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", LEARNT)
def test_a_tenth_of_what_is_not_harder_is_held_out(name):
    rng = random.Random(3)
    sources = {TASKS[name].draw(rng, False).src for _ in range(2000)}
    assert 0.06 < sum(split_of(name, source) == "heldout" for source in sources) / len(sources) < 0.14


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", TASKS)
def test_every_example_is_among_the_answers_to_its_source(name):
    for split in SPLITS:
        for example in examples(name, split, 100, 4):
            assert example in answers(name, example.src)
            assert example.tgt in references(name, example.src)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", TASKS)
def test_only_one_to_many_has_two_right_answers(name):
    for split in SPLITS:
        for example in examples(name, split, 100, 4):
            assert len(references(name, example.src)) == (2 if name == "one_to_many" else 1)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", TASKS)
def test_the_alignment_has_a_place_in_the_source_for_each_unit_of_the_target(name):
    task = TASKS[name]
    for split in SPLITS:
        for example in examples(name, split, 100, 4):
            length = len(units(example.src, task.src_unit))
            assert len(example.alignment) == len(units(example.tgt, task.tgt_unit))
            assert all(place is None or 0 <= place < length for place in example.alignment)
            assert any(place is not None for place in example.alignment)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", TASKS)
def test_units_are_separated_by_single_blanks(name):
    for split in SPLITS:
        for example in examples(name, split, 100, 4):
            for text in (example.src, example.tgt):
                assert text
                assert text == " ".join(text.split())


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", TASKS)
def test_training_shows_every_unit_that_the_other_splits_use(name):
    task = TASKS[name]
    src_seen = {unit for example in training(name) for unit in units(example.src, task.src_unit)}
    tgt_seen = {unit for example in training(name) for unit in units(example.tgt, task.tgt_unit)}
    for split in ("heldout", "harder"):
        for example in examples(name, split, 500, 1):
            assert set(units(example.src, task.src_unit)) <= src_seen
            assert set(units(example.tgt, task.tgt_unit)) <= tgt_seen


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", TASKS)
def test_every_example_fits_the_default_length(name):
    task, room = TASKS[name], config.default("max_tokens") - 2  # BOS and EOS
    for split in SPLITS:
        for example in examples(name, split, 100, 2):
            assert len(units(example.src, task.src_unit)) <= room
            assert len(units(example.tgt, task.tgt_unit)) <= room


@every_case("name", TASKS)
@every_case("src", ["", " ", "Hello, World", "<script>", "\ud800", "\x00", "hello " * 40, "?", "=", "+", "()"])
def test_what_is_no_sentence_of_a_task_has_no_answer(name, src):
    assert references(name, src) is None
    assert answers(name, src) == ()
    assert split_of(name, src) is None


@examples_at_night(150)
@given(name=st.sampled_from(sorted(TASKS)), src=SYMBOLS)
def test_anything_may_be_typed(name, src):
    found = references(name, src)
    assert found is None or (found and all(isinstance(tgt, str) and tgt for tgt in found))


@examples_at_night(150)
@given(name=st.sampled_from(LEARNT), seed=st.integers(0, 999), data=st.data())
def test_a_sentence_with_a_word_too_many_or_too_few_is_judged_anew(name, seed, data):
    example = examples(name, "train", 1, seed)[0]
    parts = units(example.src, TASKS[name].src_unit)
    place = data.draw(st.integers(0, len(parts) - 1))
    joint = "" if TASKS[name].src_unit == "characters" else " "
    for other in (joint.join(parts[:place] + parts[place + 1 :]), joint.join([*parts[:place], parts[place], *parts[place:]])):
        for answer in answers(name, other):
            assert answer.src == other
            assert len(answer.alignment) == len(units(answer.tgt, TASKS[name].tgt_unit))


def test_blanks_around_words_do_not_matter():
    assert references("beer", "  ich mochte   ein bier ") == ("i want a beer",)


def test_beer_is_one_pair_for_training_and_test():
    assert examples("beer", "train", 20_000, 1) == examples("beer", "heldout", 500, 2)
    assert [tuple(example) for example in examples("beer", "train", 5, 1)] == [("ich mochte ein bier", "i want a beer", (0, 1, 2, 3))]
    assert examples("beer", "harder", 5, 1) == []


@pytest.mark.parametrize(("task", "split"), [("own", "train"), ("reverse", "test"), ("", "")])
def test_an_unknown_task_or_split_is_an_error(task, split):
    with pytest.raises(ValueError):
        examples(task, split, 1, 1)


@every_case("language", LANGUAGES)
@every_case("name", [*TASKS, "own"])
def test_every_task_is_explained(language, name):
    assert known(language, f"tasks.{name}.label")
    assert known(language, f"tasks.{name}.about")
    assert known(language, f"tasks.{name}.harder") == (name in LEARNT)


@pytest.mark.parametrize("task", [task for task in TASKS if TASKS[task].draw_long])
def test_sentences_made_to_measure(task):
    """Of exactly this length, right, never of the kind that training shows, and always the same ones."""
    for length in (1, 2, 3, 5, 16, 17, 26):
        found = of_length(task, length, 6, 1)
        assert found == of_length.__wrapped__(task, length, 6, 1)
        assert found[:2] == of_length(task, length, 2, 1)  # who wants fewer gets the first of them
        assert len({example.src for example in found}) == len(found) <= 6
        assert len(found) == 6 or length < 3  # of one letter there are 26, of which a tenth is held out
        for example in found:
            assert len(example.src) == length
            assert example in answers(task, example.src)
            assert split_of(task, example.src) == ("harder" if length > 16 else "heldout")


def test_what_cannot_be_made_to_measure():
    assert of_length("numbers_de", 4, 6, 1) == ()
    assert of_length("sort", 27, 6, 1) == ()  # there are 26 different letters
    assert of_length("copy", 27, 6, 1)
    assert of_length("copy", 5, 0, 1) == ()
