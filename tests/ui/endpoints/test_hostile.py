"""Whatever a program sends, it gets an answer or one sentence with a key, and never a 500."""

from __future__ import annotations

import json
import re

import gradio as gr
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground.ui.endpoints import ENDPOINTS
from playground.words import entries
from tests.ui.endpoints.calls import NAMES, begin

ODD = ("reverse", "\ud800", "\x00", "a" * 3000, "../../etc/passwd", "NaN", "1e999", "order", "beam", [1], {"a": 1}, 10**400, -(10**400))
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=40), st.sampled_from(ODD))
NAMED = st.dictionaries(st.text(max_size=5), LEAVES, max_size=3)
ANYTHING = LEAVES | st.lists(LEAVES, max_size=3) | NAMED
SENSIBLE = {"run": "reverse", "text": "hello", "owner": "hostile", "name": "softmax"}


def answered(site, name, values):
    function = next(listener.fn for listener in site.app.get_blocks().fns.values() if listener.api_name == name)
    try:
        return function(*values.values(), None)
    except gr.Error as error:
        return error


@pytest.mark.parametrize("name", NAMES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_values_are_answered(site, name, data):
    values = {name: SENSIBLE.get(name, argument.default) for name, argument in ENDPOINTS[name].arguments.items()}
    for wrong in data.draw(st.sets(st.sampled_from(sorted(values)), min_size=1, max_size=3)):
        values[wrong] = data.draw(ANYTHING, label=wrong)
    answer = answered(site, name, values)
    if isinstance(answer, gr.Error):
        assert answer.title in entries("en")
        assert re.fullmatch(r"[^\n]+[.)]", answer.message)
        answer.message.encode()
        return
    json.dumps(answer, allow_nan=False, ensure_ascii=False).encode()
    if name in ("train", "lab"):
        for run in site.runs.mine(values["owner"]):
            site.runs.delete(run.id, values["owner"])


@pytest.mark.parametrize(
    ("name", "body", "status", "key"),
    [
        ("translate", {}, 400, "api.not_its_arguments"),
        ("translate", {"run": "reverse"}, 400, "api.not_its_arguments"),
        ("translate", {"run": "reverse", "text": "a", "temperature ": 1}, 400, "api.not_its_arguments"),
        ("translate", {"run": "reverse", "text": "a", "oauth_token": "x"}, 400, "api.not_its_arguments"),
        ("translate", b'{"run": "reverse", "text": "a", "temperature": NaN}', 400, "api.no_json"),
        ("train", {"token": "x"}, 400, "api.not_its_arguments"),
        ("nothing", {"run": "reverse"}, 404, "api.no_endpoint"),
        ("js_fn", {}, 404, "api.no_endpoint"),
        ("look_ahead", {}, 404, "api.no_endpoint"),
        ("read", {"files": ["/etc/passwd"]}, 404, "api.no_endpoint"),
    ],
)
def test_an_endpoint_says_what_it_needs(site, name, body, status, key):
    answer = begin(site, name, body)
    assert (answer.status_code, answer.json()["key"]) == (status, key)
    assert answer.json()["error"].endswith(".")
