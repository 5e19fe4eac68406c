"""Own sentences on the page: what is read, kept and shown, which knobs may follow it, and what would spoil a training."""

import json
import random

import pytest

from playground.config import TASK_STEPS, default
from playground.data.suggestion import DROPOUT, LONG, SHORT, suggest
from playground.features.shared import uploading
from playground.knobs import as_text
from playground.reading.column_mapping import MAX_CELL_CHARACTERS
from playground.ui.assets import PREFIX
from playground.ui.boot import read_link
from playground.words import LANGUAGES, say
from tests.data.test_corpus import sentences
from tests.runs.tiny import done, refused
from tests.ui.looking import TINY

MINE = "a" * 32
TICKET = uploading.ticket_of(MINE)
LINES = "\n".join(f"word{n} again\twort{n} noch" for n in range(60))
POEM = "I have been one\nAnd this is what I had\n\nThe day was not so long\nThat there would be no end"
SAME = "\n".join(f"ask {n % 20}\tanswer {n}\tway {n // 20}" for n in range(100))
USUAL = {name: default(name) for name in uploading.SUGGESTED}


@pytest.fixture(autouse=True)
def _nothing_left():
    yield
    uploading.UPLOADS.clear()


@pytest.fixture
def upload(tmp_path):
    """Reads text as a file of that name. Returns the reply."""

    def read(text: str | bytes, name: str = "own.tsv", chosen: str = "", language: str = "en") -> dict:
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return uploading.read_upload([str(file)], "", "", chosen, language, TICKET)

    return read


def get(site, path: str, **asked: str) -> dict:
    return site.http.get(f"{PREFIX}/{path}", params=asked, headers={"X-Playground-Token": MINE}).json()


def preview(site, own: str, **asked: str) -> dict[str, dict]:
    return {block["id"]: block for block in get(site, "preview", own=own, **asked)["blocks"]}


BAD_CHOICES = (
    "{", "[]", "1", "null", "[" * 5000,
    *map(json.dumps, (
        {"same_language": None}, {"swap": 0.5}, {"undo": "no"}, {"nonsense": 1}, {"joined": 2}, {"joined": [-1]}, {"group": -2},
        {"group": [1]}, {"source": "1"}, {"source": True}, {"target": 999}, {"header": 2}, {"encoding": "rot13"}, {"encoding": ["utf-8"]},
    )),
)  # fmt: skip


def test_what_can_not_be_read_or_chosen_is_refused(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text(LINES)
    cases = [
        (([str(file)], LINES, "", ""), "page.two_inputs"), ((None, LINES, "somebody/something", ""), "page.two_inputs"),
        (([str(file)], "", "somebody/something", ""), "page.two_inputs"), ((None, " \n", " ", ""), "page.nothing_read_yet"),
        ((["/nowhere/own.tsv"], "", "", ""), "page.no_upload"), ((None, "a\tb\nc\td", "", '{"target": 9}'), "data.no_column"),
        *(((None, "a\tb\nc\td", "", chosen), "page.not_a_choice") for chosen in BAD_CHOICES),
    ]
    for given, key in cases:
        with refused(key):
            uploading.read_upload(*given, "en")


def test_a_reading_says_what_was_guessed_takes_what_is_chosen_and_asks_where_both_sides_are_one_language(upload):
    language = "zh"
    (encoding,) = upload("a;Käse\nb;Brot\n".encode("cp1252"), language=language)["reading"]["encodings"]
    assert encoding["guessed"]
    assert encoding["options"][0] == (encoding["name"], say(language, f"data.encoding_{encoding['name']}"))
    assert len(dict(encoding["options"])) == len(encoding["options"]) > 20
    for chosen, source in (("", "we walk@@ ed"), ('{"undo": true}', "we walked")):
        assert upload("we walk@@ ed\tx y\n" * 3, chosen=chosen)["reading"]["rows"][0]["cells"] == (source, "x y")
    joined = upload(SAME, chosen=json.dumps({"joined": [2], "group": 0}))["reading"]
    assert (joined["joined"], joined["group"]) == ((2,), 0)
    uploading.UPLOADS.clear()
    asked = upload(POEM, "poem.txt", language=language)
    assert asked == {"ask": say(language, "data.same_language", name="poem.txt", one="I have been one", two="And this is what I had")}
    assert not len(uploading.UPLOADS)
    confirmed = upload(POEM, "poem.txt", chosen='{"same_language": true}', language=language)
    assert (confirmed["reading"]["pairs"], confirmed["own"] in uploading.UPLOADS) == (2, True)


def test_knobs_follow_the_sentences_unless_one_was_chosen(upload):
    big, small = (upload("\n".join(f"s{n}\tt{n}" for n in range(count)))["own"] for count in (9000, 60))
    for_big, for_small = (suggest(uploading.UPLOADS.get(own).pairs).knobs for own in (big, small))

    def taught(old: str, new: str, values: dict, usual: int | None = None) -> dict:
        return uploading.values_for(old, new, values, usual, ticket=TICKET)

    assert for_big["steps"] > for_small["steps"] > USUAL["steps"]
    assert taught("", big, USUAL) == for_big
    assert uploading.values_for("", big, USUAL) == USUAL, "a stranger does not learn how many there are"
    assert taught(big, small, for_big) == for_small
    assert taught(big, "", for_big, TASK_STEPS["addition"]) == USUAL | {"steps": TASK_STEPS["addition"]}
    chosen = taught("", big, USUAL | {"steps": 777, "learning_rate": 0.003})
    assert chosen == {name: value for name, value in for_big.items() if name not in ("steps", "learning_rate")}
    pairs, often = uploading.UPLOADS.get(big).pairs, 9000 * 11 // for_big["batch_size"]  # steps of eleven epochs
    for more, count, follows in (
        ({}, often, {"learning_rate": LONG, "dropout": DROPOUT}), ({}, 90, {"learning_rate": SHORT[1], "dropout": 0.0}),
        ({"learning_rate": 0.003}, often, {"dropout": DROPOUT}),
    ):
        assert uploading.timed_values(pairs, big, for_big | more, count) == follows


def test_the_reading_is_known_when_a_run_has_the_sentences_and_the_preview_accounts_for_every_pair(site, upload):
    own = upload("en\tde\n" + LINES + "\nalone\t")["own"]
    for language in LANGUAGES:
        answer = get(site, "reading", own=own, lang=language)
        assert (answer["own"], answer["reading"]["report"][0]) == (own, say(language, "data.report_line", lines=62, kept=60, dropped=2))
    run = done(site.train(MINE, {**TINY, "task": "own", "own": own, "steps": 2})).id
    uploading.UPLOADS.clear()
    account = next(block["text"] for block in get(site, "panel/data", run=run)["blocks"] if block["id"] == "account")
    assert account.startswith(say("en", "data.report_line", lines=62, kept=60, dropped=2))
    assert say("en", "data.why_empty_target") in account
    assert get(site, "reading", own=own)["reading"]["pairs"] == 60
    assert read_link(site.runs, {"run": run, "task": "own", "steps": "50"})[0].data.own == own
    site.runs.delete(run, MINE)
    own = upload("\n".join(f"s{n // 5} and\tt{n} und" for n in range(200)))["own"]
    wanted = suggest(uploading.UPLOADS.get(own).pairs)
    panel = preview(site, own, d_model="32")
    assert say("en", "sentences.sizes", train=160, heldout=4, test=4) in panel["preview-facts"]["text"]
    text = [say("en", "suggestion.title"), *suggest(uploading.UPLOADS.get(own).pairs, {"d_model": 32}).sentences("en")]
    assert panel["preview-suggestion"]["text"] == " ".join(text)
    assert panel["preview-apply"]["values"]["tokenizer"] == wanted.knobs["tokenizer"]
    assert "d_model" not in panel["preview-apply"]["values"]  # which was chosen
    assert "preview-apply" not in preview(site, own, **{name: as_text(value) for name, value in wanted.knobs.items()})
    long = preview(site, upload(f"{LINES}\n{'long ' * 65}\tlang")["own"])
    assert long["preview-left-out"]["rows"] == [["61", ("long " * 65)[:MAX_CELL_CHARACTERS], "lang"]]


@pytest.fixture
def warned(site):
    """The warnings under a text: {name: block}, for these settings."""

    def read(text: str, chosen: str = "", **knobs) -> dict[str, dict]:
        own = uploading.read_upload(None, text, "", chosen, "en", TICKET)["own"]
        return {name: block for name, block in preview(site, own, **knobs).items() if name.startswith(("warning", "mend"))}

    return read


def text_of(count: int, words: int) -> str:
    return "\n".join(f"{pair.src}\t{pair.tgt}" for pair in sentences(count, words).pairs)


def mend(panel: dict, name: str) -> dict:
    return panel[f"mend-{name}"]["blocks"][0]


def test_good_data_has_no_warning_two_corpora_in_one_file_have_and_each_has_a_button_that_mends_it(warned):
    assert warned(text_of(600, 50), steps="100") == {}
    german = ["das ist nicht mein Haus und ich bin hier", "wir haben heute keine Zeit für euch", "sie geht mit dem Hund in den Wald"]
    english = ["this is not my house and i am here", "we have no time for you today", "she goes with the dog into the wood"]
    dice = random.Random(1)
    rows = [tuple(dice.choice(side) + f" {n}" for side in (german, english)) for n in range(300)]
    glued = warned("\n".join("\t".join(row if n < 150 else row[::-1]) for n, row in enumerate(rows)), steps="100")
    assert "line 151" in glued["warning-glued"]["text"]
    assert "warning-glued" not in warned("\n".join(map("\t".join, rows)), steps="100")
    text = text_of(600, 900)
    unwritable = mend(warned(text, steps="100", tokenizer="words"), "unwritable")
    assert (unwritable["act"], unwritable["values"]["tokenizer"]) == ("set", "bpe")
    assert "warning-unwritable" not in warned(text, steps="100", **{name: str(value) for name, value in unwritable["values"].items()})
    text = text_of(100, 50)
    assert mend(warned(f"{text}\n{'long ' * 90}\tlang", steps="100"), "left_out")["values"] == {"max_tokens": 90}
    assert warned(f"{text}\n{'long ' * 90}\tlang", steps="100", max_tokens="90") == {}
    column = mend(warned(SAME, steps="100"), "ambiguous")
    assert (column["act"], column["values"]["joined"]) == ("read", [2])
    assert "warning-ambiguous" not in warned(SAME, json.dumps(column["values"]), steps="100")
    text, small = text_of(600, 50), {"batch_size": "4"}
    wanted = mend(warned(text, steps=str(default("steps")), **small), "few_passes")["values"]["steps"]
    assert wanted == 720  # six times the 480 that are trained on
    assert warned(text, steps=str(wanted), **small) == {}
