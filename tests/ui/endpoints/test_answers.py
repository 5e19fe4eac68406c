"""What programs are told of the endpoints, and what these answer: the core's own numbers, to the bit, as lists that any language reads."""

import json
import sys
from unittest.mock import AsyncMock

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.config import KNOBS, TASK_STEPS, Experiment, Refusal, limits
from playground.features.attention.query import KINDS
from playground.features.translate.query import DecodingOptions, translate as translated
from playground.lessons.labs import get
from playground.ui import endpoints, server
from playground.ui.endpoints import bind_endpoints
from playground.ui.endpoints.answers import Caller, lab
from playground.ui.turns import Tally, Turns
from playground.words import entries
from tests.runs.tiny import done
from tests.ui.looking import NAMES, TINY, begin, call, refused

SENTENCE = "hello"
SAMPLE = {"method": "sample", "temperature": 2.0, "top_k": 9, "top_p": 0.9, "draw": 3}
WAYS = (
    ({}, DecodingOptions()), ({"method": "beam", "beam": 3, "penalty": 1.0}, DecodingOptions("beam", 3, 1.0)),
    (SAMPLE, DecodingOptions("sample", temperature=2.0, top_k=9, top_p=0.9, seed=3)), ({"prefix": "xy"}, DecodingOptions(prefix="xy")),
    ({"method": "beam", "must": " x ee", "must_not": "h"}, DecodingOptions("beam", must=("x", "ee"), must_not=("h",))),
)  # fmt: skip
BAD_CALLS = (
    *(("translate", more, 400, "api.not_its_arguments") for more in (
        {}, {"run": "reverse", "text": "a", "temperature ": 1}, {"run": "reverse", "text": "a", "oauth_token": "x"},
    )),
    ("translate", b'{"run": "reverse", "text": "a", "temperature": NaN}', 400, "api.no_json"),
    *((name, {"run": "reverse"}, 404, "api.no_endpoint") for name in ("nothing", "js_fn", "look_ahead")),
)  # fmt: skip
WORDS = entries("en")


@pytest.fixture
def owner(site):
    owner = "a caller of this file"
    yield owner
    for run in site.runs.list_owned(owner):
        site.runs.delete(run.id, owner)


def test_translations_and_attention_are_the_models_own(site):
    run = site.runs.get("reverse")
    for query, way in WAYS:
        answer = call(site, "translate", run="reverse", text=SENTENCE, **query)
        best, *others = translated(site.reader, run, None, SENTENCE, way).candidates
        assert [answer["text"], *(other["text"] for other in answer["others"])] == [candidate.text for candidate in (best, *others)]
        assert answer["tokens"] == [piece.text for piece in best.pieces]
        assert (answer["probabilities"], answer["score"]) == (list(best.probabilities), best.score)
        assert (answer["references"], answer["right"]) == (["olleh"], (None if "prefix" in query else best.text == "olleh"))
    look = site.reader.look(run, None, SENTENCE)
    for kind in KINDS:
        answer = call(site, "attention", run="reverse", text=SENTENCE, kind=kind)
        assert np.array_equal(np.array(answer["weights"], dtype=np.float32), getattr(look, kind))
        assert np.shape(answer["weights"])[2:] == (len(answer["rows"]), len(answer["columns"]))
        one = call(site, "attention", run="reverse", text=SENTENCE, kind=kind, layer=2, head=3)
        assert (one["layers"], one["heads"], one["weights"]) == ([2], [3], [[answer["weights"][1][2]]])


def test_what_there_is_and_what_is_refused(site):
    assert call(site, "translate", run="reverse", text=SENTENCE, step=0)["step"] == 0
    answer, history = call(site, "curves", run="reverse"), site.runs.get("reverse").history
    assert (answer["steps"], answer["validations"]) == (history.steps.rows(), history.validations.rows())
    answer = call(site, "runs")
    assert ([run["run"] for run in answer["shipped"]], answer["mine"]) == ([run.id for run in site.runs.shipped()], [])
    example = call(site, "lab", name="softmax")
    assert (example["done"], example["runs"], example["verdict"][-1] in ".)") == (True, {}, True)
    for name, asked, key in (
        ("attention", {"run": "reverse", "text": SENTENCE, "layer": 3}, "config.not_in_range"),
        ("attention", {"run": "reverse", "text": SENTENCE, "head": 5}, "config.not_in_range"),
        ("attention", {"run": "reverse", "text": ""}, "runs.empty"),
        ("translate", {"run": "reverse", "text": "a" * 2001}, "cursor.too_long"),
        ("translate", {"run": "reverse", "text": "a" * 1999}, "runs.too_long"),
        ("translate", {"run": "reverse", "text": 7}, "api.not_text"),
        ("translate", {"run": "reverse", "text": SENTENCE, "method": "guess"}, "config.not_a_choice"),
        ("train", {"owner": "x" * 15}, "api.no_owner"), ("lab", {"name": "order", "owner": "a caller", "seeds": []}, "api.not_seeds"),
        ("lab", {"name": "order"}, "api.no_owner"),
    ):  # fmt: skip
        assert refused(site, name, **asked)[0] == key, (name, asked)
    for name, body, status, key in BAD_CALLS:
        answer = begin(site, name, body)
        assert (answer.status_code, answer.json()["key"]) == (status, key), (name, body)


def test_a_training_from_beginning_to_end(site, owner):
    answer = call(site, "train", owner=owner, label="first", **TINY)
    run = done(site.runs.get(answer["run"]))
    assert (site.runs.owns(run.id, owner), run.experiment) == (True, Experiment().with_(**TINY))
    assert answer["link"] == f"{site.url}?run={run.id}"
    run.seen_at -= 1000
    answer = call(site, "status", run=run.id)
    assert run.watched, "asking is looking"
    assert [answer[name] for name in ("status", "step", "steps", "label", "seconds_left")] == ["done", 4, 4, "first", None]
    assert (answer["exact_match"], answer["settings"]) == (run.exact_match, TINY)
    assert [one["run"] for one in call(site, "runs", owner=owner)["mine"]] == [run.id]
    task, steps = next(iter(TASK_STEPS.items()))
    knobs = {name: value for name, value in TINY.items() if name != "steps"}
    assert call(site, "train", owner=owner, **knobs, task=task)["steps"] == steps, "as many as the task needs"
    (mystery,) = site.runs.create_all([Experiment().with_(**TINY, variant="no_causal_mask")], owner, ["?"], secret=True)
    assert "variant" not in call(site, "status", run=mystery.id)["settings"]


def test_own_pairs_are_read_trained_on_stopped_and_deleted_by_their_owner_alone(site, owner):
    pairs = "\n".join(f"wort {number}\tword {number}" for number in range(40))
    answer = call(site, "read_pairs", owner=owner, pairs=pairs)
    assert answer["pairs"] == 40
    columns = (pairs, *("\n".join(line.split("\t")[side] for line in pairs.splitlines()) for side in (0, 1)))
    uploads = [("files", (f"pairs{at}.tsv", text.encode())) for at, text in enumerate(columns)]
    paths = site.http.post("/gradio_api/upload", files=uploads).json()
    file, source, target = ({"path": path, "meta": {"_type": "gradio.FileData"}} for path in paths)
    from_file = call(site, "read_file", owner=owner, file=file)
    assert from_file["own"] != answer["own"]
    assert (from_file["names"], from_file["first"], from_file["pairs"]) == (["pairs0.tsv"], answer["first"], 40)
    assert call(site, "read_file", owner=owner, file=source, aligned=target)["first"] == answer["first"]
    for path in ("/etc/passwd", __file__, file["path"] + "x"):
        for body in ({"file": file | {"path": path}}, {"file": file, "aligned": file | {"path": path}}, {"file": path}):
            assert begin(site, "read_file", body | {"owner": owner}).json()["key"] == "api.not_a_file"
        assert begin(site, "read_file", {"data": [file | {"path": path}, owner, None, None]}, "call").json()["key"] == "api.not_a_file"
    assert [refused(site, "read_file", owner=owner, file=value)[0] for value in (None, [file])] == ["api.not_a_file"] * 2
    assert refused(site, "train", owner="a stranger to this file", task="own", own=from_file["own"])[0] == "page.no_upload"
    knobs = {name: value for name, value in TINY.items() if name != "task"}
    run = call(site, "train", owner=owner, task="own", own=answer["own"], **knobs | {"steps": 10_000})["run"]
    assert refused(site, "train", owner="a stranger to this file", task="own", own=answer["own"])[0] == "page.no_upload"
    for name in ("stop", "delete"):
        assert refused(site, name, run=run, owner="a stranger to this file")[0] == "runs.not_yours", name
    call(site, "stop", run=run, owner=owner)
    assert (done(site.runs.get(run)).status, call(site, "delete", run=run, owner=owner)) == ("stopped", {"run": run, "deleted": True})
    assert refused(site, "status", run=run)[0] == "runs.unknown"
    listed = call(site, "labs")["labs"]
    assert {lab["name"] for lab in listed} >= {"order", "softmax"}


def test_a_lab_trains_nothing_twice_and_says_its_verdict(site, owner, monkeypatch):
    caller, quick = Caller(site.runs, site.reader), get("depth")
    monkeypatch.setitem(quick.base, "steps", 2)
    assert not lab(caller, quick.name, [1, 2], owner)["done"]
    begun = site.runs.list_owned(owner)
    assert len(begun) == 2 * len(quick.arms_of(1))
    for run in begun:
        done(run)
    last = lab(caller, quick.name, [1, 2], owner)
    assert (last["done"], last["numbers"]["seeds"], last["answer"] in quick.guesses) == (True, 2, True)
    assert set(site.runs.list_owned(owner)) == set(begun)
    begun[0].set_status("diverged")
    with pytest.raises(Refusal, check=lambda refusal: refusal.key == "api.arm_ended"):
        lab(caller, quick.name, [1, 2], owner)
    answer = lab(caller, "order", [1, 2, 3, 4, 5], owner)
    assert (len(answer["runs"]), answer["done"]) == (site.runs.limits.runs_each // len(get("order").arms_of(1)), False)
    assert len(answer["runs"]) < 5
    with pytest.raises(Refusal, check=lambda refusal: refusal.key == "runs.too_many_yours"):
        lab(caller, "order", [6], owner)


def test_each_says_what_it_takes_and_returns_and_the_page_that_people_load_has_nothing_of_it(site):
    info = site.http.get("/gradio_api/info").json()
    assert info["unnamed_endpoints"] == {}
    endpoints = info["named_endpoints"]
    assert list(endpoints) == [f"/{name}" for name in NAMES], "and no listener of the page"
    for name in NAMES:
        endpoint = endpoints[f"/{name}"]
        assert endpoint["description"] == WORDS[f"api.{name}"]
        assert endpoint["returns"][0]["python_type"]["description"] == WORDS[f"api.{name}_returns"]
        for argument in endpoint["parameters"]:
            assert argument["python_type"]["description"].endswith((".", ")")), argument["parameter_name"]
            assert argument["python_type"]["type"] != "Any"
    knobs = {one["parameter_name"]: one for one in endpoints["/train"]["parameters"]}
    assert set(knobs) == {"owner", *KNOBS, "label", "base"}
    assert [name for name, knob in knobs.items() if not knob["parameter_has_default"]] == ["owner"]
    assert knobs["norm"]["type"]["enum"] == list(limits("norm").choices)
    config = site.http.get("/config").json()
    assert not set(config["page"]["endpoints"]["components"]) & set(config["page"][""]["components"])
    page = site.http.get("/").text
    assert ('"pages":[["","Home",true]]' in page, WORDS["api.arg_owner"] in page, len(config["pages"])) == (True, False, 1), "no menu"


def test_only_who_asks_for_mcp_gets_it_where_its_package_is(monkeypatch, capsys):
    assert server.build_mcp({}, Tally()) == ([], {})
    monkeypatch.setenv("PLAYGROUND_MCP", "1")
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "playground.ui.endpoints.mcp_tools", raising=False)
    monkeypatch.delattr(endpoints, "mcp_tools", raising=False)
    assert (server.build_mcp({}, Tally()), capsys.readouterr().out.strip()) == (([], {}), WORDS["api.no_mcp"])


def test_tools_of_mcp_answer_the_same_json_and_have_no_files(site, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_MCP", "1")
    streams = Tally()
    calls = bind_endpoints(site.runs, site.reader, Turns(streams, 1)) | {"labs": AsyncMock(side_effect=OSError("/home/them"))}
    routes, arguments = server.build_mcp(calls, streams)

    def send(method: str, **params) -> dict:
        message = {"jsonrpc": "2.0", "id": 1, "method": f"tools/{method}", "params": params}
        return client.post("/gradio_api/mcp/", json=message, headers={"Accept": "application/json, text/event-stream"}).json()["result"]

    with TestClient(Starlette(routes=routes, **arguments)) as client:
        tools = {tool["name"]: tool for tool in send("list")["tools"]}
        assert tools.keys() == set(NAMES) - {"read_file", "open_run"}
        assert all(tool["description"].splitlines() == [WORDS[f"api.{name}"], WORDS[f"api.{name}_returns"]] for name, tool in tools.items())
        assert set(tools["train"]["inputSchema"]["properties"]) - {*KNOBS} == {*tools["train"]["inputSchema"]["required"], "label", "base"}
        query = {"run": "reverse", "text": SENTENCE}
        answer = send("call", name="translate", arguments=query)
        assert answer["structuredContent"] == json.loads(answer["content"][0]["text"]) == call(site, "translate", **query)
        file = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
        for name, arguments, key in (
            ("translate", query | {"text": file}, "api.not_text"), ("translate", {"run": "reverse"}, "api.not_its_arguments"),
            ("read_pairs", {"owner": "of these sentences", "pairs": "a\tb", "tokenizer_file": file}, "api.not_its_arguments"),
            ("read_file", {"file": file}, "api.no_endpoint"), ("status", {"run": "none"}, "runs.unknown"), ("labs", {}, "page.went_wrong"),
        ):  # fmt: skip
            answer = send("call", name=name, arguments=arguments)
            assert (answer["isError"], answer["content"][0]["text"].startswith(WORDS[key].split("{")[0])) == (True, True), name
    assert streams.count("listener") == 0
