"""Own sentences on the page: what is read, kept and shown, and which knobs may follow it."""

from __future__ import annotations

import pytest

from playground.config import TASK_STEPS, Refusal, default
from playground.data.suggestion import DROPOUT, LONG, SHORT, suggest
from playground.knobs import as_text
from playground.reading.column_mapping import MAX_CELL_CHARACTERS
from playground.ui.assets import PREFIX
from playground.ui.links import read as read_link
from playground.ui.upload import uploading
from playground.words import LANGUAGES, say
from tests.ui.test_actions import MINE, TINY, wait

TICKET = uploading.ticket_of(MINE)
LINES = "\n".join(f"word{n} again\twort{n} noch" for n in range(60))

POEM = "I have been one\nAnd this is what I had\n\nThe day was not so long\nThat there would be no end"


@pytest.fixture
def upload(tmp_path):
    """Reads text as a file of that name. Returns the reply."""

    def read(text: str | bytes, name: str = "own.tsv", chosen: str = "", language: str = "en") -> dict:
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return uploading.read([str(file)], "", "", chosen, language, TICKET)

    yield read
    uploading.KEPT.clear()


def preview(site, own: str, **asked: str) -> dict:
    return site.http.get(f"{PREFIX}/preview", params={"own": own, **asked}, headers={"X-Playground-Token": MINE}).json()


def test_one_thing_is_read_at_a_time(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text(LINES)
    for given in ([str(file)], LINES, ""), (None, LINES, "somebody/something"), ([str(file)], "", "somebody/something"):
        with pytest.raises(Refusal) as refused:
            uploading.read(*given, "", "en")
        assert refused.value.key == "page.two_inputs"
    with pytest.raises(Refusal) as refused:
        uploading.read(None, " \n", " ", "", "en")
    assert refused.value.key == "page.nothing_to_read"


def test_a_file_that_is_gone_is_said_to_be():
    with pytest.raises(Refusal) as refused:
        uploading.read(["/nowhere/own.tsv"], "", "", "", "en")
    assert refused.value.key == "page.no_upload"


@pytest.mark.parametrize("language", LANGUAGES)
def test_encodings_have_names_that_people_know(upload, language):
    reading = upload("a;Käse\nb;Brot\n".encode("cp1252"), language=language)["reading"]
    [found] = reading["encodings"]
    assert found["guessed"]
    assert found["options"][0] == (found["name"], say(language, f"data.encoding_{found['name']}"))
    assert len(dict(found["options"])) == len(found["options"]) > 20


def test_undone_traces_are_undone_in_what_is_shown(upload):
    assert upload("we walk@@ ed\tx y\n" * 3)["reading"]["rows"][0]["cells"] == ("we walk@@ ed", "x y")
    undone = upload("we walk@@ ed\tx y\n" * 3, chosen='{"undo": true}')["reading"]
    assert undone["rows"][0]["cells"] == ("we walked", "x y")


@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_of_one_language_are_asked_about_before_they_are_pairs(upload, language):
    kept = len(uploading.KEPT)
    asked = upload(POEM, "poem.txt", language=language)
    assert asked == {"ask": say(language, "data.same_language", name="poem.txt", one="I have been one", two="And this is what I had")}
    assert len(uploading.KEPT) == kept
    confirmed = upload(POEM, "poem.txt", chosen='{"same_language": true}', language=language)
    assert confirmed["reading"]["pairs"] == 2
    assert confirmed["own"] in uploading.KEPT


@pytest.mark.parametrize("chosen", ['{"same_language": null}', '{"same_language": []}', '{"swap": "yes"}', '{"undo": {}}', "[]", "{"])
def test_choices_that_no_control_makes_are_refused(chosen):
    with pytest.raises(Refusal) as refused:
        uploading.choices(chosen)
    assert refused.value.key == "page.not_a_choice"


def test_a_header_is_asked_for_only_where_there_may_be_one(upload):
    assert not upload("en\tde\na\tb\n")["reading"]["named"]
    assert upload('[{"en": "a", "de": "b"}]', "a.json")["reading"]["named"]


def test_knobs_follow_the_sentences_unless_somebody_chose(upload):
    big, small = (upload(LINES if few else "\n".join(f"s{n}\tt{n}" for n in range(9000)))["own"] for few in (False, True))
    usual = {name: default(name) for name in uploading.TAUGHT}
    for_big, for_small = (suggest(uploading.KEPT.get(own).pairs).knobs for own in (big, small))
    assert for_big["steps"] > for_small["steps"] > usual["steps"]

    def taught(old: str, new: str, values: dict, usual: int | None = None) -> dict:
        return dict(zip(uploading.TAUGHT, uploading.taught(old, new, values, usual, ticket=TICKET), strict=True))

    assert taught("", big, usual) == for_big
    assert uploading.taught("", big, usual) == list(usual.values()), "a stranger does not learn how many there are"
    assert taught(big, small, for_big) == for_small
    assert taught(big, "", for_big, TASK_STEPS["addition"]) == usual | {"steps": TASK_STEPS["addition"]}
    assert "value" not in taught(big, small, for_big | {"max_tokens": 32})["max_tokens"]
    often = 9000 * 11 // for_big["batch_size"]  # steps of eleven epochs
    assert uploading.following(uploading.KEPT.get(big).pairs, big, for_big, often) == {"learning_rate": LONG, "dropout": DROPOUT}
    assert uploading.following(uploading.KEPT.get(big).pairs, big, for_big, 90) == {"learning_rate": SHORT[1], "dropout": 0.0}
    timed = for_big | {"minutes": 5.0}  # with a time the steps are as many as may fit, the epochs as many as probably do
    assert uploading.following(uploading.KEPT.get(big).pairs, big, timed, often) == {"learning_rate": LONG, "dropout": 0.0}
    given = for_big | {"learning_rate": 0.003}
    assert uploading.following(uploading.KEPT.get(big).pairs, big, given, often) == {"dropout": DROPOUT}
    chosen = taught("", big, usual | {"steps": 777, "learning_rate": 0.003})
    assert all("value" not in chosen.pop(name) for name in ("steps", "learning_rate"))
    assert chosen == {name: for_big[name] for name in chosen}


def test_what_is_suggested_goes_by_what_somebody_chose(upload):
    """Half the batch, twice the steps; and with tokens for a unit, as many steps as go as often through the data."""
    own = upload("\n".join(f"s{n}\tt{n}" for n in range(9000)))["own"]
    usual = {name: default(name) for name in uploading.TAUGHT}
    steps = [
        dict(zip(uploading.TAUGHT, uploading.taught("", own, usual | chosen, ticket=TICKET), strict=True))["steps"]
        for chosen in ({}, {"batch_size": 48}, {"batch_size": 960, "batch_unit": "tokens"})
    ]
    assert steps[1] == pytest.approx(2 * steps[0], abs=1)
    assert steps[2] == pytest.approx(steps[0], rel=0.1)  # both sides of these have ten characters or a little less


def test_the_same_reading_in_another_language(site, upload):
    own = upload("en\tde\n" + LINES)["own"]
    for language in LANGUAGES:
        mine = {"headers": {"X-Playground-Token": MINE}}
        answer = site.http.get(f"{PREFIX}/reading", params={"own": own, "lang": language}, **mine).json()
        assert answer["own"] == own
        assert answer["reading"]["report"][0] == say(language, "data.report_line", lines=61, kept=60, dropped=1)
    assert site.get("reading", own="unknown").json()["key"] == "page.no_upload"


def test_what_was_dropped_is_still_known_when_a_run_has_the_sentences(site, upload):
    own = upload("en\tde\n" + LINES + "\nalone\t")["own"]
    run = site.train(MINE, {**TINY, "task": "own", "own": own, "steps": 2}).id
    uploading.KEPT.clear()
    wait(site.runs.get(run), "done")
    mine = {"headers": {"X-Playground-Token": MINE}}
    blocks = site.http.get(f"{PREFIX}/panel/data", params={"run": run}, **mine).json()["blocks"]
    account = next(block["text"] for block in blocks if block["id"] == "account")
    assert account.startswith(say("en", "data.report_line", lines=62, kept=60, dropped=2))
    assert say("en", "data.why_empty_target") in account
    assert site.http.get(f"{PREFIX}/reading", params={"own": own}, **mine).json()["reading"]["pairs"] == 60
    experiment, ignored = read_link(site.runs, {"run": run, "task": "own", "steps": "50"})
    assert (experiment.data.own, ignored) == (own, {})
    site.runs.delete(run, MINE)


def test_pairs_that_are_too_long_are_shown(site, upload):
    own = upload(f"{LINES}\n{'long ' * 65}\tlang")["own"]
    found = {block["id"]: block for block in preview(site, own)["blocks"]}
    assert found["preview-left-out"]["rows"] == [["61", ("long " * 65)[:MAX_CELL_CHARACTERS], "lang"]]
    assert found["preview-left-out"]["folded"]
    assert say("en", "data.line", where=61) in found["preview-facts"]["text"]
    assert "not cut" in found["preview-facts"]["text"]


def test_every_kept_pair_is_accounted_for(site, upload):
    own = upload("\n".join(f"s{n // 5}\tt{n}" for n in range(200)))["own"]
    found = {block["id"]: block for block in preview(site, own)["blocks"]}
    assert say("en", "sentences.sizes", train=160, heldout=4, test=4) in found["preview-facts"]["text"]
    assert say("en", "sentences.further", count=32) in found["preview-facts"]["text"]


def test_the_suggestion_stands_under_the_reading_with_a_button_for_what_differs(site, upload):
    own = upload("\n".join(f"s{n} and\tt{n} und" for n in range(300)))["own"]
    wanted = suggest(uploading.KEPT.get(own).pairs)
    found = {block["id"]: block for block in preview(site, own, d_model="32")["blocks"]}
    said = [say("en", "suggestion.title"), *suggest(uploading.KEPT.get(own).pairs, {"d_model": 32}).sentences("en")]
    assert found["preview-suggestion"]["text"] == " ".join(said)
    assert found["preview-apply"]["values"]["tokenizer"] == wanted.knobs["tokenizer"] == "bpe"
    assert "d_model" not in found["preview-apply"]["values"]  # somebody has chosen it
    taken = {name: as_text(value) for name, value in wanted.knobs.items()}
    assert "preview-apply" not in {block["id"] for block in preview(site, own, **taken)["blocks"]}
