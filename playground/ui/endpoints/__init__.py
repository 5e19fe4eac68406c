"""The endpoints for programs: seven functions with named arguments, callable by gradio_client, by JavaScript, by curl, and as MCP tools.
Read in this order:

arguments (types, defaults and bounds) · caller (a call's context) · answers (implementations) · labs (an experiment, polled by its client)
· mistakes (invalid calls).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from playground.config import Refusal
from playground.features.shared.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui.address import address_of
from playground.ui.endpoints.answers import ENDPOINTS, Endpoint
from playground.ui.endpoints.arguments import argument_help, build_docstring, build_signature, check_arguments
from playground.ui.endpoints.caller import Caller
from playground.ui.endpoints.mistakes import explain_mismatch
from playground.ui.rights import needs
from playground.words import ENGLISH, say

PATH = "endpoints"  # Gradio's page that holds them: it is no part of the page that visitors load


def add_endpoints(demo: gr.Blocks, runs: Runs, reader: Reader) -> None:
    """Adds the endpoints to the page, hidden."""
    with demo.route(PATH, PATH, show_in_navbar=False):
        for name, endpoint in ENDPOINTS.items():
            api = gr.api(
                _make_function(name, endpoint, runs, reader),
                api_name=name,
                concurrency_limit=endpoint.at_once,
                concurrency_id=f"{PATH}-{endpoint.group}",
            )
            listener = demo.fns[api["id"]]
            for argument, component in zip(endpoint.arguments, listener.inputs, strict=True):
                component.api_info()["additional_description"] = argument_help(argument)
            listener.outputs[0].label = name
            listener.outputs[0].api_info()["description"] = say(ENGLISH, f"api.{name}_returns")
    demo.validate_inputs = _check_count
    get_config = demo.get_config_file
    demo.get_config_file = lambda: {**get_config(), "pages": demo.pages[:1]}  # else a menu of pages would stand over the page


def _make_function(name: str, endpoint: Endpoint, runs: Runs, reader: Reader) -> Callable[..., dict]:
    """Returns the function that Gradio calls, with the names, types, defaults and words of its arguments."""

    @needs(endpoint.right)
    def call(*values: Any) -> dict[str, Any]:
        *inputs, request = values
        try:
            arguments = check_arguments(endpoint.arguments, inputs)
            if arguments.get("owner") and request and request.request:
                runs.visitors.record_address(arguments["owner"], address_of(request.request))
            return endpoint.answer(Caller(runs, reader, request), **arguments)
        except Refusal as refusal:
            raise to_gradio_error(refusal) from refusal

    call.__name__, call.__doc__ = name, build_docstring(name, endpoint.arguments)
    call.__signature__ = build_signature(endpoint.arguments, request=gr.Request)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in call.__signature__.parameters.values()}
    return call


def to_gradio_error(refusal: Refusal, language: str = ENGLISH) -> gr.Error:
    """Returns a refusal as Gradio reports it to programs: the sentence is the message, the key the title. Lone surrogates become "?"."""
    sentence = refusal.say(language).encode("utf-8", "replace").decode()
    return gr.Error(sentence, title=refusal.key, print_exception=False)


def _check_count(listener: Any, inputs: list[Any]) -> None:
    """Replaces Gradio's check, which answers with its log: one sentence for a list of values that is too short."""
    if len(inputs) < len(listener.inputs):
        raise to_gradio_error(explain_mismatch(str(listener.api_name)))
