"""Replacements in model.py for classes of ours that depend on the rest of the playground."""

from __future__ import annotations


class Refusal(ValueError):
    """A request that can't be fulfilled: `key` names the reason, `values` fill it in."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)
