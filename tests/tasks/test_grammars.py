"""The grammar of two languages at once, on grammars small enough to work by hand."""

import random

import pytest

from playground.tasks.grammars import Grammar

VERB_LAST = {
    "sentence": ["$who $what $does = $who $does $what", "$who = $who"],
    "who": ["Anna = Ann", "der Mann = the@0 man@1"],
    "what": ["Tee = some tea"],
    "does": ["trinkt = drinks up"],
}
BANK = {"sentence": ["$bank = $bank", "die Bank = the@0 bench@1"], "bank": ["die Bank = the@0 bank@1"]}
TWICE = {"sentence": ["$a twice = $a $a", "no $a = nothing@0"], "a": ["hop = HOP"]}


def test_all_translations_with_the_place_of_each_word():
    without_source = {"sentence": ["$it lacht laut = $it does laugh@1 loudly@2"], "it": ["es = it"]}
    first_of_slot = {"sentence": ["so $long ? = is@1 that@0 ?@2"], "long": ["sehr lang = very long"]}
    two_ways = {"sentence": ["$a = $a", "$b = $b"], "a": ["x = y"], "b": ["x = y"]}
    for rules, src, translations in (
        (VERB_LAST, "der Mann Tee trinkt", [("the man drinks up some tea", (0, 1, 3, 3, 2, 2))]),
        *((VERB_LAST, src, []) for src in ("", "Anna Tee", "trinkt", "Anna Tee trinkt trinkt", "der Anna Tee trinkt", "$who", "anna")),
        (without_source, "es lacht laut", [("it does laugh loudly", (0, None, 1, 2))]),
        (first_of_slot, "so sehr lang ?", [("is that ?", (1, 0, 3))]), (TWICE, "hop twice", [("HOP HOP", (0, 0))]),
        (TWICE, "no hop", [("nothing", (0,))]), (two_ways, "x", [("y", (0,))]),
        (BANK, "die Bank", [("the bank", (0, 1)), ("the bench", (0, 1))]),  # in the order of the rules
    ):  # fmt: skip
        assert [tuple(answer) for answer in Grammar(rules).parse(src)] == [(src, *one) for one in translations]


def test_what_is_drawn_parses_back_to_itself_and_weights_are_odds():
    rng, grammar = random.Random(0), Grammar(VERB_LAST)
    drawn = {grammar.draw(rng) for _ in range(50)}
    assert {example.src for example in drawn} == {"Anna", "der Mann", "Anna Tee trinkt", "der Mann Tee trinkt"}
    assert all(grammar.parse(example.src) == (example,) for example in drawn)
    odds = Grammar({"sentence": ["7: a = x", "3: a = y"]})
    assert abs(sum(odds.draw(rng).tgt == "x" for _ in range(5000)) / 5000 - 0.7) < 0.03


def test_a_grammar_with_a_hole_is_an_error():
    for rules, error in (
        ({"sentence": ["$nobody = $nobody"]}, ValueError),  # no rule fills the slot
        ({"sentence": ["$a = $b"], "a": ["x = y"], "b": ["x = y"]}, ValueError),  # the target has a slot that the source lacks
        ({"sentence": ["a b = x@2"]}, IndexError),
    ):
        with pytest.raises(error):
            Grammar(rules)
