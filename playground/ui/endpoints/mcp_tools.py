"""The endpoints as tools of MCP, the Model Context Protocol. Arguments and answers are JSON: an endpoint that needs a file is no tool."""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import gradio as gr
import orjson
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from pydantic import TypeAdapter

from playground import __version__
from playground.config import Refusal
from playground.ui.endpoints import Call
from playground.ui.endpoints.answers import ENDPOINTS
from playground.ui.endpoints.arguments import REQUIRED, Arguments, argument_help, check_names, list_required
from playground.ui.rights import API, CALL_BYTES, PUBLIC, GuardedRoute
from playground.ui.turns import Tally
from playground.words import ENGLISH, say

log = logging.getLogger(__name__)
PATHS = (f"{API}/mcp", f"{API}/mcp/")
# The arguments of each tool, without files: required ones make it no tool, optional ones stay at None.
TOOLS: dict[str, Arguments] = {
    name: {argument: about for argument, about in endpoint.arguments.items() if not about.is_file}
    for name, endpoint in ENDPOINTS.items()
    if not any(about.is_file and about.required for about in endpoint.arguments.values())
}


class Tools:
    """Answers a client's two messages: which tools there are, and the call of one."""

    def __init__(self, calls: Mapping[str, Call], streams: Tally) -> None:
        self._calls, self._streams = calls, streams

    async def list_tools(self, context: ServerRequestContext, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Describes all tools."""
        return types.ListToolsResult(tools=[_describe(name, arguments) for name, arguments in TOOLS.items()])

    async def call_tool(self, context: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Returns the endpoint's answer, as JSON and as the text of it; what is refused is an error of one sentence."""
        try:
            text = orjson.dumps(await self._call(params.name, params.arguments or {}, context.request)).decode()
        except Exception as problem:
            if not isinstance(problem, Refusal):  # whose text is not for clients
                log.exception("tool %s", params.name)
                problem = Refusal("page.went_wrong")
            return types.CallToolResult(content=[types.TextContent(text=problem.say(ENGLISH))], is_error=True)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=orjson.loads(text))

    async def _call(self, name: str, inputs: Mapping[str, Any], request: Any) -> dict[str, Any]:
        if name not in TOOLS:
            raise Refusal("api.no_endpoint", name=name[:40], names=", ".join(TOOLS))
        check_names(name, TOOLS[name], inputs.keys())
        values = [inputs.get(argument, about.default) for argument, about in ENDPOINTS[name].arguments.items()]
        session = uuid4().hex
        with self._streams.holding(("listener", session)):  # the request itself waits for the answer
            return await self._calls[name](values, gr.Request(request, session_hash=session))


def build_manager(calls: Mapping[str, Call], streams: Tally) -> StreamableHTTPSessionManager:
    """Returns what serves MCP over HTTP, each message on its own, while its `run()` is open."""
    tools = Tools(calls, streams)
    server = Server(say(ENGLISH, "page.title"), version=__version__, on_list_tools=tools.list_tools, on_call_tool=tools.call_tool)
    return StreamableHTTPSessionManager(server, json_response=True, stateless=True, max_request_body_size=CALL_BYTES)


def routes(manager: StreamableHTTPSessionManager) -> list[GuardedRoute]:
    """Returns the route of all messages."""
    app = StreamableHTTPASGIApp(manager)
    return [GuardedRoute(path, app, PUBLIC, "POST", max_bytes=CALL_BYTES, is_queued=True) for path in PATHS]


def _describe(name: str, arguments: Arguments) -> types.Tool:
    properties = {argument: TypeAdapter(about.type).json_schema() for argument, about in arguments.items()}
    for argument, schema in properties.items():
        schema["description"] = argument_help(argument)
        if arguments[argument].default not in (REQUIRED, None):
            schema["default"] = arguments[argument].default
    schema = {"type": "object", "properties": properties, "required": list_required(arguments), "additionalProperties": False}
    return types.Tool(name=name, description=f"{say(ENGLISH, f'api.{name}')}\n{say(ENGLISH, f'api.{name}_returns')}", input_schema=schema)
