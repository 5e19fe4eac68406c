"""Calls that reach none of the endpoints: one that there is not, arguments that are not its own."""

from __future__ import annotations

from playground.config import Refusal
from playground.ui.endpoints.answers import ENDPOINTS


def unfit(name: str) -> Refusal:
    """Why there is no such endpoint, or these are not its arguments."""
    if name not in ENDPOINTS:
        return Refusal("api.no_endpoint", name=name[:40], names=", ".join(ENDPOINTS))
    needed = [argument for argument, about in ENDPOINTS[name].arguments.items() if about.required]
    return Refusal("api.not_its_arguments", name=name, needed=", ".join(needed) or "–")
