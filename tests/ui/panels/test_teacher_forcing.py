"""The panel of teacher forcing and free running: what it says of them is what they are."""

from collections.abc import Iterator

import pytest

from playground.words import LANGUAGES, say
from tests.thoroughness import every_case

LONG = "abcdefghijklmnopqrst"  # longer than any word in training


def inside(blocks: list[dict]) -> Iterator[dict]:
    """All blocks, also those in rows."""
    for block in blocks:
        yield block
        yield from inside(block.get("blocks", []))


def block(panel: dict, id: str) -> dict:
    return next(block for block in inside(panel["blocks"]) if block["id"] == id)


def lanes(panel: dict) -> dict[str, dict]:
    return {lane["name"]: {row["name"]: row["tokens"] for row in lane["rows"]} for lane in block(panel, "lanes")["lanes"]}


def test_short_lanes_have_beside_them_what_stands_around_long_ones(site):
    """The pictures of a step begin where the lanes end, on a page that has room; on a telephone one thing stands below the other."""

    def top(text: str, width: str) -> list[str]:
        return [block["id"] for block in site.panel("teacher_forcing", run="reverse", text=text, width=width)["blocks"]]

    below = ["caption", "lanes", "fix", "step"]
    assert [name for name in top("abc", "1380") if name in ("compared", *below)] == ["compared", "step"]
    assert [name for name in top("abc", "360") if name in ("compared", *below)] == below
    assert [name for name in top(LONG, "1000") if name in ("compared", *below)] == below


def test_a_long_word_parts_the_lives_and_the_caption_says_where(site):
    panel = site.panel("teacher_forcing", run="reverse", text=LONG)
    found = lanes(panel)
    forced, free = found[say("en", "teacher_forcing.forced")], found[say("en", "teacher_forcing.free")]
    assert [token["text"] for token in forced["fed"]] == ["<bos>", *reversed(LONG)]
    assert [token["text"] for token in free["fed"][1:]] == [token["text"] for token in free["says"][:-1]]
    right = [*reversed(LONG), "<eos>"]
    at = next(at for at, (token, wanted) in enumerate(zip(free["says"], right, strict=False)) if token["text"] != wanted)
    assert block(panel, "lanes")["parted"] == at
    assert (
        say("en", "teacher_forcing.parted", step=at + 1, wrote=free["says"][at]["text"], right=right[at]) in block(panel, "caption")["text"]
    )
    assert [token["right"] for token in forced["says"]] == [
        token["text"] == wanted for token, wanted in zip(forced["says"], right, strict=True)
    ]


def test_a_correction_stands_beside_what_was_written(site):
    before = site.panel("teacher_forcing", run="reverse", text=LONG)
    option = next(o for o in block(before, "fix")["options"] if o["label"].split()[0] == LONG[-1])
    after = site.panel("teacher_forcing", run="reverse", text=LONG, fix=option["value"])
    assert lanes(after)[say("en", "teacher_forcing.free")] == lanes(before)[say("en", "teacher_forcing.free")]
    corrected = lanes(after)[say("en", "teacher_forcing.corrected")]
    at = int(option["value"].split(":")[0])
    assert corrected["says"][at]["text"] == LONG[-1]
    assert block(after, "fix")["value"] == option["value"]


def test_the_offered_sentences_do_go_wrong(site):
    panel = site.panel("teacher_forcing", run="reverse")
    for option in block(panel, "wrong")["options"]:
        assert block(site.panel("teacher_forcing", run="reverse", text=option["value"]), "lanes")["parted"] is not None


def test_where_nothing_goes_wrong_an_earlier_step_is_offered_at_which_it_did(site):
    panel = site.panel("teacher_forcing", run="german_english")
    assert "wrong" not in {one["id"] for one in inside(panel["blocks"])}
    to = block(panel, "earlier")["to"]
    assert to["step"] in site.runs.find("german_english").replay.parameter_steps
    there = site.panel("teacher_forcing", run="german_english", **to)
    assert there["step"] == to["step"]
    assert block(there, "lanes")["parted"] is not None
    assert "earlier" not in {one["id"] for one in inside(site.panel("teacher_forcing", run="german_english", step=0)["blocks"])}


def test_an_own_answer_is_forced_where_nobody_knows_one(site):
    text = "der hund der hund"
    panel = site.panel("teacher_forcing", run="german_english", text=text)
    assert list(lanes(panel)) == [say("en", "teacher_forcing.free")]
    assert block(panel, "no-reference")["text"] == say("en", "teacher_forcing.no_reference")
    forced = lanes(site.panel("teacher_forcing", run="german_english", text=text, force="the dog"))[say("en", "teacher_forcing.forced")]
    assert [token["text"] for token in forced["fed"]] == ["<bos>", "the", "dog"]


@every_case("language", LANGUAGES)
@every_case("more", [{"width": "390"}, {"dark": "1"}, {"target": "reference"}, {"step": "60"}, {"q": "99"}])
def test_in_every_dress(site, language, more):
    panel = site.panel("teacher_forcing", run="numbers_de", lang=language, **more)
    assert "error" not in panel
    lens = block(panel, "lens")
    assert len(lens["figure"]["data"][0]["z"]) == 2  # the embedding and its one layer
    assert lens["caption"]


@pytest.mark.parametrize("fix", ["x", "1", ":", "1:2:3", "99:99999", "-1:4", "0:0", "٣:٤", "1:" + "9" * 50])
def test_a_correction_from_a_broken_link_is_ignored(site, fix):
    panel = site.panel("teacher_forcing", run="reverse", fix=fix)
    assert list(lanes(panel)) == [say("en", "teacher_forcing.forced"), say("en", "teacher_forcing.free")]


@pytest.mark.parametrize("run", ["reverse", "german_english", "numbers_zh"])
def test_the_telling_sentence_is_one_that_goes_wrong(site, run):
    """What the page opens on while nobody has chosen a sentence; where none goes wrong there is none."""
    telling = site.panel("teacher_forcing", run=run)["telling"]
    offered = next((one for one in site.panel("teacher_forcing", run=run)["blocks"] if one["id"] == "wrong"), None)
    assert telling == (offered["options"][0]["value"] if offered else "")
    if telling:
        assert block(site.panel("teacher_forcing", run=run, text=telling), "lanes")["parted"] is not None


def test_votes_add_up_to_the_difference_of_the_two_logits(site):
    """The bars are of the step that is chosen: their sum is where the path ends, and what the caption says."""
    for settings in ({"run": "reverse", "text": LONG}, {"run": "german_english", "row": 2}):
        panel = site.panel("teacher_forcing", **settings)
        row = next(block for block in panel["blocks"] if block["id"] == "votes")
        bars, path = (figure["figure"] for figure in row["blocks"])
        total = sum(value for trace in bars["data"] for value in trace["x"])
        end = path["data"][0]["x"][-1] - path["data"][0]["y"][-1]
        assert total == pytest.approx(end, abs=0.01)
        assert f"{end:.2f}"[:-1] in row["blocks"][0]["caption"]


def test_votes_at_the_first_mistake_are_against_the_right_token(site):
    panel = site.panel("teacher_forcing", run="reverse", text=LONG)
    at = block(panel, "lanes")["parted"]
    free = lanes(panel)[say("en", "teacher_forcing.free")]
    wrote, right = free["says"][at]["text"], [*reversed(LONG), "<eos>"][at]
    assert block(panel, "votes-title")["text"] == say("en", "votes.title", step=at + 1, token=wrote, other=right)
