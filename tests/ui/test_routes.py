"""What the page reads: each request is answered, from what it says alone; what a visitor begins with: a link, their last run."""

import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from playground.config import KNOBS, Experiment, default, limits
from playground.cursor import FIELDS, FORMER_VALUES
from playground.features.attention import panel as attention
from playground.features.registry import PANELS, TABS
from playground.features.shared.naming import CONTROLLED
from playground.knobs import MAX_TEXT, Choice, Number, Text
from playground.ui import assets, boot, routes
from playground.ui.assets import PREFIX
from playground.ui.boot import LISTS
from playground.words import LANGUAGES, say
from tests.runs.tiny import done
from tests.ui.looking import TINY, complete

OF_SITE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def other_value(name: str) -> str:
    """A value that a field of the cursor can have and that isn't its default."""
    field = FIELDS[name]
    if isinstance(field, Text):
        value = field.example or "abc"
    elif isinstance(field, Choice):
        value = next(choice for choice in LISTS.get(field.choices, field.choices) if choice != field.default)
    else:
        value = next(str(number) for number in (field.low + 1, field.low) if number <= field.high and str(number) != field.default)
    assert value != field.default
    assert field.refusal(name, value, LISTS) is None
    return value


CHOSEN = ({}, {"method": "beam"}, {"pos": "shift"}, {"pos": "learned"}, {"change": "row"}, {"lesson": "attention"})


@pytest.mark.parametrize("turn", [0, *(pytest.param(turn, marks=pytest.mark.night) for turn in range(1, len(CHOSEN)))])
def test_a_panel_depends_on_the_fields_it_says_and_no_others(site, turn):
    """Else the page would go on showing what the cursor has left."""

    def answer(name, parameters):
        panel = complete(site, name, run="reverse", **parameters)
        return [block for block in panel["blocks"] if block["id"] != "cache"], set(panel["uses"])  # which measures time

    for at, name in enumerate(TABS):
        chosen = CHOSEN[(at + turn) % len(CHOSEN)]
        blocks, uses = answer(name, chosen)
        assert uses <= FIELDS.keys()
        others = FIELDS.keys() - uses - chosen.keys() - {"run", "lang", "tab", "glossary", "present", "room", "api", "plain"}
        assert answer(name, chosen | {field: other_value(field) for field in others})[0] == blocks, (name, chosen)


CURSOR = [*sorted(FIELDS.keys() - {"run", "tab", "room"}), "width", "dark", "held"]
ODD = ["", "nan", "inf", "-1", "0", "1", "3.5", "999999999999", "１２", "true", "<script>", "{{x}}", "🙂", "reference", "a b"]


@OF_SITE
@given(
    name=st.sampled_from(sorted(PANELS)),
    parameters=st.dictionaries(
        st.sampled_from(CURSOR), st.sampled_from(ODD) | st.text(max_size=12).filter(lambda text: text.isprintable()), max_size=6
    ),
)
def test_no_parameter_breaks_a_panel(site, name, parameters):
    answer = site.get(f"panel/{name}", run="reverse", **parameters)
    assert answer.status_code == 200, answer.text
    assert answer.json().get("error", "a sentence").strip()


@pytest.mark.parametrize(
    ("path", "key"),
    [("run/nobody", "runs.unknown"), ("live/nobody", "runs.unknown"), ("panel/training?run=nobody", "runs.unknown"),
     ("history?run=nobody", "runs.unknown"), ("panel/sentence?run=../../etc/passwd", "runs.unknown"),
     ("panel/nothing?run=reverse", "page.no_such_panel"), ("panel/course?run=reverse&lesson=nothing", "course.no_lesson"),
     ("panel/sentence?run=reverse&text=%20", "runs.empty"),
     (f"panel/sentence?run=reverse&text={'x' * 600}", "runs.too_long")],
)  # fmt: skip
def test_what_is_not_there_gets_one_sentence(site, path, key):
    for language in LANGUAGES:
        answer = site.http.get(f"{PREFIX}/{path}{'&' if '?' in path else '?'}lang={language}")
        assert (answer.status_code, answer.json()["key"], set(answer.json())) == (200, key, {"error", "key"})
        assert answer.json()["error"].endswith((".", "。"))


def test_the_sentence_its_verdict_and_its_step_also_beside_a_panel(site):
    late, early = (site.panel("sentence", run="reverse", text="hello", **at) for at in ({}, {"step": 0}))
    output = "".join(token["text"] for token in late["output"])
    assert (late["references"], late["correct"], site.runs.get("reverse").step) == (["olleh"], output == "olleh", late["step"])
    assert [token["right"] for token in late["output"]] == [a == b for a, b in zip(output, "olleh", strict=False)]
    unknown = site.panel("sentence", run="reverse", text="héllo")
    assert ([token["known"] for token in unknown["source"]], unknown["correct"]) == ([True, False, True, True, True], None)
    for name, step in (("attention", 0), ("data", None)):
        panel = site.panel(name, run="reverse", text="hello", step=0, beside="sentence")
        assert (panel["sentence"]["output"], panel["sentence"]["step"], panel["step"]) == (early["output"], 0, step)
    assert early["output"] != late["output"]


def test_a_class_that_follows_has_its_picture_made_once(site, monkeypatch):
    made = []
    monkeypatch.setitem(PANELS, "attention", lambda view: made.append((view.text, view.token)) or attention.panel(view))

    def ask(text: str, token: str) -> list[dict]:
        query = {"params": {"run": "reverse", "text": text}, "headers": {"X-Playground-Token": token}}
        return site.http.get(f"{PREFIX}/panel/attention", **query).json()["blocks"]

    first, second, other = (ask(*asked) for asked in (("together", "0" * 32), ("together", "1" * 32), ("alone", "2" * 32)))
    assert first == second != other
    assert made == [("together", ""), ("alone", "")]
    site.runs.get("reverse").touch()
    ask("together", "")
    assert len(made) == 3


def test_the_page_loads_from_this_server_alone_and_keeps_what_was_mended_for_ever(site):
    hosts = set(re.findall(r"(?:src|href)=\"(?:https?:)?//([^/\"]+)", site.http.get("/").text))
    assert hosts <= {site.url.split("//")[1].rstrip("/")}
    answer = site.get(f"asset/{assets.asset_version()}/plotly.js")
    assert "immutable" in answer.headers["cache-control"]
    assert site.get("asset/yesterday/plotly.js").headers["cache-control"] == "no-cache"
    for theirs, ours in assets.PATCHES.items():  # numbers on cells and beside the pointer: a true minus, and contrast
        assert answer.text.count(ours.decode()) == 1
        assert theirs.decode() not in answer.text
    assert "<script" not in site.get("qr", text="https://example.org/?run=<script>").text


@pytest.mark.parametrize(
    ("name", "steps", "made"),
    [("training", [7, 9, 9, 9], (9, 9, 2)), ("diagnostics", [4, 7], (4, 7, 1))],  # what training recorded has steps of its own
)
def test_panel_and_sentence_are_of_one_step_though_the_run_goes_on_between_them(site, monkeypatch, name, steps, made):
    """The model that the sentence is asked of may be newer than the one that the picture was made from: then the picture is made anew."""
    left, views = iter(steps), []
    panels = {name: lambda view: views.append(view) or {"step": next(left), "recorded": name == "diagnostics", "blocks": []}}
    monkeypatch.setattr(routes, "PANELS", {**PANELS, **panels, "sentence": lambda view: {"step": next(left), "blocks": []}})
    panel = site.panel(name, run="reverse", text=f"goes on {name}", beside="sentence")
    assert (panel["step"], panel["sentence"]["step"], len(views)) == made


FORMS = [name for name, field in FIELDS.items() if name == "run" or not isinstance(field, Text) or field.pattern]  # takes not any text
ME, OTHER = "d" * 32, "e" * 32
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def knob_values(name: str) -> st.SearchStrategy:
    knob = limits(name)
    if knob.text:
        return st.text(max_size=20)
    if knob.choices:
        return st.sampled_from(knob.choices)
    if isinstance(default(name), int):
        return st.integers(0, int((knob.high - knob.low) // knob.step)).map(lambda steps: int(knob.low + steps * knob.step))
    return st.floats(knob.low, knob.high).map(lambda value: float(f"{value:.10g}"))


experiments = st.fixed_dictionaries({}, optional={name: knob_values(name) for name in KNOBS}).map(lambda knobs: Experiment().with_(**knobs))


@QUICK
@given(experiment=experiments)
def test_a_link_brings_back_the_experiment_it_was_made_of(site, experiment):
    query = experiment.query()
    assert boot.read_link(site.runs, query) == (experiment, {})
    assert set(query) == set(experiment.difference())


@QUICK
@given(good=experiments, bad=st.dictionaries(st.sampled_from([*FORMS, *CONTROLLED]), st.just("no such value")))
def test_what_is_bad_in_a_link_is_named_and_the_rest_holds(site, good, bad):
    experiment, ignored = boot.read_link(site.runs, good.query() | bad)
    assert set(ignored) == set(bad)
    flat = good.flat()
    assert experiment.flat() == {name: default(name) if name in bad else flat[name] for name in flat}
    for language in LANGUAGES:
        sentence = boot.explain_ignored(ignored, language)
        assert all(sentence.count(f"“{name}”") == 1 for name in bad if name != "run")
        assert bool(sentence) == bool(bad)


def test_no_field_passes_unchecked(site):
    for value in ("no such value\0", "-1e999 <b>"):
        reply = site.get("boot", **{name: value if name in FORMS else "x" * (MAX_TEXT + 1) for name in FIELDS}, d_model=128).json()
        assert sorted(reply["ignored"]) == sorted(FIELDS)
        for name in FIELDS:
            assert (say("en", "runs.unknown") if name == "run" else f"“{name}”") in reply["notice"], name
    for name, field in FIELDS.items():
        if isinstance(field, Number):
            assert [boot.read_link(site.runs, {name: str(end)})[1] for end in (field.low, field.high)] == [{}, {}], name
            for value in (str(field.low - 1), str(field.high + 1), "nan", "inf", " "):
                assert name in boot.read_link(site.runs, {name: value})[1], (name, value)
            assert boot.read_link(site.runs, {name: ""})[1] == {}, name


def test_a_link_is_read_beside_the_run_it_shows(site):
    for asked, ignored, notice in (
        ({"d_model": "65", "n_heads": "8", "tab": "training"}, ["d_model"], "“d_model”"),
        ({"n_heads": "8"}, [], ""),
        ({"run": "reverse", "pin": "nobody"}, ["pin"], say("en", "compare.pin_missing")),
        ({"run": "reverse", "pin": "sort"}, [], ""),
    ):
        reply = site.get("boot", **asked).json()
        assert (reply["ignored"], reply["notice"].count(notice) == 1 if notice else reply["notice"] == "") == (ignored, True), asked
    assert reply["first"] == site.runs.shipped()[0].id
    assert boot.read_link(site.runs, {"run": "sort"}) == (site.runs.get("sort").experiment, {})
    assert boot.read_link(site.runs, {"run": "sort", "task": default("task")}) == (Experiment(), {}), "the defaults beside a run"
    assert boot.read_link(site.runs, {"run": "sort", "d_model": "128"}) == (Experiment().with_(d_model=128), {})
    for name, values in FORMER_VALUES.items():
        for former, now in values.items():
            assert boot.read_link(site.runs, {name: former}) == boot.read_link(site.runs, {name: now})


def card(site, run, **parameters):
    return site.get(f"run/{run.id}", **parameters).json()


@pytest.mark.night
def test_a_run_has_one_first_example_from_the_start_and_a_fork_says_where_it_comes_from(site):
    run = site.train(ME, {**TINY, "steps": 40})
    plan = run.replay.plan
    run.replay.plan = type(plan)()  # as before it was prepared
    early = card(site, run)["examples"]
    run.replay.plan = plan if plan.steps else run.replay.plan
    done(run)
    copy, fork = (site.runs.get(site.act(OTHER, action, run.id, step=20)["run"]) for action in ("copy", "fork"))
    assert [card(site, one)["examples"][0] for one in (run, copy, fork)] == [early[0]] * 3
    parent = {"run": run.id, "step": fork.first_step, "name": run.name, "until": fork.first_step}
    assert (card(site, fork)["parent"], card(site, fork)["line"], fork.first_step > 0) == (parent, "", True)  # the same settings
    site.runs.delete(run.id, ME)
    assert card(site, fork)["parent"] == parent | {"name": ""}


def test_what_was_carried_to_a_run_and_it_cannot_read_is_named(site):
    for place, lost in (
        ({"text": "playground", "layer": "2", "head": "4", "target": "reference"}, []),
        ({"text": " ", "head": "5", "layer": "1"}, ["text", "layer", "head"]),
        ({"text": "Hello", "layer": "3", "head": "1"}, ["text", "layer", "head"]),
        ({"text": "a" * 600}, ["text"]),
    ):
        assert card(site, site.runs.get("reverse"), **place)["unreadable"] == lost, place
