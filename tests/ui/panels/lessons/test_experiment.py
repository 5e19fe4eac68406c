"""Experiments on the page: the arms of a bench become the visitor's own runs, and what becomes of them is shown and judged."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from playground.choices import BUGS
from playground.config import Refusal
from playground.lessons import bugs
from playground.lessons.labs import LABS
from playground.runs.model_cache import ModelCache
from playground.ui.controls import label
from playground.ui.panels.lessons.guessing import SURE, UNKNOWN
from playground.words import LANGUAGES, say

ME, OTHER = OWNERS = "e" * 32, "f" * 32
TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8, "steps": 4, "batch_size": 4, "validation_size": 10, "eval_every": 2}


LONG = {"steps": 100_000}


@pytest.fixture
def bench(site, monkeypatch):
    """Labs that train in no time; what was trained is gone afterwards."""
    for name in ("bug_source", "bug_dropout", "skip", "mystery", "beyond"):
        small(monkeypatch, name)
    yield
    for token in OWNERS:
        for run in site.runs.mine(token):
            site.runs.delete(run.id, token)


def small(monkeypatch, name, **more):
    monkeypatch.setitem(LABS, name, replace(LABS[name], base={**LABS[name].base, **TINY, **more}))


def press(site, lab, seed=1, token=ME):
    return site.act(token, "experiment", "reverse", lab=lab, seed=seed)


def finished(site, ids):
    for run in map(site.runs.get, ids):
        end = time.monotonic() + 60
        while run.unfinished:
            assert time.monotonic() < end
            time.sleep(0.02)
    return ".".join(ids)


def shown(site, **parameters):
    answer = site.panel("labs", run="reverse", **parameters)
    return answer, {block["id"]: block for block in answer["blocks"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_from_the_button_to_the_verdict(site, bench, language):
    lab = LABS["bug_source"]
    asked = {"lab": "bug_source", "guess": lab.guesses[0], "sure": SURE[0], "lang": language}
    _, before = shown(site, **asked)
    assert not {"verdict", "exhibits", "record"} & before.keys()
    assert before["controls"]["blocks"][0]["values"] == {"lab": "bug_source", "seed": 1}
    arms = finished(site, press(site, "bug_source")["arms"])
    answer, after = shown(site, **asked, arms=arms)
    assert "more" not in answer
    trained = zip(lab.arms, map(site.runs.get, arms.split(".")), strict=True)
    outcome = lab.verdict([[lab.result(arm, 1, run, lab.measured(run, site.runs.corpora, ModelCache()))] for arm, run in trained])
    assert lab.say(language, f"why_{outcome.answer}", **outcome.numbers) in after["verdict"]["text"]
    assert after["record"]["right"] == (outcome.answer == lab.guesses[0])
    looks = [block["to"] for block in after["controls"]["blocks"] if block["id"].startswith("look")]
    assert [look["run"] for look in looks] == arms.split(".")
    again = next(block for block in after["controls"]["blocks"] if block["id"] == "train")
    assert again["values"]["seed"] == 2
    course, ends = after["exhibits"]["blocks"]
    assert len(course["figure"]["data"]) == 4
    assert len(ends["blocks"][0]["rows"]) == 2
    more = finished(site, press(site, "bug_source", 2)["arms"])
    _, both = shown(site, **asked, arms=f"{arms}.{more}")
    assert len(both["exhibits"]["blocks"][1]["blocks"][0]["rows"]) == 4
    assert both["verdict"]["text"] != after["verdict"]["text"]


def test_what_is_no_arm_of_the_lab_is_not_shown(site, bench, monkeypatch):
    arms = finished(site, press(site, "skip")["arms"])
    for wrong in ("nonsense", "reverse", arms.split(".")[0], "." * 100):
        _, found = shown(site, lab="skip", guess=UNKNOWN, arms=wrong)
        assert not {"verdict", "exhibits"} & found.keys()
    _, found = shown(site, lab="bug_source", guess=UNKNOWN, arms=arms)
    assert "exhibits" not in found
    _, found = shown(site, lab="skip", guess=UNKNOWN, arms=arms)
    assert not found["record"]["sure"]
    assert found["verdict"]["text"]
    for expects, is_open in (("", True), ("with", False), (None, False)):  # said of a question without an answer, and of no other
        monkeypatch.setitem(LABS, "skip", replace(LABS["skip"], expects=expects))
        _, found = shown(site, lab="skip", guess=UNKNOWN, arms=arms)
        assert (say("en", "lessons.open") in found["verdict"]["text"]) == is_open


def begun(site, ids):
    """Waits until every arm has something to show."""
    for run in map(site.runs.get, ids):
        end = time.monotonic() + 60
        while not len(run.history.validations):
            assert time.monotonic() < end
            time.sleep(0.02)
    return ".".join(ids)


def ended(site, ids, how="stop"):
    for id in ids:
        getattr(site.runs, how)(id, ME)
    finished(site, ids)


@pytest.mark.parametrize("lab", ["skip", "bug_source", "beyond"])
def test_while_the_arms_train_their_curves_are_shown_and_nothing_is_judged(site, bench, monkeypatch, lab):
    small(monkeypatch, lab, **LONG)
    ids = press(site, lab, 5)["arms"]
    answer, found = shown(site, lab=lab, guess=LABS[lab].guesses[0], sure=SURE[0], arms=begun(site, ids))
    assert answer["more"]
    assert answer["pause"] > 0
    done, steps = found["progress"]["done"], found["progress"]["all"]
    assert 0 < done < steps == LONG["steps"] * len(ids)
    assert "exhibits" in found
    assert not {"verdict", "record"} & found.keys()


def test_whoever_watches_an_experiment_keeps_its_arms_going(site, bench, monkeypatch):
    small(monkeypatch, "skip", **LONG)
    ids = press(site, "skip", 6)["arms"]
    begun(site, ids)
    before = [site.runs.get(id).seen_at for id in ids]
    shown(site, lab="skip", guess=UNKNOWN, arms=".".join(ids))
    assert all(site.runs.get(id).seen_at > then for id, then in zip(ids, before, strict=True))


def test_arms_that_were_stopped_are_named_and_not_judged(site, bench, monkeypatch):
    small(monkeypatch, "skip", **LONG)
    ids = press(site, "skip", 7)["arms"]
    arms = begun(site, ids)
    ended(site, ids)
    answer, found = shown(site, lab="skip", guess="with", sure=SURE[2], arms=arms)
    assert not {"verdict", "record", "progress"} & found.keys()
    assert "more" not in answer
    for id, arm in zip(ids, LABS["skip"].arms, strict=True):
        run = site.runs.get(id)
        assert f"“{LABS['skip'].say('en', f'name_{arm}')}” with seed 7 is stopped at step {run.step} of" in found["unended"]["text"]
    small(monkeypatch, "skip")  # as if the next seed went on to the end: it is judged alone
    small_ids = press(site, "skip", 8)["arms"]
    _, found = shown(site, lab="skip", guess="with", sure=SURE[2], arms=finished(site, small_ids))
    assert "verdict" in found
    assert "unended" not in found


@pytest.mark.parametrize("change", ["fork", "event"])
def test_a_fork_and_a_run_whose_settings_were_changed_are_no_arms(site, bench, change):
    first, second = press(site, "skip", 9)["arms"]
    finished(site, [first, second])
    if change == "fork":
        first = site.act(ME, "fork", first)["run"]
        finished(site, [first])
    else:
        site.runs.get(first).history.events.append((1, "learning_rate", 0.5))
    _, found = shown(site, lab="skip", guess="with", sure=SURE[0], arms=f"{first}.{second}")
    assert not {"verdict", "record"} & found.keys()
    assert "no longer the model" in found["unended"]["text"]


def test_a_second_seed_that_trains_leaves_the_verdict_of_the_first(site, bench):
    one, two = (press(site, "bug_dropout", seed)["arms"] for seed in (1, 2))
    both = f"{finished(site, one)}.{finished(site, two)}"
    for id in two:
        site.runs.get(id).say("training")
    answer, found = shown(site, lab="bug_dropout", guess=UNKNOWN, arms=both)
    assert answer["more"]
    assert "progress" in found
    assert LABS["bug_dropout"].say("en", "name_right") in str(found["exhibits"]["blocks"][1]["blocks"][0]["rows"])
    assert found["verdict"]["text"] == shown(site, lab="bug_dropout", guess=UNKNOWN, arms=".".join(one))[1]["verdict"]["text"]


def test_a_second_click_trains_nothing_twice(site, bench):
    first = press(site, "skip", 11)
    assert press(site, "skip", 11)["arms"] == first["arms"]
    finished(site, first["arms"])
    assert press(site, "skip", 11)["arms"] == first["arms"]
    assert not set(press(site, "skip", 11, token=OTHER)["arms"]) & set(first["arms"])  # of somebody else


def test_all_arms_or_none(site, bench, monkeypatch):
    create, count = site.runs.store.create, []

    def full(run, contents):
        count.append(run)
        if len(count) == 2:
            raise OSError
        return create(run, contents)

    monkeypatch.setattr(site.runs.store, "create", full)
    with pytest.raises(Refusal):
        press(site, "skip", 1, token=OTHER)
    assert not site.runs.mine(OTHER)


def number_of(bug):
    return next(number for number in range(1, len(BUGS) + 1) if bugs.bug_of(number) == bug)


def test_a_mystery_is_looked_at_first_and_guessed_then(site, bench):
    answer, found = shown(site, lab="mystery", toss=3)
    assert found["controls"]["blocks"][-1]["values"] == {"lab": "mystery", "seed": 3}
    assert not {"guess", "verdict", "exhibits"} & found.keys()
    arms = finished(site, press(site, "mystery", 3)["arms"])
    for toss in (3, 1):  # whoever comes back to its card has the arms only
        answer, found = shown(site, lab="mystery", toss=toss, arms=arms)
        number = found["controls"]["blocks"][0]
        assert number["value"] == "3"
        assert [option["value"] for option in number["options"]] == [str(n) for n in range(1, 11)]
        assert number["resets"] == {"arms": "", "guess": "", "sure": ""}
        order = [block["id"] for block in answer["blocks"]]
        assert order.index("exhibits") < order.index("guess")
        assert not {"verdict", "record"} & found.keys()
    bug = bugs.bug_of(3)
    _, found = shown(site, lab="mystery", arms=arms, guess=bug, sure=SURE[1])
    assert found["record"]["right"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_mystery_does_not_say_what_was_changed(site, bench, language):
    ids = press(site, "mystery", 3)["arms"]
    finished(site, ids)
    copies = [site.act(OTHER, action, ids[1])["run"] for action in ("fork", "copy")]
    finished(site, copies)
    site.runs.rename(ids[1], ME, "mine")
    for id in (ids[1], *copies):
        card = site.get(f"run/{id}", lang=language).json()
        assert card["settings"]["variant"] == "none"
        assert label("variant", language) not in card["line"]
        assert "?" in site.panel("map", run=id, lang=language)["error"]
    assert not site.get(f"run/{ids[0]}").json()["settings"].items() ^ site.get(f"run/{ids[1]}").json()["settings"].items()


def test_all_mysteries_have_the_same_settings(site, bench):
    found = []
    for bug in ("dropout_always", "unshifted"):
        ids = press(site, "mystery", number_of(bug))["arms"]
        finished(site, ids)
        found += [site.get(f"run/{id}").json()["settings"] | {"seed": 0} for id in ids]
    assert all(settings == found[0] for settings in found)


def test_what_is_no_experiment_is_refused(site, bench):
    for lab, seed in (("nothing", 1), ("softmax", 1), ("skip", -1), ("skip", None)):
        with pytest.raises(Refusal):
            press(site, lab, seed)
    with pytest.raises(Refusal):
        press(site, "skip", 1, token="")
