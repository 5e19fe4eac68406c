"""The grammar of two languages at once, on grammars small enough to work by hand."""

import random

import pytest

from playground.tasks.grammars import Grammar

VERB_LAST = Grammar(
    {
        "sentence": ["$who $what $does = $who $does $what", "$who = $who"],
        "who": ["Anna = Ann", "der Mann = the@0 man@1"],
        "what": ["Tee = some tea"],
        "does": ["trinkt = drinks up"],
    }
)


def test_a_rule_reorders_its_slots_and_words_keep_their_places():
    (answer,) = VERB_LAST.parse("der Mann Tee trinkt")
    assert answer.tgt == "the man drinks up some tea"
    assert answer.alignment == (0, 1, 3, 3, 2, 2)


def test_a_word_without_a_source_has_no_place():
    grammar = Grammar({"sentence": ["$it lacht laut = $it does laugh@1 loudly@2"], "it": ["es = it"]})
    assert grammar.parse("es lacht laut")[0].alignment == (0, None, 1, 2)


def test_a_place_in_a_rule_may_be_a_slot():
    grammar = Grammar({"sentence": ["so $long ? = is@1 that@0 ?@2"], "long": ["sehr lang = very long"]})
    assert grammar.parse("so sehr lang ?")[0].alignment == (1, 0, 3)  # the first word of the slot


def test_a_slot_may_be_said_twice_or_not_at_all():
    grammar = Grammar({"sentence": ["$a twice = $a $a", "no $a = nothing@0"], "a": ["hop = HOP"]})
    assert tuple(grammar.parse("hop twice")[0]) == ("hop twice", "HOP HOP", (0, 0))
    assert tuple(grammar.parse("no hop")[0]) == ("no hop", "nothing", (0,))


@pytest.mark.parametrize("src", ["", "Anna Tee", "trinkt", "Anna Tee trinkt trinkt", "der Anna Tee trinkt", "$who", "anna"])
def test_what_no_rule_derives_has_no_translation(src):
    assert VERB_LAST.parse(src) == ()


def test_an_ambiguous_sentence_has_all_its_translations_in_the_order_of_the_rules():
    grammar = Grammar({"sentence": ["$bank = $bank", "die Bank = the@0 bench@1"], "bank": ["die Bank = the@0 bank@1"]})
    assert [answer.tgt for answer in grammar.parse("die Bank")] == ["the bank", "the bench"]


def test_two_ways_to_the_same_translation_are_one():
    grammar = Grammar({"sentence": ["$a = $a", "$b = $b"], "a": ["x = y"], "b": ["x = y"]})
    assert len(grammar.parse("x")) == 1


def test_what_is_drawn_parses_back_to_itself():
    rng = random.Random(0)
    drawn = {VERB_LAST.draw(rng) for _ in range(50)}
    assert {example.src for example in drawn} == {"Anna", "der Mann", "Anna Tee trinkt", "der Mann Tee trinkt"}
    assert all(VERB_LAST.parse(example.src) == (example,) for example in drawn)


def test_weights_are_odds():
    grammar = Grammar({"sentence": ["7: a = x", "3: a = y"]})
    rng = random.Random(0)
    share = sum(grammar.draw(rng).tgt == "x" for _ in range(5000)) / 5000
    assert abs(share - 0.7) < 0.03


@pytest.mark.parametrize(
    "rules",
    [
        {"sentence": ["$nobody = $nobody"]},  # no rule fills the slot
        {"sentence": ["$a = $b"], "a": ["x = y"], "b": ["x = y"]},  # the target has a slot that the source lacks
    ],
)
def test_a_grammar_with_a_hole_is_an_error(rules):
    with pytest.raises(ValueError):
        Grammar(rules)


def test_a_place_outside_the_rule_is_an_error():
    with pytest.raises(IndexError):
        Grammar({"sentence": ["a b = x@2"]})
