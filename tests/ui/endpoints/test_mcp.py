"""The endpoints as tools of the Model Context Protocol: only where PLAYGROUND_MCP says so, and its package is there."""

from __future__ import annotations

import ast
import asyncio

import httpx
import pytest

from playground.ui import server
from playground.words import entries
from tests.browser.server import Server
from tests.ui.endpoints.calls import NAMES


@pytest.mark.parametrize(("said", "there", "wanted"), [("", True, False), ("0", True, False), ("1", True, True), ("1", False, False)])
def test_only_who_asks_for_it_gets_it(monkeypatch, capsys, said, there, wanted):
    monkeypatch.setenv("PLAYGROUND_MCP", said)
    monkeypatch.setattr(server, "find_spec", lambda name: object() if there else None)
    assert server.mcp_wanted() is wanted
    assert capsys.readouterr().out.strip() == ("" if there else entries("en")["api.no_mcp"])


def test_an_unfit_package_is_told_although_gradio_is_silent(launched, capsys):
    def launch(demo, **asked):
        demo.mcp_error = "Error launching MCP server: …"
        return None, "http://127.0.0.1:7860/", None

    launched(launch)
    assert capsys.readouterr().out.strip() == entries("en")["api.no_mcp"]


def test_nobody_asked_for_it_here(site):
    assert site.http.get("/gradio_api/mcp/").status_code == 404


@pytest.mark.night
def test_a_client_finds_the_tools_and_uses_one(tmp_path, monkeypatch):
    pytest.importorskip("mcp", reason='the client is not installed: pip install ".[page,mcp]"')
    monkeypatch.setenv("PLAYGROUND_MCP", "1")
    started = Server(tmp_path)
    started.start()
    try:
        tools, told, refused, link = asyncio.run(visit(f"{started.url}gradio_api/mcp/"))
        assert httpx.get(started.url).status_code == 200
    finally:
        started.stop()
    assert [tool.name for tool in tools] == list(NAMES)
    words = entries("en")
    for tool in tools:
        assert tool.description.startswith(words[f"api.{tool.name}"])
    width = tools[0].inputSchema["properties"]["d_model"]
    assert (width["type"], width["default"], width["description"]) == ("integer", 64, words["knobs.d_model.help"])
    assert tools[0].inputSchema["required"] == ["owner"]
    assert ast.literal_eval(told.content[0].text)["text"] == "olleh"
    assert refused.isError
    assert words["runs.unknown"] in refused.content[0].text
    assert ast.literal_eval(link.content[0].text)["link"].startswith(started.url)


async def visit(url):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        told = await session.call_tool("translate", {"run": "reverse", "text": "hello"})
        refused = await session.call_tool("translate", {"run": "nobody", "text": "hello"})
        return tools, told, refused, await session.call_tool("status", {"run": "reverse"})
