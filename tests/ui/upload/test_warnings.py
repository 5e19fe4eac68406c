"""What would spoil a training stands under the reading, with a button that mends it."""

from __future__ import annotations

import json
import random

import pytest

from playground.config import default
from playground.ui.upload import uploading
from playground.words import LANGUAGES, say
from tests.data.test_suggestion import sentences
from tests.ui.upload.test_uploading import TICKET, preview

SAME = "\n".join(f"ask {n % 20}\tanswer {n}\tway {n // 20}" for n in range(100))
CONSONANTS = "bcdfghjklmnpqrstvwxz"
GERMAN = ["das ist nicht mein Haus und ich bin hier", "wir haben heute keine Zeit für euch", "sie geht mit dem Hund in den Wald"]
ENGLISH = ["this is not my house and i am here", "we have no time for you today", "she goes with the dog into the wood"]


@pytest.fixture
def warned(site):
    """The warnings under a text: {name: block}, for these settings."""

    def read(text: str, chosen: str = "", **knobs) -> dict[str, dict]:
        own = uploading.read(None, text, "", chosen, "en", TICKET)["own"]
        found = preview(site, own, **knobs)["blocks"]
        return {block["id"]: block for block in found if block["id"].startswith(("warning", "mend"))}

    yield read
    uploading.KEPT.clear()


def text_of(pairs) -> str:
    return "\n".join(f"{pair.src}\t{pair.tgt}" for pair in pairs.pairs)


def button(found: dict, name: str) -> dict:
    return found[f"mend-{name}"]["blocks"][0]


def test_good_data_with_good_settings_has_no_warning(warned):
    assert warned(text_of(sentences(600, 50)), steps="100") == {}


def test_targets_that_can_not_be_written(warned):
    text = text_of(sentences(600, 900))
    found = warned(text, steps="100", tokenizer="words")
    assert "can’t output" in found["warning-unwritable"]["text"]
    wanted = button(found, "unwritable")
    assert (wanted["act"], wanted["values"]["tokenizer"]) == ("set", "bpe")
    mended = {name: str(value) for name, value in wanted["values"].items()}
    assert "warning-unwritable" not in warned(text, steps="100", **mended)


def test_pairs_left_out_and_the_limit_that_keeps_them(warned):
    text = text_of(sentences(100, 50)) + f"\n{'long ' * 90}\tlang"
    found = warned(text, steps="100")
    assert button(found, "left_out")["values"] == {"max_tokens": 90}
    assert warned(text, steps="100", max_tokens="90") == {}
    still = warned(text_of(sentences(100, 50)) + f"\n{'long ' * 300}\tlang", steps="100")
    assert button(still, "left_out_still")["values"] == {"max_tokens": 250}


def test_a_missing_column_is_offered(warned):
    found = warned(SAME, steps="100")
    offered = button(found, "ambiguous")
    assert (offered["act"], offered["values"]["joined"]) == ("read", [2])
    assert "warning-ambiguous" not in warned(SAME, json.dumps(offered["values"]), steps="100")
    alone = warned(SAME.replace("\tway", " way"), steps="100")
    assert "mend-ambiguous_alone" not in alone
    assert say("en", "sentences.warn_ambiguous_alone", count="16", of="16", most=5) == alone["warning-ambiguous_alone"]["text"]


def test_too_few_passes(warned):
    text = text_of(sentences(600, 50))
    found = warned(text, steps=str(default("steps")), batch_size="4")
    wanted = button(found, "few_passes")["values"]["steps"]
    assert wanted == 720  # six times the 480 that are trained on
    assert warned(text, steps=str(wanted), batch_size="4") == {}
    assert "warning-few_passes" in warned(text, steps="10", batch_size="96", batch_unit="tokens")
    timed = button(warned(text, steps="90", batch_size="4", minutes="1"), "few_passes")["values"]
    assert timed == {"steps": wanted, "minutes": 16}, "a minute allows for 90, and probably has time for 45"


def test_two_corpora_in_one_file(warned):
    dice = random.Random(1)
    rows = [tuple(dice.choice(side) + f" {n}" for side in (GERMAN, ENGLISH)) for n in range(300)]
    found = warned("\n".join("\t".join(row if n < 150 else row[::-1]) for n, row in enumerate(rows)), steps="100")
    assert "line 151" in found["warning-glued"]["text"]
    assert "warning-glued" not in warned("\n".join(map("\t".join, rows)), steps="100")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_reading_may_join_columns_and_split_by_one(site, language):
    got = uploading.read(None, SAME, "", json.dumps({"joined": [2], "group": 0}), language)["reading"]
    assert (got["joined"], got["group"]) == ((2,), 0)
    uploading.KEPT.clear()


@pytest.mark.parametrize("chosen", [{"joined": 2}, {"joined": ["a"]}, {"joined": [-1]}, {"group": -2}, {"group": "a"}, {"group": [1]}])
def test_no_other_columns_are_taken(chosen):
    with pytest.raises(uploading.Refusal):
        uploading.choices(json.dumps(chosen))


def test_a_table_of_inflections_is_shown_as_it_will_be_learnt(warned):
    """Also where it has more pairs than an estimate looks at."""
    rows = [(one + other, *form) for one in CONSONANTS for other in CONSONANTS for form in (("t", "PRS"), ("te", "PST"))]
    text = "\n".join(f"{stem}en\t{stem}{end}\tV;{tense}" for stem, end, tense in rows)
    assert warned(text, steps="100") == {}
