"""Refusals of invalid calls: an unknown endpoint, or arguments of another."""

from __future__ import annotations

from playground.config import Refusal
from playground.ui.endpoints.answers import ENDPOINTS


def explain_mismatch(name: str) -> Refusal:
    """Explains why there is no such endpoint, or these are not its arguments."""
    if name not in ENDPOINTS:
        return Refusal("api.no_endpoint", name=name[:40], names=", ".join(ENDPOINTS))
    needed = [argument for argument, argument_kind in ENDPOINTS[name].arguments.items() if argument_kind.required]
    return Refusal("api.not_its_arguments", name=name, needed=", ".join(needed) or "–")
