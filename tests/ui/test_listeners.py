"""What the browser posts to Gradio's listeners when a number at a knob is no number or far out of range: none of them answers with an error
of its own, and what comes back can stand at the controls."""

from __future__ import annotations

import json

import pytest

from playground.config import Experiment, default, limits
from playground.ui.controls import CONTROLLED
from playground.ui.listeners import preset_values
from playground.words import LANGUAGES, say

FAR = (999999999, -5, 7, 0.5, "abc", "", None, True, 1e308, [1], {"a": 1})
SESSION = "numbers"
NUMBERS = [name for name in CONTROLLED if limits(name).low is not None]


@pytest.fixture(scope="module")
def page(site):
    """Gradio's own list of components and listeners."""
    return site.http.get("/config").json()


def knob_ids(page) -> dict[int, str]:
    """The id of every knob's component, with the knob's name."""
    elements = {one["id"]: one["props"].get("elem_id") or "" for one in page["components"]}
    return {id: name.removeprefix("knob-") for id, name in elements.items() if name.removeprefix("knob-") in CONTROLLED}


def listeners(page) -> list[dict]:
    """Those that Python answers and that take a knob."""
    knobs = knob_ids(page)
    return [one for one in page["dependencies"] if one["backend_fn"] and any(id in knobs for id in one["inputs"])]


def posted(site, page, listener: dict, preset="default", **changed) -> str:
    """What comes of it when a browser posts whose knobs are at their defaults but for those `changed`: "" or the error."""
    knobs, values = knob_ids(page), Experiment().flat() | changed
    kinds = {one["id"]: one["props"].get("elem_id") if one["type"] != "file" else "file" for one in page["components"]}
    others = {"preset": preset, "file": None, "pg-paste": "ab\tba\ncd\tdc\nef\tfe", "pg-hub": ""}

    def value(id: int):
        return values[knobs[id]] if id in knobs else others.get(kinds[id], {"language": "en"})

    body = {"data": [value(id) for id in listener["inputs"]], "fn_index": listener["id"], "session_hash": SESSION}
    if not listener["queue"]:
        answer = site.http.post("/gradio_api/run/predict", json=body)
        return "" if answer.status_code == 200 else answer.text
    site.http.post("/gradio_api/queue/join", json=body).raise_for_status()
    with site.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": SESSION}) as lines:
        last = next(line for line in lines.iter_lines() if '"process_completed"' in line)
    done = json.loads(last.removeprefix("data: "))
    return "" if done["success"] else str(done["output"])


@pytest.fixture(scope="module", autouse=True)
def relabelled(site, page):
    """The page has been opened: its words are in its language. Gradio has made each control anew for that."""
    arrive = next(one for one in page["dependencies"] if any(event == "load" for _, event in one["targets"]))
    body = {"data": [{"address": ""}], "fn_index": arrive["id"], "session_hash": SESSION}
    site.http.post("/gradio_api/run/predict", json=body).raise_for_status()


def test_there_are_listeners_that_take_numbers(page):
    assert len(listeners(page)) >= 4
    assert set(NUMBERS) <= set(knob_ids(page).values())
    assert posted_all(page) == set(NUMBERS)


def posted_all(page) -> set[str]:
    names = knob_ids(page)
    return {names[id] for listener in listeners(page) for id in listener["inputs"] if names.get(id) in NUMBERS}


@pytest.mark.parametrize("value", FAR, ids=repr)
def test_no_listener_fails_over_a_number_that_cannot_be(site, page, value):
    errors = {listener["id"]: posted(site, page, listener, **dict.fromkeys(NUMBERS, value)) for listener in listeners(page)}
    assert not {id: error[:200] for id, error in errors.items() if error}


def test_nor_over_a_preset_that_is_no_name(site, page):
    listener = next(one for one in page["dependencies"] if one["api_name"] == "take_preset")
    assert [posted(site, page, listener, preset=preset) for preset in ([1], {"a": 1}, 7, None)] == [""] * 4


@pytest.mark.parametrize("name", ["task", "positions", "n_heads", "bias"])
def test_nor_over_a_choice_that_is_not_offered(site, page, name):
    errors = {listener["id"]: posted(site, page, listener, **{name: "nothing of ours"}) for listener in listeners(page)}
    assert not {id: error[:200] for id, error in errors.items() if error}


@pytest.mark.parametrize("language", LANGUAGES)
def test_settings_that_are_no_preset_are_ones_own_and_the_presets_can_still_be_chosen(site, page, language):
    place = next(one["id"] for one in page["components"] if one["props"].get("elem_id") == "preset")
    listener = next(one for one in listeners(page) if place in one["outputs"])
    knobs = knob_ids(page)

    def shown(**changed) -> dict:
        values = Experiment().flat() | changed
        data = [values[knobs[id]] if id in knobs else {"language": language} for id in listener["inputs"]]
        body = {"data": data, "fn_index": listener["id"], "session_hash": SESSION}
        answer = site.http.post("/gradio_api/run/predict", json=body).json()["data"][listener["outputs"].index(place)]
        return {name: value for name, value in answer.items() if name != "__type__"}

    assert shown() == {"value": "default"}
    assert shown(d_model=128) == {"value": say(language, "knobs.preset.own")}  # the choices stay: a list that is open may not grow shorter


def test_a_preset_takes_what_can_be_and_leaves_the_rest(site):
    values = preset_values("default", {"task": "sort", "train_size": 10**9, "validation_size": "abc", "test_size": -5})
    assert values["task"] == "sort"
    assert [values[name] for name in ("train_size", "validation_size", "test_size")] == [
        default(name) for name in ("train_size", "validation_size", "test_size")
    ]
