"""What a program is told of the endpoints: seven of them, every argument with its type, default and help, from the one declaration."""

from __future__ import annotations

import pytest

from playground.config import KNOBS, default, limits
from playground.words import entries
from tests.ui.endpoints.calls import NAMES


@pytest.fixture(scope="module")
def info(site):
    return site.http.get("/gradio_api/info").json()


@pytest.fixture(scope="module")
def knobs(info):
    return {one["parameter_name"]: one for one in info["named_endpoints"]["/train"]["parameters"]}


def test_there_are_seven_and_no_listener_of_the_page(info):
    assert list(info["named_endpoints"]) == [f"/{name}" for name in NAMES]
    assert info["unnamed_endpoints"] == {}


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_it_takes_and_returns(info, name):
    endpoint = info["named_endpoints"][f"/{name}"]
    assert endpoint["description"] == entries("en")[f"api.{name}"]
    assert endpoint["returns"][0]["python_type"]["description"] == entries("en")[f"api.{name}_returns"]
    for argument in endpoint["parameters"]:
        assert argument["python_type"]["description"].endswith((".", ")")), argument["parameter_name"]
        assert argument["python_type"]["type"] != "Any"


def test_a_training_takes_every_knob_with_its_own_default(knobs):
    assert set(knobs) == {"owner", *KNOBS, "label"}
    assert [name for name, knob in knobs.items() if not knob["parameter_has_default"]] == ["owner"]
    for name in KNOBS:
        assert knobs[name]["parameter_default"] == (None if name == "steps" else default(name)), name


@pytest.mark.parametrize("name", KNOBS)
def test_a_knob_has_its_type_its_choices_and_its_help(knobs, name):
    said, kind = knobs[name]["type"], type(default(name))
    assert said.get("enum", []) == (list(limits(name).choices) if kind is str else [])
    assert "enum" in said or said["type"] == {bool: "boolean", int: "integer", float: "number", str: "string"}[kind]
    words = entries("en")
    assert knobs[name]["python_type"]["description"] == words.get(f"api.arg_{name}", words.get(f"knobs.{name}.help"))


def test_the_page_that_people_load_has_nothing_of_it(site):
    page, config = site.http.get("/").text, site.http.get("/config").json()
    ours = config["page"]["endpoints"]
    assert len(ours["dependencies"]) == len(NAMES)
    assert not set(ours["components"]) & set(config["page"][""]["components"])
    assert '"type":"api"' not in page
    assert entries("en")["api.arg_owner"] not in page
    assert config["pages"] == [["", "Home", True]]  # with more of them, a menu would stand over everything
    assert site.http.get("/endpoints").status_code == 404
