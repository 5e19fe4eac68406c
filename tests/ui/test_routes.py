"""What the page reads: whatever it asks for gets an answer, and no answer depends on more than it says."""

import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from playground.cursor import FIELDS
from playground.features.attention import panel as attention
from playground.features.registry import PANELS, TABS
from playground.knobs import Choice, Text
from playground.ui import assets, routes
from playground.ui.assets import PREFIX
from playground.ui.boot import LISTS
from playground.words import LANGUAGES
from tests.ui.looking import complete

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
