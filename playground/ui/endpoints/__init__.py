"""The endpoints for programs: seven functions with named arguments, callable by gradio_client, by JavaScript, by curl, and as MCP tools.
Read in this order:

arguments (their types, defaults and bounds) · caller (who asks) · answers (what each says) · labs (an experiment, asked again and again) ·
mistakes (calls that reach none of them).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from playground.config import Refusal
from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui.address import address_of
from playground.ui.endpoints.answers import ENDPOINTS, Endpoint
from playground.ui.endpoints.arguments import checked, described, help_of, signature
from playground.ui.endpoints.caller import Caller
from playground.ui.endpoints.mistakes import unfit
from playground.words import ENGLISH, say

PATH = "endpoints"  # the page of Gradio's that holds them: what stands there is no part of the page that people load


def add(demo: gr.Blocks, runs: Runs, reader: Reader) -> None:
    """Adds all of them to the page, where nobody sees them."""
    with demo.route(PATH, PATH, show_in_navbar=False):
        for name, endpoint in ENDPOINTS.items():
            made = gr.api(
                _called(name, endpoint, runs, reader),
                api_name=name,
                concurrency_limit=endpoint.at_once,
                concurrency_id=f"{PATH}-{endpoint.group}",
            )
            listener = demo.fns[made["id"]]
            for argument, component in zip(endpoint.arguments, listener.inputs, strict=True):
                component.api_info()["additional_description"] = help_of(argument)
            listener.outputs[0].label = name
            listener.outputs[0].api_info()["description"] = say(ENGLISH, f"api.{name}_returns")
    demo.validate_inputs = _enough
    everything = demo.get_config_file
    demo.get_config_file = lambda: {**everything(), "pages": demo.pages[:1]}  # else a menu of pages would stand over the page


def _called(name: str, endpoint: Endpoint, runs: Runs, reader: Reader) -> Callable[..., dict]:
    """The function that Gradio calls, with the names, types, defaults and words of its arguments."""

    def called(*values: Any) -> dict[str, Any]:
        *given, request = values
        try:
            asked = checked(endpoint.arguments, given)
            if asked.get("owner") and request and request.request:
                runs.visitors.record_address(asked["owner"], address_of(request.request))
            return endpoint.answer(Caller(runs, reader, request), **asked)
        except Refusal as refusal:
            raise said(refusal) from refusal

    called.__name__, called.__doc__ = name, described(name, endpoint.arguments)
    called.__signature__ = signature(endpoint.arguments, request=gr.Request)
    called.__annotations__ = {known.name: known.annotation for known in called.__signature__.parameters.values()}
    return called


def said(refusal: Refusal, language: str = ENGLISH) -> gr.Error:
    """A refusal as Gradio tells it to programs: the sentence is the message, the key the title. Half characters become "?"."""
    sentence = refusal.say(language).encode("utf-8", "replace").decode()
    return gr.Error(sentence, title=refusal.key, print_exception=False)


def _enough(listener: Any, inputs: list[Any]) -> None:
    """In place of Gradio's own check, which answers with its log: one sentence where a list of values is too short."""
    if len(inputs) < len(listener.inputs):
        raise said(unfit(str(listener.api_name)))
