"""What a program is told of the endpoints: every argument with its type, default and help, from the one declaration; by MCP where asked."""

from __future__ import annotations

import ast
import asyncio

import pytest

from playground.config import KNOBS, default, limits
from playground.ui import server
from playground.words import entries
from tests.browser.server import Server
from tests.ui.endpoints.calls import NAMES

WORDS = entries("en")


@pytest.fixture(scope="module")
def endpoints(site):
    info = site.http.get("/gradio_api/info").json()
    assert info["unnamed_endpoints"] == {}
    return info["named_endpoints"]


def test_each_says_what_it_takes_and_returns_and_a_training_takes_every_knob(endpoints):
    assert list(endpoints) == [f"/{name}" for name in NAMES], "and no listener of the page"
    for name in NAMES:
        endpoint = endpoints[f"/{name}"]
        assert endpoint["description"] == WORDS[f"api.{name}"]
        assert endpoint["returns"][0]["python_type"]["description"] == WORDS[f"api.{name}_returns"]
        for argument in endpoint["parameters"]:
            assert argument["python_type"]["description"].endswith((".", ")")), argument["parameter_name"]
            assert argument["python_type"]["type"] != "Any"
    knobs = {one["parameter_name"]: one for one in endpoints["/train"]["parameters"]}
    assert set(knobs) == {"owner", *KNOBS, "label"}
    assert [name for name, knob in knobs.items() if not knob["parameter_has_default"]] == ["owner"]
    for name in KNOBS:
        kind, choices = type(default(name)), list(limits(name).choices)
        assert knobs[name]["parameter_default"] == (None if name == "steps" else default(name)), name
        assert knobs[name]["type"].get("enum", []) == (choices if kind is str else []), name


def test_the_page_that_people_load_has_nothing_of_it(site):
    config = site.http.get("/config").json()
    assert not set(config["page"]["endpoints"]["components"]) & set(config["page"][""]["components"])
    assert WORDS["api.arg_owner"] not in site.http.get("/").text
    assert site.http.get("/gradio_api/mcp/").status_code == 404, "no setting asked for it here"


def test_only_who_asks_for_mcp_gets_it_where_its_package_is(monkeypatch, capsys):
    for value, there, wanted in (("", True, False), ("0", True, False), ("1", False, False), ("1", True, True)):
        monkeypatch.setenv("PLAYGROUND_MCP", value)
        monkeypatch.setattr(server, "find_spec", lambda name, there=there: object() if there else None)
        assert server.mcp_wanted() is wanted
        assert capsys.readouterr().out.strip() == ("" if there else WORDS["api.no_mcp"])


@pytest.mark.night
def test_a_client_of_mcp_finds_the_tools_and_uses_one(tmp_path, monkeypatch):
    pytest.importorskip("mcp", reason='the client is not installed: pip install ".[page,mcp]"')
    monkeypatch.setenv("PLAYGROUND_MCP", "1")
    started = Server(tmp_path)
    started.start()
    try:
        tools, reply, refused = asyncio.run(visit(f"{started.url}gradio_api/mcp/"))
    finally:
        started.stop()
    assert [tool.name for tool in tools] == list(NAMES)
    assert ast.literal_eval(reply.content[0].text)["text"] == "olleh"
    assert (refused.isError, WORDS["runs.unknown"] in refused.content[0].text) == (True, True)


async def visit(url):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        replies = [await session.call_tool("translate", {"run": run, "text": "hello"}) for run in ("reverse", "nobody")]
        return tools, *replies
