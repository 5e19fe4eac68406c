"""The endpoints for programs: functions with named arguments, callable by gradio_client, by JavaScript, by curl, and as MCP tools.
Read in this order:

arguments (types, defaults and bounds) · answers (implementations) · mcp_tools.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import gradio as gr
import orjson
from starlette.concurrency import run_in_threadpool

from playground.config import Refusal
from playground.features.shared.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui.endpoints.answers import ENDPOINTS, Caller, Endpoint
from playground.ui.endpoints.arguments import argument_help, build_docstring, build_signature, check_arguments
from playground.ui.network import address_of
from playground.ui.rights import Listeners
from playground.ui.turns import Turns
from playground.words import ENGLISH, say

PATH = "endpoints"  # Gradio's page that holds them: it is no part of the page that visitors load
MENU_ENTRY = f',["{PATH}","{PATH}",false]'  # in Gradio's list of pages, for which it shows a menu over the page


Call = Callable[[Sequence[Any], gr.Request], Awaitable[dict[str, Any]]]


def bind_endpoints(runs: Runs, reader: Reader, turns: Turns) -> dict[str, Call]:
    """Returns each endpoint as a coroutine function of its arguments' values and the request, which takes its turn. It raises Refusal."""
    return {name: _bind(endpoint, runs, reader, turns) for name, endpoint in ENDPOINTS.items()}


def add_endpoints(demo: gr.Blocks, calls: Mapping[str, Call]) -> Listeners:
    """Adds the endpoints to the page, hidden. Returns their listeners."""
    opened = Listeners()
    with demo.route(PATH, PATH, show_in_navbar=False):
        for name, endpoint in ENDPOINTS.items():
            function = _make_function(name, endpoint, calls[name])
            files = [place for place, argument in enumerate(endpoint.arguments.values()) if argument.is_file]
            opened.add(gr.api(function, api_name=name, concurrency_limit=None), endpoint.right, files)  # it takes its turn itself
    return opened


def describe_api(body: bytes) -> bytes:
    """Adds our words on arguments and results to Gradio's own description of the endpoints, as JSON."""
    info = orjson.loads(body)
    for name, endpoint in ENDPOINTS.items():
        about = info["named_endpoints"][f"/{name}"]
        for argument, parameter in zip(endpoint.arguments, about["parameters"], strict=True):
            parameter["python_type"]["description"] = argument_help(argument)
        about["returns"][0]["label"] = name
        about["returns"][0]["python_type"]["description"] = say(ENGLISH, f"api.{name}_returns")
    return orjson.dumps(info)


def _bind(endpoint: Endpoint, runs: Runs, reader: Reader, turns: Turns) -> Call:
    def answer(inputs: Sequence[Any], request: gr.Request) -> dict[str, Any]:
        arguments = check_arguments(endpoint.arguments, inputs)
        if arguments.get("owner"):
            runs.visitors.record_address(arguments["owner"], address_of(request.request))
        return endpoint.answer(Caller(runs, reader, request), **arguments)

    async def call(inputs: Sequence[Any], request: gr.Request) -> dict[str, Any]:
        async with turns.take(endpoint.group, endpoint.at_once, request):
            return await run_in_threadpool(answer, inputs, request)

    return call


def _make_function(name: str, endpoint: Endpoint, answer: Call) -> Callable[..., Awaitable[dict]]:
    """Returns the function that Gradio calls, with the names, types, defaults and words of its arguments."""

    async def call(*values: Any) -> dict[str, Any]:
        *inputs, request = values
        try:
            return await answer(inputs, request)
        except Refusal as refusal:
            raise to_gradio_error(refusal) from refusal

    call.__name__, call.__doc__ = name, build_docstring(name, endpoint.arguments)
    call.__signature__ = build_signature(endpoint.arguments, request=gr.Request)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in call.__signature__.parameters.values()}
    return call


def to_gradio_error(refusal: Refusal) -> gr.Error:
    """Returns a refusal as Gradio reports it to programs: the sentence is the message, the key the title. Lone surrogates become "?"."""
    sentence = refusal.say(ENGLISH).encode("utf-8", "replace").decode()
    return gr.Error(sentence, title=refusal.key, print_exception=False)
