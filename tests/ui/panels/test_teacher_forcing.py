"""The panel of teacher forcing and free running: what it says of them is what they are."""

import pytest

from playground.words import say
from tests.ui.panels.looking import block, ids

LONG = "abcdefghijklmnopqrst"  # longer than any word in training
RIGHT = [*reversed(LONG), "<eos>"]
FORCED, FREE, CORRECTED = (say("en", f"teacher_forcing.{name}") for name in ("forced", "free", "corrected"))


def ask(site, **parameters) -> dict:
    return site.panel("teacher_forcing", **{"run": "reverse"} | parameters)


def lanes(panel: dict) -> dict[str, dict]:
    return {lane["name"]: {row["name"]: row["tokens"] for row in lane["rows"]} for lane in block(panel, "lanes")["lanes"]}


def test_a_long_word_parts_the_lives_and_the_caption_the_votes_and_a_correction_say_where(site):
    panel = ask(site, text=LONG)
    forced, free = lanes(panel)[FORCED], lanes(panel)[FREE]
    assert [token["text"] for token in forced["fed"]] == ["<bos>", *reversed(LONG)]
    assert [token["text"] for token in free["fed"][1:]] == [token["text"] for token in free["says"][:-1]]
    assert [token["right"] for token in forced["says"]] == [
        token["text"] == wanted for token, wanted in zip(forced["says"], RIGHT, strict=True)
    ]
    at = next(at for at, (token, wanted) in enumerate(zip(free["says"], RIGHT, strict=False)) if token["text"] != wanted)
    wrote, right = free["says"][at]["text"], RIGHT[at]
    assert block(panel, "lanes")["parted"] == at
    assert say("en", "teacher_forcing.parted", step=at + 1, wrote=wrote, right=right) in block(panel, "caption")["text"]
    assert block(panel, "votes-title")["text"] == say("en", "votes.title", step=at + 1, token=wrote, other=right)
    option = next(one for one in block(panel, "fix")["options"] if one["label"].split()[0] == LONG[-1])
    after = ask(site, text=LONG, fix=option["value"])
    assert (lanes(after)[FREE], block(after, "fix")["value"]) == (free, option["value"])
    assert lanes(after)[CORRECTED]["says"][int(option["value"].split(":")[0])]["text"] == LONG[-1]
    for fix in ("x", "1", ":", "1:2:3", "99:99999", "-1:4", "0:0", "٣:٤", "1:" + "9" * 50):
        assert list(lanes(ask(site, fix=fix))) == [FORCED, FREE], fix


def test_an_own_answer_is_forced_where_nobody_knows_one(site):
    asked = {"run": "german_english", "text": "der hund der hund"}
    panel = ask(site, **asked)
    assert (list(lanes(panel)), "no-reference" in ids(panel)) == ([FREE], True)
    forced = lanes(ask(site, **asked, force="the dog"))[FORCED]
    assert [token["text"] for token in forced["fed"]] == ["<bos>", "the", "dog"]


@pytest.mark.parametrize("asked", [{"text": LONG}, {"run": "german_english", "row": 2}], ids=str)
def test_the_bars_of_the_chosen_step_add_up_to_where_the_path_ends(site, asked):
    bars, path = next(one for one in ask(site, **asked)["blocks"] if one["id"] == "votes")["blocks"]
    total = sum(value for trace in bars["figure"]["data"] for value in trace["x"])
    end = path["figure"]["data"][0]["x"][-1] - path["figure"]["data"][0]["y"][-1]
    assert total == pytest.approx(end, abs=0.01)
    assert f"{end:.2f}"[:-1] in bars["caption"]
