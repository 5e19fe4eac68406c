"""Experiments on the page: the arms of a bench become the visitor's own runs, and what becomes of them is shown and judged."""

from dataclasses import replace

import pytest

from playground.choices import BUGS
from playground.config import Refusal
from playground.features.shared.labs import SURE, UNKNOWN
from playground.features.shared.naming import label
from playground.lessons.labs import LABS, bugs
from playground.runs.corpora import ModelCache
from playground.words import say
from tests.runs.tiny import wait

ME, OTHER = OWNERS = "e" * 32, "f" * 32
TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8, "steps": 4, "batch_size": 4, "validation_size": 10, "eval_every": 2}
LONG = {"steps": 100_000}
UNCHAINED = next(number for number in range(1, len(BUGS) + 1) if bugs.bug_of(number) == "unchained_layers")
QUICK = ("bug_source", "skip", "mystery", "beyond")


@pytest.fixture(scope="module", autouse=True)
def _bench(site):
    """Labs that train in no time; what was trained is gone when all have been looked at."""
    with pytest.MonkeyPatch.context() as patch:
        for name in QUICK:
            small(patch, name)
        yield
    for token in OWNERS:
        for run in site.runs.list_owned(token):
            site.runs.delete(run.id, token)


def small(monkeypatch, name, **more):
    monkeypatch.setitem(LABS, name, replace(LABS[name], base={**LABS[name].base, **TINY, **more}))


def press(site, lab, seed=1, token=ME):
    return site.act(token, "experiment", "reverse", lab=lab, seed=seed)


def finished(site, ids):
    for run in map(site.runs.get, ids):
        wait(lambda run=run: not run.unfinished)
    return ".".join(ids)


def panel_of(site, **parameters):
    answer = site.panel("labs", run="reverse", **parameters)
    return answer, {block["id"]: block for block in answer["blocks"]}


def test_from_the_button_to_the_verdict(site):
    lab, language = LABS["bug_source"], "zh"
    asked = {"lab": "bug_source", "guess": lab.guesses[0], "sure": SURE[0], "lang": language}
    _, before = panel_of(site, **asked)
    assert not {"verdict", "exhibits", "record"} & before.keys()
    assert before["controls"]["blocks"][0]["values"] == {"lab": "bug_source", "seed": 1}
    arms = finished(site, press(site, "bug_source")["arms"])
    answer, after = panel_of(site, **asked, arms=arms)
    assert "more" not in answer
    trained = zip(lab.arms, map(site.runs.get, arms.split(".")), strict=True)
    outcome = lab.verdict([[lab.result(arm, 1, run, lab.measured(run, site.runs.corpora, ModelCache()))] for arm, run in trained])
    assert lab.say(language, f"why_{outcome.answer}", **outcome.numbers) in after["verdict"]["text"]
    assert after["record"]["right"] == (outcome.answer == lab.guesses[0])
    controls = after["controls"]["blocks"]
    assert [block["to"]["run"] for block in controls if block["id"].startswith("look")] == arms.split(".")
    assert next(block for block in controls if block["id"] == "train")["values"]["seed"] == 2
    second = press(site, "bug_source", 2)["arms"]
    _, both = panel_of(site, **asked, arms=f"{arms}.{finished(site, second)}")
    assert len(both["exhibits"]["blocks"][2]["blocks"][0]["rows"]) == 4
    assert both["verdict"]["text"] != after["verdict"]["text"]
    site.runs.get(second[0]).set_status("training")
    answer, while_it_trains = panel_of(site, **asked, arms=".".join([arms, *second]))
    site.runs.get(second[0]).set_status("done")
    assert ("progress" in while_it_trains, answer["more"]) == (True, True)
    assert while_it_trains["verdict"] == after["verdict"], "a second seed leaves the verdict of the first"
    assert press(site, "bug_source", 2)["arms"] == second, "a click trains nothing twice"
    for lab, seed, token in (("nothing", 1, ME), ("softmax", 1, ME), ("skip", -1, ME), ("skip", None, ME), ("skip", 1, "")):
        with pytest.raises(Refusal):
            press(site, lab, seed, token=token)


def test_what_are_no_arms_of_the_lab_is_not_judged_and_an_open_question_is_said_to_be(site, monkeypatch):
    monkeypatch.setitem(LABS, "skip", replace(LABS["skip"], expects=""))
    arms = finished(site, press(site, "skip")["arms"])
    first, second = arms.split(".")
    for wrong in ("nonsense", "reverse", first, "." * 100):
        assert not {"verdict", "exhibits"} & panel_of(site, lab="skip", guess=UNKNOWN, arms=wrong)[1].keys()
    assert "exhibits" not in panel_of(site, lab="bug_source", guess=UNKNOWN, arms=arms)[1]
    _, panel = panel_of(site, lab="skip", guess="later", sure=SURE[0], arms=arms)
    assert (panel["record"]["sure"], say("en", "lessons.open") in panel["verdict"]["text"]) == (0, True), "no guess is wrong"
    monkeypatch.setitem(LABS, "skip", replace(LABS["skip"], expects="later", nearest=lambda results: "never"))
    _, panel = panel_of(site, lab="skip", guess="never", sure=SURE[0], arms=arms)
    assert (panel["record"]["sure"], panel["record"]["right"]) == (int(SURE[0]), True), "both are right where the tolerance decides"
    fork = finished(site, [site.act(ME, "fork", first)["run"]])
    with monkeypatch.context() as patch:
        patch.setattr(site.runs.get(second).history, "events", [(1, "learning_rate", 0.5)])
        for changed in (f"{fork}.{second}", arms):  # neither a fork nor a run whose settings were changed is an arm
            _, panel = panel_of(site, lab="skip", guess="later", sure=SURE[0], arms=changed)
            assert not {"verdict", "record"} & panel.keys()
            assert "count any more" in panel["unended"]["text"]


def test_arms_that_train_are_kept_going_and_not_judged_and_stopped_ones_are_named(site, monkeypatch):
    small(monkeypatch, "beyond", **LONG)
    ids = press(site, "beyond", 5)["arms"]
    runs, asked = [*map(site.runs.get, ids)], {"lab": "beyond", "guess": LABS["beyond"].guesses[0], "sure": SURE[0], "arms": ".".join(ids)}
    for run in runs:
        wait(lambda run=run: len(run.history.validations))
    before = [run.seen_at for run in runs]
    answer, panel = panel_of(site, **asked)
    assert (answer["more"], answer["pause"] > 0, "exhibits" in panel) == (True, True, True)
    assert 0 < panel["progress"]["done"] < panel["progress"]["all"] == LONG["steps"] * len(ids)
    assert not {"verdict", "record"} & panel.keys()
    assert all(run.seen_at > then for run, then in zip(runs, before, strict=True))
    for id in ids:
        site.runs.stop(id, ME)
    finished(site, ids)
    answer, panel = panel_of(site, **asked)
    assert not {"verdict", "record", "progress", "more"} & (panel.keys() | answer.keys())
    for run, arm in zip(runs, LABS["beyond"].arms, strict=True):
        assert f"“{LABS['beyond'].say('en', f'name_{arm}')}” with seed 5 is stopped at step {run.step} of" in panel["unended"]["text"]
        site.runs.delete(run.id, ME)


def test_a_mystery_is_looked_at_first_guessed_then_and_does_not_say_what_was_changed(site):
    _, panel = panel_of(site, lab="mystery", toss=3)
    assert panel["controls"]["blocks"][-1]["values"] == {"lab": "mystery", "seed": 3}
    assert not {"guess", "verdict", "exhibits"} & panel.keys()
    arms = finished(site, press(site, "mystery", 3)["arms"])
    answer, panel = panel_of(site, lab="mystery", toss=1, arms=arms)  # whoever comes back to its card has the arms only
    number, order = panel["controls"]["blocks"][0], [block["id"] for block in answer["blocks"]]
    assert (number["value"], number["resets"]) == ("3", {"arms": "", "guess": "", "sure": ""})
    assert order.index("exhibits") < order.index("guess")
    assert not {"verdict", "record"} & panel.keys()
    assert panel_of(site, lab="mystery", arms=arms, guess=bugs.bug_of(3), sure=SURE[1])[1]["record"]["right"]
    ids = arms.split(".")
    copies = finished(site, [site.act(OTHER, action, ids[1])["run"] for action in ("fork", "copy")]).split(".")
    for id in (ids[1], *copies):
        card = site.get(f"run/{id}").json()
        assert (card["settings"]["variant"], label("variant", "en") in card["line"]) == ("none", False)
        assert "?" in site.panel("map", run=id)["error"]
    others = press(site, "mystery", UNCHAINED)["arms"]
    settings = [site.get(f"run/{id}").json()["settings"] | {"seed": 0} for id in (*ids, *others)]
    assert all(each == settings[0] for each in settings)
