"""The tabs of labs, of experiments and of the course: what is asked, guessed, trained and judged, and when the answer is shown."""

import json
from dataclasses import replace

import pytest

from playground.choices import BUGS
from playground.config import Refusal
from playground.features.shared.labs import SURE, UNKNOWN
from playground.features.shared.naming import label
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS, bugs
from playground.runs.corpora import ModelCache
from playground.words import LANGUAGES, say
from tests.runs.tiny import wait

ME, OTHER = "e" * 32, "f" * 32
TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8, "steps": 4, "batch_size": 4, "validation_size": 10, "eval_every": 2}
LONG = {"steps": 100_000}
UNCHAINED = next(number for number in range(1, len(BUGS) + 1) if bugs.bug_of(number) == "unchained_layers")
QUICK = ("bug_source", "skip", "mystery", "beyond")


@pytest.fixture(scope="module", autouse=True)
def _bench(site):
    """Labs that train in no time."""
    with pytest.MonkeyPatch.context() as patch:
        for name in QUICK:
            small(patch, name)
        yield


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
    assert {"verdict", "aside", "record", "to-guess"} & before.keys() == {"to-guess"}
    assert before["controls"]["blocks"][0]["values"] == {"lab": "bug_source", "seed": 1, "guess": lab.guesses[0], "sure": SURE[0]}
    arms = finished(site, press(site, "bug_source")["arms"])
    answer, after = panel_of(site, **asked, arms=arms)
    assert "more" not in answer
    trained = zip(lab.arms, map(site.runs.get, arms.split(".")), strict=True)
    assert after["aside"]["blocks"][0]["figure"]["layout"]["xaxis"]["range"] == before["to-guess"]["figure"]["layout"]["xaxis"]["range"]
    outcome = lab.verdict([[lab.result(arm, 1, run, lab.measured(run, site.runs.corpora, ModelCache()))] for arm, run in trained])
    assert lab.say(language, f"why_{outcome.answer}", **outcome.numbers) in after["verdict"]["text"]
    assert after["record"]["right"] == (outcome.answer == lab.guesses[0])
    controls = after["controls"]["blocks"]
    assert [block["to"]["run"] for block in controls if block["id"].startswith("look")] == arms.split(".")
    assert next(block for block in controls if block["id"] == "train")["values"]["seed"] == 2
    second = press(site, "bug_source", 2)["arms"]
    _, both = panel_of(site, **asked, arms=f"{arms}.{finished(site, second)}")
    assert len(both["aside"]["blocks"][1]["blocks"][0]["rows"]) == 4
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
        assert not {"verdict", "aside"} & panel_of(site, lab="skip", guess=UNKNOWN, arms=wrong)[1].keys()
    assert "aside" not in panel_of(site, lab="bug_source", guess=UNKNOWN, arms=arms)[1]
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
    assert (answer["more"], answer["pause"] > 0, "aside" in panel) == (True, True, True)
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


def test_a_mystery_is_looked_at_first_guessed_then_and_does_not_say_what_was_changed(site):
    _, panel = panel_of(site, lab="mystery", toss=3)
    assert panel["controls"]["blocks"][-1]["values"] == {"lab": "mystery", "seed": 3}
    assert not {"guess", "verdict", "aside"} & panel.keys()
    arms = finished(site, press(site, "mystery", 3)["arms"])
    answer, panel = panel_of(site, lab="mystery", toss=1, arms=arms)  # whoever comes back to its card has the arms only
    number, order = panel["controls"]["blocks"][0], [block["id"] for block in answer["blocks"]]
    assert (number["value"], number["resets"]) == ("3", {"arms": "", "guess": "", "sure": ""})
    assert order.index("aside") < order.index("guess")
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


TENSORS = [name for name, lab in LABS.items() if lab.kind == "worked_example"]
ASKING = [lesson for lesson in LESSONS if lesson.question]
ANSWERS = {"verdict", "aside", "exhibits", "record"}


def shown(site, tab: str = "labs", **parameters) -> dict[str, dict]:
    return {block["id"]: block for block in site.panel(tab, **{"run": "reverse", **parameters})["blocks"]}


def options(block: dict) -> list[str]:
    return [option["value"] for option in block["options"]]


def test_nothing_is_given_away_before_a_guess_nor_while_a_class_guesses(site):
    for name, lab in LABS.items():
        guess, first = {"guess": lab.guesses[0], "sure": SURE[0]}, shown(site, lab=name)
        axes = first["to-guess"]["figure"]["data"] if "to-guess" in first else first[lab.aside[0]]["figure"]["data"][:0]
        assert {value for line in axes for value in line["y"]} <= {None}, "axes and names, no line; or a grid of what is asked about"
        assert "deal" not in first or [*first].index("deal") > [*first].index("guess")
        for asked in ({}, {"guess": lab.guesses[0]}, {"sure": SURE[0]}, guess | {"guess": "nonsense"}, guess | {"sure": "100"}):
            assert not ANSWERS & shown(site, lab=name, **asked).keys(), (name, asked)
        for state in ("open", "closed", "fixed"):
            panel = shown(site, lab=name, **guess, awaits=state)
            assert not ANSWERS & panel.keys(), (name, state)
            if name != "mystery":  # there one looks first and guesses then
                assert options(panel["guess"]) == list(lab.guesses)
                values = [(panel[id]["off"], panel[id]["value"]) for id in ("guess", "sure")]
                assert values == [(state != "open", lab.guesses[0]), (state != "open", SURE[0])]
                assert ("fixed" in panel) == (state == "fixed")
    for lesson in ASKING:
        guess = {"lesson": lesson.name, "predicted": lesson.question.guesses[0], "certain": SURE[0]}
        for asked in ({"predicted": ""}, {"certain": ""}, {"predicted": "nonsense"}, {"awaits": "open"}):
            assert "verdict" not in shown(site, "course", **guess | asked), (lesson.name, asked)
    waiting = shown(site, lab="softmax", guess=UNKNOWN, awaits="open")  # as all others
    assert (waiting["guess"]["value"], {"verdict", "sure", "unknown"} & waiting.keys()) == ("", set())


def compared(panel: dict[str, dict], why: str, kept_as: str, sure: str, right: bool) -> None:
    """What is said of a guess; who does not know is told why, and nothing is counted."""
    text = panel["verdict"]["text"]
    assert (text.endswith(why), text == why) == (True, not sure)
    assert ("guess" in panel) == bool(sure), "no list reads as an answer that was never given"
    assert panel["record"] == {"kind": "record", "id": "record", "lab": kept_as, "sure": int(sure or 0), "right": right}


@pytest.mark.parametrize("name", [*TENSORS[:2], *(pytest.param(name, marks=pytest.mark.night) for name in TENSORS[2:])])
def test_a_labs_guess_is_compared_with_what_came_out(site, name):
    lab, language = LABS[name], LANGUAGES[TENSORS.index(name) % len(LANGUAGES)]
    outcome = lab.outcome(1)
    why = lab.say(language, f"why_{outcome.answer}", **outcome.numbers)
    for guess in lab.guesses:
        panel = shown(site, lab=name, guess=guess, sure=SURE[1], lang=language)
        compared(panel, why, name, SURE[1], guess == outcome.answer)
    controls = {block["id"]: block for block in panel["controls"]["blocks"]}
    others = [{"toss": controls["toss"]["to"]["toss"]}] if "toss" in controls else []
    others += [{"set": min({*options(block)} - {block["value"]})} for block in controls.values() if block.get("field") == "set"]
    for other in others:  # another draw or setting counts no guess
        drawn = shown(site, lab=name, guess=guess, sure=SURE[1], **other)
        assert not drawn["record"]["sure"], other
        assert any(drawn[block] != panel[block] for block in ("verdict", "exhibits")), "and shows something else"
    panel = shown(site, lab=name, guess=UNKNOWN, lang=language, width=340)
    compared(panel, why, name, "", False)
    assert '…"' not in json.dumps(panel["exhibits"], ensure_ascii=False), "no label is cut; what finds no room scrolls sideways"


def test_a_lessons_guess_is_compared_with_the_run_on_screen(site):
    run = site.runs.get("numbers_de")
    text = site.reader.examples(run, "heldout", 1)[0][0]
    for at, lesson in enumerate(ASKING):
        language = LANGUAGES[at % len(LANGUAGES)]
        answer, numbers = lesson.question.answer(site.reader, run, None, text)
        why = lesson.say(language, f"why_{answer}", **numbers)
        for guess in (*lesson.question.guesses, UNKNOWN):
            sure = "" if guess == UNKNOWN else SURE[1]
            asked = {"lesson": lesson.name, "run": run.id, "text": text, "lang": language, "predicted": guess, "certain": sure}
            compared(shown(site, "course", **asked), why, lesson.kept_as, sure, guess == answer)
        shows = "glimpse" in shown(site, "course", **asked | {"predicted": lesson.question.guesses[0]})  # but without how sure
        assert shows == (lesson.name in ("tokens", "own")), "the pictures of the others show the answer"


def test_a_lesson_leads_to_its_run_and_a_teacher_reads_of_every_lesson_or_of_one(site):
    assert shown(site, "course", lesson="tour")["start"]["to"] == {"tab": "map", "stop": "ids"}
    elsewhere = shown(site, "course", run="german_english", lesson="attention")
    assert (elsewhere["run"]["to"], "question" in elsewhere) == ({"run": "reverse"}, False), "it asks about its own model"
    about = {"name": say("en", "tasks.reverse.label"), "text": "hello"}
    assert shown(site, "course", lesson="attention", text="hello")["run"]["text"] == say("en", "course.about_run", **about)
    assert "run" not in shown(site, "course", lesson="training")
    for lesson in LESSONS:
        assert shown(site, "course", lesson=lesson.name)["steps"]["steps"]
        (notes,) = (block for block in shown(site, "course", notes="on", lesson=lesson.name).values() if block["kind"] == "notes")
        assert {lesson.say("en", key) for key in ("show", "wrong", "ask")} <= {text for _, text in notes["rows"]}
        assert notes == shown(site, "course", notes="on")[lesson.name]
