"""Calls that Gradio stumbles over: an endpoint there is not, arguments that are not its own. They get a sentence and a status too."""

from __future__ import annotations

from collections.abc import Callable

from gradio.route_utils import FnIndexInferError
from starlette.requests import Request
from starlette.responses import JSONResponse

from playground.config import Refusal
from playground.ui.endpoints.answers import ENDPOINTS

CALLS = "/gradio_api/call/"
STUMBLES = (KeyError, TypeError, FnIndexInferError)


def unfit(name: str) -> Refusal:
    """Why there is no such endpoint, or these are not its arguments."""
    if name not in ENDPOINTS:
        return Refusal("api.no_endpoint", name=name[:40], names=", ".join(ENDPOINTS))
    needed = [argument for argument, about in ENDPOINTS[name].arguments.items() if about.required]
    return Refusal("api.not_its_arguments", name=name, needed=", ".join(needed) or "–")


def handlers() -> dict[type[Exception], Callable]:
    """For the app: what it does with each of these errors."""
    return dict.fromkeys(STUMBLES, _answered)


async def _answered(request: Request, error: Exception) -> JSONResponse:
    if CALLS not in request.url.path:
        raise error
    refusal = unfit(request.path_params.get("api_name", ""))
    return JSONResponse({"error": str(refusal), "key": refusal.key}, 404 if refusal.key == "api.no_endpoint" else 400)
